// Test run: slow
/**
 * Two workspaces that never see each other's anything, over every route of the console and of the API, with every kind of credential.
 * Threats W3 and W4 of `security.md`.
 */
import { resolve } from 'node:path'
import { copiedTables } from '@claimcheck/server/storage/schema'
import { NO_FILTERS } from '@claimcheck/server/storage/webhooks'
import t, { type Test as TapTest } from 'tap'
import { Application, OAUTH } from '../support/application.ts'
import { Client } from '../support/client.ts'
import { connect } from '../support/connect.ts'
import { filled } from '../support/console-routes.ts'
import { SCRIPTED, sharedInstallation } from '../support/installation.ts'
import { type Access, ROUTE_ACCESS } from '../support/route-access.ts'
import { servedRoutes } from '../support/served-routes.ts'
import { query } from '../support/sql.ts'
import { SCHEMA } from '../support/storage.ts'
import { Visitor } from '../support/visitor.ts'

/** What stands in ours, and must be in no answer to somebody else. */
const OURS = { key: 'our-key-name', target: 'our-target', agent: 'our-agent', member: 'our-member' }

const shared = sharedInstallation({
  // Its routes are read from what runs.
  inProcess: true,
  plugins: [SCRIPTED, { use: resolve('build/test/plugins/connected.js'), trusted: true }],
  file: { oauth: { ...OAUTH, dynamic_registration: true }, webhooks: { allow_private: ['127.0.0.1'] } },
  env: { ALLOW_PRIVATE: '127.0.0.1' },
})

/** Routes that are there only where the operator configures what they need. */
const CONFIGURED: readonly string[] = [
  'POST /console/sign-in/outside',
  'GET /console/sign-in/outside/callback',
  'POST /console/account/unlink',
  'POST /console/account/address',
  'GET /console/account/address/:token',
  'POST /console/account/address/:token',
  'GET /console/forgotten',
  'POST /console/forgotten',
  'GET /.well-known/security.txt',
]

async function twoWorkspaces() {
  const installation = await shared()
  const { host, claimcheck } = installation
  const us = await Visitor.owner(host, 'our-workspace')
  const workspace = await us.workspaceId()
  const member = await Visitor.joining(host, workspace, 'member', OURS.member)
  const { id: key, key: secret } = await claimcheck.keys.create(workspace, OURS.key)
  const connection = await connect(claimcheck, workspace, 'mailbox', { token: 'our-token' })
  const client = new Client(host, workspace, secret)
  const { body: claim } = await client.submit({ target: OURS.target, agent_id: OURS.agent })
  const { body: queued } = await client.submit({ target: OURS.target, params: { see: 'absent' } })
  await claimcheck.accounts.inviteToken(workspace, 'member', null)
  const [invitation] = await claimcheck.members.invitations(workspace)
  const members = await claimcheck.members.list(workspace)
  const application = new Application()
  const tokens = await application.tokens(us)
  const consent = await application.ask(us)
  const { userId } = members.find(({ role }) => role === 'owner')!
  const [grant] = await claimcheck.applications.list(userId)
  const [session] = await claimcheck.sessions.list(userId)
  const machine = await claimcheck.machines.create(workspace, 'our-machine', ['claims:read'])
  const webhook = await claimcheck.webhooks.add(workspace, {
    format: 'standard',
    url: 'http://127.0.0.1:9/our-hook',
    // Nothing is sent, so that no row changes by itself.
    filters: { ...NO_FILTERS, types: ['anchor.landed'], agents: [OURS.agent] },
  })
  const ids = {
    workspace,
    key,
    connection: connection.id,
    claim_id: claim.claim_id,
    agent_id: OURS.agent,
    member: members.find(({ email }) => email === member.email)!.id,
    provider: 'mailbox',
    // Of other people, not of workspaces.
    token: 'none',
    uid: consent.slice(consent.lastIndexOf('/') + 1),
    grant: grant!.grantId,
    machine: machine.clientId,
    webhook: webhook.target.id,
    delivery_id: 'msg_01M82WPTA0QH9V7R3JYB6ZK4CD',
    finding_id: 'fnd_01M82WPTA0QH9V7R3JYB6ZK4CD',
  }
  const them = await Visitor.owner(host, 'theirs')
  const theirs = await them.workspaceId()
  const theirMember = await Visitor.joining(host, theirs, 'member', 'their-member')
  const people = { us, member, them, theirMember }
  return {
    installation,
    claimcheck,
    client,
    ...people,
    theirs,
    ids,
    tokens,
    claim,
    queued,
    invitation: invitation!,
    session: session!,
  }
}

type World = Awaited<ReturnType<typeof twoWorkspaces>>

/** What changes with every use, by whomever, and with every read of the destination. */
const OF_USE = /^(last_(used_at|seen_at|address)|attempts|due_at|next_check_at|last_check|moment_at|reached)$/

/** Every row of the database that names our workspace, or somebody in it: what somebody else could have changed. */
async function stateOf({ installation, claimcheck, ids }: World) {
  const people = (await claimcheck.members.list(ids.workspace)).flatMap(({ id, userId }) => [id, userId])
  const state: Record<string, string[]> = {}
  for (const { name } of copiedTables(SCHEMA)) {
    const rows = await query(installation.config.databaseUrl, `SELECT * FROM ${name}`)
    const texts = rows.map((row) => JSON.stringify(Object.entries(row).filter(([column]) => !OF_USE.test(column))))
    // That a member exported claims, as they may, is told in the audit trail.
    const changes = texts.filter((text) => name !== 'audit_trail' || !text.includes('"claims.exported"'))
    state[name] = changes.filter((text) => [ids.workspace, ...people].some((id) => text.includes(id))).toSorted()
  }
  for (const name of [
    'workspaces',
    'members',
    'users',
    'sessions',
    'api_keys',
    'connections',
    'claims',
    'links',
    'records',
  ])
    if (!state[name]?.length) throw new Error(`nothing of ours is in ${name}`)
  return state
}

/** @param asked what they named themselves, which an answer may repeat */
function tellsNothing(t: TapTest, world: World, text: string, where: string, asked = ''): void {
  const { ids, member, claim, queued, invitation } = world
  const known = [OURS.key, OURS.target, OURS.agent, member.email, 'our-token', 'our-workspace', 'our-hook']
  const { workspace: _, provider: __, token: ___, uid: ____, grant: _____, ...rest } = ids
  const said = [...known, ...Object.values(rest), claim.receipt_id, queued.claim_id, invitation.id]
  t.strictSame(
    said.filter((one) => text.includes(one) && !asked.includes(one)),
    [],
    where,
  )
}

/** Ids of the same form, of which there is nothing. */
function unknown(ids: World['ids']): World['ids'] {
  const { provider, token, ...named } = ids
  const other = Object.entries(named).map(([name, id]) => [
    name,
    `${id.slice(0, -4)}${id.endsWith('ZZZZ') ? 'YYYY' : 'ZZZZ'}`,
  ])
  return { provider, token, ...Object.fromEntries(other) }
}

function consoleRoutesFor(...kinds: readonly Access[]) {
  return servedRoutes().filter(({ method, url }) => kinds.includes(ROUTE_ACCESS[`${method} ${url}`]!))
}

async function sendTo(
  visitor: Visitor,
  method: 'GET' | 'POST',
  path: string,
  fields: Readonly<Record<string, string>>,
) {
  // For the token that its forms carry.
  if (visitor.csrf === undefined) await visitor.get('/console/workspaces/new')
  return method === 'GET' ? visitor.get(path) : visitor.post(path, fields)
}

t.test('who may use a route is decided for every route that is served', async (t) => {
  await shared()
  const served = servedRoutes().map(({ method, url }) => `${method} ${url}`)
  t.strictSame([...new Set([...served, ...CONFIGURED])].toSorted(), Object.keys(ROUTE_ACCESS).toSorted())
})

t.test('the console shows nothing of a workspace to the people of another, and does nothing for them', async (t) => {
  const world = await twoWorkspaces()
  const { them, theirMember, ids, invitation, session } = world
  const before = await stateOf(world)
  const routes = consoleRoutesFor('member', 'owner', 'account').filter(({ url }) => url.includes(':'))
  t.ok(routes.length > 30, `${routes.length} routes`)
  const fields = {
    role: 'owner',
    name: 'x',
    id: invitation.id,
    invitation: invitation.id,
    member: ids.member,
    token: 'x',
  }
  for (const visitor of [them, theirMember]) {
    for (const { method, url } of routes) {
      const name = `${method} ${url}${visitor === them ? '' : ' by a member'}`
      const path = filled({ method, url }, ids)
      const page = await sendTo(visitor, method, path, fields)
      tellsNothing(t, world, page.html, name, path)
      if (!url.includes(':workspace')) continue
      t.equal(page.status, 404, name)
      const absent = await visitor.get('/console/w/ws_01ARZ3NDEKTSV4RRFFQ69G5FAV/claims')
      t.equal(page.html, absent.html, `${name}: as if it were not there`)
    }
  }
  // What is named in a form, and in no address.
  const named = { id: session.id, workspace: ids.workspace, 'scope:claims:read': 'on', name: 'theirs too' }
  for (const { method, url } of consoleRoutesFor('account').filter(({ url }) => !url.includes(':'))) {
    for (const id of [session.id, ids.grant, ids.machine, ids.member]) {
      const page = await sendTo(them, method, url, { ...named, id })
      tellsNothing(t, world, page.html, `${method} ${url}`, JSON.stringify(named))
    }
  }
  t.strictSame(await stateOf(world), before)
})

t.test('what is ours answers in another workspace as what is nowhere', async (t) => {
  const world = await twoWorkspaces()
  const { them, theirMember, theirs, ids, invitation } = world
  const before = await stateOf(world)
  const nowhere = unknown(ids)
  const routes = servedRoutes().filter(
    ({ url }) => /:(?!workspace|provider|token|file|index|receipt_id)\w/.test(url) && url.startsWith('/console'),
  )
  t.ok(routes.length > 12, `${routes.length} routes`)
  for (const visitor of [them, theirMember]) {
    for (const { method, url } of routes) {
      const answers = []
      for (const known of [ids, nowhere]) {
        const path = filled({ method, url }, { ...known, workspace: theirs })
        const { status, html } = await sendTo(visitor, method, path, { role: 'owner', name: 'x' })
        let text = html
        for (const id of Object.values(known)) text = text.replaceAll(id, '...')
        answers.push({ status, text })
      }
      t.strictSame(answers[0], answers[1], `${method} ${url}`)
    }
    // What the fields of a form name.
    const withdraw = (id: string) =>
      sendTo(visitor, 'POST', `/console/w/${theirs}/members/invitations/withdraw`, { id })
    const [ours, none] = [await withdraw(invitation.id), await withdraw('inv_01ARZ3NDEKTSV4RRFFQ69G5FAV')]
    t.strictSame([ours.status, ours.html], [none.status, none.html])
  }
  t.strictSame(await stateOf(world), before)
})

t.test('the console does nothing for a member that only an owner may do, and shows them the rest', async (t) => {
  const world = await twoWorkspaces()
  const { claimcheck, member, ids, invitation } = world
  const own = (await claimcheck.members.list(ids.workspace)).find(({ role }) => role === 'owner')!
  const before = await stateOf(world)
  const fields = {
    role: 'owner',
    name: 'x',
    id: invitation.id,
    invitation: invitation.id,
    token: 'x',
    target: 'x',
    format: 'csv',
  }
  for (const { method, url } of consoleRoutesFor('owner')) {
    const page = await sendTo(member, method, filled({ method, url }, { ...ids, member: own.id }), fields)
    t.ok(page.status === 403 || page.status === 404, `${method} ${url}: ${page.status}`)
  }
  for (const { method, url } of consoleRoutesFor('member')) {
    const page = await sendTo(member, method, filled({ method, url }, ids), fields)
    // Pages ask for the stream by its media type: `events.test.ts` has who gets it.
    t.equal(page.status, url.endsWith('/events') ? 404 : 200, `${method} ${url}`)
  }
  t.strictSame(await stateOf(world), before)
})

t.test('nobody sees anything of the console without signing in, and no form is taken', async (t) => {
  const world = await twoWorkspaces()
  const { installation, ids } = world
  const before = await stateOf(world)
  for (const route of consoleRoutesFor('account', 'member', 'owner')) {
    const visitor = new Visitor(installation.host)
    const path = filled(route, ids)
    const name = `${route.method} ${route.url}`
    if (route.method === 'GET') t.match((await visitor.get(path)).path, /^\/console\/sign-in\?next=/, name)
    else t.match(await visitor.post(path, { name: 'x' }), { status: 401, html: /<title>Sign in/ }, name)
  }
  t.strictSame(await stateOf(world), before)
})

t.test('a key opens its own workspace through every route of the API, and no other', async (t) => {
  const world = await twoWorkspaces()
  const { installation, claimcheck, client, theirs, ids } = world
  const { key } = await claimcheck.keys.create(theirs, 'theirs')
  const other = new Client(installation.host, theirs, key)
  t.equal((await client.get(`/v1/claims/${ids.claim_id}`)).status, 200)
  const hidden = await other.get(`/v1/claims/${ids.claim_id}`)
  const absent = await other.get('/v1/claims/clm_01ARZ3NDEKTSV4RRFFQ69G5FAV')
  t.strictSame([hidden.status, hidden.body], [404, absent.body])
  const answers = [
    '/v1/claims',
    '/v1/claims?limit=200&state=decided',
    '/v1/connections',
    '/v1/whoami',
    '/v1/log/entries',
  ]
  for (const path of answers) {
    const { status, body } = await other.get(path)
    t.equal(status, 200, path)
    tellsNothing(t, world, JSON.stringify(body), path)
  }
  t.equal((await other.get('/v1/whoami')).body.workspace_id, theirs)
  const same = await other.submit({ client_claim_id: world.claim.client_claim_id, target: 'elsewhere' })
  t.match(same.body, { created: true, target: 'elsewhere' }, 'an id that another workspace has used is free here')
})

t.test('every route of the API that needs a credential refuses what is none', async (t) => {
  const { installation, claimcheck, client, us, ids, tokens } = await twoWorkspaces()
  const { id, key: revoked } = await claimcheck.keys.create(ids.workspace, 'revoked')
  await claimcheck.keys.revoke(id, ids.workspace)
  const session = [...us.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const bearer = (text: string) => ({ authorization: `Bearer ${text}` })
  const none: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    nothing: {},
    'a revoked key': bearer(revoked),
    'a key that differs': bearer(`${client.key.slice(0, -1)}${client.key.endsWith('A') ? 'B' : 'A'}`),
    'the hash of nothing': bearer('svc_sk_'),
    'a refresh token': bearer(tokens.refresh_token),
    'the session of an owner': { cookie: session },
    'a key in another scheme': { authorization: `Basic ${client.key}` },
  }
  for (const { method, url } of consoleRoutesFor('key', 'credential', 'audience')) {
    const path = filled({ method, url }, ids)
    const ask = (headers: Readonly<Record<string, string>>) =>
      // Events come as a stream otherwise.
      installation.request(path, {
        method,
        headers: { accept: 'application/json', ...headers },
        ...(method === 'POST' ? { body: '{}' } : {}),
      })
    for (const [what, headers] of Object.entries(none))
      t.equal((await ask(headers)).status, 401, `${method} ${url}: ${what}`)
    const isForKeys = ROUTE_ACCESS[`${method} ${url}`] !== 'credential'
    // A body without a type is refused first.
    const permitted = method === 'POST' ? 415 : 200
    const ofApplication = await ask(bearer(tokens.access_token))
    t.equal(ofApplication.status, isForKeys ? 401 : permitted, `${method} ${url}: a token of an application`)
  }
})
