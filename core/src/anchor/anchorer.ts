/** Anchoring: the log's root put where its operator can not take it back. The host decides when, and keeps what was done; an anchorer knows the chain. */
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

/** Under what an anchorer anchors, as the key document publishes it. */
export interface AnchorIdentity {
  /** The account that attests. */
  readonly attester: string
  readonly schema: string
}

/** A signed transaction. Kept before it is sent, so that it is never made twice; it holds nothing secret. */
export interface SignedAnchor {
  readonly txHash: string
  /** Of the account. All that are signed for one subject have the same: one of them lands at most. */
  readonly nonce: number
  /** As it is sent. */
  readonly raw: string
  /** In the chain's smallest unit, as decimal text. */
  readonly maxFee: string
  readonly priorityFee: string
}

/** What has become of the transactions that were signed for a subject. */
export type AnchorSighting =
  /** The chain does not have it yet. `isKnown`: a node holds it; else it has to be sent again. */
  | { readonly state: 'waiting'; readonly isKnown: boolean }
  /** In a block that may yet be replaced. */
  | { readonly state: 'mined'; readonly txHash: string; readonly blockNumber: number }
  /** In a block that stays. `cost` in the chain's smallest unit, as decimal text. */
  | { readonly state: 'final'; readonly anchor: Anchor; readonly cost: string; readonly gasUsed: number }
  /** None of them can land any more: another transaction has their nonce, or the one that landed has reverted; both in a block that stays. */
  | { readonly state: 'dropped'; readonly problem: AnchorerErrorCode }

export type AnchorerErrorCode =
  /** The node can not be reached, or does not answer in time. */
  | 'rpc_unavailable'
  | 'rate_limited'
  /** The node answers what makes no sense. */
  | 'unexpected_response'
  | 'wrong_chain'
  /** There is no contract at an address that needs one, or the account is one. */
  | 'no_code'
  | 'account_is_contract'
  /** The contract that is to attest is another one, or does not go by the registry that is configured. */
  | 'not_eas'
  /** The schema is registered with other properties than an anchor has. */
  | 'schema_differs'
  /** The schema's registration has been sent, and has not landed yet. */
  | 'schema_pending'
  | 'insufficient_balance'
  /** Fees are above what the operator allows. */
  | 'fee_ceiling'
  | 'reverted'
  /** Another transaction of the account took the nonce. */
  | 'nonce_taken'
  /** The account has not used all nonces below that of what is signed, which can not land until it does. */
  | 'nonce_gap'
  /** The anchor before this one is not on the chain. */
  | 'previous_missing'

/** What keeps an anchorer from going on now; it is tried again. The message holds no secret. */
export class AnchorerError extends Error {
  override readonly name = 'AnchorerError'
  readonly code: AnchorerErrorCode
  readonly retryAfterMs?: number

  constructor(
    code: AnchorerErrorCode,
    message: string,
    options: { readonly retryAfterMs?: number; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause })
    this.code = code
    if (options.retryAfterMs !== undefined) this.retryAfterMs = options.retryAfterMs
  }
}

export interface AnchorAccount {
  readonly address: string
  /** In the chain's smallest unit, as decimal text. */
  readonly balance: string
}

/** All methods ask the chain for its id first, and throw AnchorerError. They change nothing but what they say. */
export interface Anchorer {
  /** CAIP-2. */
  readonly chain: string
  readonly scheme: string
  /** At the least so long between two anchors. */
  readonly intervalMs: number
  /** How long a sent transaction may wait for a block before it is signed again with higher fees. */
  readonly stuckAfterMs: number
  /** Without any request. */
  identity(): AnchorIdentity
  account(signal: AbortSignal): Promise<AnchorAccount>
  /** Makes sure that the chain, its contracts and the account are as they should be; registers the schema when it is missing. */
  prepare(signal: AbortSignal): Promise<void>
  /**
   * Signs an attestation of the subject. With earlier ones: again, with their nonce and fees at least a quarter above the
   * last; within the operator's ceiling. Nothing is sent.
   */
  sign(subject: AnchorSubject, earlier: readonly SignedAnchor[], signal: AbortSignal): Promise<SignedAnchor>
  /** That a node has it already is no error. */
  send(signed: SignedAnchor, signal: AbortSignal): Promise<void>
  /**
   * Goes by the nonce and by the account's own attestations of this subject, never by one hash alone. With nothing signed: whether
   * one of the account's last transactions attested the subject all the same, before the host's database was restored or copied; else
   * it is waiting, and not known. The host asks so before it signs for the first time.
   */
  look(subject: AnchorSubject, signed: readonly SignedAnchor[], signal: AbortSignal): Promise<AnchorSighting>
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
  /** `cause`: why the chain is unreadable. */
  | { readonly anchor: AnchorProblem; readonly cause?: unknown }
