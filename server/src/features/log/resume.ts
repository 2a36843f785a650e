/** Lets a log go on that was restored from a backup, where nothing is known to have been signed since. */
import { setTimeout } from 'node:timers/promises'
import { formatInstant } from '@claimcheck/core/rules'
import { type Acting, byCommand } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import type { HostServices } from '../../host/container.ts'
import type { LogState, RestoredFrom } from '../../storage/log-state.ts'
import { type LogGuard, restoredProblem } from './log-guard.ts'
import { ANSWER_MS } from './log-watch.ts'
import type { CheckpointStore } from './signing/checkpoint-store.ts'

export interface ResumeServices extends Pick<HostServices, 'storage' | 'now'> {
  readonly logGuard: LogGuard
  readonly checkpointStore: CheckpointStore
}

/** Asks the operator: no memory proves that nothing else was signed. @throws where the answer is no */
export type ConfirmResume = (meaning: string) => Promise<void>

/**
 * Asks all that remember: this host, what HEAD_MEMORY names, and the hosts that run, which write into the database what it lacks.
 * @throws ServiceError `conflict` where no log waits, `read_only` where more was signed
 */
export async function resumeLog(
  { storage, now, logGuard, checkpointStore }: ResumeServices,
  confirm: ConfirmResume,
  by: Acting = byCommand(),
): Promise<LogState> {
  if (storage.shared) await setTimeout(ANSWER_MS)
  const log = await waiting(storage.read.log)
  await logGuard.examine()
  const problem = logGuard.problem()
  if (problem !== undefined && problem !== restoredProblem(log, log.restoredFrom))
    throw new ServiceError('read_only', problem)
  await confirm(meaningOf(log, remembers(checkpointStore, log)))
  return storage.write(async (tx) => {
    await tx.log.lock()
    const still = await waiting(tx.log)
    if (still.contradictedBy !== null) throw new ServiceError('read_only', 'more was signed: begin another log')
    await tx.log.resume()
    const { epoch: subject } = still.restoredFrom
    tx.audit.record({ event: 'log.resumed', at: now(), by, subject, details: { tree_size: still.treeSize } })
    return { ...still, restoredFrom: null }
  })
}

type Waiting = LogState & { readonly restoredFrom: RestoredFrom }

async function waiting(rows: { state(): Promise<LogState | undefined> }): Promise<Waiting> {
  const log = await rows.state()
  if (log?.restoredFrom) return { ...log, restoredFrom: log.restoredFrom }
  throw new ServiceError('conflict', 'nothing was done: the log does not wait, as it does after claimcheck restore')
}

function remembers(checkpointStore: CheckpointStore, { logId, treeSize }: LogState): boolean {
  return checkpointStore.recall(logId).some((head) => head.logId === logId && head.treeSize === treeSize)
}

function meaningOf({ treeSize, restoredFrom: { madeAt } }: Waiting, isRemembered: boolean): string {
  const at = formatInstant(madeAt)
  const known = isRemembered ? 'this host remembers exactly these' : 'this host remembers neither these nor more'
  return `The log goes on from the backup of ${at}, with ${treeSize} entries: ${known}, and no other that was
asked remembers more. A host that is gone, or a folder that was restored with the backup, may have known more.
  - If no host has accepted a claim since ${at}, going on is right.
  - If one has, going on forks the log: anyone with a receipt from then can prove that. Then, and where you do not know, use
    claimcheck log new: it begins another log, and all receipts of the backup stay proven.`
}
