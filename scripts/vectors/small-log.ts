/** A log of a few entries, with all hashes in one tile. */

import { joinTile, logIdOf, proveConsistency, proveInclusion, treeHasher, treeRoot } from '@claimcheck/core/log'
import { entryText, toBase64url, utf8 } from '@claimcheck/core/receipts'
import type { Draft } from './world.ts'

export const LOG_ID = logIdOf('claimcheck test vectors')

export function smallLog(entries: readonly Draft[]) {
  const hasher = treeHasher()
  const leaves = entries.map((entry) => hasher.leaf(utf8(entryText(entry))))
  const readTiles = async () => [joinTile(leaves)]
  return {
    root: (treeSize: number) => treeRoot(leaves.slice(0, treeSize)),
    async proven(leafIndex: number): Promise<Draft> {
      const { rootHash, path } = await proveInclusion(leafIndex, leaves.length, readTiles)
      const proof = {
        log_id: LOG_ID,
        leaf_index: leafIndex,
        tree_size: leaves.length,
        root_hash: toBase64url(rootHash),
        inclusion: path.map(toBase64url),
      }
      return structuredClone({ ...entries[leafIndex], proof })
    },
    async consistency(first: number, second: number): Promise<Draft> {
      const { firstRoot, secondRoot, path } = await proveConsistency(first, second, readTiles)
      return {
        log_id: LOG_ID,
        first,
        first_root: toBase64url(firstRoot),
        second,
        second_root: toBase64url(secondRoot),
        proof: path.map(toBase64url),
      }
    },
  }
}
