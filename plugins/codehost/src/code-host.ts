/** What a provider of code hosting is to the verifier. One of this plugin is in the list in `index.ts`; others' plugins bring their own. */
import type {
  CheckContext,
  Connection,
  ConnectionType,
  Instant,
  Mark,
  PreviousRead,
  Stay,
} from '@claimcheck/core/plugin'

export interface CommitQuery {
  readonly owner: string
  readonly repository: string
  /** 40 lower-case hexadecimal characters. */
  readonly sha: string
  readonly branch: string
  readonly claimedAt: Instant
  /** The end of the tolerance. */
  readonly inTimeUntil: Instant
  /** From here on the push log counts. */
  readonly logFrom: Instant
  /** The account that the claim says pushed. */
  readonly pusher?: string
  readonly previous: readonly PreviousRead[]
}

/** Where a host shows a commit now. */
export type Place =
  | { readonly at: 'branch' }
  | { readonly at: 'another_branch'; readonly name: string }
  | { readonly at: 'nowhere' }

/** What a host showed of a commit. */
export interface FoundCommit {
  readonly place: Place
  /** As far as the push log shows them; left out where no log can be read, or where it has a gap and shows none. */
  readonly stays?: readonly Stay[]
  readonly mark?: Mark
  /** How old the answers may be. Milliseconds. */
  readonly ageMs?: number
  /** The tip of the branch; absent when there is no such branch. */
  readonly head?: string
  readonly repositoryId?: number
  /** `<owner>/<repo>` by the host's own account, after a rename. */
  readonly repositoryName?: string
  /** When the commit came onto the branch, and when it went, by the push log. */
  readonly pushedAt?: Instant
  readonly removedAt?: Instant
  /** The push log shows it on the branch more than the tolerance before the claim. */
  readonly preexisting?: true
  /** The push log names the claimed account. */
  readonly pusherMatches?: boolean
}

export interface CodeHost {
  /**
   * Says `nowhere` or `another_branch` only when the branch was really read.
   * @throws DestinationError
   */
  findCommit(query: CommitQuery, context: CheckContext): Promise<FoundCommit>
}

export interface Provider {
  readonly connectionType: ConnectionType
  /** The host behind a connection of this type. */
  open(connection: Connection): CodeHost
  /** The owners that a connection is for; all, when absent. */
  ownersOf(connection: Connection): readonly string[] | undefined
}
