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
import { includes } from './log-comparison.ts'
import { headOf, isSigned, toHead } from './signing/signed-heads.ts'
import { isStoppedByClient } from './standing.ts'

interface ContradictionOptions {
  readonly storage: Pick<Storage, 'read' | 'write'>
  readonly logger: Pick<FastifyBaseLogger, 'info' | 'error'>
}

export type WitnessOutcome = 'contained' | 'contradicting' | 'not_signed' | 'other_log' | 'stops' | 'unknown_key'

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
  const { read, write } = storage
  const written = log.contradictedBy
  try {
    if (written === null) {
      for (const head of signed) {
        const isLacking = headOf(head, log.logId) && !(await includes(log, toHead(head), read.log))
        if (!isLacking || !isSigned(head, await read.log.signingKeys())) continue
        await contradict(storage, log, head)
        return (await read.log.state()) ?? log
      }
      return log
    }
    if (!(await includes(log, toHead(written), read.log))) return log
    await write(async (tx) => {
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

/**
 * Compares a client's head with the log, which stops for it once.
 * @param log that the head is of, as it was read before
 * @param signed the head
 */
export async function settleWitnessed(
  storage: Pick<Storage, 'read' | 'write'>,
  log: LogState,
  signed: string,
  at: number,
): Promise<WitnessOutcome> {
  const keys = await storage.read.log.signingKeys()
  if (!isSigned(signed, keys)) {
    const { key_id } = JSON.parse(signed).signature
    return keys.some(({ keyId }) => keyId === key_id) ? 'not_signed' : 'unknown_key'
  }
  // It was closed for good, and goes on elsewhere.
  if (log.closedBy?.last === 'made') return 'other_log'
  if (log.witnessed === null) return contradict(storage, log, signed, at)
  return (await includes(log, toHead(signed), storage.read.log)) ? 'contained' : 'contradicting'
}

/**
 * Looks once more, at what the primary has while no host appends: a read may come from a standby that lags, and a host that knows less than
 * another one finds nothing.
 * @param heardAt of the head of a client
 */
function contradict(
  { write }: Pick<Storage, 'write'>,
  { logId }: LogState,
  signed: string,
  heardAt?: number,
): Promise<WitnessOutcome> {
  return write(async (tx) => {
    const log = await tx.log.lock()
    if (log?.logId !== logId) return 'other_log'
    if (await includes(log, toHead(signed), tx.log)) return 'contained'
    if (log.contradictedBy !== null || (heardAt !== undefined && log.witnessed !== null)) return 'contradicting'
    await tx.log.contradict(logId, signed)
    if (heardAt !== undefined) await tx.log.witness(logId, { head: signed, at: heardAt })
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
