/** Lets a log go on that waits for its operator: its database was restored from a backup, or is in another file than before. */
import { setTimeout } from 'node:timers/promises'
import { formatInstant } from '@claimcheck/core/rules'
import { type Acting, byCommand } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import type { HostServices } from '../../host/container.ts'
import type { LogState } from '../../storage/log-state.ts'
import { type LogAgreement, OTHER_DATABASE } from './agreement.ts'
import { OTHER_FILE } from './file-binding.ts'
import { closedProblem, compareHead } from './log-comparison.ts'
import type { LogGuard } from './log-guard.ts'
import type { LogMemories } from './log-memories.ts'
import { examineWhileWaiting, LONGEST_WAIT_MS } from './log-watch.ts'

export interface ResumeServices extends Pick<HostServices, 'storage' | 'now'> {
  readonly logGuard: LogGuard
  readonly logAgreement: Pick<LogAgreement, 'confirm' | 'forget'>
  readonly logMemories: Pick<LogMemories, 'everyApart' | 'takeOver' | 'chainProblem'>
}

/** By then the other hosts, which look once a second, have written what the database lacks. */
const ANSWER_MS = 2000

/** Asks the operator. @throws where the answer is no */
export type ConfirmResume = (meaning: string) => Promise<void>

/**
 * Asks all that remember: this host, what HEAD_MEMORY names, other data folders of this machine, the chain of the anchors, and the hosts that
 * run, which write into the database what it lacks. Each can refute; a folder apart from DATA_DIR proves, as it was written before anyone
 * learned of what was signed.
 * @throws ServiceError `conflict` where no log waits, `read_only` where more was signed, or nothing proves that this is the newest
 */
export async function resumeLog(
  { storage, now, logGuard, logAgreement, logMemories }: ResumeServices,
  confirm: ConfirmResume,
  by: Acting = byCommand(),
): Promise<LogState> {
  if (storage.shared) await setTimeout(ANSWER_MS)
  await examineWhileWaiting(logGuard, LONGEST_WAIT_MS)
  const log = await storage.read.log.state()
  const problem = logGuard.problem()
  if (!log || problem === undefined)
    throw new ServiceError('conflict', 'nothing was done: the log waits for no operator')
  const isRestored = log.closedBy !== null && !log.closedBy.last && problem === closedProblem(log, log.closedBy)
  if (!isRestored && problem !== OTHER_FILE && problem !== OTHER_DATABASE) throw new ServiceError('read_only', problem)
  const apart = logMemories.everyApart(log.logId).filter(({ logId }) => logId === log.logId)
  for (const head of apart) await compareHead(head, log, storage.read.log)
  if (!apart.some(({ treeSize }) => treeSize === log.treeSize)) throw new ServiceError('read_only', unproven(log))
  const unknown = logMemories.chainProblem()
  await confirm((unknown === undefined ? '' : `Notice: ${unknown}.\n`) + meaningOf(log))
  await storage.write(async (tx) => {
    await tx.log.lock()
    const still = await tx.log.state()
    if (still?.logId !== log.logId || still.contradictedBy !== null)
      throw new ServiceError('read_only', 'more was signed: begin another log')
    await tx.log.close(null)
    const details = { tree_size: still.treeSize, ...(still.closedBy ? { backup: still.closedBy.epoch } : {}) }
    tx.audit.record({ event: 'log.resumed', at: now(), by, subject: log.logId, details })
    logMemories.takeOver(log.logId)
  })
  // A restored log is bound to nothing.
  if (!isRestored && !(await logAgreement.confirm(log)))
    throw new ServiceError('read_only', 'the database changed meanwhile: run this again')
  return log
}

function unproven({ treeSize }: LogState): string {
  return `nothing was done: no folder apart from DATA_DIR remembers exactly these ${treeSize} entries, so that nothing proves that no more were signed. Restore the newest database, or begin another log with: claimcheck log new`
}

function meaningOf({ treeSize, closedBy }: LogState): string {
  const from = closedBy
    ? `from the backup of ${formatInstant(closedBy.madeAt)}`
    : 'in a database that was moved, copied or restarted'
  return `The log goes on ${from}, with ${treeSize} entries: a folder apart from DATA_DIR remembers exactly these.
Where another copy of the database signs, or will, this forks the log: stop it for good.`
}
