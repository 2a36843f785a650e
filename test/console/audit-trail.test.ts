/** The audit trail at the console: a whole story is told in it, to those who may know, and without a secret of it. */

import { resolve } from 'node:path'
import { FEATURES } from '@claimcheck/server/features'
import { checkLines } from '@claimcheck/server/features/audit-trail/check-file'
import { auditWordsOf } from '@claimcheck/server/host/composition'
import t from 'tap'
import { afterFile } from '../support/after-file.ts'
import { Application, OAUTH } from '../support/application.ts'
import { Device } from '../support/device.ts'
import { SCRIPTED, sharedInstallation } from '../support/installation.ts'
import { OpenIdProvider } from '../support/openid-provider.ts'
import { PASSWORD, textOf, Visitor } from '../support/visitor.ts'

const provider = await OpenIdProvider.start()
afterFile(() => provider.close())
const shared = sharedInstallation({
  plugins: [SCRIPTED, { use: resolve('build/test/plugins/connected.js'), trusted: true }],
  env: provider.env,
  file: { oauth: { ...OAUTH, dynamic_registration: true }, sign_in: provider.section },
})

const TRAIL = (workspaceId: string) => `/console/w/${workspaceId}/audit-trail`
const ACCOUNT = '/console/account'

interface Entry {
  readonly position: number
  readonly event: string
  readonly actor: { readonly kind: string; readonly id: string | null }
  readonly address: string | null
  readonly workspace_id: string | null
  readonly user_id: string | null
  readonly subject: string | null
  readonly details: Readonly<Record<string, string | number | boolean | null>>
}

async function entriesOf(text: string): Promise<Entry[]> {
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}

async function everything(): Promise<{ text: string; entries: Entry[] }> {
  const { claimcheck } = await shared()
  let text = ''
  const by = { actor: { kind: 'service', id: null }, address: null } as const
  for await (const lines of await claimcheck.auditTrail.export({ scope: 'everything' }, by)) text += lines
  return { text, entries: await entriesOf(text) }
}

/** What was recorded while `work` ran. */
async function during(work: () => Promise<unknown>): Promise<Entry[]> {
  const { claimcheck } = await shared()
  const before = (await claimcheck.auditTrail.ends())?.last ?? 0
  await work()
  const { entries } = await everything()
  return entries.filter(({ position, event }) => position > before && event !== 'audit_trail.exported')
}

t.test('what people do at the console is recorded once, with who, where from and what, and no secret', async (t) => {
  const { host, claimcheck } = await shared()
  provider.open(`${host.url}/console/sign-in/outside/callback`)
  const secrets: string[] = [PASSWORD]
  const owner = await Visitor.owner(host, 'story')
  const workspace = await owner.workspaceId()
  const path = `/console/w/${workspace}`
  const { userId: ownerId } = (await claimcheck.members.list(workspace))[0]!
  await owner.get(ACCOUNT)

  /** One entry of the event, by the owner over HTTP unless `by` says else. */
  async function told(event: string, work: () => Promise<unknown>, expected: Partial<Entry> = {}): Promise<Entry> {
    const entries = (await during(work)).filter((entry) => entry.event === event)
    t.equal(entries.length, 1, `${event}: once`)
    const by = { actor: { kind: 'user', id: ownerId }, address: '127.0.0.1' }
    t.match(entries[0], { ...by, ...expected }, event)
    return entries[0]!
  }
  const here = { workspace_id: workspace }
  const own = { workspace_id: null, user_id: ownerId }

  await told('account.renamed', () => owner.post(`${ACCOUNT}/name`, { name: 'Olga' }), {
    ...own,
    details: { from: 'owner', to: 'Olga' },
  })
  await told('workspace.renamed', () => owner.post(`${path}/name`, { name: 'saga' }), {
    ...here,
    details: { from: 'story', to: 'saga' },
  })
  await told('workspace.created', () => owner.post('/console/workspaces/new', { name: 'second' }), {
    details: { name: 'second' },
  })

  // Members.
  const invited = await told(
    'member.invited',
    async () => {
      const { html } = await owner.post(`${path}/members/invitations`, { role: 'owner' })
      const token = /\/console\/join\/([\w-]{43})/.exec(html)![1]!
      secrets.push(token)
    },
    { ...here, details: { role: 'owner' } },
  )
  await told(
    'member.invitation_withdrawn',
    () => owner.post(`${path}/members/invitations/withdraw`, { id: invited.subject! }),
    { ...here, subject: invited.subject },
  )
  const mia = await Visitor.joining(host, workspace, 'member', 'Mia')
  const { id: memberId, userId: miaId } = (await claimcheck.members.list(workspace)).find(({ name }) => name === 'Mia')!
  const aboutMia = { ...here, user_id: miaId, subject: memberId }
  await told('member.role_changed', () => owner.post(`${path}/members/${memberId}/role`, { role: 'owner' }), {
    ...aboutMia,
    details: { from: 'member', to: 'owner' },
  })
  await told('member.left', () => mia.post(`${path}/members/${memberId}/remove`), {
    ...aboutMia,
    actor: { kind: 'user', id: miaId },
  })
  const bob = await Visitor.joining(host, workspace, 'member', 'Bob')
  const bobs = (await claimcheck.members.list(workspace)).find(({ name }) => name === 'Bob')!
  await told('member.removed', () => owner.post(`${path}/members/${bobs.id}/remove`), { user_id: bobs.userId })

  // Keys.
  const key = await told(
    'key.created',
    async () => {
      const { html } = await owner.post(`${path}/developers/keys`, { name: 'build' })
      secrets.push(/svc_sk_[\w-]{43}/.exec(html)![0])
    },
    { ...here, details: { name: 'build' } },
  )
  await told('key.revoked', () => owner.post(`${path}/developers/keys/${key.subject}/revoke`), { subject: key.subject })

  // Connections, and who replaced which credentials.
  const added = await told(
    'connection.added',
    () =>
      owner.post(`${path}/connections/new/mailbox`, {
        option_token: 'first-secret-of-the-box',
        connection_name: 'Box',
        insist: 'on',
      }),
    { ...here, details: { provider: 'mailbox', name: 'Box', credentials: 'token' } },
  )
  const connection = { ...here, subject: added.subject }
  const at = `${path}/connections/${added.subject}`
  await told('connection.renamed', () => owner.post(`${at}/name`, { connection_name: 'Letters' }), {
    ...connection,
    details: { provider: 'mailbox', from: 'Box', to: 'Letters' },
  })
  await told('connection.tested', () => owner.post(`${at}/test`), connection)
  await told(
    'connection.credentials_replaced',
    () => owner.post(`${at}/credentials`, { option_token: 'second-secret-of-the-box', insist: 'on' }),
    { ...connection, details: { provider: 'mailbox', credentials: 'token' } },
  )
  await told('connection.removed', () => owner.post(`${at}/disconnect`), connection)
  secrets.push('first-secret-of-the-box', 'second-secret-of-the-box')

  // Applications.
  const application = new Application()
  const aboutDesk = { ...here, user_id: ownerId, subject: application.clientId }
  const byDesk = { actor: { kind: 'application', id: application.clientId } }
  let tokens = { access_token: '', refresh_token: '' }
  await told(
    'application.allowed',
    async () => {
      tokens = await application.tokens(owner, {}, workspace)
    },
    { ...aboutDesk, details: { scopes: 'claims:read claims:submit' } },
  )
  await told(
    'application.token_reused',
    async () => {
      const { body } = await application.refresh(host, tokens.refresh_token)
      const next = (await application.refresh(host, body.refresh_token)).body
      for (const one of [tokens, body, next]) secrets.push(one.access_token, one.refresh_token)
      t.equal((await application.refresh(host, tokens.refresh_token)).status, 400)
    },
    { ...aboutDesk, ...byDesk },
  )
  tokens = await application.tokens(owner, {}, workspace)
  await told('application.returned', () => application.revoke(host, tokens.refresh_token), { ...aboutDesk, ...byDesk })
  tokens = await application.tokens(owner, {}, workspace)
  secrets.push(tokens.access_token, tokens.refresh_token)
  const [grant] = await claimcheck.applications.list(ownerId)
  await told('application.stopped', () => owner.post(`${ACCOUNT}/applications/${grant!.grantId}/revoke`), aboutDesk)
  const registered = await told(
    'application.registered',
    () =>
      host.request('/oauth/register', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ client_name: 'Dyn', redirect_uris: ['https://dyn.example/back'] }),
      }),
    {
      actor: { kind: 'application' } as Entry['actor'],
      details: { name: 'Dyn', redirect_uris: 'https://dyn.example/back' },
    },
  )
  t.equal(registered.actor.id, registered.subject)

  // Ways in.
  const login = 'olga-outside'
  const through = async (visitor: Visitor, fields: Readonly<Record<string, string>>, who: string) => {
    const page = await visitor.post('/console/sign-in/outside', fields)
    const back = await provider.signIn(/^0;url=(.*)$/.exec(page.headers.get('refresh') ?? '')![1]!, who)
    return visitor.get(back.pathname + back.search)
  }
  await told('identity.linked', () => through(owner, { purpose: 'link' }, login), {
    ...own,
    details: { issuer: provider.issuer },
  })
  await told('sign_in.succeeded', () => through(new Visitor(host), { purpose: 'sign_in' }, login), {
    ...own,
    details: { method: 'outside' },
  })
  const nobody = { actor: { kind: 'nobody', id: null } }
  await told('sign_in.failed', () => through(new Visitor(host), { purpose: 'sign_in' }, 'unknown-there'), {
    ...nobody,
    user_id: null,
    details: { method: 'outside', provider: 'Example' },
  })
  await owner.get(ACCOUNT)
  await told('identity.unlinked', () => owner.post(`${ACCOUNT}/unlink`), own)

  const stranger = new Visitor(host)
  const typed = { email: owner.email, password: 'a wrong one that was typed' }
  secrets.push(typed.password)
  await told('sign_in.failed', () => stranger.post('/console/sign-in', typed), {
    ...nobody,
    user_id: ownerId,
    details: { method: 'password', email: owner.email },
  })
  const mistyped = await told(
    'sign_in.failed',
    () => stranger.post('/console/sign-in', { email: 'my-password-in-the-wrong-field', password: 'x' }),
    { ...nobody, user_id: null },
  )
  t.strictSame(mistyped.details, { method: 'password' }, 'of an address that no account has, nothing is kept')
  secrets.push('my-password-in-the-wrong-field')
  const other = new Visitor(host, owner.email)
  const signedIn = await told(
    'sign_in.succeeded',
    () => other.post('/console/sign-in', { email: owner.email, password: PASSWORD }),
    { ...own, details: { method: 'password' } },
  )
  for (const value of other.cookies.values()) secrets.push(value)
  await told('session.ended', () => owner.post(`${ACCOUNT}/sessions/end`, { id: signedIn.subject! }), {
    ...own,
    subject: signedIn.subject,
  })
  await told('session.others_ended', () => owner.post(`${ACCOUNT}/sessions/end-others`), own)
  const next = 'quite another long password'
  secrets.push(next)
  await told('password.changed', () => owner.post(`${ACCOUNT}/password`, { current: PASSWORD, next }), own)
  await told(
    'password.reset',
    async () => {
      const token = await claimcheck.accounts.resetToken(owner.email)
      secrets.push(token)
      await new Visitor(host).post(`/console/reset/${token}`, { password: PASSWORD })
    },
    { ...own, ...nobody },
  )
  await owner.post('/console/sign-in', { email: owner.email, password: PASSWORD })
  await told('session.signed_out', () => owner.post('/console/sign-out'), own)
  await owner.post('/console/sign-in', { email: owner.email, password: PASSWORD })
  await told('claims.exported', () => owner.post(`${path}/claims/export`, { format: 'csv', verdict: 'verified' }), {
    ...here,
    details: { format: 'csv', verdict: 'verified' },
  })
  for (const visitor of [owner, mia, bob]) for (const value of visitor.cookies.values()) secrets.push(value)

  const { text, entries } = await everything()
  for (const secret of secrets) t.notOk(text.includes(secret), 'no secret is in the trail')
  t.ok(entries.every(({ event }) => Object.hasOwn(auditWordsOf(FEATURES), event)))
  async function* lines() {
    yield* text.split('\n')
  }
  t.match(await checkLines(lines()), { ok: true, gaps: 0, first: 1, last: entries.length })
})

t.test('passkeys are recorded by their names, and refused ones with whose they are', async (t) => {
  const { host, claimcheck } = await shared()
  const owner = await Visitor.owner(host, 'keys of doors')
  const { userId } = (await claimcheck.members.list(await owner.workspaceId()))[0]!
  const origin = host.url.replace('127.0.0.1', 'localhost')
  const device = new Device(origin)
  const parts = { id: 'localhost', origin }
  const user = (await claimcheck.accounts.list()).find(({ id }) => id === userId)!
  const by = { actor: { kind: 'user', id: userId }, address: '192.0.2.9' } as const
  const made = await during(async () => {
    const { options, ticket } = await claimcheck.passkeys.beginRegistration(user, parts)
    const credential = device.create(options as never)
    await claimcheck.passkeys.register(user, { party: parts, ticket, credential, name: 'laptop' }, by)
  })
  t.match(made, [{ event: 'passkey.added', ...by, user_id: userId, details: { name: 'laptop' } }])
  const nobody = { actor: { kind: 'nobody', id: null }, address: '192.0.2.10' } as const
  const refused = await during(async () => {
    const { options, ticket } = await claimcheck.passkeys.beginSignIn(parts)
    const credential = device.get(options as never, { origin: 'https://elsewhere.example' })
    await t.rejects(claimcheck.passkeys.signIn({ party: parts, ticket, credential }, nobody), { code: 'bad_request' })
  })
  t.match(refused, [{ event: 'sign_in.failed', ...nobody, user_id: userId, details: { method: 'passkey' } }])
  const removed = await during(() => claimcheck.passkeys.remove(userId, made[0]!.subject!, by))
  t.match(removed, [{ event: 'passkey.removed', ...by, subject: made[0]!.subject, details: { name: 'laptop' } }])
})

t.test('owners read it newest first, filter it, page through it and export it; nobody else does', async (t) => {
  const { host, claimcheck } = await shared()
  const owner = await Visitor.owner(host, 'readers')
  const workspace = await owner.workspaceId()
  const member = await Visitor.joining(host, workspace, 'member', 'Mick')
  const other = await Visitor.owner(host, 'elsewhere')
  const { id: otherKey } = await claimcheck.keys.create(await other.workspaceId(), 'theirs alone')
  for (let count = 1; count <= 60; count++) await claimcheck.keys.create(workspace, `key number ${count}`)

  const page = await owner.get(TRAIL(workspace))
  t.equal(page.status, 200)
  const text = textOf(page.html)
  t.match(text, /key number 60.*key number 59/, 'newest first')
  t.match(text, /the command line \(.+@.+\) created an API key/)
  t.match(page.html, /<time datetime="[^"]+Z" title="[^"]+ UTC">/i)
  t.notMatch(text, /theirs alone/)
  t.notMatch(page.html, otherKey)
  t.notMatch(text, /key number 5 /)
  const older = /<a id="older" href="([^"]+)"/.exec(page.html)![1]!.replaceAll('&amp;', '&')
  const second = textOf((await owner.get(older)).html)
  t.match(second, /key number 5 .*Mick.*joined the workspace/)
  t.match(second, /signed in/, 'owners see how members signed in')
  t.match(second, /Newest/)

  const found = async (query: string) => textOf((await owner.get(`${TRAIL(workspace)}?${query}`)).html)
  t.match(await found('q=KEY+number+7'), /key number 7/)
  t.notMatch(await found('q=KEY+number+7'), /key number 8/)
  t.match(await found('q=mick'), /Mick.*signed in/, 'a name finds what its person did')
  t.notMatch(await found('group=member'), /key number/)
  t.match(await found('group=member'), /joined the workspace/)
  t.match(await found('who=command&group=key'), /key number/)
  const mickId = (await claimcheck.members.list(workspace)).find(({ name }) => name === 'Mick')!.userId
  t.notMatch(await found(`who=${mickId}`), /key number/)
  const today = new Date().toISOString().slice(0, 10)
  t.match(await found(`from=${today}&to=${today}`), /key number 60/)
  t.match(await found('to=2020-01-01'), /No entry fits these filters/)
  t.match(await found('from=2026-02-30'), /No entry has the first day “2026-02-30”: this filter is ignored/)
  t.match(await found('group=nothing'), /this filter is ignored/)
  t.match(await found('from=2026-02-02&to=2026-01-01'), /is after the last.*both are ignored/)

  await owner.get(TRAIL(workspace))
  const file = await owner.post(`${TRAIL(workspace)}/export`, { group: 'key' })
  t.equal(file.headers.get('content-type'), 'application/jsonl; charset=utf-8')
  t.match(file.headers.get('content-disposition'), /^attachment; filename="audit-trail-[\d-]{10}\.jsonl"$/)
  const entries = await entriesOf(file.html)
  t.equal(entries.length, 60)
  t.ok(entries.every(({ workspace_id, event }) => workspace_id === workspace && event === 'key.created'))
  async function* lines() {
    yield* file.html.split('\n')
  }
  t.match(await checkLines(lines()), { ok: true, entries: 60 })
  t.match(await found('group=audit_trail'), /exported the audit trail.*scope: workspace/)
  t.equal(
    (await owner.post(`${TRAIL(workspace)}/export`, { from: 'never' })).status,
    400,
    'a file says no filter was ignored',
  )
  const foreign = await owner.post(`${TRAIL(workspace)}/export`, {}, { origin: 'https://evil.example' })
  t.equal(foreign.status, 403, 'no other site has an export recorded')

  t.equal((await member.get(TRAIL(workspace))).status, 403)
  t.notMatch(textOf((await member.get(`/console/w/${workspace}/claims`)).html), /Audit trail/)
  t.equal((await member.post(`${TRAIL(workspace)}/export`)).status, 403)
  t.equal((await other.get(TRAIL(workspace))).status, 404)
  t.equal((await other.post(`${TRAIL(workspace)}/export`)).status, 404)

  const events = textOf((await member.get(`${ACCOUNT}/events`)).html)
  t.match(events, /Mick signed in/)
  t.notMatch(events, /key number/, 'of an account: nothing of workspaces')
  t.match((await member.get(ACCOUNT)).html, `href="${ACCOUNT}/events"`)
})
