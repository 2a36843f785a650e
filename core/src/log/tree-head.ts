/** Signed tree heads and consistency documents: their wire format, and how a head is signed. */
import type { ConsistencyProof, InclusionProof, LogHead } from '../api/log.ts'
import type { DeepReadonly } from '../api/primitives.ts'
import { toBase64url } from '../encoding.ts'
import type { Instant } from '../evidence.ts'
import { sha256Text } from '../receipt/digest.ts'
import { canonicalBytes } from '../receipt/jcs.ts'
import { DOMAINS } from '../signing/message.ts'
import type { Signer } from '../signing/signer.ts'
import { formatInstant } from '../time.ts'

interface TreeHead {
  readonly logId: string
  readonly treeSize: number
  readonly rootHash: Uint8Array
  readonly issuedAt: Instant
}

export type SignedTreeHead = DeepReadonly<LogHead['tree_head']>
export type ConsistencyDocument = DeepReadonly<ConsistencyProof>
export type InclusionDocument = DeepReadonly<InclusionProof>

/** The log's id: base64url(SHA-256(the log's name)). */
export function logIdOf(name: string): string {
  return sha256Text(name)
}

export function treeHeadBody({ logId, treeSize, rootHash, issuedAt }: TreeHead): SignedTreeHead['body'] {
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
