/** Checks the file that a host writes when a client has a signed tree head that its log does not contain. */
import { bytesEqual, fromBase64url } from '../encoding.ts'
import { isJsonObject, type JsonValue } from '../json.ts'
import { isConsistencyDocument, isTreeHead } from '../receipt/schema.ts'
import { integerJson } from '../receipt/strict-json.ts'
import type { KeySet } from '../signing/key-set.ts'
import { checkConsistency, checkTreeHead } from './checker.ts'
import type { SignedTreeHead } from './tree-head.ts'

/**
 * `other_root`: two trees of one size, both signed. `shrank`: a later head is of a smaller tree. `open`: both heads are signed, and both may be
 * of one log: the head of the log is older than the client's. `none`: a head is not signed, of another log, or the proof does not hold.
 */
export type Contradiction = 'other_root' | 'shrank' | 'open' | 'none'

/** @param text the file. Any text gives an answer. @param keys that signed both heads */
export function checkContradiction(text: string, keys: KeySet): Contradiction {
  const document = integerJson(text)
  if (!isJsonObject(document)) return 'none'
  const [client, log] = [document.tree_head_of_client, document.tree_head_of_log].map((head) => signedHead(head, keys))
  if (!client || !log || client.body.log_id !== log.body.log_id) return 'none'
  const [first, second] = [client.body, log.body]
  if (second.tree_size < first.tree_size) return second.issued_at > first.issued_at ? 'shrank' : 'open'
  const rootThen =
    second.tree_size === first.tree_size ? second.root_hash : rootProven(document.consistency, client, log)
  if (rootThen === undefined) return 'none'
  return bytesEqual(fromBase64url(rootThen)!, fromBase64url(first.root_hash)!) ? 'none' : 'other_root'
}

function signedHead(head: JsonValue | undefined, keys: KeySet): SignedTreeHead | undefined {
  return isTreeHead(head) && checkTreeHead(JSON.stringify(head), keys).valid ? head : undefined
}

/** @returns the root that the log's own proof gives its tree at the size of the client's head */
function rootProven(proof: JsonValue | undefined, client: SignedTreeHead, log: SignedTreeHead): string | undefined {
  if (!isConsistencyDocument(proof) || !checkConsistency(JSON.stringify(proof)).valid) return undefined
  const isOfBoth = proof.first === client.body.tree_size && proof.second === log.body.tree_size
  return isOfBoth && proof.second_root === log.body.root_hash ? proof.first_root : undefined
}
