// Test run: both-databases, every-node
/** The log over the API: heads, entries and proofs that the library checks. Threats W5 and S3 of `security.md`. */

import { checkConsistency, checkTreeHead, verifyConsistency, verifyInclusion } from '@claimcheck/core/log'
import { fromBase64url, parseKeySet } from '@claimcheck/core/receipts'
import { createLogGrowth } from '@claimcheck/server/features/log/growth'
import t from 'tap'
import { afterFile } from '../support/after-file.ts'
import { Installation } from '../support/installation.ts'

const LEAVES = 600

const installation = await Installation.start()
afterFile(() => installation.remove())
const client = await installation.client('log')
const get = (path: string) => installation.request(path)
const bytes = (text: string) => fromBase64url(text, 32)!

t.test('the empty log has a signed head, and nothing to prove', async (t) => {
  const { body } = await get('/v1/log/head')
  t.match(body, { tree_head: { body: { tree_size: 0 } }, anchor: null })
  t.match(await get('/v1/log/entries'), { status: 200, body: { tree_size: 0, entries: [], next: null } })
  t.equal((await get('/v1/log/proof?leaf_index=0')).status, 400)
  t.equal((await get('/v1/log/consistency?first=1')).status, 404)
  t.match(await get('/v1/log/anchors'), { status: 200, body: { anchors: [], next: null } })
})

t.test(`a log of ${LEAVES} receipts`, async (t) => {
  const receiptIds: string[] = []
  for (let i = 0; i < LEAVES; i += 50) {
    const answers = await Promise.all(Array.from({ length: 50 }, () => client.submit()))
    for (const { body } of answers) receiptIds.push(body.receipt_id ?? (await client.decided(body.claim_id)).receipt_id)
  }
  const keys = parseKeySet(JSON.stringify((await get('/.well-known/poaw-keys.json')).body))
  const { tree_head } = (await get('/v1/log/head')).body
  const { log_id, tree_size, root_hash } = tree_head.body

  t.equal(tree_size, LEAVES)
  t.match(checkTreeHead(JSON.stringify(tree_head), keys), { valid: true })

  t.test('finds a leaf by its hash, and counts the entries of today', async (t) => {
    const { log, storage, now } = installation.claimcheck
    const { entries } = (await get('/v1/log/entries?start=333&limit=1')).body
    t.equal(await log.leafIndexOf(entries[0].leaf_hash), 333)
    t.equal(await log.leafIndexOf('A'.repeat(43)), undefined)
    t.equal(await log.leafIndexOf('no hash'), undefined)
    const days = await createLogGrowth({ storage, now }).days(2)
    t.equal(
      days.reduce((sum, { entries }) => sum + entries, 0),
      LEAVES,
    )
  })

  t.test('lists every leaf once, in order, and nothing but index, hash and time', async (t) => {
    const listed: { leaf_index: number; leaf_hash: string; created_at: string }[] = []
    let next: number | null = 0
    while (next !== null) {
      const page: { body: { entries: typeof listed; next: number | null } } = await get(
        `/v1/log/entries?start=${next}&limit=100`,
      )
      listed.push(...page.body.entries)
      next = page.body.next
    }
    t.strictSame(
      listed.map((entry) => entry.leaf_index),
      Array.from({ length: LEAVES }, (_, index) => index),
    )
    t.strictSame([...new Set(listed.flatMap(Object.keys))].sort(), ['created_at', 'leaf_hash', 'leaf_index'])
    const newest = (await get('/v1/log/entries')).body
    t.strictSame([newest.entries.length, newest.entries[0].leaf_index, newest.next], [50, LEAVES - 50, null])
    t.match(await get(`/v1/log/entries?start=${LEAVES}`), { status: 200, body: { entries: [], next: null } })
    t.equal((await get(`/v1/log/entries?start=${LEAVES + 1}`)).status, 404)
  })

  t.test('proves each leaf in the newest tree, and in trees of other sizes', async (t) => {
    for (const [leafIndex, treeSize] of [
      [0, 1],
      [0, 256],
      [255, 256],
      [256, 257],
      [299, 300],
      [100, 511],
      [0, LEAVES],
      [599, LEAVES],
    ] as const) {
      const { body } = await get(`/v1/log/proof?leaf_index=${leafIndex}&tree_size=${treeSize}`)
      t.equal(body.log_id, log_id)
      const holds = verifyInclusion({
        leafIndex,
        treeSize,
        leafHash: bytes(body.leaf_hash),
        rootHash: bytes(body.root_hash),
        path: body.inclusion.map(bytes),
      })
      t.ok(holds, `leaf ${leafIndex} of ${treeSize}`)
    }
    t.match((await get('/v1/log/proof?leaf_index=7')).body, { tree_size: LEAVES, root_hash })
    t.equal((await get(`/v1/log/proof?leaf_index=${LEAVES}`)).status, 400)
    t.equal((await get('/v1/log/proof?leaf_index=9&tree_size=9')).status, 400)
    t.equal((await get(`/v1/log/proof?leaf_index=0&tree_size=${LEAVES + 1}`)).status, 404)
  })

  t.test('proves that every smaller tree is its beginning', async (t) => {
    for (const [first, second] of [
      [1, 2],
      [255, 256],
      [256, 257],
      [300, LEAVES],
      [LEAVES, LEAVES],
    ] as const) {
      const { body } = await get(`/v1/log/consistency?first=${first}&second=${second}`)
      const holds = verifyConsistency({
        first,
        second,
        firstRoot: bytes(body.first_root),
        secondRoot: bytes(body.second_root),
        path: body.proof.map(bytes),
      })
      t.ok(holds, `${first} in ${second}`)
      t.match(checkConsistency(JSON.stringify(body)), { valid: true })
    }
    t.match((await get('/v1/log/consistency?first=3')).body, { second: LEAVES, second_root: root_hash })
    t.equal((await get('/v1/log/consistency?first=0')).status, 400)
    t.equal((await get('/v1/log/consistency?first=5&second=4')).status, 400)
    t.equal((await get(`/v1/log/consistency?first=1&second=${LEAVES + 1}`)).status, 404)
  })

  t.test('gives each receipt with a proof of its own leaf', async (t) => {
    const proofs = await Promise.all(
      receiptIds.slice(0, 40).map(async (id) => (await get(`/v1/receipts/${id}`)).body.proof),
    )
    t.equal(new Set(proofs.map((proof) => proof.leaf_index)).size, 40)
    t.ok(proofs.every((proof) => proof.root_hash === root_hash && proof.log_id === log_id))
    t.ok(proofs.every((proof) => !('anchor' in proof)))
  })
})

t.test('after a rotation the new key signs, and what the old one signed stays valid', async (t) => {
  const before = (await client.submit()).body
  const { keyId, retiredKeyId } = await installation.claimcheck.signingKeys.rotate()
  const after = (await client.submit()).body
  const document = (await get('/.well-known/poaw-keys.json')).body
  t.strictSame(
    document.keys.map((key: { key_id: string }) => key.key_id),
    [retiredKeyId, keyId],
  )
  t.equal(document.keys[0].revoked_at, document.keys[1].valid_from)
  for (const [claim, key] of [
    [before, retiredKeyId],
    [after, keyId],
  ] as const) {
    const { body } = await get(`/v1/receipts/${claim.receipt_id}`)
    t.equal(body.body.issuer.key_id, key)
  }
  const { tree_head } = (await get('/v1/log/head')).body
  t.match(checkTreeHead(JSON.stringify(tree_head), parseKeySet(JSON.stringify(document))), { valid: true })
})
