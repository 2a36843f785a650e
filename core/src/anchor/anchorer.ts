/**
 * The contract for anchoring: an anchorer publishes the log's root on a chain, where the log's operator cannot change it. The host
 * decides when, and stores what was signed; the anchorer knows the chain.
 */

/** A state of the log to anchor. */
export interface AnchorSubject {
  readonly logId: string
  readonly treeSize: number
  readonly rootHash: Uint8Array
  /** The anchor before this one; `null` for the first. */
  readonly previous: (Pick<Anchor, 'uid' | 'treeSize'> & { readonly rootHash: Uint8Array }) | null
}

/** An anchor on the chain, in a final block. */
export interface Anchor {
  /** The chain by its CAIP-2 id. */
  readonly chain: string
  readonly scheme: string
  /** The attestation's id. */
  readonly uid: string
  readonly txHash: string
  readonly treeSize: number
  /** The anchored root of the log, in base64url. */
  readonly rootHash: string
  readonly blockNumber: number
  /** The time of the anchor's block, in Unix seconds. */
  readonly blockTime: number
}

/** The part of the key document about an anchorer, by which others recognize its anchors. */
export interface AnchorIdentity {
  /** The address of the account that attests. */
  readonly attester: string
  /** The uid of the attestations' schema. */
  readonly schema: string
}

/** A signed transaction. The host stores it before it is sent, so that no second one attests the same. It holds no secret. */
export interface SignedAnchor {
  readonly txHash: string
  /** The nonce of the account's transaction. All transactions for one subject have the same, so that at most one of them gets into the chain. */
  readonly nonce: number
  /** The transaction as it is sent, in hex. */
  readonly raw: string
  /** The price of a unit of gas, in the chain's smallest unit, as decimal text. */
  readonly maxFee: string
  readonly priorityFee: string
}

/** The state of the transactions that were signed for a subject. */
export type AnchorSighting =
  /** `waiting`: no transaction is in a block yet. `isKnown`: the node has one; otherwise it has to be sent again. */
  | { readonly state: 'waiting'; readonly isKnown: boolean }
  /** `mined`: a transaction is in a block that may still be replaced. */
  | { readonly state: 'mined'; readonly txHash: string; readonly blockNumber: number }
  /** `final`: a transaction is in a final block. `cost`: in the chain's smallest unit, as decimal text. */
  | { readonly state: 'final'; readonly anchor: Anchor; readonly cost: string; readonly gasUsed: number }
  /** `dropped`: no transaction can become an anchor any more. In a final block, another one has used their nonce, or one of them has reverted. */
  | { readonly state: 'dropped'; readonly problem: AnchorerErrorCode }

export type AnchorerErrorCode =
  /** `rpc_unavailable`: the node cannot be reached, or does not answer in time. */
  | 'rpc_unavailable'
  | 'rate_limited'
  /** `unexpected_response`: the node's answer is not a proper one, or contradicts another. */
  | 'unexpected_response'
  /** `wrong_chain`: the node is of another chain than the one that is configured. */
  | 'wrong_chain'
  /** `no_code`: there is no contract at an address that needs one. */
  | 'no_code'
  | 'account_is_contract'
  /** `not_eas`: the contract is not the attestation service, or uses another schema registry than the one that is configured. */
  | 'not_eas'
  /** `schema_differs`: the schema is registered with other properties than an anchor has. */
  | 'schema_differs'
  /** `schema_pending`: the schema's registration has been sent, and is not in a block yet. */
  | 'schema_pending'
  | 'insufficient_balance'
  /** `fee_ceiling`: the chain's fees are higher than the operator allows. */
  | 'fee_ceiling'
  | 'reverted'
  /** `nonce_taken`: another transaction of the account has used the nonce. */
  | 'nonce_taken'
  /** `nonce_gap`: the account has not used all nonces below the signed one. The chain takes the transaction only after those. */
  | 'nonce_gap'
  /** `previous_missing`: the subject's previous anchor is not on the chain. */
  | 'previous_missing'

/** The error of an anchorer that cannot do its work now. The host tries again. The message holds no secret. */
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

/** A root of a log that an anchorer's account attested. */
export interface AttestedRoot {
  readonly logId: string
  readonly treeSize: number
  readonly rootHash: Uint8Array
  readonly txHash: string
  /** The time of the attestation's block, in Unix seconds. */
  readonly time: number
}

/** The blocks that are searched, downwards, and the number of roots to find. */
export interface AttestedRange {
  readonly limit: number
  /** The newest block that is searched. Defaults to the chain's latest. */
  readonly from?: number
  /** The oldest block that is searched. */
  readonly to: number
}

export interface AttestedSearch {
  /** The attested roots, newest first. */
  readonly roots: readonly AttestedRoot[]
  /** The block at which a search goes on that was cut short before it found any root; null if the search came to its end. */
  readonly next: number | null
}

export interface AnchorAccount {
  readonly address: string
  /** The account's balance in the chain's smallest unit, as decimal text. */
  readonly balance: string
}

/**
 * The service that anchors a log. Each method but `identity` asks the node for its chain's id first. Only `prepare` and `send` send transactions.
 * @throws AnchorerError each method but `identity`
 */
export interface Anchorer {
  /** The chain by its CAIP-2 id. */
  readonly chain: string
  readonly scheme: string
  /** The shortest time between two anchors. */
  readonly intervalMs: number
  /** Milliseconds that a sent transaction waits for a block before it is signed again with higher fees. */
  readonly stuckAfterMs: number
  /** Describes the anchorer for the key document. Makes no request. */
  identity(): AnchorIdentity
  account(signal: AbortSignal): Promise<AnchorAccount>
  /** Checks the chain, the contracts and the account, and registers the schema if it is missing. */
  prepare(signal: AbortSignal): Promise<void>
  /**
   * Signs an attestation of the subject, with fees up to the operator's ceiling. Sends nothing.
   *
   * @param earlier what was signed for this subject before, oldest first: the new transaction replaces it, with the same nonce and
   *   fees at least a quarter higher
   */
  sign(subject: AnchorSubject, earlier: readonly SignedAnchor[], signal: AbortSignal): Promise<SignedAnchor>
  /** Sends a signed transaction. It is no error when the node has the transaction already. */
  send(signed: SignedAnchor, signal: AbortSignal): Promise<void>
  /**
   * Finds the state of the signed transactions by their nonce and by the account's attestations of this subject, so that it finds an
   * anchor also when its hash is unknown.
   *
   * @param signed what was signed for this subject, oldest first. The host asks with none before it signs for the first time: its
   *   database may have been restored from an older copy. Then the account's last transactions are searched for one that attests the subject.
   */
  look(subject: AnchorSubject, signed: readonly SignedAnchor[], signal: AbortSignal): Promise<AnchorSighting>
  /**
   * Finds what the configured account attested of this log: a host compares its database with that before it signs. Only what a signature of the
   * account proves counts, because it can stop the service. Makes a bounded number of requests: a host calls it again with `next`, and takes
   * "none" for an answer only at the end of the range.
   */
  attested?(logId: string, range: AttestedRange, signal: AbortSignal): Promise<AttestedSearch>
}

/** An anchor as a service stores it, while it is on its way and afterwards. */
export interface StoredAnchor {
  readonly chain: string
  readonly scheme: string
  readonly attester: string
  readonly schema: string
  /** The log's id, in base64url. */
  readonly logId: string
  readonly treeSize: number
  readonly rootHash: Uint8Array
  /** The attestation's id. `null` before the anchor is in a final block, as are the members below. */
  readonly uid: string | null
  readonly txHash: string | null
  readonly blockTime: number | null
  readonly signed: readonly SignedAnchor[]
}

/**
 * Says what is wrong with a stored anchor by the bytes of what was signed for it. Makes no request, and returns nothing for an anchor of another kind.
 *
 * @param previous the anchor to which this one refers
 */
export type AnchorExaminer = (anchor: StoredAnchor, previous: StoredAnchor | undefined) => readonly string[]
