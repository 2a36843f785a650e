/** Retention in the console: who reads it, who sets it, and that it asks before anything is erased. Threat W7 of `security.md`. */
import { BY_SERVICE } from '@claimcheck/server/base/actor'
import t from 'tap'
import { runClaimcheck } from '../support/command.ts'
import { Installation, sharedInstallation } from '../support/installation.ts'
import { query } from '../support/sql.ts'
import { signedInBefore } from '../support/time-passes.ts'
import { textOf, Visitor } from '../support/visitor.ts'

const shared = sharedInstallation()

async function acme() {
  const installation = await shared()
  const { host } = installation
  const owner = await Visitor.owner(host)
  const id = await owner.workspaceId()
  return { installation, host, owner, id, path: `/console/w/${id}/retention`, retention: host.claimcheck.retention }
}

t.test('an owner sets a retention after a page that says what it erases, and ends it', async (t) => {
  const { installation, host, owner, id, path, retention } = await acme()
  const { key } = await host.claimcheck.keys.create(id, 'test')
  const body = {
    client_claim_id: 'a',
    agent_id: 'a',
    action: 'test.outcome.reach',
    target: 'jane',
    params: { see: 'present' },
  }
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const claimed_at = new Date().toISOString()
  const submitted = await host.request('/v1/claims', {
    method: 'POST',
    headers,
    body: JSON.stringify({ ...body, claimed_at }),
  })
  const { receipt_id } = submitted.body

  t.match((await owner.get(`/console/w/${id}/members`)).html, `href="${path}"`)
  t.match(textOf((await owner.get(path)).html), 'keeps the content of its receipts for ever')
  const asked = await owner.get(`${path}/change?days=90`)
  t.match(textOf(asked.html), /Erase receipts after 90 days\? .*It cannot be brought back.*erased first: 0 receipts\./)
  t.equal(await retention.days(id), null, 'to ask changes nothing')
  const set = await owner.post(path, { days: '90' })
  t.match(textOf(set.html), /Changed: .* keeps the content of its receipts for 90 days/)
  t.equal(await retention.days(id), 90)

  await retention.pass(BY_SERVICE, new AbortController().signal)
  t.equal((await host.request(`/v1/receipts/${receipt_id}`)).status, 200, 'it is not old')
  const ago = Date.now() - 91 * 86_400_000
  // Receipts keep their time: it is the claim of the test that grows old.
  await query(
    installation.config.databaseUrl,
    `UPDATE claims SET submitted_at = ${ago} WHERE receipt_id = '${receipt_id}'`,
  )
  t.match(textOf((await owner.get(`${path}/change?days=90`)).html), 'erased first: 1 receipt.')

  const off = await owner.post(path, { days: 'off' })
  t.match(textOf(off.html), 'keeps the content of its receipts for ever')
  t.equal(await retention.days(id), null)
  const entries = (await host.claimcheck.storage.read.audit.after(0, 1000)).filter(
    ({ workspaceId }) => workspaceId === id,
  )
  t.match(
    entries.filter(({ event }) => event === 'workspace.retention_changed'),
    [
      { actorKind: 'user', address: /127\.0\.0\.1/, details: { days: 90, before: null } },
      { actorKind: 'user', details: { days: null, before: 90 } },
    ],
  )
})

t.test('what is no number of days within the limits is refused, and stays in the form', async (t) => {
  const { owner, path, id, retention } = await acme()
  await owner.get(path)
  const rows: [days: string, told: RegExp][] = [
    ['29', /whole number of days, from 30 to 36500/],
    ['36501', /from 30 to 36500/],
    ['soon', /Write a whole number of days/],
    ['', /Write a whole number of days/],
    ['1e3', /Write a whole number of days/],
  ]
  for (const [days, told] of rows) {
    for (const page of [await owner.get(`${path}/change?days=${days}`), await owner.post(path, { days })]) {
      t.equal(page.status, 422, days)
      t.match(textOf(page.html), told)
      if (days !== '') t.match(page.html, `value="${days}"`)
    }
  }
  t.equal(await retention.days(id), null)
})

t.test('who signed in long ago signs in again before anything is erased', async (t) => {
  const { installation, owner, path, id, retention } = await acme()
  await owner.get(path)
  await signedInBefore(installation, owner, 11 * 60_000)
  const asked = await owner.post(path, { days: '90' })
  t.equal(asked.status, 403)
  t.match(asked.html, 'name="password"')
  t.equal(await retention.days(id), null)
})

t.test('members read it, and change nothing', async (t) => {
  const { host, id, path, retention } = await acme()
  const mia = await Visitor.joining(host, id, 'member', 'Mia')
  const page = await mia.get(path)
  t.equal(page.status, 200)
  t.match(textOf(page.html), 'An owner of the workspace can change this.')
  t.equal((await mia.get(`${path}/change?days=90`)).status, 403)
  t.equal((await mia.post(path, { days: '90' })).status, 403)
  t.equal(await retention.days(id), null)
})

t.test('where the operator keeps it to the command line, owners read what is set there', async (t) => {
  const installation = await Installation.during(t, { file: { retention: { by_owners: false, least_days: 7 } } })
  const owner = await Visitor.first(installation.host)
  const path = `/console/w/${await owner.workspaceId()}/retention`
  const run = (...args: string[]) =>
    runClaimcheck(installation.folder, ['workspace', 'retention', ...args], installation.env)
  const set = await run('acme', '7d', '--json')
  t.match(JSON.parse(set.stdout), { name: 'acme', days: 7 })
  const page = await owner.get(path)
  t.match(textOf(page.html), /for 7 days.*The operator of this service sets this\./)
  t.equal((await owner.get(`${path}/change?days=90`)).status, 404)
  t.equal((await owner.post(path, { days: '90' })).status, 404)
  t.match((await run('acme')).stdout, 'keeps the content of its receipts for 7 days')
  t.match(await run('acme', '6d'), { code: 1, stderr: /from 7 to 36500/ })
  t.match(await run('acme', 'soon'), { code: 2, stderr: /neither a number of days, such as 90d, nor off/ })
  t.match((await run('acme', 'off')).stdout, 'for ever')
  t.match(await run('nobody', '90d'), { code: 1, stderr: /there is no workspace nobody/ })
})
