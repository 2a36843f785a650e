/** Two workspaces that never see each other's anything, over every route of the console and of the API. */
import { resolve } from 'node:path'
import t, { type Test as TapTest } from 'tap'
import { Client } from '../support/client.ts'
import { connect } from '../support/connect.ts'
import { filled, routesOf } from '../support/console-routes.ts'
import { SCRIPTED, sharedInstallation } from '../support/installation.ts'
import { Visitor } from '../support/visitor.ts'

/** What stands in ours, and must be in no answer to somebody else. */
const OURS = { key: 'our-key-name', target: 'our-target', agent: 'our-agent', member: 'our-member' }

const shared = sharedInstallation({
  plugins: [SCRIPTED, { use: resolve('build/test/plugins/connected.js'), trusted: true }],
})

async function twoWorkspaces() {
  const installation = await shared()
  const { host, claimcheck } = installation
  const us = await Visitor.owner(host, 'ours')
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
    uid: 'none',
    grant: 'none',
  }
  const them = await Visitor.owner(host, 'theirs')
  const theirs = await them.workspaceId()
  return { installation, claimcheck, client, us, member, them, theirs, ids, claim, queued, invitation: invitation! }
}

type World = Awaited<ReturnType<typeof twoWorkspaces>>

/** Everything that somebody else could have changed. */
async function stateOf({ claimcheck, ids }: World) {
  const { keys, connections, members, claims } = claimcheck
  const { workspace } = ids
  const withoutUse = (await keys.list(workspace)).map(({ lastUsedAt: _, ...key }) => key)
  return {
    keys: withoutUse,
    connections: (await connections.list(workspace)).map(({ id }) => id),
    credentials: await connections.open(workspace),
    members: await members.list(workspace),
    invitations: await members.invitations(workspace),
    claims: (await claims.list(workspace, { limit: 200 })).claims.map(({ claimId }) => claimId),
  }
}

/** @param asked what they named themselves, which an answer may repeat */
function tellsNothing(t: TapTest, world: World, text: string, where: string, asked = ''): void {
  const { ids, member, claim, queued, invitation } = world
  const known = [OURS.key, OURS.target, OURS.agent, member.email, 'our-token', 'ours']
  const { workspace: _, provider: __, token: ___, uid: ____, grant: _____, ...rest } = ids
  const said = [...known, ...Object.values(rest), claim.receipt_id, queued.claim_id, invitation.id]
  t.strictSame(
    said.filter((one) => text.includes(one) && !asked.includes(one)),
    [],
    where,
  )
}

t.test('the console shows nothing of a workspace to the owner of another, and does nothing for them', async (t) => {
  const world = await twoWorkspaces()
  const { claimcheck, them, theirs, ids, invitation } = world
  const before = await stateOf(world)
  const routes = (await routesOf(claimcheck)).filter(({ url }) => url.includes(':'))
  t.ok(routes.length > 20, `${routes.length} routes`)
  const fields = {
    role: 'owner',
    name: 'x',
    id: invitation.id,
    invitation: invitation.id,
    member: ids.member,
    token: 'x',
  }
  for (const route of routes) {
    const ways = [ids, { ...ids, workspace: theirs }]
    for (const way of ways) {
      const path = filled(route, way)
      await them.get('/console/workspaces/new')
      const page = route.method === 'GET' ? await them.get(path) : await them.post(path, fields)
      tellsNothing(t, world, page.html, `${route.method} ${route.url}`, path)
      if (way !== ids || !route.url.includes(':workspace')) continue
      t.equal(page.status, 404, `${route.method} ${route.url}`)
      // Asked for each time: a route may have changed what they call their own workspace.
      const absent = await them.get('/console/w/ws_01ARZ3NDEKTSV4RRFFQ69G5FAV/claims')
      t.equal(page.html, absent.html, 'as if it were not there')
    }
  }
  t.strictSame(await stateOf(world), before)
})

t.test('the console does nothing for a member that only an owner may do', async (t) => {
  const world = await twoWorkspaces()
  const { claimcheck, member, ids, invitation } = world
  const own = (await claimcheck.members.list(ids.workspace)).find(({ role }) => role === 'owner')!
  const before = await stateOf(world)
  const posts = (await routesOf(claimcheck)).filter(
    ({ method, url }) => method === 'POST' && url.includes(':workspace'),
  )
  t.ok(posts.length >= 8, `${posts.length} routes`)
  const fields = { role: 'owner', name: 'x', id: invitation.id, invitation: invitation.id, token: 'x', target: 'x' }
  for (const route of posts) {
    await member.get('/console/workspaces/new')
    const page = await member.post(filled(route, { ...ids, member: own.id }), fields)
    t.ok(page.status === 403 || page.status === 404, `POST ${route.url}: ${page.status}`)
  }
  t.strictSame(await stateOf(world), before)
})

t.test('nobody sees anything of the console without signing in, and no form is taken', async (t) => {
  const world = await twoWorkspaces()
  const { installation, claimcheck, ids } = world
  const before = await stateOf(world)
  const inside = (await routesOf(claimcheck)).filter(({ url }) => /workspace|\/account|consent/.test(url))
  for (const route of inside) {
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
