// Test run: every-node
/** The client against a running service. */
import {
  AuthenticationError,
  type ClaimStatus,
  claiming,
  createClient,
  GoneError,
  InvalidRequestError,
  NotClaimedError,
  NotFoundError,
  TimeoutError,
} from '@claimcheck/client'
import { byCommand } from '@claimcheck/server/base/actor'
import t from 'tap'
import { forgedBundle } from '../../../test/support/forged-bundle.ts'
import { sharedInstallation } from '../../../test/support/installation.ts'

const shared = sharedInstallation()
const ACTION = 'test.outcome.reach'
let workspaces = 0

async function setUp() {
  const installation = await shared()
  const { key } = await installation.client(`client ${++workspaces}`)
  const client = createClient({ baseUrl: installation.url, key, agentId: 'release-bot' })
  const present = { action: ACTION, target: 'here', params: { see: 'present' } }
  return { installation, client, present, key }
}

async function all<T>(values: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const value of values) found.push(value)
  return found
}

t.test('from a claim to a receipt that is checked with all that the service publishes about it', async (t) => {
  const { client, present } = await setUp()
  const claim = await client.wait(await client.submit(present))
  t.equal(claim.verdict, 'verified')
  const report = await client.verify(claim.receipt_id)
  const expected = { valid: true, verdict: 'verified', evidence: { evidence: 'follows' } }
  t.match(report, { ...expected, tree_head: { tree_head: 'holds' }, vouched_by: 'issuer', issuer_anchors: false })
  t.equal(JSON.parse(await client.receipt(claim.receipt_id)).body.agent.id, 'release-bot')
  t.match(await client.evidence(claim.receipt_id), '"evidence_version":1')

  await client.submit(present)
  const { tree_head } = await client.verify(claim.receipt_id)
  t.equal(tree_head?.tree_head, 'holds', 'also after the log has grown')
  const keys = JSON.parse(await client.keys())
  const nobodys = JSON.stringify({ ...keys, keys: [] })
  t.equal((await client.verify(claim.receipt_id, { keys: nobodys })).valid, false, 'by the keys of the caller')
  const kept = await client.verify(claim.receipt_id, { keys: JSON.stringify(keys) })
  t.match(kept, { valid: true, vouched_by: 'keys' })
  const pinned = await client.verify(claim.receipt_id, { pinnedKey: keys.keys[0].key_id })
  t.match(pinned, { valid: true, vouched_by: 'pin' })
})

t.test('a receipt that a stranger signed in the name of the issuer is not valid', async (t) => {
  const { client, installation, present } = await setUp()
  const { receipt_id: id } = await client.wait(await client.submit(present))
  const real = await client.bundle(id)
  const forged = await forgedBundle(real)
  const serving = (documents: Readonly<Record<string, string>>) =>
    createClient({
      baseUrl: installation.url,
      fetch: async (input, init) => {
        const text = documents[new URL(String(input)).pathname]
        return text === undefined ? fetch(input, init) : new Response(text)
      },
    })
  const lying = serving({ [`/v1/receipts/${id}`]: forged.receipt })
  t.match(await lying.verify(id), { valid: false, verdict: null, checks: { key: false } })
  const all = serving({ [`/v1/receipts/${id}`]: forged.receipt, '/.well-known/poaw-keys.json': forged.keys })
  const options = [{ keys: real.keys! }, { pinnedKey: JSON.parse(real.receipt).signature.key_id }]
  for (const one of options)
    t.match(await all.verify(id, one), { valid: false, verdict: null }, Object.keys(one).join())
})

t.test('another receipt than the one that was asked for is not checked', async (t) => {
  const { client, installation, present } = await setUp()
  const [one, other] = [await client.submit(present), await client.submit(present)]
  const lying = createClient({
    baseUrl: installation.url,
    fetch: (input, init) => fetch(String(input).replace(one.receipt_id!, other.receipt_id!), init),
  })
  await t.rejects(lying.verify(one.receipt_id!), { name: 'UnexpectedAnswerError' })
})

t.test('a claim that names no id gets one, and the same claim submitted twice is one claim', async (t) => {
  const { client, present } = await setUp()
  const [one, other] = [await client.submit(present), await client.submit(present)]
  t.not(one.claim_id, other.claim_id)
  const prepared = client.prepare({ ...present, agent_id: 'other-bot', claimed_at: new Date() })
  const [first, again] = [await client.submit(prepared), await client.submit(prepared)]
  t.strictSame([first.created, again.created, again.claim_id], [true, false, first.claim_id])
  t.equal(again.agent_id, 'other-bot')
  const { installation, key } = await setUp()
  t.throws(() => createClient({ baseUrl: installation.url, key }).prepare(present), /agent_id is missing/)
})

t.test('waiting ends after a time, with the claim as it was last seen', async (t) => {
  const { client, present } = await setUp()
  const claim = await client.submit({ ...present, params: { see: 'absent' } })
  const error = await client.wait(claim, { timeoutMs: 1000 }).catch((error) => error)
  t.ok(error instanceof TimeoutError)
  t.match(error, { claim: { claim_id: claim.claim_id, state: 'queued' }, message: 'wait for it again' })
  const reason = new Error('enough')
  await t.rejects(client.wait(claim, { timeoutMs: 5000, signal: AbortSignal.abort(reason) }), reason)
  await t.rejects(client.wait('clm_00000000000000000000000000'), NotFoundError)
})

t.test('claims are watched until each is decided: as they are, and whenever they change', async (t) => {
  const { client, present } = await setUp()
  const decided = await client.submit(present)
  const waiting = await client.submit({
    ...present,
    params: { see: 'absent', later: { at: Date.now() + 700, see: 'present' } },
  })
  const seen: ClaimStatus[] = []
  for await (const claim of client.watch([decided, waiting.claim_id])) seen.push(claim)
  const of = (id: string) => seen.filter(({ claim_id }) => claim_id === id)
  t.equal(of(decided.claim_id).length, 1)
  const changes = of(waiting.claim_id)
  t.ok(changes.length >= 2)
  t.equal(new Set(changes.map((claim) => JSON.stringify(claim))).size, changes.length, 'nothing twice')
  t.strictSame([changes[0]!.state, changes.at(-1)!.state], ['queued', 'decided'])
  t.strictSame(await all(client.watch([])), [])
})

t.test('claims are listed by pages, as far as they are asked for', async (t) => {
  const { client, present } = await setUp()
  const ids: string[] = []
  for (let count = 0; count < 5; count++) {
    const agent_id = count === 0 ? 'other' : 'lister'
    ids.unshift((await client.submit({ ...present, agent_id })).claim_id)
  }
  const listed = await all(client.list({ limit: 2 }))
  t.strictSame(
    listed.map(({ claim_id }) => claim_id),
    ids,
  )
  t.equal((await all(client.list({ agent_id: 'lister', verdict: 'verified', state: 'decided' }))).length, 4)
  t.strictSame(await all(client.list({ action: 'no.such.action' })), [])
  const pages = await all(client.pages({ limit: 2 }))
  t.strictSame(
    pages.map(({ claims }) => claims.length),
    [2, 2, 1],
  )
  const rest = await all(client.list({ limit: 2, cursor: pages[0]!.next_cursor! }))
  t.equal(rest.length, 3)
})

t.test('a mistake in a claim is told by its field', async (t) => {
  const { client, present, installation } = await setUp()
  const wrong = { ...present, params: { see: 'nothing that it knows' }, claimed_at: 'yesterday' }
  const error = await client.submit(wrong).catch((error) => error)
  t.ok(error instanceof InvalidRequestError)
  const fields = (error as InvalidRequestError).issues.map(({ field }) => field).toSorted()
  t.strictSame(fields, ['claimed_at', 'params.see'])
  t.match(error.message, /422: .*params\.see: /)
  await t.rejects(client.submit({ ...present, target: '' }), { message: / target: / })
  await t.rejects(createClient({ baseUrl: installation.url, key: 'svc_sk_wrong' }).whoami(), AuthenticationError)
  await t.rejects(client.receipt('rcpt_00000000000000000000000000'), NotFoundError)
  t.equal(await client.evidence('rcpt_00000000000000000000000000'), undefined)
})

t.test('an erased receipt is told as such', async (t) => {
  const { client, present, installation } = await setUp()
  const { receipt_id } = await client.submit(present)
  await installation.claimcheck.erasure.erase(receipt_id!, { rule: 'court_order', reference: '' }, byCommand())
  const error = await client.verify(receipt_id!).catch((error) => error)
  t.ok(error instanceof GoneError)
  t.match(error, { erased: { receipt_id, rule: 'court_order' } })
})

t.test('a key tells what it may do, and what can be claimed', async (t) => {
  const { client } = await setUp()
  t.match(await client.whoami(), { kind: 'key', scopes: null, workspace_id: /./ })
  t.match(await client.connections(), { connections: [], public_actions: [ACTION] })
  t.match((await client.profiles()).profiles, [{ action: ACTION }])
})

t.test('work that is done is claimed, at the time when it ended', async (t) => {
  const { client } = await setUp()
  let endedAt = 0
  const work = async () => {
    await new Promise((done) => setTimeout(done, 30))
    endedAt = Date.now()
    return { place: 'there' }
  }
  const spec = { action: ACTION, target: ({ place }: { place: string }) => place, params: () => ({ see: 'present' }) }
  const { result, claim } = await claiming(client, spec, work, { wait: true })
  t.strictSame([result.place, claim.target, claim.verdict], ['there', 'there', 'verified'])
  t.ok(Date.parse(claim.claimed_at) >= endedAt)
  const own = await claiming(client, { ...spec, client_claim_id: 'mine', agent_id: 'me' }, work)
  t.match(own.claim, { client_claim_id: 'mine', agent_id: 'me', created: true })
})

t.test('work that throws claims nothing, and its error is thrown on', async (t) => {
  const { client, present } = await setUp()
  const failure = new RangeError('broken')
  const work = () => {
    throw failure
  }
  const error = await claiming(client, { ...present, agent_id: 'breaker' }, work).catch((error) => error)
  t.equal(error, failure)
  t.strictSame(await all(client.list({ agent_id: 'breaker' })), [])
})

t.test('what work returned is not lost when it cannot be claimed, and the claim can be submitted later', async (t) => {
  const { client, present } = await setUp()
  const away = createClient({ baseUrl: 'http://127.0.0.1:1', retryForMs: 0, agentId: 'me' })
  const error = await claiming(away, present, () => 'done').catch((error) => error)
  t.ok(error instanceof NotClaimedError)
  t.match(error, { result: 'done', cause: { name: 'ConnectionError' } })
  t.match(await client.submit(error.claim), { agent_id: 'me', created: true, verdict: 'verified' })
  t.match(await client.submit(error.claim), { created: false })
})
