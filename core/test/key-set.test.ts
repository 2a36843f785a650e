/** Reading key documents. Threat K6 of `security.md`. */

import { createNobleSigner, KeySetError, keyInUse, parseKeySet, toBase64url } from '@claimcheck/core/receipts'
import { parseInstant } from '@claimcheck/core/rules'
import t from 'tap'

const { keyId, publicKey } = createNobleSigner(new Uint8Array(32).fill(1))
const FROM = '2026-01-01T00:00:00.000Z'
const UNTIL = '2026-06-01T00:00:00.000Z'
const ENTRY = { key_id: keyId, public_key: toBase64url(publicKey), valid_from: FROM, revoked_at: UNTIL }

function keysOf(...entries: unknown[]): string[] {
  return [...parseKeySet(JSON.stringify({ keys: entries })).keys.keys()]
}

t.test('a key is in use from valid_from on, until just before revoked_at', async (t) => {
  const keys = parseKeySet(JSON.stringify({ keys: [ENTRY] }))
  const [from, until] = [parseInstant(FROM)!, parseInstant(UNTIL)!]
  t.equal(keyInUse(keys, keyId, from - 1), undefined)
  t.strictSame(keyInUse(keys, keyId, from)?.publicKey, publicKey)
  t.strictSame(keyInUse(keys, keyId, until - 1)?.publicKey, publicKey)
  t.equal(keyInUse(keys, keyId, until), undefined)
  t.equal(keyInUse(keys, 'ed25519:other', from), undefined)
})

t.test('a key without revocation stays in use', async (t) => {
  const keys = parseKeySet(JSON.stringify({ keys: [{ ...ENTRY, revoked_at: null }] }))
  t.ok(keyInUse(keys, keyId, parseInstant('9999-12-31T23:59:59.999Z')!))
})

t.test('a malformed entry is ignored, and the others are used', async (t) => {
  const other = createNobleSigner(new Uint8Array(32).fill(2))
  const good = { ...ENTRY, key_id: other.keyId, public_key: toBase64url(other.publicKey) }
  const malformed = [
    null,
    'key',
    [],
    {},
    { ...ENTRY, key_id: other.keyId },
    { ...ENTRY, key_id: keyId.toUpperCase() },
    { ...ENTRY, public_key: `${ENTRY.public_key}=` },
    { ...ENTRY, public_key: toBase64url(publicKey.subarray(0, 31)) },
    { ...ENTRY, public_key: 1 },
    { ...ENTRY, valid_from: '2026-01-01T00:00:00Z' },
    { ...ENTRY, valid_from: null },
    { ...ENTRY, revoked_at: '2026-06-01' },
    { ...ENTRY, revoked_at: undefined },
  ]
  for (const entry of malformed.slice(0, 4)) t.strictSame(keysOf(entry, good), [other.keyId], JSON.stringify(entry))
  for (const entry of malformed.slice(4)) t.strictSame(keysOf(entry), [], JSON.stringify(entry))
})

t.test('entries that share an id are ignored', async (t) => {
  t.strictSame(keysOf(ENTRY, { ...ENTRY, revoked_at: null }), [])
})

t.test('the accounts and schemas of anchors are read, and unknown members are ignored', async (t) => {
  const document = { issuer: 'x', keys: [], anchor_addresses: ['0xab', 1], anchor_schemas: ['0xcd'], more: {} }
  const { anchorAddresses, anchorSchemas } = parseKeySet(JSON.stringify(document))
  t.strictSame(anchorAddresses, ['0xab'])
  t.strictSame(anchorSchemas, ['0xcd'])
})

t.test('a text that is not a key document is refused', async (t) => {
  for (const text of ['', 'null', '[]', '{}', '{"keys":{}}', '{"keys":[],"keys":[]}']) {
    t.throws(() => parseKeySet(text), { code: 'not_a_key_document' }, text)
    t.throws(() => parseKeySet(text), KeySetError)
  }
})
