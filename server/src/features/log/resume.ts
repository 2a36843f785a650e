/** Lets a log go on that waits for its operator: its database was restored from a backup, or is another one than before. */
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { bytesEqual } from '@claimcheck/core/receipts'
import { formatInstant } from '@claimcheck/core/rules'
import { type Acting, byCommand } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import type { HostServices } from '../../host/container.ts'
import type { LogState } from '../../storage/log-state.ts'
import type { Reads, Writes } from '../../storage/storage.ts'
import { type LogAgreement, OTHER_DATABASE, type RanHost } from './agreement.ts'
import { OTHER_FILE } from './file-binding.ts'
import { lackingOf } from './log-comparison.ts'
import type { LogGuard } from './log-guard.ts'
import { examineWhileWaiting, LONGEST_WAIT_MS } from './log-watch.ts'
import { isWrittenBy } from './memory/host-identity.ts'
import type { LogMemories } from './memory/memories.ts'
import { isClosing } from './memory/memory.ts'
import { closedProblem, MOVED, movedProblem, readOnly } from './standing.ts'

export interface ResumeServices extends Pick<HostServices, 'storage' | 'now'> {
  readonly logGuard: LogGuard
  readonly logAgreement: Pick<LogAgreement, 'confirm' | 'forget' | 'ranBefore'>
  readonly logMemories: Pick<LogMemories, 'everyApart' | 'moves' | 'chainProblem'>
}

/** By then the other hosts, which look once a second, have written what the database lacks. */
const ANSWER_MS = 2000

/** Asks the operator. @throws where the answer is no */
export type ConfirmResume = (meaning: string) => Promise<void>

/**
 * Asks all that remember: this host, what HEAD_MEMORY names, other data folders of this machine, the chain of the anchors, and the hosts that
 * run, which write into the database what it lacks. Each can refute. A folder apart from DATA_DIR proves, as it was written before anyone
 * learned of what was signed: where hosts shared a database, the records of all that ran. They are compared again in the transaction in which
 * the log goes on, after all memories were told of this move: a host of another data folder sees that after its next write.
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
  const { logId, treeSize, rootHash, closedBy } = log
  const isRestored = closedBy !== null && !closedBy.last
  const waits = [isRestored && closedProblem(log, closedBy), OTHER_FILE, OTHER_DATABASE, MOVED]
  if (!waits.includes(problem) || closedBy?.last) throw readOnly(problem)
  const ran = closedBy ? closedBy.hosts?.map(hostOf) : await logAgreement.ranBefore(log)
  await requireProof(logMemories, log, ran, storage.read.log)
  // Through other data folders, whose entries this database has, as was proven. A host there may have been told by an earlier version alone.
  const between = await logMemories.moves.after(log)
  const closing = between.find(isClosing)
  if (closing !== undefined) throw readOnly(movedProblem(closing))
  const unknown = logMemories.chainProblem()
  await confirm((unknown === undefined ? '' : `Notice: ${unknown}.\n`) + meaningOf(log))

  const moves = [...between, randomUUID()]
  async function goOn(tx: Writes): Promise<void> {
    const still = await tx.log.lock()
    const isSame =
      still?.logId === logId &&
      still.treeSize === treeSize &&
      bytesEqual(still.rootHash, rootHash) &&
      still.contradictedBy === null &&
      still.closedBy?.restore === closedBy?.restore
    if (!isSame) throw readOnly('the log changed meanwhile: run this again')
    await requireProof(logMemories, log!, ran, tx.log)
    await tx.log.close(null)
    await tx.log.move([...(log!.moves ?? []), ...moves])
    const details = { tree_size: treeSize, ...(closedBy ? { backup: closedBy.epoch } : {}) }
    tx.audit.record({ event: 'log.resumed', at: now(), by, subject: logId, details })
  }
  // Where the answer of the commit is lost, the other folders stay closed.
  await storage.write(async (tx) => {
    const { release } = await logMemories.moves.take(log, ...moves)
    await goOn(tx).catch(async (error) => {
      await release()
      throw error
    })
  })
  // A restored log is bound to nothing, or to the file that it was restored to.
  if (!isRestored && !(await logAgreement.confirm(log)))
    throw readOnly('the database changed meanwhile: run this again')
  return log
}

/** As backups name hosts: an earlier version wrote no process. */
function hostOf(name: string): RanHost {
  const [hostId = '', process = ''] = name.split('/')
  return { hostId, process }
}

/** @param ran the hosts that shared the database; undefined: nobody knows @throws ServiceError `read_only` */
async function requireProof(
  logMemories: Pick<LogMemories, 'everyApart'>,
  log: LogState,
  ran: readonly RanHost[] | undefined,
  rows: Reads['log'],
): Promise<void> {
  const apart = logMemories.everyApart(log.logId).filter(({ logId }) => logId === log.logId)
  const lacking = await lackingOf(apart, log, rows)
  if (lacking !== undefined) throw readOnly(lacking)
  const exact = apart.filter(({ treeSize }) => treeSize === log.treeSize)
  const missing = ran
    ? ran.filter((host) => !exact.some(({ hosts = [] }) => isWrittenBy(hosts, host))).map(({ hostId }) => hostId)
    : ['those that ran, which nothing names']
  if (exact.length > 0 && missing.length === 0) return
  const of = exact.length > 0 ? ` of the hosts that shared the database: ${missing.join(', ')} are missing` : ''
  throw readOnly(
    `nothing was done: no folder apart from DATA_DIR remembers exactly these ${log.treeSize} entries${of}, so that nothing proves that no more were signed. Restore the newest database, or begin another log with: claimcheck log new`,
  )
}

function meaningOf({ treeSize, closedBy }: LogState): string {
  const from = closedBy
    ? `from the backup of ${formatInstant(closedBy.madeAt)}`
    : 'in a database that was moved, copied or restarted'
  return `The log goes on ${from}, with ${treeSize} entries: a folder apart from DATA_DIR remembers exactly these.
Where another copy of the database signs, or will, this forks the log: stop it for good.`
}
