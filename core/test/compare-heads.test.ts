/** Whether a log still has a state that it signed, as checkers and pages ask. */
import { compareHeads, headsPath } from '@claimcheck/core/checker'
import { signTreeHead, treeHasher, treeRoot } from '@claimcheck/core/log'
import { createNobleSigner, type KeySet, utf8 } from '@claimcheck/core/receipts'
import t from 'tap'

const NOON = Date.UTC(2026, 8, 25, 12)
const MINUTE = 60_000
const signer = createNobleSigner(new Uint8Array(32).fill(3))
const key = { keyId: signer.keyId, publicKey: signer.publicKey, validFrom: 0, revokedAt: null }
const keys: KeySet = { keys: new Map([[signer.keyId, key]]), anchorAddresses: [], anchorSchemas: [] }
const LOG = 'A'.repeat(43)
const hasher = treeHasher()
const leaves = ['a', 'b'].map((text) => hasher.leaf(utf8(text)))

async function head(
  treeSize: number,
  { at = NOON, logId = LOG, by = signer, root = undefined as Uint8Array | undefined } = {},
) {
  const rootHash = root ?? (treeSize === 0 ? hasher.empty : treeRoot(leaves.slice(0, treeSize)))
  return JSON.stringify(await signTreeHead(by, { logId, treeSize, rootHash, issuedAt: at }))
}

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url')
const PROOF = JSON.stringify({
  ...{ log_id: LOG, first: 1, second: 2, first_root: text(leaves[0]!), second_root: text(treeRoot(leaves)) },
  proof: [text(leaves[1]!)],
})

t.test('a log that grew, stands still, or was followed by another lost nothing', async (t) => {
  const [one, two] = [await head(1), await head(2, { at: NOON + 1 })]
  t.equal(headsPath(one, two), '/v1/log/consistency?first=1&second=2')
  t.equal(headsPath(two, one), undefined)
  t.equal(compareHeads(one, two, keys, PROOF, NOON), 'continues')
  t.equal(compareHeads(one, one, keys, undefined, NOON), 'continues')
  t.equal(
    compareHeads(one, JSON.stringify({ tree_head: JSON.parse(one), anchor: null }), keys, undefined, NOON),
    'continues',
  )
  t.equal(compareHeads(two, await head(0, { logId: 'E'.repeat(43) }), keys, undefined, NOON), 'other_log')
  t.equal(compareHeads(one, two, keys, undefined, NOON), 'unknown', 'a proof that did not arrive')
  t.equal(compareHeads(two, one, keys, undefined, NOON + MINUTE), 'unknown', 'a replica that lags')
  const stranger = createNobleSigner(new Uint8Array(32).fill(4))
  t.equal(compareHeads(await head(2, { by: stranger }), one, keys, undefined, NOON), 'unknown')
  t.equal(compareHeads(two, await head(1, { by: stranger }), keys, undefined, NOON), 'unknown')
  for (const none of ['', '{}', 'x']) t.equal(compareHeads(none, two, keys, PROOF, NOON), 'unknown')
})

t.test('a log that is shorter, or had another root, has lost a state', async (t) => {
  const [one, two] = [await head(1), await head(2, { at: NOON + 1 })]
  t.equal(compareHeads(two, one, keys, undefined, NOON + 10 * MINUTE), 'lost', 'an old database')
  t.equal(compareHeads(two, await head(1, { at: NOON + 2 }), keys, undefined, NOON + 3), 'lost', 'it signs on')
  const other = new Uint8Array(32).fill(7)
  t.equal(compareHeads(await head(1, { root: other }), two, keys, PROOF, NOON), 'lost')
  t.equal(compareHeads(two, await head(2, { root: other }), keys, undefined, NOON), 'lost')
})
