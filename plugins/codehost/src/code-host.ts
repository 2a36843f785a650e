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

/** A kind of code host. Those of this plugin are in the list in `index.ts`; others' plugins bring their own. */
export interface Provider<A = unknown> {
  readonly connectionType: ConnectionType
  /** Takes from a connection of this type what the readers need: the address, and how requests are authorized. */
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

/** Drops the type of a provider's access, which the actions cannot know. */
export function defineProvider<A>(provider: Provider<A>): Provider {
  return provider as unknown as Provider
}

export interface RepositoryQuery {
  /** `<owner>/<repo>`, with groups between them where the host nests them. */
  readonly repository: string
  readonly claimedAt: Instant
  readonly submittedAt: Instant
  /** The time, by our clock, back to which a log has to be read: what came and went before is not what was claimed. */
  readonly windowFrom: Instant
  /** The end of the tolerance. */
  readonly inTimeUntil: Instant
  /** The time when this check began. */
  readonly sentAt: Instant
  readonly previous: readonly PreviousRead[]
}

export interface CommitQuery extends RepositoryQuery {
  /** 40 or 64 lower-case hexadecimal characters. */
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
  /** The identifier, as in `reporters.ts`, of whoever must report it. */
  readonly by: string
}

export interface ReleaseQuery extends RepositoryQuery {
  readonly tag: string
}

/** The repository, as every answer of a host describes it. */
export interface FoundRepository {
  /** The host's own id: a number, or a UUID without braces. */
  readonly repositoryId?: string
  /** The repository's path by the host's own account, after a rename. */
  readonly repositoryName?: string
  /** The time when it was made, at the latest, by our clock. One that was made after the claim may have taken the name of the one that was meant. */
  readonly repositoryCreatedAt?: Instant
  /** The age that the answers may have, because replicas lag. Milliseconds. */
  readonly ageMs?: number
  /** The most that the host's clock was behind ours; undefined where it does not tell its time. Milliseconds. */
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
  /** The times when the commit came onto the branch and when it went, by the push log. */
  readonly pushedAt?: Instant
  readonly removedAt?: Instant
  /** The push log shows it on the branch more than the tolerance before the claim. */
  readonly preexisting?: true
  /** The push log names the claimed account. */
  readonly pusherMatches?: boolean
}

/** A pull request as a host has it; undefined only when the host would have shown it to us: not for a 404 alone. */
export interface FoundPullRequest extends FoundRepository {
  readonly pullRequest: PullRequest | undefined
  /** The mark of a read that shows none. */
  readonly mark?: Mark
}

export interface PullRequest {
  readonly state: 'open' | 'closed' | 'merged'
  readonly isDraft?: boolean
  /** The branch into which it goes or went. */
  readonly base: string
  /** A merged pull request may have been merged into another branch, and got this one since. */
  readonly isBaseUnsure?: boolean
  /** The full id of its newest commit; absent where the host does not know it any more. */
  readonly head?: string
  /** The time of its opening by the host's own clock; left out where whoever opened it could choose the time. */
  readonly openedAt?: LogTime
  /** The time of its merge, like `openedAt`; without `notBefore` where the host writes it down some time after the merge. */
  readonly mergedAt?: LogTime
  /** The full id of the commit that the merge put on the base: the merge, the squashed commit, or the last one of a fast-forward. */
  readonly mergeCommit?: string
  /** The squashed commit, where the merge put it on the base together with a merge of it. */
  readonly squashCommit?: string
  /** Tells whether the base has the commit now. Asked only for a merged one. `gone`: the host merged it itself, and the base is there no more. */
  isOnBase?(): Promise<boolean | 'gone'>
  /**
   * Reads its base or its head from the host's own log. Absent, or undefined: the host keeps no log of it, or none for these credentials. Asked
   * only where something hangs on it.
   *
   * @param claimed the value that is looked for: a log may tell that it was never this one, and not what else it was
   */
  log?(field: PullRequestField, claimed?: string): Promise<Log<Held> | undefined>
}

export type PullRequestField = 'base' | 'head_sha'

/** A log from the window's start until now, the oldest first. `cut`: it may not be read, or not back to there. */
export type Log<T> = 'cut' | readonly T[]

/** A value that something had, such as the base of a pull request: the last one is what it has now. */
export interface Held {
  /** The name of the branch, the beginning of a commit's id, or why it was closed; absent where the log does not tell it. */
  readonly value?: string
  /** The time since when it had the value, by a clock that no user can set; absent where there is none. */
  readonly since?: LogTime
  /** The time until when it had the value; absent while it has it, and where there is no such clock. */
  readonly until?: LogTime
}

export interface FoundChecks extends FoundRepository {
  /** Undefined: the repository does not have the commit. */
  readonly checks: readonly Check[] | undefined
  readonly mark?: Mark
  /** Accounts that may write can delete what reports them, and they go with it. */
  readonly canBeDeleted?: boolean
  /** Something runs that may still begin a check which is missing. */
  readonly isGrowing?: boolean
  /** The time, by the host's own clock, when it last heard of any check; for a claim that names none. */
  readonly changedAt?: LogTime
  /** Reads which checks there are to be, for a claim that names none. Asked only where all is green. */
  comparable?(): Promise<Comparable>
}

/** The latest run of a check. A check that two apps or workflows report under one name is two. */
export interface Check {
  readonly name: string
  /** The identifiers, as in `reporters.ts`, of whoever reported it, the one for receipts first. */
  readonly by: readonly string[]
  /** The host ran it by the repository's own definition. */
  readonly isRunByHost: boolean
  /** Somebody started it by hand, with inputs of their own: it founds no green. */
  readonly isByHand?: boolean
  readonly outcome: 'passed' | 'failed' | 'pending' | 'skipped'
  /** An earlier run of it passed; undefined where the host keeps none of them. */
  readonly passedBefore?: boolean
  /** The time when it ended, by the host's own clock. */
  readonly endedAt?: LogTime
  /** The time, by the host's own clock, since when nothing of it has changed. */
  readonly changedAt?: LogTime
  /** The time when what the check is of began, by the host's own clock: it was not green before, and has not passed since unless `passedBefore`. */
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
  /** The mark of a read that shows none. */
  readonly mark?: Mark
  /**
   * The age of what is said of the tag, where the repository itself tells it, and so sooner than the rest: to which commit it leads, or, without
   * a release, that there is no such tag. Milliseconds.
   */
  readonly tagAgeMs?: number
}

/** A release that everybody who can read the repository sees: no draft. */
export interface Release {
  /** The full id of the commit to which its tag leads now; absent where the tag is gone. */
  readonly commit?: string
  readonly isPrerelease: boolean
  /** The time by the host's own clock; left out where its author could choose it. */
  readonly publishedAt?: LogTime
  /** The names of its files. */
  readonly assets: readonly string[]
  /** Tells under which name the host keeps a file of this one; under the same, when left out. */
  keptAs?(file: string): KeptName
}

export interface KeptName {
  readonly name: string
  /** The host does not say how it names such files: a file that is not there under this name may be there under another. */
  readonly isUnsure?: true
}

export interface FoundIssue extends FoundRepository {
  readonly issue: Issue | undefined
  /** The mark of a read that shows none. */
  readonly mark?: Mark
}

export interface Issue {
  readonly state: 'open' | 'closed'
  readonly reason?: 'completed' | 'not_planned' | 'duplicate'
  /** The time since when it is closed, by the host's own clock; left out where somebody could choose it. */
  readonly closedAt?: LogTime
  /**
   * Reads the times in which it was closed, each with its reason, from the host's own log. Absent, or undefined: it keeps none, or none for
   * these credentials. Asked only where something hangs on it.
   */
  closings?(): Promise<Log<Held> | undefined>
}
