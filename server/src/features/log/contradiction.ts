/**
 * Writes a signed head that the database lacks into the database, so that no host appends. Only what verifies under a key of the log counts:
 * one bad file stops no other host.
 */
import type { FastifyBaseLogger } from 'fastify'
import type { LogState } from '../../storage/log-state.ts'
import { type Storage, StorageError } from '../../storage/storage.ts'
import { includes } from './log-comparison.ts'
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
