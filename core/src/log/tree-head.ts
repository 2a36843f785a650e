/** Signed tree heads and consistency documents: their wire format, and how a head is signed. */
import { toBase64url } from '../encoding.ts'
import type { Instant } from '../evidence.ts'
import { sha256Text } from '../receipt/digest.ts'
import { canonicalBytes } from '../receipt/jcs.ts'
import { DOMAINS, type Signature } from '../signing/message.ts'
import type { Signer } from '../signing/signer.ts'
import { formatInstant } from '../time.ts'

export interface TreeHead {
  readonly logId: string
  readonly treeSize: number
  readonly rootHash: Uint8Array
  readonly issuedAt: Instant
}

export type SignedTreeHead = { readonly body: TreeHeadBody; readonly signature: Signature }

/** The signature is over exactly these members. */
export type TreeHeadBody = {
  readonly log_id: string
  readonly tree_size: number
  readonly root_hash: string
  readonly issued_at: string
}

/** A proof that the tree of size `first` is the beginning of the tree of size `second`. Hashes are base64url. */
export type ConsistencyDocument = {
  readonly log_id: string
  readonly first: number
  readonly first_root: string
  readonly second: number
  readonly second_root: string
  readonly proof: readonly string[]
}

/** The answer of `/v1/log/proof`. */
export type InclusionDocument = {
  readonly log_id: string
  readonly leaf_index: number
  readonly tree_size: number
  readonly leaf_hash: string
  readonly root_hash: string
  readonly inclusion: readonly string[]
}

/** base64url(SHA-256(the log's name)). */
export function logIdOf(name: string): string {
  return sha256Text(name)
}

export function treeHeadBody({ logId, treeSize, rootHash, issuedAt }: TreeHead): TreeHeadBody {
  return {
    log_id: logId,
    tree_size: treeSize,
    root_hash: toBase64url(rootHash),
    issued_at: formatInstant(issuedAt),
  }
}

export async function signTreeHead(signer: Signer, head: TreeHead): Promise<SignedTreeHead> {
  const body = treeHeadBody(head)
  return { body, signature: await signer.sign(DOMAINS.treeHead, canonicalBytes(body)) }
}
