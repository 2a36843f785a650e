/** Tells whether two roots are of the same log: a consistency proof leads from the smaller tree to the larger one. */
import { fromBase64url } from '../encoding.ts'
import { isConsistencyDocument } from '../receipt/schema.ts'
import { parseStrictJson } from '../receipt/strict-json.ts'
import { verifyConsistency } from './merkle.ts'

interface SizedRoot {
  readonly treeSize: number
  readonly root: Uint8Array
}

/**
 * Tells whether a document's path leads from one root to the other. The path must connect the sizes and roots at hand, whatever the document states
 * about them.
 * @param older the root of the smaller tree
 * @param document a consistency document. Any text gives an answer.
 */
export function areConnected(older: SizedRoot, newer: SizedRoot, document: string): boolean {
  const path = readPath(document)
  const sizes = { first: older.treeSize, second: newer.treeSize }
  return path !== undefined && verifyConsistency({ ...sizes, firstRoot: older.root, secondRoot: newer.root, path })
}

function readPath(document: string): readonly Uint8Array[] | undefined {
  try {
    const { value } = parseStrictJson(document)
    return isConsistencyDocument(value) ? value.proof.map((hash) => fromBase64url(hash)!) : undefined
  } catch {
    return undefined
  }
}
