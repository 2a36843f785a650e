/** What anybody can make: a bundle in the name of another issuer, signed by a fresh key, with a log, keys and a tree head to match. */

import { signTreeHead } from '@claimcheck/core/log'
import {
  type Bundle,
  canonicalBytes,
  createNobleSigner,
  DOMAINS,
  entryText,
  type Receipt,
  toBase64url,
  utf8,
} from '@claimcheck/core/receipts'
import { SHA256_TREE } from '@claimcheck/server/features/log/log-rows'

/** @param real of the issuer in whose name it is made */
export async function forgedBundle(real: Bundle): Promise<Required<Pick<Bundle, 'keys' | 'tree_head'>> & Bundle> {
  const signer = createNobleSigner(crypto.getRandomValues(new Uint8Array(32)))
  const keys = JSON.parse(real.keys!)
  const { body } = JSON.parse(real.receipt) as Receipt
  const forged = { ...body, issuer: { ...body.issuer, key_id: signer.keyId } }
  const signature = await signer.sign(DOMAINS.receipt, canonicalBytes(forged as never))
  const rootHash = SHA256_TREE.leaf(utf8(entryText({ body: forged, signature })))
  const head = { logId: keys.log_id, treeSize: 1, rootHash, issuedAt: Date.parse(body.issued_at) }
  const proof = { log_id: keys.log_id, leaf_index: 0, tree_size: 1, root_hash: toBase64url(rootHash), inclusion: [] }
  const key = {
    key_id: signer.keyId,
    public_key: toBase64url(signer.publicKey),
    valid_from: '2020-01-01T00:00:00.000Z',
    revoked_at: null,
  }
  const { consistency: _, ...rest } = real
  return {
    ...rest,
    receipt: JSON.stringify({ body: forged, signature, proof }),
    keys: JSON.stringify({ ...keys, keys: [key] }),
    tree_head: JSON.stringify(await signTreeHead(signer, head)),
  }
}
