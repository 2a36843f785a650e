/** The contract between actions and providers of code hosting: how a workspace connects, and a reader for each kind of thing that a host shows. */
import type {
  CheckContext,
  Connection,
  ConnectionType,
  Instant,
  LogTime,
  Mark,
  PreviousRead,
  Stay,
} from '@claimcheck/core/plugin'
import type { Comparable } from './comparable.ts'

/** A kind of code host. This plugin's kinds are in the list in `index.ts`; other plugins bring their own. */
export interface Provider<A = unknown> {
  readonly connectionType: ConnectionType
  /** Takes what the readers need from a connection of this type: the address, and how requests are authorized. */
  access(connection: Connection): A
  /** The owners that a connection is for; all, when absent. */
  ownersOf(connection: Connection): readonly string[] | undefined
  readonly readers: Readers<A>
}

/** The readers of a host. Each throws DestinationError when it cannot tell. An action is offered by the providers that can read what it is about. */
export interface Readers<A> {
  readonly commit?: Reader<A, CommitQuery, FoundCommit>
  readonly pullRequest?: Reader<A, NumberQuery, FoundPullRequest>
  readonly checks?: Reader<A, ChecksQuery, FoundChecks>
  readonly release?: Reader<A, ReleaseQuery, FoundRelease>
  readonly issue?: Reader<A, NumberQuery, FoundIssue>
}

export type Reader<A, Q, F> = (access: A, query: Q, context: CheckContext) => Promise<F>

/** Defines a provider, without the type of its access, which the actions cannot know. */
export function defineProvider<A>(provider: Provider<A>): Provider {
  return provider as unknown as Provider
}

export interface RepositoryQuery {
  /** The path of the repository, `<owner>/<repo>`, with groups between them where the host nests them. */
  readonly repository: string
  readonly claimedAt: Instant
  readonly submittedAt: Instant
  /** The time, by our clock, back to which a log has to be read: what came and went before is not what was claimed. */
  readonly windowFrom: Instant
  /** The last moment at which an outcome is in time: the end of the tolerance. */
  readonly inTimeUntil: Instant
  /** The time when this check began. */
  readonly sentAt: Instant
  readonly previous: readonly PreviousRead[]
}

export interface CommitQuery extends RepositoryQuery {
  /** The commit's id, 40 or 64 lower-case hexadecimal characters. */
  readonly sha: string
  readonly branch: string
  /** The account that the claim says pushed. */
  readonly pusher?: string
}

/** The query for a pull request or an issue. */
export interface NumberQuery extends RepositoryQuery {
  readonly number: number
}

export interface ChecksQuery extends RepositoryQuery {
  readonly sha: string
  /** The checks that the claim names; without them, all that the host shows count. */
  readonly checks?: readonly WantedCheck[]
}

export interface WantedCheck {
  readonly name: string
  /** The identifier, as in `reporters.ts`, of whoever must report the check. */
  readonly by: string
}

export interface ReleaseQuery extends RepositoryQuery {
  readonly tag: string
}

/** The repository, as every answer of a host describes it. */
export interface FoundRepository {
  /** The host's own id of the repository: a number, or a UUID without braces. */
  readonly repositoryId?: string
  /** The repository's path by the host's own account, after a rename. */
  readonly repositoryName?: string
  /**
   * The time when the repository was made, at the latest, by our clock. One that was made after the claim may have taken the name of the one that was
   * meant.
   */
  readonly repositoryCreatedAt?: Instant
  /** The age that the answers may have, because replicas lag. Milliseconds. */
  readonly ageMs?: number
  /** The most that the host's clock was behind ours, in milliseconds; undefined where the host does not tell its time. */
  readonly clockBehindMs?: number | undefined
}

/** The place where a host shows a commit now. */
export type Place =
  | { readonly at: 'branch' }
  | { readonly at: 'another_branch'; readonly name: string }
  | { readonly at: 'nowhere' }

/** A commit as a host has it: `nowhere` and `another_branch` only when the branch was really read. */
export interface FoundCommit extends FoundRepository {
  readonly place: Place
  /** The stays on the branch as far as the push log shows them; left out where no log can be read, or where it has a gap and shows none. */
  readonly stays?: readonly Stay[]
  readonly mark?: Mark
  /** The tip of the branch; absent when there is no such branch. */
  readonly head?: string
  /** The time when the commit came onto the branch, by the push log. `removedAt` is the time when it went. */
  readonly pushedAt?: Instant
  readonly removedAt?: Instant
  /** Tells that the push log shows the commit on the branch more than the tolerance before the claim. */
  readonly preexisting?: true
  /** Tells whether the push log names the claimed account. */
  readonly pusherMatches?: boolean
}

/** The part of a found commit that its branch and the push log tell. */
export type CommitFinding = Omit<FoundCommit, keyof FoundRepository | 'head'>

/** The most stays that an observation may have. */
export const MOST_STAYS = 8

/** The id that stands for no commit in push logs: before a branch was created, and after it was removed. */
export const NO_COMMIT = '0'.repeat(40)

/** A pull request as a host has it. `pullRequest` is undefined only when the host would have shown it to us: not for a 404 alone. */
export interface FoundPullRequest extends FoundRepository {
  readonly pullRequest: PullRequest | undefined
  /** The mark of a read that shows no pull request. */
  readonly mark?: Mark
}

export interface PullRequest {
  readonly state: 'open' | 'closed' | 'merged'
  readonly isDraft?: boolean
  /** The branch into which the pull request goes or went. */
  readonly base: string
  /** Tells that the pull request may have been merged into another branch, and got this base since. */
  readonly isBaseUnsure?: boolean
  /** The full id of the pull request's newest commit; absent where the host does not know it any more. */
  readonly head?: string
  /** The time of the opening by the host's own clock; left out where whoever opened it could choose the time. */
  readonly openedAt?: LogTime
  /** The time of the merge, like `openedAt`; without `notBefore` where the host writes it down some time after the merge. */
  readonly mergedAt?: LogTime
  /** The full id of the commit that the merge put on the base: the merge, the squashed commit, or the last one of a fast-forward. */
  readonly mergeCommit?: string
  /** The squashed commit, where the merge put it on the base together with a merge of it. */
  readonly squashCommit?: string
  /**
   * Tells whether the base has the commit of the merge now. Asked only for a merged pull request. `gone`: the host merged it itself, and the base is
   * there no more.
   */
  isOnBase?(): Promise<boolean | 'gone'>
  /**
   * Reads the base or the head of the pull request from the host's own log. Absent, or undefined: the host keeps no log of it, or none for these
   * credentials. Asked only where a verdict depends on it.
   * @param claimed the value that is looked for: a log may tell that the field was never this one, and not what else it was
   */
  log?(field: PullRequestField, claimed?: string): Promise<Log<Held> | undefined>
}

export type PullRequestField = 'base' | 'head_sha'

/** A log from the window's start until now, the oldest entry first; `cut` if it may not be read, or not back to there. */
export type Log<T> = 'cut' | readonly T[]

/** A value that something had for a time, such as the base of a pull request. The last one is what it has now. */
export interface Held {
  /** The name of the branch, the beginning of a commit's id, or why it was closed; absent where the log does not tell it. */
  readonly value?: string
  /** The time since when the thing had the value, by a clock that no user can set; absent where there is none. */
  readonly since?: LogTime
  /** The time until when the thing had the value; absent while it has it, and where there is no such clock. */
  readonly until?: LogTime
}

export interface FoundChecks extends FoundRepository {
  /** The checks of the commit; undefined if the repository does not have the commit. */
  readonly checks: readonly Check[] | undefined
  readonly mark?: Mark
  /** Tells that accounts that may write can delete what reports the checks, and so the checks. */
  readonly canBeDeleted?: boolean
  /** Tells that something runs that may still begin a check which is missing. */
  readonly isGrowing?: boolean
  /** The time, by the host's own clock, when the host last heard of any check; for a claim that names none. */
  readonly changedAt?: LogTime
  /** Tells that our own reports are left out, by who posts them. Without it a check with such a name may be one of them. */
  readonly lacksOwnReports?: boolean
  /** Finds the checks that there are to be, for a claim that names none. Asked only where all is green. */
  comparable?(): Promise<Comparable>
}

/** The latest run of a check. A check that two apps or workflows report under one name is two. */
export interface Check {
  readonly name: string
  /** The identifiers, as in `reporters.ts`, of whoever reported the check, the one for receipts first. */
  readonly by: readonly string[]
  /** Tells whether the host ran the check by the repository's own definition. */
  readonly isRunByHost: boolean
  /** Tells that somebody started the check by hand, with inputs of their own, so that it founds no green. */
  readonly isByHand?: boolean
  readonly outcome: 'passed' | 'failed' | 'pending' | 'skipped'
  /** Tells whether an earlier run of the check passed; undefined where the host keeps none of them. */
  readonly passedBefore?: boolean
  /** The time when the check ended, by the host's own clock. */
  readonly endedAt?: LogTime
  /** The time, by the host's own clock, since when nothing of the check has changed. */
  readonly changedAt?: LogTime
  /**
   * The time, by the host's own clock, when the checked run or status began: the check was not green before, and has not passed since unless
   * `passedBefore`.
   */
  readonly begunAt?: LogTime
}

/** Lets a check that is not green spoil the commit, and blame nobody: since when it is so is not asked. */
export function withoutBlame<T extends Check>(check: T): Omit<T, 'changedAt' | 'begunAt'> {
  if (check.outcome !== 'failed' && check.outcome !== 'pending') return check
  const { changedAt: _, begunAt: __, ...rest } = check
  return { ...rest, passedBefore: true }
}

export interface FoundRelease extends FoundRepository {
  readonly release: Release | undefined
  /** The mark of a read that shows no release. */
  readonly mark?: Mark
  /**
   * The age of what is said of the tag, in milliseconds, where the repository itself tells it, and so sooner than the rest: to which commit the tag
   * leads, or, without a release, that there is no such tag.
   */
  readonly tagAgeMs?: number
}

/** A release that everybody who can read the repository sees: no draft. */
export interface Release {
  /** The full id of the commit to which the release's tag leads now; absent where the tag is gone. */
  readonly commit?: string
  readonly isPrerelease: boolean
  /** The time of publication by the host's own clock; left out where the release's author could choose it. */
  readonly publishedAt?: LogTime
  /** The names of the release's files. */
  readonly assets: readonly string[]
  /** Tells under which name the host keeps a file of this name. Defaults to the same name. */
  keptAs?(file: string): KeptName
}

export interface KeptName {
  readonly name: string
  /** Tells that the host does not say how it names such files: a file that is not there under this name may be there under another. */
  readonly isUnsure?: true
}

export interface FoundIssue extends FoundRepository {
  readonly issue: Issue | undefined
  /** The mark of a read that shows no issue. */
  readonly mark?: Mark
}

export interface Issue {
  readonly state: 'open' | 'closed'
  readonly reason?: 'completed' | 'not_planned' | 'duplicate'
  /** The time since when the issue is closed, by the host's own clock; left out where somebody could choose it. */
  readonly closedAt?: LogTime
  /**
   * Reads the times in which the issue was closed, each with its reason, from the host's own log. Absent, or undefined: the host keeps none, or none
   * for these credentials. Asked only where a verdict depends on it.
   */
  closings?(): Promise<Log<Held> | undefined>
}
