/** The check of an entry's proof of inclusion, for entries of every kind. */
import { fromBase64url, utf8 } from '../encoding.ts'
import type { JsonObject } from '../json.ts'
import { treeHasher, verifyInclusion } from '../log/merkle.ts'
import { canonicalize } from './jcs.ts'
import { isInclusion } from './schema.ts'

/** Tells whether the entry is in the tree with the proof's root. An anchor or a signed tree head proves that this is the log's root. */
export function checkInclusion({ body, signature, proof }: JsonObject): boolean | 'absent' {
  if (proof === undefined) return 'absent'
  if (body === undefined || signature === undefined || !isInclusion(proof)) return false
  const hasher = treeHasher()
  return verifyInclusion(
    {
      leafIndex: proof.leaf_index,
      treeSize: proof.tree_size,
      leafHash: hasher.leaf(utf8(canonicalize({ body, signature }))),
      rootHash: fromBase64url(proof.root_hash)!,
      path: proof.inclusion.map((hash) => fromBase64url(hash)!),
    },
    hasher,
  )
}
