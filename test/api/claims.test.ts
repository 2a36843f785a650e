// Test run: both-databases, every-node
/** Claims over the API: each is made once, and listed where it belongs. Threat A5 of `security.md`. */
import t from 'tap'
import { afterFile } from '../support/after-file.ts'
import { Installation } from '../support/installation.ts'

const installation = await Installation.start()
afterFile(() => installation.remove())
const acme = await installation.client('acme')
const other = await installation.client('other')

t.test('twenty identical submissions at once are one claim with one receipt', async (t) => {
  const before = (await installation.request('/v1/log/head')).body.tree_head.body.tree_size
  const answers = await Promise.all(Array.from({ length: 20 }, () => acme.submit({ client_claim_id: 'same' })))
  t.ok(answers.every(({ status }) => status === 202))
  t.equal(answers.filter(({ body }) => body.created).length, 1)
  t.equal(new Set(answers.map(({ body }) => body.claim_id)).size, 1)
  const status = await acme.decided(answers[0]!.body.claim_id)
  t.equal(status.attempts, 1)
  t.equal((await installation.request('/v1/log/head')).body.tree_head.body.tree_size, before + 1)
})

t.test('a client_claim_id used again answers with the first claim, whose digest tells what it says', async (t) => {
  const first = (await acme.submit({ client_claim_id: 'again', target: 'one' })).body
  const second = await acme.submit({ client_claim_id: 'again', target: 'two' })
  t.match(second, { status: 202, body: { created: false, claim_id: first.claim_id, target: 'one', state: 'decided' } })
  t.equal(second.body.claim_digest, first.claim_digest)
  t.equal(second.body.receipt_id, first.receipt_id)
})

t.test('the same client_claim_id in two workspaces is two claims', async (t) => {
  const mine = (await acme.submit({ client_claim_id: 'shared' })).body
  const theirs = (await other.submit({ client_claim_id: 'shared' })).body
  t.equal(theirs.created, true)
  t.not(mine.claim_id, theirs.claim_id)
})

t.test("another workspace's claim answers like one that does not exist", async (t) => {
  const { claim_id } = (await acme.submit()).body
  t.equal((await acme.get(`/v1/claims/${claim_id}`)).status, 200)
  const foreign = await other.get(`/v1/claims/${claim_id}`)
  const unknown = await other.get(`/v1/claims/clm_${'0'.repeat(26)}`)
  t.equal(foreign.status, 404)
  t.strictSame(foreign.body, unknown.body)
  t.strictSame(
    (await other.get('/v1/claims?limit=200')).body.claims.filter(
      (claim: { claim_id: string }) => claim.claim_id === claim_id,
    ),
    [],
  )
})

t.test('claims are listed newest first, page by page, and stay in place while others arrive', async (t) => {
  const client = await installation.client('paging')
  for (let i = 0; i < 7; i++)
    await client.submit({ agent_id: i % 2 ? 'odd' : 'even', params: { see: i === 3 ? 'absent' : 'present' } })
  const ids: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const page: { status: number; body: { claims: { claim_id: string }[]; next_cursor: string | null } } =
      await client.get(`/v1/claims?limit=3${cursor && `&cursor=${cursor}`}`)
    t.equal(page.status, 200)
    ids.push(...page.body.claims.map((claim) => claim.claim_id))
    cursor = page.body.next_cursor
    await client.submit({ agent_id: 'newUser' })
  }
  t.equal(ids.length, 7)
  t.equal(new Set(ids).size, 7)

  const list = async (query: string) => (await client.get(`/v1/claims?${query}`)).body.claims
  t.equal((await list('agent_id=odd')).length, 3)
  t.equal((await list('state=queued')).length, 1)
  t.equal((await list('verdict=verified&agent_id=even')).length, 4)
  t.equal((await list('verdict=late')).length, 0)
  t.equal((await list('action=test.outcome.reach&limit=200')).length, 10)
  const noText = Buffer.from(JSON.stringify([1, '\0'])).toString('base64url')
  for (const cursor of ['garbage', noText]) t.equal((await client.get(`/v1/claims?cursor=${cursor}`)).status, 400)
})

const hour = 3_600_000
const at = (offsetMs: number) => new Date(Date.now() + offsetMs).toISOString()
const refused: [name: string, claim: () => object, loc: string[]][] = [
  ['claimed more than five minutes ahead', () => ({ claimed_at: at(6 * 60_000) }), ['body', 'claimed_at']],
  ['a deadline within the tolerance', () => ({ deadline_at: at(60_000) }), ['body', 'deadline_at']],
  ['a deadline after 24 hours', () => ({ deadline_at: at(25 * hour) }), ['body', 'deadline_at']],
  ['params that the action does not know', () => ({ params: { see: 'present', more: 1 } }), ['body', 'params', 'more']],
  ['params without what the action needs', () => ({ params: {} }), ['body', 'params', 'see']],
  ['a target that the action does not take', () => ({ target: 'x'.repeat(101) }), ['body', 'target']],
]
for (const [name, claim, loc] of refused) {
  t.test(`${name}: 422 that names the place, and nothing is kept`, async (t) => {
    const id = `refused ${name}`
    const { status, body } = await acme.submit({ client_claim_id: id, ...claim() })
    t.equal(status, 422)
    t.ok(
      body.detail.some((issue: { loc: string[] }) => issue.loc.join() === loc.join()),
      JSON.stringify(body),
    )
    t.match((await acme.submit({ client_claim_id: id })).body, { created: true })
  })
}

t.test('a claim up to five minutes ahead of our clock is taken', async (t) => {
  t.equal((await acme.submit({ claimed_at: at(4 * 60_000) })).status, 202)
})

t.test('a key that is revoked stops at its next request, and the others go on', async (t) => {
  const client = await installation.client('revoking')
  t.equal((await client.get('/v1/whoami')).status, 200)
  const [key] = await installation.claimcheck.keys.list(client.workspaceId)
  await installation.claimcheck.keys.revoke(key!.id)
  for (const path of ['/v1/whoami', '/v1/claims', '/v1/connections']) {
    t.match(await client.get(path), { status: 401, body: { detail: 'invalid or missing API key' } })
  }
  t.match(await client.submit(), { status: 401 })
  t.equal((await acme.get('/v1/whoami')).body.workspace_id, acme.workspaceId)
  const [revoked] = await installation.claimcheck.keys.list(client.workspaceId)
  t.type(revoked!.revokedAt, 'number', 'it stays listed')
})
