/** An issuer's published keys, and when each of them was in use. */
import { sha256 } from '@noble/hashes/sha2.js'
import type { KeyDocument as WireKeyDocument } from '../api/keys.ts'
import type { DeepReadonly } from '../api/primitives.ts'
import { fromBase64url, toBase64url } from '../encoding.ts'
import type { Instant } from '../evidence.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { parseStrictJson } from '../receipt/strict-json.ts'
import { parseInstant } from '../time.ts'

export type KeyDocument = DeepReadonly<WireKeyDocument>
export type KeyEntry = KeyDocument['keys'][number]

/** The parts of a key document that a checker uses. */
export interface KeySet {
  readonly keys: ReadonlyMap<string, PublishedKey>
  readonly anchorAddresses: readonly string[]
  readonly anchorSchemas: readonly string[]
}

export interface PublishedKey {
  readonly keyId: string
  readonly publicKey: Uint8Array
  readonly validFrom: Instant
  readonly revokedAt: Instant | null
}

export class KeySetError extends Error {
  override readonly name = 'KeySetError'
  readonly code = 'not_a_key_document'

  constructor(options: { readonly cause?: unknown } = {}) {
    super('the text is not a key document', options)
  }
}

/** The id of a key: `ed25519:` and the SHA-256 of the raw public key in base64url. */
export function keyIdOf(publicKey: Uint8Array): string {
  return `ed25519:${toBase64url(sha256(publicKey))}`
}

/**
 * Parses a key document. Ignores entries that are malformed, whose id is not the hash of their key, or that share an id with another entry: no
 * signature is valid under them.
 * @param text a key document
 * @throws KeySetError when the text is not a key document at all
 */
export function parseKeySet(text: string): KeySet {
  const document = readDocument(text)
  const entries = list(document.keys)
  if (!entries) throw new KeySetError()
  const uses = new Map<JsonValue | undefined, number>()
  for (const entry of entries) {
    const id = isJsonObject(entry) ? entry.key_id : undefined
    uses.set(id, (uses.get(id) ?? 0) + 1)
  }
  const keys = new Map<string, PublishedKey>()
  for (const entry of entries) {
    const key = toPublishedKey(entry)
    if (key && uses.get(key.keyId) === 1) keys.set(key.keyId, key)
  }
  return {
    keys,
    anchorAddresses: texts(document.anchor_addresses),
    anchorSchemas: texts(document.anchor_schemas),
  }
}

/** The key with that id, if it was in use at that moment: from `valid_from`, and until before `revoked_at`. */
export function keyInUse({ keys }: KeySet, keyId: string, at: Instant): PublishedKey | undefined {
  const key = keys.get(keyId)
  if (!key || at < key.validFrom) return undefined
  return key.revokedAt === null || at < key.revokedAt ? key : undefined
}

function toPublishedKey(entry: JsonValue): PublishedKey | undefined {
  if (!isJsonObject(entry)) return undefined
  const { key_id, public_key, valid_from, revoked_at } = entry
  const publicKey = typeof public_key === 'string' ? fromBase64url(public_key, 32) : undefined
  const validFrom = instant(valid_from)
  const revokedAt = revoked_at === null ? null : instant(revoked_at)
  if (!publicKey || validFrom === undefined || revokedAt === undefined) return undefined
  const keyId = keyIdOf(publicKey)
  return key_id === keyId ? { keyId, publicKey, validFrom, revokedAt } : undefined
}

function readDocument(text: string): JsonObject {
  let value: JsonValue
  try {
    value = parseStrictJson(text).value
  } catch (cause) {
    throw new KeySetError({ cause })
  }
  if (!isJsonObject(value)) throw new KeySetError()
  return value
}

function instant(value: JsonValue | undefined): Instant | undefined {
  return typeof value === 'string' ? parseInstant(value) : undefined
}

function list(value: JsonValue | undefined): readonly JsonValue[] | undefined {
  return Array.isArray(value) ? value : undefined
}

function texts(value: JsonValue | undefined): readonly string[] {
  return list(value)?.filter((item) => typeof item === 'string') ?? []
}
