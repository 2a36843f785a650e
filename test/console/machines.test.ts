/** Machines: owners make OAuth clients that get short-lived tokens without a person. */
import { MACHINE_SECRET_PATTERN } from '@claimcheck/server/features/oauth/machines'
import t from 'tap'
import { OAUTH, post, RESOURCE, whoami } from '../support/application.ts'
import type { Host } from '../support/host.ts'
import { sharedInstallation } from '../support/installation.ts'
import { query } from '../support/sql.ts'
import { textOf, Visitor } from '../support/visitor.ts'

const shared = sharedInstallation({ file: { oauth: { ...OAUTH, dynamic_registration: true } } })
const PAGE = '/console/account/applications'
const MACHINES = '/console/account/machines'

interface Client {
  readonly id: string
  readonly secret: string
}

async function owned() {
  const installation = await shared()
  const { host } = installation
  const owner = await Visitor.owner(host)
  await owner.get(PAGE)
  const workspaceId = await owner.workspaceId()
  async function make(...scopes: string[]): Promise<Client> {
    const fields = Object.fromEntries(scopes.map((scope) => [`scope:${scope}`, 'on']))
    const { status, html } = await owner.post(MACHINES, { name: 'nightly', workspace: workspaceId, ...fields })
    t.equal(status, 201)
    const [id = '', secret = ''] = [...html.matchAll(/data-copy="([^"]*)"/g)].map(([, text]) => text!)
    return { id, secret }
  }
  return { installation, host, owner, workspaceId, make }
}

function tokenOf(host: Host, { id, secret }: Client, over: Readonly<Record<string, string>> = {}) {
  return post(host, '/oauth/token', { grant_type: 'client_credentials', client_id: id, client_secret: secret, ...over })
}

t.test('a machine gets a short token with its own id and secret, and whoami describes it', async (t) => {
  const { installation, host, owner, workspaceId, make } = await owned()
  const client = await make('claims:read', 'connections:read')
  t.match(client.id, /^machine_[A-Za-z0-9_-]{22}$/)
  t.match(client.secret, new RegExp(`^${MACHINE_SECRET_PATTERN}$`))
  const { status, body, headers } = await tokenOf(host, client)
  t.match([status, body], [200, { token_type: 'Bearer', expires_in: 900, scope: 'claims:read connections:read' }])
  t.notOk('refresh_token' in body)
  t.equal(headers.get('cache-control'), 'no-store')
  const described = { workspace_id: workspaceId, kind: 'oauth', audience: host.url }
  t.match(await whoami(host, body.access_token), {
    status: 200,
    body: { ...described, scopes: ['claims:read', 'connections:read'] },
  })
  const narrow = (await tokenOf(host, client, { scope: 'claims:read', resource: RESOURCE })).body
  t.match((await whoami(host, narrow.access_token)).body, { scopes: ['claims:read'], audience: RESOURCE })

  const basic = { authorization: `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}` }
  const answer = await host.request('/oauth/token', {
    method: 'POST',
    headers: { ...basic, 'content-type': 'application/x-www-form-urlencoded' },
    body: 'grant_type=client_credentials',
  })
  t.equal(answer.status, 200)
  const listed = textOf((await owner.get(PAGE)).html)
  t.match(listed, `nightly ${client.id} acme`)
  t.notMatch(listed, client.secret.slice(7))
  const [stored] = await query(installation.config.databaseUrl, `SELECT * FROM machines WHERE id = '${client.id}'`)
  t.notMatch(JSON.stringify(stored), client.secret.slice(7), 'of its secret the hash alone is stored')
})

t.test('a machine gets nothing more than it was made for', async (t) => {
  const { host, make } = await owned()
  const client = await make('claims:read')
  const refused: readonly (readonly [Readonly<Record<string, string>>, number, string])[] = [
    [{ scope: 'claims:submit' }, 400, 'invalid_scope'],
    [{ resource: 'https://other.example' }, 400, 'invalid_target'],
    [{ client_secret: `${client.secret.slice(0, -1)}_` }, 401, 'invalid_client'],
    [{ client_secret: '' }, 401, 'invalid_client'],
    [{ client_id: 'machine_AAAAAAAAAAAAAAAAAAAAAA' }, 401, 'invalid_client'],
    [{ grant_type: 'authorization_code', code: 'x', redirect_uri: 'https://x.example' }, 400, 'invalid_request'],
  ]
  for (const [over, status, error] of refused) t.match(await tokenOf(host, client, over), { status, body: { error } })
  const token = (await tokenOf(host, client)).body.access_token
  const answer = await host.request('/v1/claims', { headers: { authorization: `Bearer ${token}` } })
  t.equal(answer.status, 401, 'the API takes keys')
  const asked = await host.request(`/oauth/authorize?client_id=${client.id}&response_type=code&scope=claims:read`)
  t.equal(asked.status, 400)
})

t.test('the hash of the secret is not the secret', async (t) => {
  const { installation, host, make } = await owned()
  const client = await make('claims:read')
  const [row] = await query(
    installation.config.databaseUrl,
    `SELECT secret_hash FROM machines WHERE id = '${client.id}'`,
  )
  t.equal((await tokenOf(host, { ...client, secret: String(row!.secret_hash) })).status, 401)
})

t.test('an application that registers itself does not become a machine', async (t) => {
  const { host } = await owned()
  const registered = await host.request('/oauth/register', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      redirect_uris: ['https://app.example/back'],
      grant_types: ['authorization_code', 'client_credentials'],
      token_endpoint_auth_method: 'client_secret_post',
    }),
  })
  t.match(registered, { status: 201, body: { grant_types: ['authorization_code'] } })
  const { client_id: id, client_secret: secret } = registered.body
  t.match(await tokenOf(host, { id, secret }), { status: 400, body: { error: 'invalid_request' } })
})

t.test('revoking a machine asks first, and ends its tokens at once', async (t) => {
  const { host, owner, make } = await owned()
  const client = await make('claims:read')
  const { access_token: token } = (await tokenOf(host, client)).body
  const path = `${MACHINES}/${client.id}/revoke`
  t.match(textOf((await owner.get(path)).html), /Revoke this machine\? .*nightly/)
  t.equal((await whoami(host, token)).status, 200)
  const revoked = await owner.post(path)
  t.equal(revoked.path, `${PAGE}?done=machine-revoked`)
  t.match(textOf(revoked.html), /The machine is revoked/)
  t.equal((await whoami(host, token)).status, 401)
  t.match(await tokenOf(host, client), { status: 401, body: { error: 'invalid_client' } })
  t.equal((await owner.post(path)).status, 200, 'a second time changes nothing')
  const events = (await host.claimcheck.storage.read.audit.after(0, 1000)).filter(
    ({ subject }) => subject === client.id,
  )
  t.strictSame(
    events.map(({ event, actorKind }) => [event, actorKind]),
    [
      ['machine.created', 'user'],
      ['machine.revoked', 'user'],
    ],
  )
})

t.test('a machine may end its own token', async (t) => {
  const { host, make } = await owned()
  const client = await make('claims:read')
  const { access_token: token } = (await tokenOf(host, client)).body
  const fields = { client_id: client.id, client_secret: client.secret, token }
  t.equal((await post(host, '/oauth/revoke', fields)).status, 200)
  t.equal((await whoami(host, token)).status, 401)
})

t.test('only owners make and see machines, each of their own workspaces', async (t) => {
  const { host, workspaceId, make } = await owned()
  const client = await make('claims:read')
  const member = await Visitor.joining(host, workspaceId, 'member', 'Mia')
  const stranger = await Visitor.owner(host, 'elsewhere')
  t.notMatch((await member.get(PAGE)).html, /New machine|nightly/)
  t.notMatch((await stranger.get(PAGE)).html, /nightly/)
  for (const visitor of [member, stranger]) {
    const made = await visitor.post(MACHINES, { name: 'x', workspace: workspaceId, 'scope:claims:read': 'on' })
    t.equal(made.status, 403)
    t.equal((await visitor.get(`${MACHINES}/${client.id}/revoke`)).status, 404)
    t.equal((await visitor.post(`${MACHINES}/${client.id}/revoke`)).status, 404)
  }
  t.equal((await tokenOf(host, client)).status, 200)
})

t.test('a machine has a name and a scope, and what is neither is told', async (t) => {
  const { host, owner, workspaceId } = await owned()
  const nameless = await owner.post(MACHINES, { name: ' ', workspace: workspaceId, 'scope:claims:read': 'on' })
  t.match([nameless.status, textOf(nameless.html)], [422, /No machine was made: the name is not valid/])
  const scopeless = await owner.post(MACHINES, { name: 'x', workspace: workspaceId })
  t.match([scopeless.status, textOf(scopeless.html)], [422, /choose one or more of the scopes/])
  t.strictSame(await host.claimcheck.machines.list(workspaceId), [])
  await t.rejects(host.claimcheck.machines.create(workspaceId, 'x', ['claims:read', 'all']), { code: 'bad_request' })
})
