/** What a provider of code hosting is to the verifier. A new provider implements this and is added to the list in `index.ts`. */
import type { Appearance, CheckContext, Connection, ConnectionType, Instant } from '@claimcheck/core/plugin'

export interface CommitQuery {
  readonly owner: string
  readonly repository: string
  /** 40 lower-case hexadecimal characters. */
  readonly sha: string
  readonly branch: string
  readonly claimedAt: Instant
  /** The end of the tolerance. */
  readonly inTimeUntil: Instant
}

/** What a host showed of a commit. */
export type Finding =
  | {
      /** The branch has it, or had it at the claimed time by the host's push log. */
      readonly place: 'branch'
      readonly appeared?: Appearance
      readonly pushedAt?: Instant
      readonly removedAt?: Instant
      /** No later read can tell more. */
      readonly settled: boolean
    }
  | { readonly place: 'another_branch'; readonly name: string }
  | {
      readonly place: 'nowhere'
      /** The push log settles that the branch never had it. */
      readonly settled: boolean
    }

export interface FoundCommit {
  readonly finding: Finding
  readonly repositoryId?: number
  /** The tip of the branch; absent when there is no such branch. */
  readonly head?: string
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
}
