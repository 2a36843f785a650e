// Test run: end-to-end, slow, both-databases
/**
 * Hints: what a destination says makes the service look, and nothing else. Whoever may cause hints moves no look of a claim's schedule, and no verdict
 * that the destination itself does not show.
 */
import { createHmac } from 'node:crypto'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { byCommand } from '@claimcheck/server/base/actor'
import t from 'tap'
import { startGitHub } from '../destinations/forge/github.ts'
import { afterFile } from '../support/after-file.ts'
import { type Answer, Installation } from '../support/installation.ts'
import { SkippingClock } from '../support/skipping-clock.ts'
import { query } from '../support/sql.ts'

const CODEHOST = createRequire(join(process.cwd(), 'package.json')).resolve('@claimcheck/plugin-codehost')
const TOKEN = 'token-of-the-reader'
const MINUTE_MS = 60_000

const clock = new SkippingClock()
const github = await startGitHub({ now: clock.now })
github.addToken({ token: TOKEN })
const installation = await Installation.start({
  plugins: [{ use: CODEHOST, with: { public_base_url: github.url } }],
  env: { ALLOW_PRIVATE: '127.0.0.1' },
  file: { sources: { github: [github.url] } },
  now: clock.now,
})
const { connections, hintAddresses, claims, adjudication } = installation.claimcheck
afterFile(async () => {
  await installation.examine({ isWhole: false })
  await installation.remove()
  await github.close()
})

interface Hook {
  readonly url: string
  readonly secret: string
}

let workspaces = 0
/** A workspace that reads GitHub by a token, with an address for hints. */
async function connected() {
  const client = await installation.client(`hints-${++workspaces}`)
  const options = { base_url: github.url, token: TOKEN }
  const by = { userId: null, insists: false }
  const connection = await connections.connect(client.workspaceId, 'github', options, by)
  if (!('id' in connection)) throw new Error('it is not connected')
  const { url, secret } = await hintAddresses.give(connection.id, client.workspaceId, byCommand())
  const hook: Hook = { url: url.slice(url.indexOf('/v1/')), secret }
  return { client, connection, hook }
}

let repositories = 0
/** A repository with two commits, and one that only its author has. */
async function repository() {
  const slug = `acme-${++repositories}/api`
  const repository = await github.createRepository(slug, { createdAt: clock.now() - 24 * 60 * MINUTE_MS })
  const date = new Date(clock.now() - 60 * MINUTE_MS)
  const base = await repository.commit({ date })
  await repository.push('main', base, { at: date.getTime() })
  return { slug, repository, base }
}

function send({ url, secret }: Hook, body: string, headers: Record<string, string> = {}): Promise<Answer> {
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
  return installation.request(url, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', 'x-hub-signature-256': signature, ...headers },
  })
}

/** The parts of GitHub's message on a check run that a hint is read from. */
function checkRun(slug: string, sha: string, status = 'completed'): string {
  return JSON.stringify({ action: status, check_run: { head_sha: sha, status }, repository: { full_name: slug } })
}

const named = (sha: string) => ({ sha, checks: [{ name: 'build', by: 'github-actions' }] })
const isHinted = ({ hinted }: { readonly hinted?: true }) => hinted === true

async function hintedOf(workspaceId: string, claimId: string): Promise<number> {
  return (await claims.detail(workspaceId, claimId))!.history.filter(isHinted).length
}

/** Waits until no look that a hint asked for is under way: one that comes later waits for its time. */
async function looked(claimId: string): Promise<void> {
  for (let tries = 0; tries < 400; tries++) {
    const sql = `SELECT due_at, next_from FROM hints WHERE claim_id = '${claimId}'`
    const [row] = await query(installation.config.databaseUrl, sql)
    const dueAt = row?.due_at
    if (!row || dueAt === null) break
    if (Number(dueAt) === Number(row.next_from) && Number(dueAt) > clock.now()) break
    await setTimeout(20)
  }
  await adjudication.idle()
}

t.test('a claim that names its checks is verified within seconds of the event, at four requests', async (t) => {
  const { client, hook } = await connected()
  const { slug, repository: acme, base } = await repository()
  const run = acme.checks.queue({ sha: base, name: 'build', workflow: '.github/workflows/ci.yml' })
  acme.checks.start(run)
  const claim = { action: 'codehost.checks.pass', target: slug.toUpperCase(), params: named(base) }
  const { body } = await client.submit(claim)
  t.match(body, { state: 'queued', attempts: 1 })
  await setTimeout(6000)
  const before = (await client.get(`/v1/claims/${body.claim_id}`)).body
  const requests = github.requests.length
  acme.checks.end(run, 'success')
  const from = Date.now()
  t.match(await send(hook, checkRun(slug, base)), { status: 202, body: {} })
  const decided = await client.decided(body.claim_id)
  const tookMs = Date.now() - from
  t.match(decided, { verdict: 'verified', attempts: before.attempts + 1 })
  t.ok(tookMs < 3000, `${tookMs} ms after the event`)
  t.equal(github.requests.length - requests, 4)
  t.equal(await hintedOf(client.workspaceId, body.claim_id), 1)
  t.comment(`verified ${tookMs} ms after the event`)
})

t.test('forged, unsigned, unknown and huge messages get one answer, and cause no look', async (t) => {
  const { client, connection, hook } = await connected()
  const { slug, base } = await repository()
  const claim = { action: 'codehost.checks.pass', target: slug, params: named(base) }
  const { body } = await client.submit(claim)
  const good = checkRun(slug, base)
  const off = await connected()
  await hintAddresses.end(off.connection.id, off.client.workspaceId, byCommand())
  const replaced = await hintAddresses.give(connection.id, client.workspaceId, byCommand())
  t.equal(replaced.url.slice(replaced.url.indexOf('/v1/')), hook.url, 'the address stays')
  const unproven: readonly (readonly [what: string, Hook, Record<string, string>])[] = [
    ['another secret', { ...hook, secret: 'x' }, {}],
    ['the secret before', hook, {}],
    ['no signature', hook, { 'x-hub-signature-256': '' }],
    ['the secret itself', hook, { 'x-hub-signature-256': replaced.secret }],
    ['the proof of another provider', hook, { 'x-hub-signature-256': '', 'x-gitlab-token': replaced.secret }],
    ['an address that does not exist', { ...hook, url: `/v1/hints/${'A'.repeat(43)}` }, {}],
    ['an address of another form', { ...hook, url: '/v1/hints/none' }, {}],
    ['an address that was switched off', off.hook, {}],
  ]
  for (const [what, to, headers] of unproven) {
    const answer = await send(to, good, headers)
    t.strictSame([answer.status, answer.body], [202, {}], what)
  }
  for (const [what, text] of [
    ['no JSON', '{'],
    ['a number', '1'],
    ['nothing', ''],
    ['another form', '{"repository":{"full_name":{"a":1}}}'],
    ['odd names', '{"__proto__":{"full_name":"a"},"repository":["full_name"]}'],
    ['a name that no database takes', '{"repository":{"full_name":"a/\\u0000\\ud800"}}'],
    ['deep', `${'['.repeat(200_000)}${']'.repeat(200_000)}`],
    ['another repository', checkRun('acme/other', base)],
    ['another commit', checkRun(slug, '0'.repeat(40))],
    ['what has not ended', checkRun(slug, base, 'in_progress')],
  ] as const) {
    const answer = await send({ ...hook, secret: replaced.secret }, text)
    t.strictSame([answer.status, answer.body], [202, {}], what)
  }
  for (const to of [hook, { ...hook, url: `/v1/hints/${'A'.repeat(43)}` }])
    t.equal((await send(to, 'x'.repeat(1024 * 1024 + 1))).status, 413)
  t.strictSame(
    await query(installation.config.databaseUrl, `SELECT * FROM hints WHERE claim_id = '${body.claim_id}'`),
    [],
  )
  await send({ ...hook, secret: replaced.secret }, good)
  const [asked] = await query(
    installation.config.databaseUrl,
    `SELECT * FROM hints WHERE claim_id = '${body.claim_id}'`,
  )
  t.ok(asked, 'a proven one does')
  const text = JSON.stringify(await query(installation.config.databaseUrl, 'SELECT * FROM hint_addresses'))
  t.notMatch(text, replaced.secret, 'the secret is sealed')
  const trail = await query(
    installation.config.databaseUrl,
    `SELECT event FROM audit_trail WHERE event LIKE '%hints%' ORDER BY position`,
  )
  t.ok(
    ['connection.hints_allowed', 'connection.hints_ended', 'connection.hints_secret_replaced'].every((event) =>
      trail.some((row) => row.event === event),
    ),
  )
})

t.test("a hint concerns the claims of its connection's workspace alone", async (t) => {
  const [mine, theirs] = [await connected(), await connected()]
  const { slug, base } = await repository()
  const claim = { action: 'codehost.checks.pass', target: slug, params: named(base) }
  const [own, other] = [(await mine.client.submit(claim)).body, (await theirs.client.submit(claim)).body]
  await send(mine.hook, checkRun(slug, base))
  const asked = await query(installation.config.databaseUrl, 'SELECT claim_id FROM hints')
  const ids = asked.map((row) => row.claim_id)
  t.ok(ids.includes(own.claim_id))
  t.notOk(ids.includes(other.claim_id))
})

t.test('messages that are replayed are joined: a claim is looked at once in ten seconds', async (t) => {
  const { client, hook } = await connected()
  const { slug, base } = await repository()
  const claim = { action: 'codehost.checks.pass', target: slug, params: named(base) }
  const { body } = await client.submit(claim)
  // The schedule looks at 0, 2, 7 and 20 seconds.
  await setTimeout(8500)
  const before = (await client.get(`/v1/claims/${body.claim_id}`)).body
  const message = checkRun(slug, base)
  for (let i = 0; i < 50; i++) await send(hook, message)
  await looked(body.claim_id)
  for (let i = 0; i < 50; i++) await send(hook, message)
  await looked(body.claim_id)
  const after = (await client.get(`/v1/claims/${body.claim_id}`)).body
  t.equal(after.attempts, before.attempts, 'a look that shows nothing is not recorded')
  t.equal(after.next_check_at, before.next_check_at, 'the schedule stays')
  const [row] = await query(
    installation.config.databaseUrl,
    `SELECT looks FROM hints WHERE claim_id = '${body.claim_id}'`,
  )
  t.equal(Number(row!.looks), 1)
})

t.test('who submitted a claim may ask for a look while it waits', async (t) => {
  const { client } = await connected()
  const { slug, repository: acme, base } = await repository()
  const claim = { action: 'codehost.checks.pass', target: slug, params: named(base) }
  const { body } = await client.submit(claim)
  const look = (claimId: string, key = client.key) =>
    client.request(`/v1/claims/${claimId}/look`, { method: 'POST', headers: { authorization: `Bearer ${key}` } })
  const { key } = await installation.claimcheck.keys.create(client.workspaceId, 'another')
  t.equal((await look(body.claim_id, key)).status, 403, 'not with another key of the workspace')
  t.equal((await look(`clm_${'0'.repeat(26)}`)).status, 404)
  t.equal((await look('~')).status, 404)
  t.equal((await look(body.claim_id, (await connected()).client.key)).status, 404, 'nor of another workspace')
  acme.checks.run({ sha: base, name: 'build', workflow: '.github/workflows/ci.yml' })
  t.match(await look(body.claim_id), { status: 202, body: { claim_id: body.claim_id, state: 'queued' } })
  t.match(await client.decided(body.claim_id, 10_000), { verdict: 'verified' })
  t.equal((await look(body.claim_id)).status, 409)
})

t.test('a host that dies with a hint leaves it to the next', async (t) => {
  const { client, hook } = await connected()
  const { slug, repository: acme, base } = await repository()
  const { body } = await client.submit({ action: 'codehost.checks.pass', target: slug, params: named(base) })
  await send(hook, checkRun(slug, base))
  await installation.stop()
  acme.checks.run({ sha: base, name: 'build', workflow: '.github/workflows/ci.yml' })
  await installation.resume()
  t.match(await client.decided(body.claim_id, 10_000), { verdict: 'verified' })
})
