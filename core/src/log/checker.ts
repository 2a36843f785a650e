/** Checks a log's own documents: its signed tree heads, and the consistency of two of its states. */
import { fromBase64url } from '../encoding.ts'
import type { JsonValue } from '../json.ts'
import { isConsistencyDocument, isTreeHead } from '../receipt/schema.ts'
import { parseStrictJson } from '../receipt/strict-json.ts'
import { type KeySet, keyInUse } from '../signing/key-set.ts'
import { DOMAINS, verifySignature } from '../signing/message.ts'
import { parseInstant } from '../time.ts'
import { verifyConsistency } from './merkle.ts'

export interface TreeHeadReport {
  readonly valid: boolean
  readonly checks: { readonly shape: boolean; readonly key: boolean; readonly signature: boolean }
}

/** @param text a signed tree head. Any text gives a report. */
export function checkTreeHead(text: string, keys: KeySet): TreeHeadReport {
  const head = readIntegerJson(text)
  if (head === undefined || !isTreeHead(head)) return report(false, false, false)
  const key = keyInUse(keys, head.signature.key_id, parseInstant(head.body.issued_at)!)
  if (!key) return report(true, false, false)
  return report(true, true, verifySignature(key.publicKey, DOMAINS.treeHead, head.body, head.signature.value))
}

/**
 * Whether a consistency document's proof connects its two roots. That these are the log's roots is proven by signed tree heads alone.
 *
 * @param text a consistency document. Any text gives an answer.
 */
export function checkConsistency(text: string): { readonly valid: boolean } {
  const document = readIntegerJson(text)
  if (document === undefined || !isConsistencyDocument(document)) return { valid: false }
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

function readIntegerJson(text: string): JsonValue | undefined {
  try {
    const { value, integersOnly } = parseStrictJson(text)
    return integersOnly ? value : undefined
  } catch {
    return undefined
  }
}
