/**
 * Reads GitLab's push log: the events of a project. A background job writes them some time after the push, so that their times bound from above
 * only. They do not say whether a push was forced, and of several branches that were pushed together they name none: that is a gap.
 */
import { type Instant, isDestinationError } from '@claimcheck/core/plugin'
import { NO_COMMIT } from '../code-host.ts'
import { logTime } from '../times.ts'
import { EventsAnswer } from './answers.ts'
import { isOwnTime, type Project } from './project.ts'

/** A move of a branch from one tip to another. */
export interface Move {
  /** The moved branch; `undefined` for several branches that the event does not name. */
  readonly branch: string | undefined
  readonly before: string
  readonly after: string
  /** The time when the move was written down, and no later than which it was made. */
  readonly at: Instant
  /** Tells that `before` does not have `after`, by the number of commits between them. */
  readonly isForward: boolean
  /** The account that pushed; absent where the log does not say. */
  readonly by?: string
}

export interface PushLog {
  /** The moves of all branches, newest first. */
  readonly moves: readonly Move[]
  /** The time back to which the log was read. */
  readonly since: Instant
  /** Tells that some entries were left out, because these credentials may not see them. */
  readonly hasHidden: boolean
}

export interface BranchLog {
  /** The moves of the branch, newest first. The newest ends at the head; each begins where the next one in this list ends. */
  readonly moves: readonly Move[]
  /** The time from which on the log has all moves of the branch; Infinity if it has a gap where it begins. */
  readonly since: Instant
  /** The time after which no event is of this branch, or of branches that it does not name. */
  readonly unmovedSince: Instant
}

const DAY_MS = 24 * 60 * 60_000
const PAGE = 100

/** Reads the push log of a project. @param most limit of the pages; older entries are not read */
export async function readPushLog(
  project: Project,
  { reachingBackTo, most }: { readonly reachingBackTo: Instant; readonly most: number },
): Promise<PushLog> {
  // The parameter `after` is a day, and means its end by the server's zone.
  const after = dayBefore(reachingBackTo)
  const moves: Move[] = []
  let [pages, isShort, hasHidden] = [0, false, false]
  const list = `${project.path}/events?action=pushed&sort=desc&after=${after}`
  try {
    for await (const events of project.api.pages(list, EventsAnswer, { size: PAGE, most })) {
      pages++
      // Entries that these credentials may not see are left out of a page: only of the last one nothing shows it.
      hasHidden ||= isShort
      isShort = events.length < PAGE
      // Entries that an import brought say what its author wanted.
      const own = events.filter(({ created_at }) => isOwnTime(created_at, project))
      moves.push(...own.filter(({ push_data }) => push_data.ref_type === 'branch').map(toMove))
      const oldest = events.at(-1)
      if (oldest && toMove(oldest).at < reachingBackTo) break
    }
  } catch (error) {
    // The rest of the log is older than what was read.
    if (!isDestinationError(error) || error.code !== 'too_large' || pages < most) throw error
    return { moves, since: moves.at(-1)?.at ?? Number.POSITIVE_INFINITY, hasHidden }
  }
  return { moves, since: reachingBackTo, hasHidden }
}

/** The day two days before, so that no zone makes it a later one. */
function dayBefore(at: Instant): string {
  return new Date(at - 2 * DAY_MS).toISOString().slice(0, 10)
}

function toMove({ created_at, author_username, push_data }: EventsAnswer[number]): Move {
  const { action, ref, commit_from, commit_to, commit_count } = push_data
  return {
    branch: ref ?? undefined,
    before: commit_from ?? NO_COMMIT,
    after: commit_to ?? NO_COMMIT,
    at: logTime(created_at).notAfter,
    isForward: action === 'pushed' && commit_count > 0,
    by: author_username || undefined,
  }
}

/** Takes the moves of a branch up to the first gap. @param head the tip of the branch; undefined if the branch is missing */
export function branchLog({ moves, since, hasHidden }: PushLog, branch: string, head: string | undefined): BranchLog {
  const own: Move[] = []
  const concerned = moves.filter((move) => move.branch === undefined || move.branch === branch)
  const lastMoved = concerned[0] ? concerned[0].at + 1 : Number.NEGATIVE_INFINITY
  const unmovedSince = hasHidden ? Number.POSITIVE_INFINITY : Math.max(since, lastMoved)
  for (const move of concerned) {
    const end = own.at(-1)?.before ?? head ?? NO_COMMIT
    if (move.branch === undefined || move.after !== end) {
      return { moves: own, since: Number.POSITIVE_INFINITY, unmovedSince }
    }
    own.push(move)
  }
  // A head that no entry led to may have been pushed just now, and the tip before it is unknown.
  return { moves: own, since: own.length > 0 ? since : Number.POSITIVE_INFINITY, unmovedSince }
}

/** A period in which the branch had the commit. */
export interface LoggedStay {
  /** The move that brought the commit, or the oldest known one by which it was there. */
  readonly arrival: Move
  /** Tells that the branch did not have the commit before `arrival`. */
  readonly isExact: boolean
  /** The move that took the commit away; absent while the branch has it. */
  readonly removal?: Move
}

export interface History {
  /** The stays of the commit on the branch, newest first. */
  readonly stays: readonly LoggedStay[]
  /** Tells whether it is known of each tip in the log if it has the commit. */
  readonly isWhole: boolean
}

/**
 * Asks of each tip, newest first, whether it has the commit: nothing tells which pushes kept what was there.
 * @param has undefined when it is not known, which ends the search
 * @param isEnough gets the stay that is being followed back
 */
export async function historyOf(
  { moves }: BranchLog,
  has: (tip: string) => Promise<boolean | undefined>,
  isEnough: (stay: LoggedStay) => boolean,
): Promise<History> {
  const stays: LoggedStay[] = []
  const tips = [...moves.map(({ after }) => after), ...moves.slice(-1).map(({ before }) => before)]
  let isOpen = false
  for (const [index, tip] of tips.entries()) {
    const holds = tip !== NO_COMMIT && (await has(tip))
    if (holds === undefined) return { stays, isWhole: false }
    const followed = isOpen ? stays.pop() : undefined
    if (holds) {
      // The oldest move came upon a tip that had the commit, which was there by then.
      const arrival = moves[index] ?? moves.at(-1)!
      const stay = { arrival, isExact: false, removal: (followed ?? { removal: moves[index - 1] }).removal }
      stays.push(stay)
      if (isEnough(stay)) return { stays, isWhole: false }
    } else if (followed) stays.push({ ...followed, isExact: true })
    isOpen = holds
  }
  return { stays, isWhole: true }
}
