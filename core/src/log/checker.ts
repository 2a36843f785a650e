/** Checks what a log says of itself: its signed tree heads, and that it only grows. */
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

export function checkTreeHead(text: string, keys: KeySet): TreeHeadReport {
  const head = readIntegerJson(text)
  if (head === undefined || !isTreeHead(head)) return report(false, false, false)
  const key = keyInUse(keys, head.signature.key_id, parseInstant(head.body.issued_at)!)
  if (!key) return report(true, false, false)
  return report(true, true, verifySignature(key.publicKey, DOMAINS.treeHead, head.body, head.signature.value))
}

/** Whether the proof connects the two roots. Whether these are the log's own is for its signed tree heads to say. */
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
