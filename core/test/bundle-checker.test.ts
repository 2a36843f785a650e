/** A receipt with everything that is published about it: above all, its proof's root against a signed tree head. */
import { readFileSync } from 'node:fs'
import { logIdOf, signTreeHead, treeSizeIn } from '@claimcheck/core/log'
import {
  type Bundle,
  canonicalize,
  checkBundle,
  createNobleSigner,
  isUnvouched,
  KeySetError,
  parseKeySet,
  toBase64url,
} from '@claimcheck/core/receipts'
import t from 'tap'
import { forgedBundle } from '../../test/support/forged-bundle.ts'
import { hasher, naiveTree } from './naive-tree.ts'

const LOG_ID = logIdOf('claimcheck test vectors')
const ISSUED_AT = Date.UTC(2026, 4, 1)
const LEAF_INDEX = 3
/** A published key; and one that nobody published. */
const signer = createNobleSigner(new Uint8Array(32).fill(1))
const stranger = createNobleSigner(new Uint8Array(32).fill(77))
const keys = read('keys.json')
const { body, signature } = JSON.parse(read('valid-included-middle-leaf.json'))
const tree = naiveTree(new Map([[LEAF_INDEX, hasher.leaf(Buffer.from(canonicalize({ body, signature })))]]))

function read(file: string): string {
  return readFileSync(`test/vectors/${file}`, 'utf8')
}

function proofAt(size: number) {
  const texts = tree.path(LEAF_INDEX, size).map((hash) => toBase64url(hash))
  return { log_id: LOG_ID, leaf_index: LEAF_INDEX, tree_size: size, root_hash: root(size), inclusion: texts }
}

function root(size: number): string {
  return toBase64url(tree.root(size))
}

async function headAt(size: number, { by = signer, logId = LOG_ID, rootHash = tree.root(size) } = {}): Promise<string> {
  return JSON.stringify(await signTreeHead(by, { logId, treeSize: size, rootHash, issuedAt: ISSUED_AT }))
}

function consistency(first: number, second: number): string {
  const proof = tree.proof(first, second).map((hash) => toBase64url(hash))
  return JSON.stringify({ log_id: LOG_ID, first, first_root: root(first), second, second_root: root(second), proof })
}

async function bundleAt(size: number, headSize: number, changed: object = {}): Promise<Bundle> {
  return {
    receipt: JSON.stringify({ body, signature, proof: { ...proofAt(size), ...changed } }),
    keys,
    tree_head: await headAt(headSize),
    ...(size < headSize ? { consistency: consistency(size, headSize) } : {}),
  }
}

/** As its issuer sent it. */
function check(bundle: Bundle) {
  return checkBundle(bundle, { fromIssuer: true })
}

const PINNED = { valid: true, key_pinned: true, vouched_by: 'pin' }

t.test('the root of a proof is that of a signed tree head, of the same size or a larger one', async (t) => {
  for (const [size, headSize] of [
    [7, 7],
    [7, 8],
    [4, 13],
    [5, 1000],
  ] as const) {
    const report = await check(await bundleAt(size, headSize))
    const holds = { tree_head: 'holds', tree_size: headSize, issued_at: '2026-05-01T00:00:00.000Z' }
    t.match(report, { valid: true, tree_head: holds }, `${size} in ${headSize}`)
  }
})

t.test('a changed log id is told', async (t) => {
  const report = await check(await bundleAt(7, 8, { log_id: logIdOf('another log') }))
  t.match(report, { valid: true, tree_head: { tree_head: 'other_log' } }, 'inclusion alone does not tell')
})

t.test('a changed tree size is told, wherever inclusion alone does not tell', async (t) => {
  let untold = 0
  for (let size = 4; size <= 14; size++) {
    for (let claimed = 4; claimed <= 24; claimed++) {
      if (claimed === size) continue
      const bundle = await bundleAt(size, 24, { tree_size: claimed })
      if (!(await check({ receipt: bundle.receipt, keys })).valid) continue
      untold++
      for (const document of [consistency(claimed, 24), consistency(size, 24)]) {
        const { tree_head } = await check({ ...bundle, consistency: document })
        t.match(tree_head, { tree_head: 'other_root' }, `${size} as ${claimed}`)
      }
    }
  }
  t.ok(untold > 20, `inclusion alone accepts ${untold} changed sizes`)
})

t.test('a size beyond the newest head is told', async (t) => {
  const report = await check({ ...(await bundleAt(7, 7, { tree_size: 8 })), consistency: consistency(7, 8) })
  t.match(report, { valid: true, tree_head: { tree_head: 'smaller_than_proof' } })
})

const HEADS: readonly (readonly [string, (bundle: Bundle) => Promise<Partial<Bundle>>, string])[] = [
  ['a head that a stranger signed', async () => ({ tree_head: await headAt(8, { by: stranger }) }), 'not_signed'],
  [
    'a head whose content was changed',
    async () => ({ tree_head: (await headAt(8)).replace('"tree_size":8', '"tree_size":9') }),
    'not_signed',
  ],
  ['a head that is no JSON', async () => ({ tree_head: '{' }), 'not_signed'],
  ['a head of another log', async () => ({ tree_head: await headAt(8, { logId: logIdOf('other') }) }), 'other_log'],
  ['a head of another history', async () => ({ tree_head: await headAt(8, { rootHash: tree.root(9) }) }), 'other_root'],
  [
    'a head of the same size with another root',
    async () => ({ tree_head: await headAt(7, { rootHash: tree.root(8) }) }),
    'other_root',
  ],
  ['a consistency proof of other sizes', async () => ({ consistency: consistency(6, 8) }), 'other_root'],
  ['a consistency proof that is no JSON', async () => ({ consistency: 'none' }), 'other_root'],
]

for (const [name, change, finding] of HEADS) {
  t.test(`${name} does not bind the proof`, async (t) => {
    const bundle = await bundleAt(7, 8)
    t.match(await check({ ...bundle, ...(await change(bundle)) }), {
      valid: true,
      tree_head: { tree_head: finding },
    })
  })
}

t.test('what is missing is not checked, and says so', async (t) => {
  const { consistency: _, ...unconnected } = await bundleAt(7, 8)
  t.match(await check(unconnected), { tree_head: { tree_head: 'consistency_proof_required' } })
  const { tree_head: __, ...headless } = unconnected
  t.notOk('tree_head' in (await check(headless)))
  await t.rejects(check({ receipt: headless.receipt }), KeySetError)
})

t.test('the answer of /v1/log/head serves as a tree head', async (t) => {
  const bundle = await bundleAt(7, 8)
  const answer = `{"tree_head":${bundle.tree_head},"anchor":null}`
  t.match(await check({ ...bundle, tree_head: answer }), { tree_head: { tree_head: 'holds' } })
  t.equal(treeSizeIn(answer), 8)
  t.equal(treeSizeIn('{"tree_head":{}}'), undefined)
})

t.test('a pinned key is the one that signed, or the report says that it is not', async (t) => {
  const bundle = await bundleAt(7, 7)
  t.match(await checkBundle(bundle, { pinnedKey: signature.key_id }), PINNED)
  for (const more of [{}, { fromIssuer: true }, { keys: parseKeySet(keys) }]) {
    const other = await checkBundle(bundle, { ...more, pinnedKey: stranger.keyId })
    t.match(other, { valid: false, verdict: null, key_pinned: false, vouched_by: 'nothing' }, 'the pin alone vouches')
  }
})

t.test('with a pinned key, another key of the bundle signs no tree head, not even of the same log', async (t) => {
  const added = {
    key_id: stranger.keyId,
    public_key: toBase64url(stranger.publicKey),
    valid_from: '2020-01-01T00:00:00.000Z',
    revoked_at: null,
  }
  const document = JSON.parse(keys)
  const both = JSON.stringify({ ...document, keys: [...document.keys, added] })
  const bundle = { ...(await bundleAt(7, 7)), keys: both, tree_head: await headAt(7, { by: stranger }) }
  const pinned = { pinnedKey: signature.key_id }
  t.match(await check(bundle), { tree_head: { tree_head: 'holds' } })
  t.match(await checkBundle(bundle, pinned), { key_pinned: true, tree_head: { tree_head: 'not_signed' } })
  const trusted = { ...pinned, keys: parseKeySet(both) }
  t.match(await checkBundle(bundle, trusted), { tree_head: { tree_head: 'holds' } }, 'the reader trusts both keys')
  t.match(await checkBundle({ ...bundle, tree_head: await headAt(7) }, pinned), { tree_head: { tree_head: 'holds' } })
})

t.test('a head of the empty tree binds nothing', async (t) => {
  const bundle = { ...(await bundleAt(7, 7)), tree_head: await headAt(0, { rootHash: hasher.empty }) }
  t.match(await check(bundle), { tree_head: { tree_head: 'smaller_than_proof' } })
})

t.test('sizes at the edge of what a number can tell are answered, and names of objects are names', async (t) => {
  for (const size of [2 ** 53 - 1, 2 ** 53]) {
    const { receipt } = await bundleAt(7, 7, { tree_size: size })
    t.match(await check({ receipt, keys }), { valid: false, checks: { inclusion: false } }, String(size))
  }
  for (const tree_head of ['{"__proto__":{"tree_head":1}}', '{"tree_head":{"__proto__":null}}', '[]', 'null'])
    t.match(await check({ ...(await bundleAt(7, 7)), tree_head }), { tree_head: { tree_head: 'not_signed' } })
})

t.test('a receipt that is not valid has no further findings', async (t) => {
  const bundle = await bundleAt(7, 8)
  const report = await check({ ...bundle, receipt: bundle.receipt.replace('"leaf_index":3', '"leaf_index":2') })
  t.equal(report.valid, false)
  for (const name of ['tree_head', 'evidence', 'key_pinned', 'source']) t.notOk(name in report, name)
})

t.test('a receipt is valid where something vouches for the key, and the report says what', async (t) => {
  const bundle = await bundleAt(7, 8)
  const trusted = { keys: parseKeySet(keys) }
  const rows = [
    [{ fromIssuer: true }, 'issuer'],
    [trusted, 'keys'],
    [{ ...trusted, fromIssuer: true }, 'issuer'],
    [{ pinnedKey: signature.key_id }, 'pin'],
  ] as const
  for (const [options, vouched_by] of rows) {
    const report = await checkBundle(bundle, options)
    t.match(report, { valid: true, verdict: 'verified', achieved_trust_level: 1, vouched_by })
    t.notOk(isUnvouched(report))
  }
})

t.test('keys that come with the bundle vouch for nothing, whatever they sign', async (t) => {
  const bundle = await bundleAt(7, 8)
  for (const one of [bundle, await forgedBundle({ ...bundle, receipt: JSON.stringify({ body, signature }) })]) {
    const report = await checkBundle(one)
    t.match(report, { valid: false, verdict: null, achieved_trust_level: 0, vouched_by: 'nothing' })
    t.match(report, { checks: { signature: true, inclusion: true }, tree_head: { tree_head: 'holds' } })
    t.ok(isUnvouched(report))
  }
  const forged = await forgedBundle(bundle)
  for (const options of [{ keys: parseKeySet(keys) }, { pinnedKey: signature.key_id }]) {
    t.match(await checkBundle(forged, options), { valid: false, verdict: null })
  }
  const broken = await checkBundle({ ...bundle, receipt: bundle.receipt.replace('"leaf_index":3', '"leaf_index":2') })
  t.match(broken, { valid: false, vouched_by: 'nothing' })
  t.notOk(isUnvouched(broken), 'what does not hold is no question of who vouches')
})

t.test('whether an anchor will follow is in the key document', async (t) => {
  const bundle = await bundleAt(7, 7)
  t.match(await check(bundle), { valid: true, issuer_anchors: false })
  const anchoring = JSON.stringify({ ...JSON.parse(keys), anchor_addresses: ['0x1'], anchor_schemas: ['0x2'] })
  t.match(await check({ ...bundle, keys: anchoring }), { valid: true, issuer_anchors: true })
})
