// Test run: slow, both-databases
/** What was allowed, afterwards: refreshed, taken back, and bound to what the person may do themselves. Threat K3 of `security.md`. */
import { type Storage, StorageError } from '@claimcheck/server/storage/storage'
import t from 'tap'
import {
  Application,
  CONFIDENTIAL,
  INVALID_GRANT,
  OAUTH,
  post,
  RESOURCE,
  SECRET,
  whoami,
  withOAuth,
} from '../support/application.ts'
import { sharedInstallation } from '../support/installation.ts'
import { dump } from '../support/sql.ts'
import { textOf, Visitor } from '../support/visitor.ts'

const shared = sharedInstallation({ file: { oauth: OAUTH } })

const APPLICATIONS = '/console/account/applications'

t.test('each refresh token works once, and using one again ends all that came of it', async (t) => {
  const { host } = await shared()
  const application = new Application()
  const first = await application.tokens(await Visitor.owner(host))
  const second = (await application.refresh(host, first.refresh_token)).body
  t.not(second.refresh_token, first.refresh_token)
  t.match((await whoami(host, second.access_token)).body, { scopes: ['claims:read', 'claims:submit'] })
  t.equal((await whoami(host, first.access_token)).status, 200, 'the earlier token goes on until it runs out')

  const narrow = (await application.refresh(host, second.refresh_token, { scope: 'claims:read' })).body
  t.same((await whoami(host, narrow.access_token)).body.scopes, ['claims:read'])
  const wider = await application.refresh(host, narrow.refresh_token, { scope: 'connections:read' })
  t.match(wider, { status: 400, body: { error: 'invalid_scope' } })
  t.match(await application.refresh(host, narrow.refresh_token, { client_id: 'none' }), { status: 401 })

  t.match(await application.refresh(host, first.refresh_token), INVALID_GRANT, 'what came of it was used')
  for (const token of [first, second, narrow]) t.equal((await whoami(host, token.access_token)).status, 401)
  t.match(await application.refresh(host, narrow.refresh_token), INVALID_GRANT)
})

t.test('a refresh that is refused leaves the refresh token as it was', async (t) => {
  const { host } = await withOAuth(t, { file: { oauth: OAUTH }, inProcess: true })
  const application = new Application()
  const first = await application.tokens(await Visitor.owner(host))
  const refresh = (over: Record<string, string> = {}) => application.refresh(host, first.refresh_token, over)
  t.match(await refresh({ resource: 'https://other.example' }), { status: 400, body: { error: 'invalid_target' } })
  t.match(await refresh({ resource: RESOURCE }), { status: 400, body: { error: 'invalid_target' } })
  t.match(await refresh({ scope: 'connections:read' }), { status: 400, body: { error: 'invalid_scope' } })
  const other = { client_id: CONFIDENTIAL.client_id, client_secret: SECRET }
  t.match(await refresh(other), INVALID_GRANT, 'another application')
  t.match(await refresh({ client_id: 'nobody' }), { status: 401 })
  t.match(await refresh({ client_secret: 'wrong' }), { status: 401 })
  // The database goes away when everything is written, and before it is kept.
  const storage: { write: Storage['write'] } = host.claimcheck.storage
  const { write } = storage
  storage.write = (work) =>
    write(async (tx) => {
      await work(tx)
      throw new StorageError('unavailable', 'no database')
    })
  t.match(await refresh(), { status: 503, body: { error: 'temporarily_unavailable' } })
  storage.write = write
  t.equal((await whoami(host, first.access_token)).status, 200)

  const { status, body } = await refresh()
  t.equal(status, 200, 'and then it is good')
  t.equal((await whoami(host, body.access_token)).status, 200)
  t.equal((await application.refresh(host, body.refresh_token)).status, 200)
})

t.test('an application gives its tokens back, and those of no other', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const application = new Application()
  for (const which of ['access_token', 'refresh_token'] as const) {
    const tokens = await application.tokens(owner)
    const asOther = { client_id: CONFIDENTIAL.client_id, client_secret: SECRET }
    t.equal((await application.revoke(host, tokens[which], asOther)).status, 200)
    t.equal((await whoami(host, tokens.access_token)).status, 200, 'nothing happened')
    t.equal((await application.revoke(host, tokens[which])).status, 200)
    t.equal((await whoami(host, tokens.access_token)).status, 401, which)
    t.match(await application.refresh(host, tokens.refresh_token), INVALID_GRANT)
  }
  t.equal((await application.revoke(host, 'garbage')).status, 200, 'as RFC 7009 2.2 wants')
})

t.test('a token is worth no more than the member whom it speaks for, now', async (t) => {
  const { host } = await shared()
  const { members } = host.claimcheck
  const owner = await Visitor.owner(host)
  const workspaceId = await owner.workspaceId()
  const other = await Visitor.joining(host, workspaceId, 'owner', 'Other')
  const application = new Application()
  const { access_token: token, refresh_token: refresh } = await application.tokens(other)
  const { id } = (await members.list(workspaceId)).find(({ name }) => name === 'Other')!

  await members.setRole(workspaceId, id, 'member')
  t.same((await whoami(host, token)).body.scopes, ['claims:read'])
  await members.setRole(workspaceId, id, 'owner')
  t.same((await whoami(host, token)).body.scopes, ['claims:read', 'claims:submit'])

  await members.remove(workspaceId, id)
  t.equal((await whoami(host, token)).status, 401)
  t.match(await application.refresh(host, refresh), INVALID_GRANT)
})

t.test('what is allowed in the moment in which the workspace asks for more ends at once', async (t) => {
  const { host } = await withOAuth(t, { inProcess: true })
  const { members } = host.claimcheck
  const oauth: { allow: typeof host.claimcheck.oauth.allow } = host.claimcheck.oauth
  const owner = await Visitor.owner(host)
  const workspace = await owner.workspaceId()
  const application = new Application()
  const page = await application.consentPage(owner)
  const allow = oauth.allow.bind(oauth)
  oauth.allow = async (...args) => {
    await members.setSignInRule(workspace, 'second_step')
    return allow(...args)
  }
  const refused = await application.send(owner, page.path, { decision: 'allow', workspace })
  oauth.allow = allow
  t.equal(refused.status, 409)
  t.match(textOf(await refused.text()), /is not enough for this workspace now/)
  t.match(textOf((await owner.get(APPLICATIONS)).html), /No applications yet/)
})

t.test('members allow what members may do, and are told what is left out', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host, 'mill')
  const member = await Visitor.joining(host, await owner.workspaceId(), 'member', 'Mia')
  const application = new Application()
  const page = await application.consentPage(member)
  t.match(textOf(page.html), /Submit claims .* Left out: only owners/)
  t.match(textOf(page.html), /In the workspace mill , where you are a member/)
  const tokens = await application.tokens(member)
  t.equal(tokens.scope, 'claims:read')
  t.same((await whoami(host, tokens.access_token)).body.scopes, ['claims:read'])

  const nothing = await application.consentPage(member, { scope: 'claims:submit' })
  t.match(textOf(nothing.html), /You may not allow any of this/)
  const workspace = await owner.workspaceId()
  t.equal((await application.send(member, nothing.path, { decision: 'allow', workspace })).status, 422)
  const back = await application.decide(member, nothing.path, { decision: 'deny' })
  t.equal(back.get('error'), 'access_denied')
})

t.test('a person of several workspaces says which one, and nobody says one of others', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host, 'first')
  const second = (await host.claimcheck.workspaces.create('not-theirs')).id
  const member = await Visitor.joining(host, await owner.workspaceId(), 'member', 'Mia')
  await member.get('/console/workspaces/new')
  await member.post('/console/workspaces/new', { name: 'own' })
  const application = new Application()
  const page = await application.consentPage(member)
  t.match(textOf(page.html), /Only where you are an owner: own\. Elsewhere it is left out/)
  const options = [...page.html.matchAll(/<option[^>]* value="([^"]*)"[^>]*>([^<]*)/g)].map(([, id, name]) => [
    name,
    id,
  ])
  t.same(options.map(([name]) => name).sort(), ['first (member)', 'own (owner)'])
  for (const [name, id] of options) {
    const tokens = await application.tokens(member, {}, id)
    t.match((await whoami(host, tokens.access_token)).body, {
      workspace_id: id,
      scopes: name === 'own (owner)' ? ['claims:read', 'claims:submit'] : ['claims:read'],
    })
  }
  const { path } = await application.consentPage(member)
  t.equal((await application.send(member, path, { decision: 'allow', workspace: second })).status, 422)
})

t.test('a person sees what they have allowed, and stops it', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host, 'tower')
  t.match(textOf((await owner.get(APPLICATIONS)).html), /No applications yet/)
  const application = new Application()
  const tokens = await application.tokens(owner, { resource: RESOURCE })
  const kept = await new Application(CONFIDENTIAL).allowed(owner)
  t.ok(kept.has('code'))
  const page = await owner.get(APPLICATIONS)
  t.match(textOf(page.html), /Backend <b>& co<\/b> tower claims:read claims:submit https:\/\/mcp\.example\.com/)
  t.match(textOf(page.html), /Back office tower/)
  t.notMatch(page.html, tokens.access_token)
  const row = page.html.split('<tr').find((text) => text.includes('Backend'))!
  const path = /action="([^"]*\/revoke)"/.exec(row)![1]!

  const other = await Visitor.joining(host, await owner.workspaceId(), 'owner', 'Other')
  t.notMatch((await other.get(APPLICATIONS)).html, /Backend/)
  t.equal((await other.post(path)).status, 404, 'what somebody else allowed is not there')
  t.equal((await whoami(host, tokens.access_token)).status, 200)

  const stopped = await owner.post(path)
  t.match(textOf(stopped.html), /The application is stopped/)
  t.notMatch(stopped.html, /Backend/)
  t.equal((await whoami(host, tokens.access_token)).status, 401)
  t.match(await application.refresh(host, tokens.refresh_token), INVALID_GRANT)
  t.equal((await owner.post(path)).status, 404)
  t.match((await new Visitor(host).get(APPLICATIONS)).path, /sign-in/)
})

t.test('a copy of the database holds nothing that opens anything', async (t) => {
  const installation = await withOAuth(t)
  const { host } = installation
  const owner = await Visitor.owner(host)
  const application = new Application()
  const code = (await application.allowed(owner)).get('code')!
  const tokens = await application.tokens(owner)
  const resume = [...owner.cookies.values()]
  await installation.stop()
  const text = await dump(installation.config.databaseUrl)
  t.match(text, /oauth:AccessToken/, 'what is looked through is the right thing')
  for (const secret of [code, tokens.access_token, tokens.refresh_token, application.state, ...resume]) {
    t.notOk(text.includes(secret))
  }
})

t.test('what has run out is removed in time', async (t) => {
  let now = Date.now()
  const { host } = await withOAuth(t, { now: () => now })
  const owner = await Visitor.owner(host)
  await new Application().tokens(owner)
  const { find } = host.claimcheck.storage.read.records
  const { access_token: token } = await new Application().tokens(owner)
  const hash = (await import('node:crypto')).createHash('sha256').update(token).digest('hex')
  t.ok(await find('oauth:AccessToken', hash))
  now += 3 * 60 * 60_000
  await new Application().ask(owner)
  t.equal(await find('oauth:AccessToken', hash), undefined)
})

t.test('scripts of an application’s own site may ask for tokens, those of others may not', async (t) => {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const application = new Application()
  const code = (await application.allowed(owner)).get('code')!
  const fields = {
    grant_type: 'authorization_code',
    client_id: application.clientId,
    code,
    redirect_uri: application.redirectUri,
    code_verifier: application.verifier,
  }
  const from = (origin: string) => post(host, '/oauth/token', fields, { origin })
  const foreign = await from('https://evil.example')
  t.equal(foreign.status, 400)
  t.equal(foreign.headers.get('access-control-allow-origin'), null)
  const own = await from('https://backend.example')
  t.equal(own.status, 200)
  t.equal(own.headers.get('access-control-allow-origin'), 'https://backend.example')
  t.equal((await owner.get('/oauth/userinfo')).status, 404)
})
