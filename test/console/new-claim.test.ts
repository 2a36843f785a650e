/** Submitting a claim by hand: the form, what it refuses beside which field, and that it makes one claim. */
import { resolve } from 'node:path'
import t from 'tap'
import { claimsConsole, listed } from '../support/claims-console.ts'
import { SCRIPTED } from '../support/installation.ts'
import { textOf } from '../support/visitor.ts'

const GOOD = {
  action: 'test.outcome.reach',
  target: 'somewhere',
  'params.see': 'present',
  agent_id: 'by-hand',
  claimed_at: new Date(Date.now() - 1000).toISOString(),
  client_claim_id: 'one',
}

/** What stands beside a field. */
function problemAt(html: string, field: string): string | undefined {
  const id = `${field}-problem`.replaceAll('.', String.raw`\.`)
  return new RegExp(`<p class="mistake" id="${id}">([^<]*)</p>`).exec(html)?.[1]
}

function typedIn(html: string, field: string): string | undefined {
  const tag = new RegExp(`<input [^>]*id="${field}"[^>]*>`).exec(html)?.[0] ?? ''
  return /value="([^"]*)"/.exec(tag)?.[1]
}

t.test('the form starts with now and an id of its own, and a good one leads to the claim', async (t) => {
  const { owner, path, client } = await claimsConsole(t)
  const form = await owner.get(`${path}/new`)
  t.equal(form.status, 200)
  const claimedAt = typedIn(form.html, 'claimed_at')!
  t.match(claimedAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/)
  t.ok(Math.abs(Date.parse(`${claimedAt}Z`) - Date.now()) < 60_000)
  const id = typedIn(form.html, 'client_claim_id')!
  t.match(id, /^by-hand-[\w-]{36}$/)
  t.not(typedIn((await owner.get(`${path}/new`)).html, 'client_claim_id'), id)

  const page = await owner.post(`${path}/new`, { ...GOOD, client_claim_id: ` ${id} `, 'params.later': '' })
  t.equal(page.status, 200)
  t.match(page.path, new RegExp(`^${path}/clm_\\w+\\?done=claim-submitted$`))
  t.match(textOf(page.html), 'The claim is submitted.')
  const { body } = await client.get(`/v1/claims/${/clm_\w+/.exec(page.path)![0]}`)
  t.match(body, { client_claim_id: id, agent_id: 'by-hand', target: 'somewhere', verdict: 'verified' })
})

t.test('times are chosen, in UTC, and stay when the form is refused', async (t) => {
  const { owner, path, client } = await claimsConsole(t)
  const { html } = await owner.get(`${path}/new`)
  t.match(html, /<label for="claimed_at">Claimed at \(UTC\)/)
  t.match(html, /<input id="deadline_at"[^>]*step="1"[^>]*type="datetime-local"/)
  const minute = new Date(Date.now() - 90_000).toISOString().slice(0, 16)
  // A browser leaves seconds out that are zero.
  const chosen = {
    ...GOOD,
    claimed_at: minute,
    deadline_at: `${new Date(Date.now() + 3_600_000).toISOString().slice(0, 19)}`,
  }
  const refused = await owner.post(`${path}/new`, { ...chosen, agent_id: '' })
  t.equal(refused.status, 422)
  t.equal(typedIn(refused.html, 'claimed_at'), `${minute}:00`)
  t.equal(typedIn(refused.html, 'deadline_at'), chosen.deadline_at)
  t.equal(problemAt(refused.html, 'claimed_at'), undefined)
  const page = await owner.post(`${path}/new`, chosen)
  const { body } = await client.get(`/v1/claims/${/clm_\w+/.exec(page.path)![0]}`)
  t.match(body, { claimed_at: `${minute}:00.000Z`, deadline_at: `${chosen.deadline_at}.000Z` })
})

t.test('pressing twice makes one claim, and says so', async (t) => {
  const { owner, path } = await claimsConsole(t)
  const first = await owner.post(`${path}/new`, GOOD)
  const second = await owner.post(`${path}/new`, GOOD)
  t.match(second.path, /done=claim-known$/)
  t.equal(second.path.split('?')[0], first.path.split('?')[0])
  t.equal(listed((await owner.get(path)).html).length, 1)
})

t.test('what a claim may not be is told beside its field, and what was typed stays', async (t) => {
  const { owner, path } = await claimsConsole(t)
  const rows: [field: string, value: string, told: RegExp][] = [
    ['target', '', /required/],
    ['target', 'x'.repeat(101), /at most 100 characters/],
    ['agent_id', ' ', /required/],
    ['agent_id', 'x'.repeat(257), /at most 256 characters/],
    ['client_claim_id', '', /required/],
    ['client_claim_id', 'x'.repeat(257), /at most 256 characters/],
    ['claimed_at', 'yesterday', /valid datetime/],
    ['claimed_at', '2026-02-30T14:02:11Z', /valid datetime/],
    ['claimed_at', '2999-01-01T00:00:00Z', /^claimed_at is more than 5 minutes in the future/],
    ['deadline_at', 'soon', /valid datetime/],
    ['deadline_at', GOOD.claimed_at, /must be more than 600 s after/],
    ['deadline_at', '2999-01-01T00:00:00Z', /must be at most 86400 s after/],
    ['params.see', '', /required/],
    ['params.see', 'nothing', /Choose one of the options/],
    ['params.retry_after_ms', 'long', /whole number/],
    ['params.retry_after_ms', '-1', /^Enter 0 or more\.$/],
    ['params.later', '{"at":', /JSON object/],
    ['params.later', '{"at":1}', /see/],
  ]
  for (const [field, value, told] of rows) {
    const page = await owner.post(`${path}/new`, { ...GOOD, [field]: value })
    t.equal(page.status, 422, `${field}: ${value}`)
    t.match(problemAt(page.html, field), told, `${field}: ${value}`)
    t.match(
      page.html,
      new RegExp(`<\\w+ id="${field}"[^>]*aria-invalid="true"`),
      `${field} is marked for whoever cannot see`,
    )
    t.match(textOf(page.html), 'The claim was not submitted')
    t.equal(typedIn(page.html, 'client_claim_id') ?? '', field === 'client_claim_id' ? value : 'one', 'the id stays')
    if (field !== 'agent_id') t.equal(typedIn(page.html, 'agent_id'), 'by-hand')
  }
  t.strictSame(listed((await owner.get(path)).html), [])
})

t.test('params that no claim may have are refused as the API refuses them', async (t) => {
  const { owner, path } = await claimsConsole(t)
  const deep = `${'['.repeat(9_000)}${']'.repeat(9_000)}`
  const large = JSON.stringify({ at: 1, see: 'x'.repeat(5000) })
  for (const later of [deep, large, '{"at":1,"see":"absent","__proto__":1}', '{"at":1.5,"see":"absent"}']) {
    const page = await owner.post(`${path}/new`, { ...GOOD, 'params.later': later })
    t.equal(page.status, 422, later.slice(0, 40))
  }
})

t.test('an action is chosen where there are several, and one that is none is not taken', async (t) => {
  const { owner, path } = await claimsConsole(t, {
    plugins: [SCRIPTED, { use: resolve('plugins/codehost/dist/index.js') }],
  })
  const choice = await owner.get(`${path}/new`)
  t.match(choice.html, /<form method="get"/)
  t.match(choice.html, 'value="codehost.commit.push"')
  const form = await owner.get(`${path}/new?action=codehost.commit.push`)
  t.match(form.html, 'name="params.sha"')
  t.match(form.html, 'name="params.branch"')
  const wrong = await owner.get(`${path}/new?action=toString`)
  t.match(textOf(wrong.html), 'There is no such action')
  t.equal((await owner.post(`${path}/new`, { ...GOOD, action: 'other.thing.do' })).status, 400)
})

t.test('a form without its token has to be confirmed, and one from another site makes no claim', async (t) => {
  const { owner, path } = await claimsConsole(t)
  t.equal((await owner.post(`${path}/new`, { ...GOOD, _csrf: '' })).status, 409)
  t.equal((await owner.post(`${path}/new`, GOOD, { origin: 'https://evil.example' })).status, 403)
  t.strictSame(listed((await owner.get(path)).html), [])
})

t.test('while the host is read-only, the form says so and keeps what was typed', async (t) => {
  const { installation, owner, path } = await claimsConsole(t, {})
  const { storage, logMemories, logGuard } = installation.claimcheck
  const log = (await storage.read.log.state())!
  // As if the database had been put back to an older one.
  logMemories.remember({ ...log, treeSize: log.treeSize + 1000 })
  await logGuard.maySign()
  await logGuard.examine()
  const page = await owner.post(`${path}/new`, GOOD)
  t.equal(page.status, 503)
  t.match(textOf(page.html), 'database is an old one')
  t.equal(typedIn(page.html, 'target'), 'somewhere')
  t.strictSame(listed((await owner.get(path)).html), [])
})

t.test('a time of any offset is taken, and shown in UTC', async (t) => {
  const { owner, path } = await claimsConsole(t)
  const page = await owner.post(`${path}/new`, { ...GOOD, claimed_at: '2026-09-25T14:02:11+02:00' })
  t.match(page.path, /\?done=claim-submitted$/)
  t.match(textOf(page.html), 'Claimed at 2026-09-25 12:02:11 UTC')
})
