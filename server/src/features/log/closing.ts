/** Closes a log where it is, for the backup in which it goes on elsewhere. */
import { byCommand } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import type { HostServices } from '../../host/container.ts'
import type { Closing, LogState } from '../../storage/log-state.ts'
import type { Storage } from '../../storage/storage.ts'
import type { LogAgreement } from './agreement.ts'
import { closedProblem } from './log-comparison.ts'
import type { LogGuard } from './log-guard.ts'
import { examineWhileWaiting, LONGEST_WAIT_MS } from './log-watch.ts'

/** @param backup in which the log goes on, or the copy */
export type CloseLog = (backup: Pick<Closing, 'epoch' | 'madeAt'>) => Promise<Closing>

export interface ClosingServices extends Pick<HostServices, 'storage'> {
  readonly logGuard: LogGuard
  readonly logAgreement: Pick<LogAgreement, 'isBound'>
}

/**
 * Stops all appends. Only a log that goes on here is closed: an old one would go on unnoticed where it is restored.
 * @throws ServiceError `read_only` with what keeps this host from signing
 */
export async function closeLog(
  { storage, logGuard, logAgreement }: ClosingServices,
  backup: Pick<Closing, 'epoch' | 'madeAt'>,
): Promise<Closing> {
  await examineWhileWaiting(logGuard, LONGEST_WAIT_MS)
  const problem = logGuard.problem()
  return storage.write(async (tx) => {
    const log = await tx.log.lock()
    if (!log) throw new ServiceError('not_found', 'there is no log yet: start the service once to create it')
    if (problem !== undefined && !(isUnderWay(log) && problem === closedProblem(log, log.closedBy)))
      throw new ServiceError('read_only', problem)
    if (log.contradictedBy !== null || !logAgreement.isBound(log) || (log.closedBy !== null && !isUnderWay(log)))
      throw new ServiceError('read_only', 'the log changed meanwhile: run this again')
    const closing = { ...backup, last: 'making' } as const
    await tx.log.close(closing)
    return closing
  })
}

/** The backup is complete: from now on the log goes on where that is restored, and nowhere else. */
export async function endClosing(storage: Pick<Storage, 'write'>, closing: Closing): Promise<void> {
  await storage.write(async (tx) => {
    const log = await closedLog(tx, closing)
    await tx.log.close({ ...closing, last: 'made' })
    const details = { tree_size: log.treeSize, backup: closing.epoch }
    tx.audit.record({ event: 'log.closed', at: closing.madeAt, by: byCommand(), subject: log.logId, details })
  })
}

/** The backup was not made. */
export async function undoClosing(storage: Pick<Storage, 'write'>, closing: Closing): Promise<void> {
  await storage.write(async (tx) => {
    await closedLog(tx, closing)
    await tx.log.close(null)
  })
}

async function closedLog(tx: Parameters<Parameters<Storage['write']>[0]>[0], { epoch }: Closing): Promise<LogState> {
  const log = await tx.log.lock()
  if (log && isUnderWay(log) && log.closedBy.epoch === epoch) return log
  throw new ServiceError('conflict', 'another command has changed the log meanwhile')
}

function isUnderWay(log: LogState): log is LogState & { readonly closedBy: Closing } {
  return log.closedBy?.last === 'making'
}
