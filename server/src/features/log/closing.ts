/** Closes a log where it is, for the backup in which it goes on elsewhere. */
import { byCommand } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import type { HostServices } from '../../host/container.ts'
import type { Closing, LogState } from '../../storage/log-state.ts'
import type { Writes } from '../../storage/storage.ts'
import type { LogAgreement } from './agreement.ts'
import type { LogGuard } from './log-guard.ts'
import { examineWhileWaiting, LONGEST_WAIT_MS } from './log-watch.ts'
import type { LogMemories } from './memory/memories.ts'
import { lineageOf } from './memory/memory.ts'
import { closedProblem } from './standing.ts'

/** A backup in which the log goes on, or a copy. */
export type Successor = Pick<Closing, 'epoch' | 'madeAt'>

export interface ClosingServices extends Pick<HostServices, 'storage'> {
  readonly logGuard: LogGuard
  readonly logAgreement: Pick<LogAgreement, 'isBound'>
  readonly logMemories: Pick<LogMemories, 'moves'>
}

/** Closes the log of an installation in two steps: nothing is appended while its last backup is made, and after it for good. */
export type LogCloser = ReturnType<typeof logCloser>

/** @param withServices opens the installation for each step */
export function logCloser(withServices: <T>(work: (services: ClosingServices) => Promise<T>) => Promise<T>) {
  return {
    begin: (successor: Successor) => withServices((services) => beginClosing(services, successor)),
    /** The backup is complete: from now on the log goes on where that is restored, and nowhere else. Done once: also where its answer is lost. */
    end: (successor: Successor) => withServices((services) => endClosing(services, successor)),
    /** The backup was not made. @throws where the log may be closed by it */
    undo: (successor: Successor) => withServices((services) => undoClosing(services, successor)),
  }
}

/**
 * Stops all appends. Only a log that goes on here is closed: an old one would go on unnoticed where it is restored.
 * @throws ServiceError `read_only` with what keeps this host from signing
 */
async function beginClosing({ storage, logGuard, logAgreement, logMemories }: ClosingServices, successor: Successor) {
  await examineWhileWaiting(logGuard, LONGEST_WAIT_MS)
  const problem = logGuard.problem()
  await storage.write(async (tx) => {
    const log = await tx.log.lock()
    if (!log) throw new ServiceError('not_found', 'there is no log yet: start the service once to create it')
    if (problem !== undefined && !(isUnderWay(log) && problem === closedProblem(log, log.closedBy)))
      throw new ServiceError('read_only', problem)
    logMemories.moves.requireHere(log)
    if (log.contradictedBy !== null || !logAgreement.isBound(log) || (log.closedBy !== null && !isUnderWay(log)))
      throw new ServiceError('read_only', 'the log changed meanwhile: run this again')
    await tx.log.close({ ...successor, last: 'making' })
  })
}

async function endClosing({ storage, logMemories }: ClosingServices, { epoch, madeAt }: Successor): Promise<void> {
  const closing = { epoch, madeAt, last: 'made' } as const
  const closed = async (tx: Writes) => {
    const log = await closedLog(tx, epoch)
    // Before the commit: where its answer is lost, no older database goes on.
    await logMemories.moves.take(log, epoch)
    await tx.log.close(closing)
    await tx.log.move([...(log.moves ?? []), epoch])
    const details = { tree_size: log.treeSize, backup: epoch }
    tx.audit.record({ event: 'log.closed', at: madeAt, by: byCommand(), subject: log.logId, details })
  }
  try {
    await storage.write(closed)
  } catch (error) {
    const { closedBy } = (await storage.read.log.state().catch(() => undefined)) ?? {}
    if (closedBy?.epoch !== epoch || closedBy.last !== 'made') throw error
  }
}

async function undoClosing({ storage, logMemories }: ClosingServices, { epoch }: Successor): Promise<void> {
  await storage.write(async (tx) => {
    const log = await tx.log.lock()
    if (log?.closedBy?.epoch !== epoch) return
    await closedLog(tx, epoch)
    // Before the commit, too: what is half undone is closed.
    await logMemories.moves.release(log, epoch)
    await tx.log.close(null)
  })
}

/** Lets a log go on whose last backup or copy did not end. @throws ServiceError `conflict` where none is under way, `read_only` where it may be complete */
export async function reopenLog({ storage, logGuard, logMemories }: ClosingServices, at: number): Promise<LogState> {
  await logGuard.examine()
  return storage.write(async (tx) => {
    const log = await tx.log.lock()
    if (!log || !isUnderWay(log))
      throw new ServiceError('conflict', 'nothing was done: no last backup or copy of the log is under way')
    logMemories.moves.requireHere(log)
    const problem = logGuard.problem()
    if (problem !== undefined && problem !== closedProblem(log, log.closedBy))
      throw new ServiceError('read_only', problem)
    await tx.log.close(null)
    const details = { tree_size: log.treeSize, backup: log.closedBy.epoch }
    tx.audit.record({ event: 'log.reopened', at, by: byCommand(), subject: log.logId, details })
    return log
  })
}

async function closedLog(tx: Writes, epoch: string): Promise<LogState> {
  const log = await tx.log.lock()
  if (log && isUnderWay(log) && log.closedBy.epoch === epoch) return log
  throw new ServiceError('conflict', 'another command has changed the log meanwhile')
}

function isUnderWay(log: LogState): log is LogState & { readonly closedBy: Closing } {
  return log.closedBy?.last === 'making'
}

/** How a log came to where a backup or copy of it is restored. */
export function movesOfRestored(log: Pick<LogState, 'logId' | 'moves'>, epoch: string, restore: string) {
  const [, ...moves] = lineageOf(log)
  return [...moves.filter((move) => move !== epoch), epoch, restore]
}
