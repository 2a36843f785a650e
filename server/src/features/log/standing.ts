/** Whether a host may sign: one table over what the database, the memories and the other hosts say. It says in words what is missing. */
import { formatInstant } from '@claimcheck/core/rules'
import { ServiceError } from '../../base/errors.ts'
import type { Closing, LogState } from '../../storage/log-state.ts'
import { OTHER_DATABASE } from './agreement.ts'
import { OTHER_FILE } from './file-binding.ts'
import { isClosing } from './memory/memory.ts'
import { toHead } from './signing/signed-heads.ts'

/** What one look at the log found. What was not looked at is left out. */
export interface Findings {
  readonly log: LogState
  /** What a memory has that the database lacks, in words. */
  readonly lacking?: string | undefined
  /** The move by which the log went on elsewhere, as a memory has it. */
  readonly move?: string | undefined
  /** Hosts agreed that this database is the newest, as it is now. */
  readonly isBound?: boolean
  /** A sentence on the entries that the chain of the anchors attests and the database lacks. */
  readonly attested?: string | undefined
  readonly isAskingChain?: boolean
  readonly proof?: Proof
}

/** What tells that the database has the newest head. */
export interface Proof {
  /** What has to be agreed with other hosts, or proven of the file, before this host signs. */
  readonly waitsFor: string | undefined
  /** HEAD_MEMORY has lost its record, and no other host runs that remembers the log. */
  readonly isGone: boolean
  readonly knowLog: boolean
  /** Another host runs that remembers the log. */
  readonly isKnownElsewhere: boolean
  /** The reason why it is not known what the chain has. */
  readonly chainProblem: string | undefined
}

const RECOVERY = 'Restore the newest database, or begin another log with: claimcheck log new'
const ACKNOWLEDGE =
  'Where you know why, as after a rehearsal that signed with the same key, claimcheck log acknowledge goes on with this log'
export const OTHER_LOG = `the database has another log than the one that this host signed last: check DATABASE_URL and DATA_DIR. ${RECOVERY}`
export const FORKED = `the entries in the database differ from those that were signed. ${RECOVERY}`
export const MOVED =
  'the log goes on in another data folder of this machine, by claimcheck log resume there. Begin another log here with: claimcheck log new'
const CLOSED_SINCE =
  'the database is from before the log was closed here: it goes on where its last backup is restored, or where it was copied to'
export const DAMAGED =
  'the root of the stored tree differs from the signed root: run claimcheck doctor to find the damage'
const ASKING_CHAIN = 'this host asks the chain of the anchors what it has of the log'
const UNBOUND =
  'the database was restarted or replaced, and hosts have not compared it with what they remember yet: a host that runs does so within seconds'
export const MEMORY_GONE =
  'HEAD_MEMORY had a record of the log, and has none: it, or DATA_DIR with the database, was replaced or restored. This host signs as soon as the record is there again, or another host runs that remembers the log. Where HEAD_MEMORY is lost and the database is the newest, name another folder or URL. Otherwise restore the newest database, or begin another log with: claimcheck log new'
const NOTHING_ELSE =
  'nothing else remembers the log: this host signs when the chain has answered, or another host runs that remembers. Where the chain cannot answer for good, start this host once without the plugin of the anchors'

/** These end by a command. */
const FOR_OPERATOR = [OTHER_DATABASE, OTHER_FILE]

type Reason = string | false | null | undefined

/** The first row with a reason counts. `waits`: it ends by itself, when others have answered; the others end by an operator. */
const ROWS: readonly (readonly [kind: 'stops' | 'waits', reason: (found: Findings) => Reason])[] = [
  // What this host remembers says more than the head of a client.
  ['stops', ({ lacking }) => lacking],
  ['stops', ({ log }) => log.contradictedBy !== null && contradictionProblem(log, log.contradictedBy)],
  ['stops', ({ log }) => log.closedBy && closedProblem(log, log.closedBy)],
  ['stops', ({ move }) => move !== undefined && movedProblem(move)],
  ['waits', ({ isBound }) => isBound === false && UNBOUND],
  // After what hosts remember, which stops all hosts.
  ['stops', ({ attested }) => attested],
  ['waits', ({ isAskingChain }) => isAskingChain && ASKING_CHAIN],
  // Where the database was restarted, too, this says what helps.
  ['stops', ({ proof }) => proof && isUnproven(proof) && MEMORY_GONE],
  ['stops', ({ proof }) => FOR_OPERATOR.find((reason) => reason === proof?.waitsFor)],
  ['waits', ({ proof }) => proof?.waitsFor],
  ['waits', ({ proof }) => proof && isUnknown(proof) && `${proof.chainProblem}, and ${NOTHING_ELSE}`],
]

/** @returns the reason why this host may not sign, with what was found; undefined: it may */
export function standingOf(found: Findings) {
  for (const [kind, reasonIn] of ROWS) {
    const reason = reasonIn(found)
    if (reason) return { kind, reason }
  }
  return undefined
}

/** Ends by itself, when others have answered. */
export class Waits extends ServiceError {
  constructor(reason: string) {
    super('read_only', reason)
  }
}

/** @throws ServiceError `read_only` where a host may not sign with what was found */
export function requireStanding(found: Findings): void {
  const standing = standingOf(found)
  if (standing) throw standing.kind === 'waits' ? new Waits(standing.reason) : readOnly(standing.reason)
}

function isUnproven({ isGone, waitsFor }: Proof): boolean {
  return isGone && (waitsFor === undefined || waitsFor === OTHER_DATABASE)
}

function isUnknown({ chainProblem, knowLog, isKnownElsewhere }: Proof): boolean {
  return chainProblem !== undefined && !knowLog && !isKnownElsewhere
}

export function readOnly(reason: string, cause?: unknown): ServiceError {
  return new ServiceError('read_only', reason, { cause })
}

/** @param what tells of the entries, such as who has them */
export function behind({ treeSize }: LogState, signed: number, what = ''): string {
  return `the database is an old one: its log has ${treeSize} entries, and ${signed} were signed${what}. ${RECOVERY}`
}

/** Why nothing is signed where the log lacks what a transaction attests. */
export function attestedProblem(
  log: LogState,
  { treeSize, transaction, issuedAt }: { treeSize: number; transaction?: string | undefined; issuedAt: number },
): string {
  const where = `by the transaction ${transaction} of ${formatInstant(issuedAt)}`
  if (log.treeSize < treeSize) return behind(log, treeSize, ` and anchored ${where}`)
  return `the entries in the database differ from those that were anchored ${where}. ${RECOVERY}`
}

/** Why a log is closed that nothing contradicts. */
export function closedProblem({ treeSize }: LogState, { madeAt, last }: Closing): string {
  const at = formatInstant(madeAt)
  if (last === 'making')
    return `the last backup of the log, or its copy, has been under way since ${at}, or did not end: make it again with claimcheck backup FOLDER --last, or claimcheck copy. Where none is to be made, claimcheck log reopen goes on`
  if (last === 'made')
    return `the log goes on where its last backup, of ${at}, is restored or copied to, and is closed here. Begin another log here with: claimcheck log new`
  return `the database was restored from the backup of ${at}, with ${treeSize} entries: claims and receipts since then may be missing, and its log stays closed. Begin another log with: claimcheck log new`
}

/** Why nothing is signed where the log was moved since. */
export function movedProblem(move: string): string {
  return isClosing(move) ? `${CLOSED_SINCE} (${move}). Begin another log here with: claimcheck log new` : MOVED
}

/** Tells whether it was a client that stopped the log, and no host that remembers more: the same head, once acknowledged, is a host's. */
export function isStoppedByClient({ contradictedBy, witnessed }: LogState): boolean {
  return contradictedBy !== null && witnessed?.head === contradictedBy && witnessed.acknowledgedAt === undefined
}

function contradictionProblem(log: LogState, head: string): string {
  const { treeSize } = toHead(head)
  const isBehind = log.treeSize < treeSize
  if (!isStoppedByClient(log)) return isBehind ? behind(log, treeSize) : FORKED
  const lacking = isBehind
    ? behind(log, treeSize)
    : `the log has other entries than the first ${treeSize} that were signed. ${RECOVERY}`
  return `a client has a signed head that the log does not contain: ${lacking}. ${ACKNOWLEDGE}`
}
