/** Checks a log's own documents: its signed tree heads, what is in a state of it, and the consistency of two of its states. */
import { fromBase64url } from '../encoding.ts'
import { isConsistencyDocument, isInclusionDocument, isTreeHead } from '../receipt/schema.ts'
import { integerJson } from '../receipt/strict-json.ts'
import { type KeySet, keyInUse } from '../signing/key-set.ts'
import { DOMAINS, verifySignature } from '../signing/message.ts'
import { parseInstant } from '../time.ts'
import { verifyConsistency, verifyInclusion } from './merkle.ts'

export interface TreeHeadReport {
  readonly valid: boolean
  readonly checks: { readonly shape: boolean; readonly key: boolean; readonly signature: boolean }
}

/** Checks a signed tree head. @param text a signed tree head. Any text gives a report. */
export function checkTreeHead(text: string, keys: KeySet): TreeHeadReport {
  const head = integerJson(text)
  if (!isTreeHead(head)) return report(false, false, false)
  const key = keyInUse(keys, head.signature.key_id, parseInstant(head.body.issued_at)!)
  if (!key) return report(true, false, false)
  return report(true, true, verifySignature(key.publicKey, DOMAINS.treeHead, head.body, head.signature.value))
}

/**
 * Tells whether an inclusion document's proof leads from its leaf to its root. A signed tree head alone proves that this is the log's root.
 * @param text an inclusion document. Any text gives an answer.
 */
export function checkInclusion(text: string): { readonly valid: boolean } {
  const document = integerJson(text)
  if (!isInclusionDocument(document)) return { valid: false }
  const valid = verifyInclusion({
    leafIndex: document.leaf_index,
    treeSize: document.tree_size,
    leafHash: fromBase64url(document.leaf_hash)!,
    rootHash: fromBase64url(document.root_hash)!,
    path: document.inclusion.map((hash) => fromBase64url(hash)!),
  })
  return { valid }
}

/**
 * Tells whether a consistency document's proof connects its two roots. Signed tree heads alone prove that these are the log's roots.
 * @param text a consistency document. Any text gives an answer.
 */
export function checkConsistency(text: string): { readonly valid: boolean } {
  const document = integerJson(text)
  if (!isConsistencyDocument(document)) return { valid: false }
  const valid = verifyConsistency({
    first: document.first,
    second: document.second,
    firstRoot: fromBase64url(document.first_root)!,
    secondRoot: fromBase64url(document.second_root)!,
    path: document.proof.map((hash) => fromBase64url(hash)!),
  })
  return { valid }
}

function report(shape: boolean, key: boolean, signature: boolean): TreeHeadReport {
  return { valid: signature, checks: { shape, key, signature } }
}
