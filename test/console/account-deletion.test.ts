// Test run: slow
/** Closing one's account and deleting a workspace in the console: asked for first, and what it leaves works on. */
import t from 'tap'
import { Client } from '../support/client.ts'
import { Installation, sharedInstallation } from '../support/installation.ts'
import { textOf, Visitor } from '../support/visitor.ts'

const CLOSE = '/console/account/close'
const shared = sharedInstallation()

t.test('an account is closed by its person, who types its address', async (t) => {
  const { host, claimcheck } = await shared()
  const owner = await Visitor.owner(host)
  const workspace = await owner.workspaceId()
  const mia = await Visitor.joining(host, workspace, 'member', 'Mia')
  t.match((await mia.get('/console/account')).html, `href="${CLOSE}"`)
  const page = await mia.get(CLOSE)
  t.match(textOf(page.html), /Close your account\? .* This cannot be undone/)
  t.notMatch(textOf(page.html), /deleted with your account/)
  const wrong = await mia.post(CLOSE, { email: 'other@example.com' })
  t.equal(wrong.status, 422)
  t.match(textOf(wrong.html), `Nothing is closed: type ${mia.email}`)
  const closed = await mia.post(CLOSE, { email: mia.email.toUpperCase() })
  t.equal(closed.path, '/console/sign-in?done=account-closed')
  t.notOk(mia.cookies.has('claimcheck'), 'the session has ended')
  t.equal((await claimcheck.members.list(workspace)).length, 1)
})

t.test('the only owner of a workspace with others has no button, and a way to its members', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const workspace = await owner.workspaceId()
  await Visitor.joining(host, workspace, 'member', 'Max')
  const page = await owner.get(CLOSE)
  t.match(textOf(page.html), /You are the only owner of these workspaces/)
  t.match(page.html, `href="/console/w/${workspace}/members"`)
  t.notMatch(page.html, /<main.*<form/s)
  const refused = await owner.post(CLOSE, { email: owner.email })
  t.equal(refused.status, 422)
  t.match(textOf(refused.html), /only owner of acme[^,]*, which has other members/)
})

t.test(
  'a workspace is deleted by an owner who types its name; its receipts stay, and what waits is decided',
  async (t) => {
    const { host, claimcheck } = await Installation.during(t, { file: { rate_limits: { sign_in: 0 } } })
    const owner = await Visitor.owner(host)
    const workspace = await owner.workspaceId()
    const mia = await Visitor.joining(host, workspace, 'member', 'Mia')
    const { key } = await claimcheck.keys.create(workspace, 'ci')
    const client = new Client(host, workspace, key)
    const decided = (await client.submit()).body
    const waiting = (await client.submit({ params: { see: 'absent' } })).body
    const path = `/console/w/${workspace}/delete`
    await mia.get('/console/account')
    t.equal((await mia.get(path)).status, 403)
    t.equal((await mia.post(path, { name: 'acme' })).status, 403)
    t.match(textOf((await owner.get(path)).html), /Every API key is revoked, .* Receipts stay/)
    const wrong = await owner.post(path, { name: 'other' })
    t.equal(wrong.status, 422)
    t.match(textOf(wrong.html), /Nothing is deleted: type acme/)
    t.equal((await owner.post(path, { name: 'acme' })).path, '/console/workspaces/new')
    t.equal((await owner.get(`/console/w/${workspace}/claims`)).status, 404)
    t.equal((await client.get('/v1/whoami')).status, 401)
    t.equal((await host.request(`/v1/receipts/${decided.receipt_id}`)).status, 200)
    t.equal((await host.request(`/r/${decided.receipt_id}`)).status, 200)
    const row = await claimcheck.storage.read.claims.byId(workspace, waiting.claim_id)
    t.match(row, { state: 'queued' }, 'it waits on, and is checked as before')
    t.equal((await owner.post('/console/workspaces/new', { name: 'acme' })).status, 200, 'the name is free')
  },
)
