/** The interface of a code host. A new kind of host implements it as a `Provider`, and is added to the list in `index.ts`. */
import type { Appearance, CheckContext, Connection, ConnectionType, Instant } from '@claimcheck/core/plugin'

export interface CommitQuery {
  readonly owner: string
  readonly repository: string
  /** 40 lower-case hexadecimal characters. */
  readonly sha: string
  readonly branch: string
  readonly claimedAt: Instant
  /** The end of the tolerance: a commit that appears later is late. */
  readonly inTimeUntil: Instant
}

/** Where a host has a commit. */
export type Finding =
  | {
      /** On the branch; or, by the host's push log, it was there at the claimed time or later. */
      readonly where: 'branch'
      readonly appeared?: Appearance
      readonly pushedAt?: Instant
      readonly removedAt?: Instant
      /** No later read can say more. */
      readonly settled: boolean
    }
  | { readonly where: 'another_branch'; readonly name: string }
  | {
      readonly where: 'nowhere'
      /** The push log shows that the branch never had it. */
      readonly settled: boolean
    }

export interface FoundCommit {
  readonly finding: Finding
  readonly repositoryId?: number
  /** The commit at the branch's tip; absent when there is no such branch. */
  readonly head?: string
}

export interface CodeHost {
  /**
   * Finds `nowhere` or `another_branch` only after it has read the claimed branch.
   * @throws DestinationError when the host could not be read
   */
  findCommit(query: CommitQuery, context: CheckContext): Promise<FoundCommit>
}

export interface Provider {
  readonly connectionType: ConnectionType
  /** The host that a connection of this type reads. */
  open(connection: Connection): CodeHost
}
