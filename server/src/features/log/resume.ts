/** Lets a log go on that waits for its operator: its database was restored from a backup, or is in another file than before. */
import { setTimeout } from 'node:timers/promises'
import { formatInstant } from '@claimcheck/core/rules'
import { type Acting, byCommand } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import type { HostServices } from '../../host/container.ts'
import type { LogState } from '../../storage/log-state.ts'
import { type LogAgreement, OTHER_DATABASE } from './agreement.ts'
import { OTHER_FILE } from './file-binding.ts'
import { closedProblem } from './log-comparison.ts'
import type { LogGuard } from './log-guard.ts'
import type { LogMemories } from './log-memories.ts'
import { examineWhileWaiting, LONGEST_WAIT_MS } from './log-watch.ts'

export interface ResumeServices extends Pick<HostServices, 'storage' | 'now'> {
  readonly logGuard: LogGuard
  readonly logAgreement: Pick<LogAgreement, 'confirm'>
  readonly logMemories: Pick<LogMemories, 'recall' | 'chainProblem'>
}

/** By then the other hosts, which look once a second, have written what the database lacks. */
const ANSWER_MS = 2000

/** Asks the operator: no memory proves that nothing else was signed. @throws where the answer is no */
export type ConfirmResume = (meaning: string) => Promise<void>

/**
 * Asks all that remember: this host, what HEAD_MEMORY names, the chain of the anchors, and the hosts that run, which write into the database
 * what it lacks.
 * @throws ServiceError `conflict` where no log waits, `read_only` where more was signed
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
  const unknown = logMemories.chainProblem()
  const notice = unknown === undefined ? '' : `Notice: ${unknown}.\n`
  await confirm(notice + meaningOf(log, remembers(logMemories, log)))
  await storage.write(async (tx) => {
    await tx.log.lock()
    const still = await tx.log.state()
    if (still?.logId !== log.logId || still.contradictedBy !== null)
      throw new ServiceError('read_only', 'more was signed: begin another log')
    await tx.log.close(null)
    const details = { tree_size: still.treeSize, ...(still.closedBy ? { backup: still.closedBy.epoch } : {}) }
    tx.audit.record({ event: 'log.resumed', at: now(), by, subject: log.logId, details })
  })
  // A restored log is bound to nothing.
  if (!isRestored && !(await logAgreement.confirm(log)))
    throw new ServiceError('read_only', 'the database changed meanwhile: run this again')
  return log
}

function remembers(memories: Pick<LogMemories, 'recall'>, { logId, treeSize }: LogState): boolean {
  return memories.recall(logId).some((head) => head.logId === logId && head.treeSize === treeSize)
}

function meaningOf({ treeSize, closedBy }: LogState, isRemembered: boolean): string {
  const at = closedBy && formatInstant(closedBy.madeAt)
  const from = at === null ? 'in a database that was moved, copied or restarted' : `from the backup of ${at}`
  const since = at === null ? 'with another copy of the database' : `since ${at}`
  const known = isRemembered ? 'this host remembers exactly these' : 'this host remembers neither these nor more'
  return `The log goes on ${from}, with ${treeSize} entries: ${known}, and no other that was
asked remembers more. A host that is gone, or a folder that was restored with the database, may have known more.
  - If no host has accepted a claim ${since}, going on is right.
  - If one has, going on forks the log: anyone with a receipt from then can prove that. Then, and where you do not know, use
    claimcheck log new: it begins another log, and all receipts in this database stay proven.`
}
