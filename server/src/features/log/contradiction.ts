/**
 * Writes a signed head that the database lacks into the database, so that no host appends. Only what verifies under a key of the log counts:
 * one bad file stops no other host. The head of a client stops a log once: such heads never run out, as after a rehearsal with the same key, or
 * where an old key was stolen.
 */
import type { FastifyBaseLogger } from 'fastify'
import { type Acting, byCommand } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import type { LogState } from '../../storage/log-state.ts'
import { type Storage, StorageError } from '../../storage/storage.ts'
import { includes, isStoppedByClient } from './log-comparison.ts'
import { headOf, isSigned, toHead } from './signing/signed-heads.ts'

interface ContradictionOptions {
  readonly storage: Pick<Storage, 'read' | 'write'>
  readonly logger: Pick<FastifyBaseLogger, 'info' | 'error'>
}

/**
 * Takes a written head away again where the database has it after all. Writes nothing where the database takes no write: this host stops all
 * the same.
 * @param signed what is remembered of the log
 * @returns the log as it is stored then
 */
export async function settleContradiction(
  { storage, logger }: ContradictionOptions,
  log: LogState,
  signed: readonly string[],
): Promise<LogState> {
  try {
    if (log.contradictedBy === null) return await contradict(storage, log, signed)
    if (!(await includes(log, toHead(log.contradictedBy), storage.read.log))) return log
    const written = log.contradictedBy
    await storage.write(async (tx) => {
      await tx.log.agree(log.logId, written)
      await tx.lost.forget(log.logId)
    })
    logger.info('the database has again what was signed')
    return { ...log, contradictedBy: null }
  } catch (error) {
    if (!(error instanceof StorageError)) throw error
    logger.error({ err: error }, 'cannot write down what the database lacks')
    return log
  }
}

async function contradict(
  { read, write }: ContradictionOptions['storage'],
  log: LogState,
  signed: readonly string[],
): Promise<LogState> {
  for (const one of signed) {
    const head = headOf(one, log.logId)
    if (!head || (await includes(log, head, read.log)) || !isSigned(one, await read.log.signingKeys())) continue
    return write(async (tx) => {
      // Looks once more, at what no other host changes meanwhile: a read may come from a standby that lags.
      const locked = await tx.log.lock()
      if (locked?.logId !== log.logId || (await includes(locked, head, tx.log))) return locked ?? log
      await tx.log.contradict(locked.logId, one)
      return { ...locked, contradictedBy: one }
    })
  }
  return log
}

export type WitnessOutcome = 'contained' | 'contradicting' | 'not_signed' | 'other_log' | 'stops'

/**
 * Compares a client's head with the log, as the primary has it while no host appends: a host that knows less than another one finds nothing.
 * @param log that the head is of, as it was read before
 * @param signed the head
 */
export async function settleWitnessed(
  { storage: { read, write } }: ContradictionOptions,
  log: LogState,
  signed: string,
  at: number,
): Promise<WitnessOutcome> {
  if (!isSigned(signed, await read.log.signingKeys())) return 'not_signed'
  const head = toHead(signed)
  // It was closed for good, and goes on elsewhere.
  if (log.closedBy?.last === 'made') return 'other_log'
  if (log.witnessed !== null) return (await includes(log, head, read.log)) ? 'contained' : 'contradicting'
  return write(async (tx) => {
    const locked = await tx.log.lock()
    if (locked?.logId !== log.logId) return 'other_log'
    if (await includes(locked, head, tx.log)) return 'contained'
    if (locked.witnessed !== null || locked.contradictedBy !== null) return 'contradicting'
    await tx.log.contradict(locked.logId, signed)
    await tx.log.witness(locked.logId, { head: signed, at })
    return 'stops'
  })
}

/** Lets a log go on that a client stopped. @throws ServiceError `conflict` where none did */
export async function acknowledgeWitnessed(
  storage: Pick<Storage, 'write'>,
  at: number,
  by: Acting = byCommand(),
): Promise<LogState> {
  return storage.write(async (tx) => {
    const log = await tx.log.lock()
    if (!log || !isStoppedByClient(log))
      throw new ServiceError('conflict', 'nothing was done: no head of a client has stopped the log')
    const witnessed = log.witnessed!
    await tx.log.agree(log.logId, witnessed.head)
    await tx.log.witness(log.logId, { ...witnessed, acknowledgedAt: at })
    const details = { tree_size: log.treeSize, signed: toHead(witnessed.head).treeSize }
    tx.audit.record({ event: 'log.acknowledged', at, by, subject: log.logId, details })
    return log
  })
}
