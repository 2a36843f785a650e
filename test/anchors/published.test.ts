// Test run: end-to-end, slow, alone
/** Anchors as readers of receipts see them, and as operators do. Threat O2 of `security.md`. */
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { checkReceipt, parseKeySet } from '@claimcheck/core/receipts'
import t, { type Test } from 'tap'
import type { Client } from '../support/client.ts'
import { runClaimcheck } from '../support/command.ts'
import { Installation, SCRIPTED } from '../support/installation.ts'
import { ScriptedChain } from './scripted-chain.ts'

const HOUR_MS = 3_600_000

async function start(t: Test, intervalMs: number) {
  const file = join(t.testdir(), 'chain.json')
  const anchoring = {
    use: resolve('build/test/plugins/anchoring.js'),
    trusted: true,
    with: { file, interval_ms: intervalMs },
  }
  const installation = await Installation.during(t, { plugins: [SCRIPTED, anchoring] })
  return { installation, client: await installation.client('acme'), chain: new ScriptedChain(file) }
}

function claimcheck({ folder, env }: Installation, ...args: string[]) {
  return runClaimcheck(folder, args, env)
}

async function receiptIds(client: Client, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let claim = 0; claim < count; claim++) ids.push((await client.submit()).body.receipt_id)
  return ids
}

async function anchorNow(installation: Installation) {
  const { code, stdout, stderr } = await claimcheck(installation, 'anchor', 'now', '--json')
  if (code !== 0) throw new Error(stderr)
  return JSON.parse(stdout).anchor
}

async function firstAnchor(installation: Installation): Promise<void> {
  while ((await installation.request('/v1/log/anchors')).body.anchors.length === 0) await setTimeout(50)
}

// They wait for intervals and for the chain.
t.jobs = 3

t.test('receipts are proven at the earliest anchored size that covers them, and then never change', async (t) => {
  const { installation, client, chain } = await start(t, HOUR_MS)
  const get = async (path: string) => (await installation.request(path)).body
  t.match(await get('/v1/log/head'), { anchor: null })
  const named = { anchor_addresses: ['0xaccount'], anchor_schemas: ['0xschema'] }
  t.match(await get('/.well-known/poaw-keys.json'), named, 'before the first anchor: one will follow')

  // The server anchors the first root there is by itself; the next in an hour.
  await receiptIds(client, 1)
  await firstAnchor(installation)
  const early = await receiptIds(client, 2)
  await anchorNow(installation)
  const first = (await get('/v1/log/anchors')).anchors[0]
  t.match(first, { chain: 'scripted:1', scheme: 'eas', tree_size: 3, block_number: Number, block_time: Number })
  t.ok(chain.isFinal(first.uid))
  const late = await receiptIds(client, 2)

  const proofs = async (ids: readonly string[]) =>
    Promise.all(ids.map(async (id) => (await get(`/v1/receipts/${id}`)).proof))
  const { chain: where, scheme, uid, tx_hash } = first
  const anchored = {
    tree_size: 3,
    root_hash: first.root_hash,
    anchor: { chain: where, scheme, uid, tx_hash, tree_size: 3 },
  }
  const earlyProofs = await proofs(early)
  for (const proof of earlyProofs) t.match(proof, anchored)
  for (const proof of await proofs(late)) t.match(proof, { tree_size: 5, anchor: undefined })

  await anchorNow(installation)
  await receiptIds(client, 1)
  t.strictSame(await proofs(early), earlyProofs)
  const { anchors, next } = await get('/v1/log/anchors')
  t.strictSame(
    anchors.map((anchor: { tree_size: number }) => anchor.tree_size),
    [5, 3, 1],
  )
  t.equal(next, null)
  for (const proof of await proofs(late))
    t.match(proof, { tree_size: 5, anchor: { tree_size: 5, uid: anchors[0].uid } })
  t.match(await get('/v1/log/head'), { tree_head: { body: { tree_size: 6 } }, anchor: anchors[0] })
  const page = await (await fetch(`${installation.url}/log`)).text()
  for (const { tx_hash } of anchors) t.ok(page.includes(`<code title="${tx_hash}">`), `the log shows ${tx_hash}`)
  t.match(page, 'up to size 5')
  t.match(await (await fetch(`${installation.url}/log?anchors=3`)).text(), anchors[2].tx_hash)
  t.match(await get('/v1/log/anchors?limit=1'), { anchors: [anchors[0]], next: 5 })
  t.match(await get('/v1/log/anchors?limit=2&before=5'), { anchors: [first, { tree_size: 1 }], next: null })
  t.match(await get('/.well-known/poaw-keys.json'), { anchor_addresses: ['0xaccount'], anchor_schemas: ['0xschema'] })

  const keys = parseKeySet(JSON.stringify(await get('/.well-known/poaw-keys.json')))
  for (const id of [...early, ...late]) {
    const text = JSON.stringify(await get(`/v1/receipts/${id}`))
    t.match(await checkReceipt(text, { keys }), { valid: true, checks: { inclusion: true } })
  }
  t.match(JSON.parse((await claimcheck(installation, 'doctor', '--json')).stdout), { ok: true, problems: [] })
})

t.test('a server anchors by itself, once an interval, and only what is new', async (t) => {
  const { installation, client, chain } = await start(t, 500)
  await receiptIds(client, 2)
  const listed = async () => (await installation.request('/v1/log/anchors')).body.anchors
  while ((await listed()).length === 0) await setTimeout(50)
  await setTimeout(1200)
  t.equal((await listed()).length, 1)
  await receiptIds(client, 1)
  while ((await listed()).length === 1) await setTimeout(50)
  t.equal(chain.attested.length, 2)
})

t.test('claims are decided, and the service starts, while the chain does not answer', async (t) => {
  const { installation, client, chain } = await start(t, 200)
  for (let failure = 0; failure < 100; failure++) chain.fail('prepare', 'rpc_unavailable')
  await receiptIds(client, 1)
  await installation.stop()
  await installation.resume()
  const status = async () => JSON.parse((await claimcheck(installation, 'anchor', '--json')).stdout)
  while ((await status()).open?.problem !== 'rpc_unavailable') await setTimeout(100)
  t.match(await client.submit(), { body: { verdict: 'verified' } })
  t.match(await installation.request('/v1/log/head'), { body: { anchor: null } })
})

t.test('claimcheck anchor tells how anchoring stands', async (t) => {
  const { installation, client, chain } = await start(t, HOUR_MS)
  await receiptIds(client, 1)
  await firstAnchor(installation)
  const { anchors: before } = JSON.parse((await claimcheck(installation, 'anchor', '--json')).stdout)
  await receiptIds(client, 1)
  const anchor = await anchorNow(installation)
  t.match(anchor, { tree_size: 2, state: 'final', problem: null, cost: '100000000000000000001' })
  t.strictSame(JSON.parse((await claimcheck(installation, 'anchor', '--json')).stdout), {
    anchorer: {
      chain: 'scripted:1',
      scheme: 'eas',
      interval_s: 3600,
      attester: '0xaccount',
      schema: '0xschema',
      balance: '1000000000000000000',
      problem: null,
    },
    costs: { 'scripted:1': '200000000000000000002' },
    open: null,
    anchors: [anchor, ...before],
  })
  chain.fail('account', 'wrong_chain')
  const { stdout, code } = await claimcheck(installation, 'anchor')
  t.equal(code, 0)
  t.match(stdout, /0xaccount/)
  t.match(stdout, /wrong_chain/)
})

t.test('claimcheck anchor now says when nothing is new, and when it takes too long', async (t) => {
  const { installation, client, chain } = await start(t, HOUR_MS)
  t.match(await claimcheck(installation, 'anchor', 'now', '--json'), { code: 0, stdout: '{"anchor":null}\n' })
  await receiptIds(client, 1)
  for (let failure = 0; failure < 20; failure++) chain.fail('prepare', 'insufficient_balance')
  const waiting = await claimcheck(installation, 'anchor', 'now', '--timeout', '4')
  t.equal(waiting.code, 7)
  t.match(waiting.stderr, /insufficient_balance/)
  t.match(await claimcheck(installation, 'anchor', 'now', '--timeout', 'soon'), { code: 2 })
})

t.test(
  'claimcheck anchor now waits for an older tree that is under way, and anchors the newest one then',
  async (t) => {
    const { installation, client, chain } = await start(t, HOUR_MS)
    for (let failure = 0; failure < 6; failure++) chain.fail('prepare', 'rpc_unavailable')
    await receiptIds(client, 1)
    const { anchors } = installation.claimcheck.storage.read
    while ((await anchors.open())?.problem !== 'rpc_unavailable') await setTimeout(20)
    await receiptIds(client, 2)
    t.match(await anchorNow(installation), { state: 'final', tree_size: 3 })
    t.strictSame(
      (await anchors.recent(9)).map(({ treeSize }) => treeSize),
      [3, 1],
    )
  },
)

t.test('without an anchorer, claimcheck anchor says so, and anchor now fails', async (t) => {
  const installation = await Installation.during(t)
  t.match(await claimcheck(installation, 'anchor', '--json'), { code: 0, stdout: /"anchorer":null/ })
  t.match(await claimcheck(installation, 'anchor', 'now'), {
    code: 1,
    stdout: '',
    stderr: /no anchoring plugin is configured/,
  })
})
