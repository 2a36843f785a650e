/** Anchoring: the log's root put where its operator can not take it back. */
import type { Instant } from '../evidence.ts'

/** A state of the log that is to be anchored. */
export interface AnchorSubject {
  readonly logId: string
  readonly treeSize: number
  readonly rootHash: Uint8Array
  /** The anchor before this one; null for the first. */
  readonly previous: (Pick<Anchor, 'uid' | 'treeSize'> & { readonly rootHash: Uint8Array }) | null
}

/** A landed anchor. */
export interface Anchor {
  /** CAIP-2. */
  readonly chain: string
  readonly scheme: string
  readonly uid: string
  readonly txHash: string
  readonly treeSize: number
  /** base64url. */
  readonly rootHash: string
  readonly blockNumber: number
  /** Unix seconds. */
  readonly blockTime: number
}

export interface Anchorer {
  /** CAIP-2. */
  readonly chain: string
  readonly scheme: string
  /**
   * Resolves when the anchor's block is final: until then a reorganisation can give the same transaction another uid.
   * One at a time: the next subject names this one as its previous.
   */
  anchor(subject: AnchorSubject, signal: AbortSignal): Promise<Anchor>
}

/** Why an anchor does not hold. It lowers the trust level, and does not make a receipt invalid. */
export type AnchorProblem =
  | 'unknown_scheme'
  | 'rpc_chain_mismatch'
  | 'unreadable'
  | 'attestation_not_found'
  | 'attestation_revoked'
  | 'attester_not_published'
  | 'schema_not_published'
  | 'data_undecodable'
  | 'log_or_size_mismatch'
  | 'anchor_does_not_cover_leaf'
  | 'consistency_proof_required'
  | 'consistency_proof_invalid'
  | 'root_mismatch'

/** What the chain says of an anchor. `provenBy` is the time of its block: the receipt existed by then. */
export type AnchorFinding =
  | { readonly anchor: 'anchored'; readonly provenBy: Instant }
  | { readonly anchor: AnchorProblem }
