// Test run: slow
/** The connections screen: destinations are tried before they are connected, and their secrets never come back. */
import { generateKeyPairSync } from 'node:crypto'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { SHELF } from '@claimcheck/server/plugins/shelf-table'
import t from 'tap'
import { silence, status } from '../destinations/faults.ts'
import { startGitHub } from '../destinations/forge/github.ts'
import { addApp, tokensGiven } from '../destinations/forge/github-apps.ts'
import { afterFile } from '../support/after-file.ts'
import { Client } from '../support/client.ts'
import { connect as connectUntested } from '../support/connect.ts'
import { sharedInstallation } from '../support/installation.ts'
import { textOf, Visitor } from '../support/visitor.ts'

const CODEHOST = createRequire(join(process.cwd(), 'package.json')).resolve('@claimcheck/plugin-codehost')
const CONNECTED = resolve('build/test/plugins/connected.js')
const RIGHT = 'ghp_right-token-text'
const WRONG = 'ghp_wrong-token-text'
const WRITING = 'ghp_writing-token-text'
const SECRETS = /-token-text/
const MARKUP = `<img src=x onerror="alert(1)">'&`
const TIMEOUT_MS = 1500

const github = await startGitHub()
afterFile(() => github.close())
const PRIVATE = 'acme/private'
const repositories = [await github.createRepository(PRIVATE, { isPrivate: true })]
github.addToken({ token: RIGHT, scopes: 'read:org', repositories })
github.addToken({ token: WRITING, scopes: 'repo, read:org', repositories })
const shared = sharedInstallation({
  plugins: [{ use: CODEHOST }, { use: CONNECTED, trusted: true }],
  env: { ALLOW_PRIVATE: '127.0.0.1' },
  file: {
    checks: { timeout_ms: TIMEOUT_MS },
    sources: { mailbox: [{ url: 'https://example.com/', plugins: ['connected'] }] },
  },
})

async function workspace() {
  const { host } = await shared()
  const owner = await Visitor.owner(host)
  const workspaceId = await owner.workspaceId()
  const path = `/console/w/${workspaceId}/connections`
  await owner.get(path)
  return {
    ...{ host, owner, workspaceId, path, connections: host.claimcheck.connections },
    connect: (fields: Record<string, string>, provider = 'github') => owner.post(`${path}/new/${provider}`, fields),
  }
}

/** An address at which nothing answers. */
async function deserted(): Promise<string> {
  const standIn = await startGitHub()
  const { url } = standIn
  await standIn.close()
  return url
}

t.test('a provider is connected by a form that its plugin describes', async (t) => {
  const { owner, path } = await workspace()
  const screen = await owner.get(path)
  t.match(textOf(screen.html), /Nothing is connected/)
  t.match(textOf(screen.html), /Public destinations need no connection: Push of a commit codehost\.commit\.push/)
  t.match(
    textOf(screen.html),
    /GitHub Verifies: Push of a commit codehost\.commit\.push .*Mailbox Verifies: Message test\.message\.send/,
  )
  for (const provider of ['github', 'git', 'mailbox']) t.match(screen.html, `href="${path}/new/${provider}"`)

  const { html } = await owner.get(`${path}/new/github`)
  t.match(
    textOf(html),
    /Connect GitHub .*Base URL optional .*fine-grained personal access token: .*Give read access only/,
  )
  t.match(html, /<input[^>]*name="option_token"[^>]*type="password"/)
  t.match(textOf(html), /When left out: all\. For example: acme \. One on each line\./)
  t.match(html, /<code>https:\/\/&lt;host>\/api\/v3<\/code>/, 'code in the texts of plugins is shown as that')
  t.equal((await owner.get(`${path}/new/nowhere`)).status, 404)
  t.equal((await owner.post(`${path}/new/nowhere`)).status, 404)
})

t.test('a token that is refused is not saved, and the right one then is', async (t) => {
  const { host, owner, workspaceId, path, connections, connect } = await workspace()
  const refused = await connect({ option_base_url: github.url, option_token: WRONG, option_owners: 'acme\r\nbeta' })
  t.equal(refused.status, 422)
  t.match(textOf(refused.html), /Not connected: the destination refused the credentials\. Enter the secrets again\./)
  t.notMatch(refused.html, 'name="insist"', 'which nobody can insist on')
  t.match(refused.html, `value="${github.url}"`)
  t.match(refused.html, /acme\r?\nbeta<\/textarea>/)
  t.notMatch(refused.html, SECRETS)
  const insisted = await connect({ option_base_url: github.url, option_token: WRONG, insist: 'yes' })
  t.equal(insisted.status, 422)
  t.strictSame(await connections.list(workspaceId), [])

  const elsewhere = await connect({ option_base_url: github.url, option_token: RIGHT, try: 'acme/none' })
  t.equal(elsewhere.status, 422)
  t.match(
    textOf(elsewhere.html),
    /what was asked for is not there, or these credentials may not see it\. Look whether it is there/,
  )
  const misspelt = await connect({ option_base_url: github.url, option_token: RIGHT, try: 'https://github.com/acme' })
  t.match(misspelt.html, /id="try-problem">[^<]*Write it another way/)
  t.match(misspelt.html, /name="try"[^>]*value="https:\/\/github\.com\/acme"/, 'what was typed stays')

  const fields = { option_base_url: github.url, option_token: RIGHT, option_owners: 'acme\r\nbeta' }
  const connected = await connect({ ...fields, try: ` ${PRIVATE} ` })
  t.equal(connected.path, `${path}?done=connected`)
  const text = textOf(connected.html)
  t.match(text, /Connected\. It works: the destination was read through it\./)
  t.match(text, `Base URL ${github.url} Owners acme, beta Verifies Push of a commit codehost.commit.push`)
  t.match(text, /Closing of an issue codehost\.issue\.close Permissions read:org/)
  t.match(text, /GitHub, acme, beta Works: read acme\/private now /)
  t.match(connected.html, /class="health working"/)
  t.match(text, /Connected now by owner Last read now Last failure none/)
  t.notMatch(connected.html, /class="notice warning"/)

  const [{ id } = { id: '' }] = await connections.list(workspaceId)
  t.match(await connections.openById(id), { options: { token: RIGHT, owners: ['acme', 'beta'] } })
  for (const at of [path, `${path}/new/github`, `${path}/${id}/disconnect`]) {
    t.notMatch((await owner.get(at)).html, SECRETS)
  }
  t.equal(host.claimcheck.registry.connectionTypes().length, 7)
})

t.test('GitHub is connected by an app in place of a token', async (t) => {
  const { host, owner, workspaceId, path, connections, connect } = await workspace()
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const permissions = { contents: 'write', metadata: 'read' } as const
  addApp(github, { id: 12345, publicKey, installations: [{ id: 678, repositories, permissions }] })
  t.match(
    textOf((await owner.get(`${path}/new/github`)).html),
    /Token optional .* App optional In place of a token: .* Installation optional .* Private key optional .*Give a token, or a GitHub App\./,
  )
  // Browsers take the ends of lines out of what is pasted into such a field.
  const key = String(privateKey.export({ type: 'pkcs1', format: 'pem' })).replaceAll('\n', '')
  const ids = { option_base_url: github.url, option_app_id: '12345', option_installation_id: '678' }
  for (const [fields, problem] of [
    [{ option_private_key: '' }, /Not connected: the options of the connection cannot work as they are/],
    [{ option_private_key: 'no-token-text' }, /Not connected: the options of the connection cannot work as they are/],
    [{ option_private_key: key, option_installation_id: '679' }, /Not connected: the destination refused the cred/],
    [{ option_private_key: key, option_installation_id: 'x' }, /enter the number of the installation/i],
    [{ option_private_key: key, try: 'acme/none' }, /these credentials may not see it/],
  ] as const) {
    const refused = await connect({ ...ids, try: PRIVATE, ...fields })
    t.equal(refused.status, 422)
    t.match(textOf(refused.html), problem)
    t.notMatch(refused.html, /PRIVATE KEY|-token-text/)
  }
  const connected = await connect({ ...ids, option_private_key: key, try: PRIVATE })
  t.equal(connected.path, `${path}?done=connected`)
  t.match(textOf(connected.html), `App 12345 Installation 678 Base URL ${github.url} Verifies`)
  t.notMatch(connected.html, /PRIVATE KEY|class="notice warning"/)
  const [stored] = await connections.list(workspaceId)
  t.match(stored, { options: { app_id: '12345', installation_id: '678' }, expiresAt: null, scopes: [] })
  t.notMatch(JSON.stringify(stored), 'PRIVATE KEY')

  const [repository] = repositories
  const sha = await repository!.commit()
  await repository!.push('main', sha)
  const client = new Client(host, workspaceId, (await host.claimcheck.keys.create(workspaceId, 'test')).key)
  const claim = { action: 'codehost.commit.push', target: PRIVATE, params: { sha, branch: 'main' } }
  t.match(await client.decided((await client.submit(claim)).body.claim_id), { verdict: 'verified' })
  for (const given of tokensGiven(github)) t.strictSame(given, { contents: 'read', metadata: 'read' })
})

t.test('a form that is sent twice while its destination is tried connects once', async (t) => {
  const { workspaceId, path, connections, connect } = await workspace()
  const fields = { option_base_url: github.url, option_token: RIGHT }
  const answers = await Promise.all([connect(fields), connect(fields)])
  t.strictSame(
    answers.map((answer) => answer.path),
    [`${path}?done=connected-reached`, `${path}?done=connected-reached`],
  )
  t.equal((await connections.list(workspaceId)).length, 1)
  await connect(fields)
  t.equal((await connections.list(workspaceId)).length, 2, 'what is sent later is another')
})

t.test('a destination that does not let the token read is like one that refuses it', async (t) => {
  const { workspaceId, connections, connect } = await workspace()
  github.faults.inject({ fault: status(403), times: 1 })
  const page = await connect({ option_base_url: github.url, option_token: RIGHT, insist: 'yes' })
  t.equal(page.status, 422)
  t.match(textOf(page.html), /these credentials may not see it/)
  t.strictSame(await connections.list(workspaceId), [])
})

t.test('a token that can write is saved, with a warning that stays', async (t) => {
  const { owner, path, connect } = await workspace()
  const connected = await connect({ option_base_url: github.url, option_token: WRITING, try: PRIVATE })
  t.equal(connected.path, `${path}?done=connected-warned`)
  for (const { html } of [connected, await owner.get(path)]) {
    t.match(html, /class="notice warning"/)
    t.match(textOf(html), /This token can also write \(repo\), which is more than is needed\./)
    t.match(textOf(html), /Permissions repo , read:org/)
  }
})

t.test('what cannot be reached is saved only when somebody insists', async (t) => {
  const { workspaceId, path, connections, connect } = await workspace()
  const url = await deserted()
  const failed = await connect({ option_base_url: url, option_token: RIGHT })
  t.equal(failed.status, 422)
  t.match(textOf(failed.html), /Not connected: the destination could not be reached\./)
  t.match(failed.html, /<input[^>]*name="insist"/)
  t.notMatch(failed.html, SECRETS)
  t.strictSame(await connections.list(workspaceId), [])

  github.faults.inject({ fault: silence(), times: 1 })
  const silent = await connect({ option_base_url: github.url, option_token: RIGHT })
  t.match(textOf(silent.html), /the destination did not answer in time/)
  github.faults.inject({ fault: status(429), times: 1 })
  const limited = await connect({ option_base_url: github.url, option_token: RIGHT })
  t.match(textOf(limited.html), /the destination limited the number of requests/)
  t.strictSame(await connections.list(workspaceId), [])

  const kept = await connect({ option_base_url: url, option_token: RIGHT, insist: 'yes' })
  t.equal(kept.path, `${path}?done=connected-unread`)
  t.match(textOf(kept.html), /Connected, but the destination could not be read/)
  t.match(textOf(kept.html), /Last read now : the destination could not be reached .* Last good read not yet/)
  t.match(await connections.list(workspaceId), [{ state: null, stateAt: null }])
  t.match(await connections.list(workspaceId), [{ options: { base_url: url }, lastFailure: 'unavailable' }])
})

t.test('options that do not fit are told beside their fields, without the secrets', async (t) => {
  const { workspaceId, connections, connect } = await workspace()
  const page = await connect({ option_base_url: 'ftp://x', option_token: 'x-token-text'.repeat(400) })
  t.equal(page.status, 422)
  t.match(page.html, /id="option_base_url-problem">Enter an address that begins with https:/)
  t.equal(page.html.match(/ autofocus/g)?.length, 1)
  t.match(page.html, /id="option_token"[^>]* autofocus/, 'the first wrong field has the focus')
  t.match(page.html, /id="option_token-problem">/)
  t.notMatch(page.html, SECRETS)
  t.match(textOf((await connect({}, 'mailbox')).html), /This is required\./)
  t.strictSame(await connections.list(workspaceId), [])
})

t.test('the API lists what the screen shows, and names nobody', async (t) => {
  const { host, owner, workspaceId, path, connect } = await workspace()
  await connect({ option_base_url: github.url, option_token: RIGHT, option_owners: 'acme' })
  await connect({ option_token: 'a-token-text' }, 'mailbox')
  const { key } = await host.claimcheck.keys.create(workspaceId, 'test')
  const { body } = await host.request('/v1/connections', { headers: { authorization: `Bearer ${key}` } })
  t.match(body.connections, [
    { name: 'GitHub, acme', provider: 'github', scopes: ['read:org'] },
    { name: 'Mailbox', provider: 'mailbox', scopes: [], actions: ['test.message.send'] },
  ])
  for (const name of ['codehost.checks.pass', 'github.commit.push', 'github.pr.open', 'github.checks.pass'])
    t.ok(body.connections[0].actions.includes(name), name)
  for (const connection of body.connections) {
    t.strictSame(Object.keys(connection).sort(), ['actions', 'connected_at', 'id', 'name', 'provider', 'scopes'])
  }
  t.notMatch(JSON.stringify(body), /owner|usr_|token/)
  const { html } = await owner.get(path)
  const shown = [...html.matchAll(/<h3 id="(conn_[^"]+)"/g)].map(([, id]) => id)
  t.strictSame(
    shown,
    body.connections.map(({ id }: { id: string }) => id),
    'in the same order',
  )
})

t.test('how a connection is read is shown with it', async (t) => {
  const { host, owner, workspaceId, path, connections } = await workspace()
  const { id } = await connectUntested({ connections }, workspaceId, 'mailbox', { token: 'a-token-text' })
  const now = host.claimcheck.now()
  const { activity } = host.claimcheck
  activity.connectionRead(id, {
    sentAt: now,
    answeredAt: now,
    observation: { kind: 'absent', facts: {} },
    clockOffsetMs: 0,
  })
  activity.connectionRead(id, { sentAt: now, answeredAt: now, failure: { code: 'forbidden' } })
  await activity.close()
  const hidden = textOf((await owner.get(path)).html)
  t.match(
    hidden,
    /Last failure (?:now|\d+ sec\. ago) : what was asked for is not there, or these credentials may not see it/,
  )
  t.notMatch(hidden, /A connection could not be read/, 'a claim may name what is not there')
  activity.connectionRead(id, { sentAt: now, answeredAt: now + 1, failure: { code: 'unavailable' } })
  await activity.close()
  const unavailable =
    /A connection could not be read\. .* Last read [^:]+ : the destination could not be reached .* Connected (?:now|\d+ sec\. ago) by the command line/
  t.match(textOf((await owner.get(path)).html), unavailable)
  activity.connectionRead(id, { sentAt: now + 2, answeredAt: now + 2, failure: { code: 'unauthorized' } })
  await activity.close()
  const refused =
    /Mailbox Refused (?:now|\d+ sec\. ago) : the destination refused the credentials .* Last good read (?:now|\d+ sec\. ago)/
  t.match(textOf((await owner.get(path)).html), refused)
})

t.test('other credentials are tried before they take the place of those that ran out', async (t) => {
  const { host, owner, workspaceId, path, connections, connect } = await workspace()
  await connect({ option_base_url: github.url, option_token: WRITING, option_owners: 'acme' })
  const [connection] = await connections.list(workspaceId)
  const { id } = connection!
  const repository = await github.createRepository('acme/api', { isPrivate: true })
  const sha = await repository.commit()
  await repository.push('main', sha)
  github.revokeToken(WRITING)
  github.addToken({ token: RIGHT, scopes: 'read:org', repositories: [...repositories, repository] })
  const { key } = await host.claimcheck.keys.create(workspaceId, 'test')
  const client = new Client(host, workspaceId, key)
  const claim = { action: 'codehost.commit.push', target: 'acme/api', params: { sha, branch: 'main' } }
  const { body: waiting } = await client.submit(claim)
  t.match(waiting, { state: 'queued', last_check: { code: 'unauthorized' } })

  const listed = await owner.get(path)
  t.match(listed.html, `href="${path}/${id}/credentials"`)
  const asked = await owner.get(`${path}/${id}/credentials`)
  t.match(textOf(asked.html), `Replace the credentials of GitHub, acme Base URL ${github.url} Owners acme`)
  t.match(asked.html, /<input[^>]*name="option_token"[^>]*type="password"/)
  t.notMatch(asked.html, /name="option_(base_url|owners)"|-token-text/, 'secrets alone are asked for')

  const replace = (fields: Record<string, string>) => owner.post(`${path}/${id}/credentials`, fields)
  for (const [fields, problem] of [
    [{ option_token: WRONG }, /Not replaced: the destination refused the credentials\. Enter the secrets again\./],
    [{ option_token: WRONG, insist: 'yes' }, /Not replaced: the destination refused the credentials/],
    [{}, /Not replaced: .*at least one secret/],
  ] as const) {
    const refused = await replace(fields)
    t.equal(refused.status, 422)
    t.match(textOf(refused.html), problem)
    t.notMatch(refused.html, SECRETS)
  }
  t.match(await connections.openById(id), { options: { token: WRITING } }, 'what it had stays')

  github.faults.inject({ fault: silence(), times: 1 })
  const silent = await replace({ option_token: RIGHT })
  t.match(textOf(silent.html), /Not replaced: .*Replace anyway/)
  t.match(await connections.openById(id), { options: { token: WRITING } })
  github.faults.inject({ fault: silence(), times: 1 })
  const insisted = await replace({ option_token: RIGHT, insist: 'yes' })
  t.equal(insisted.path, `${path}?done=replaced-unread`)
  t.match(textOf(insisted.html), /could not be read just now/)
  t.match(await connections.openById(id), { options: { token: RIGHT } })

  const replaced = await replace({ option_token: RIGHT, option_owners: 'somebody-else', try: PRIVATE })
  t.equal(replaced.path, `${path}?done=replaced`)
  t.match(textOf(replaced.html), /The credentials are replaced, and they work\..*Permissions read:org /)
  t.notMatch(replaced.html, /class="notice warning"/)
  const { connectedAt, connectedBy } = connection!
  t.match(await connections.list(workspaceId), [{ id, connectedAt, connectedBy, scopes: ['read:org'], notes: [] }])
  t.match(await connections.openById(id), { options: { token: RIGHT, owners: ['acme'], base_url: github.url } })
  t.match(await client.decided(waiting.claim_id), { verdict: 'verified' }, 'what waited is read with them')

  await connections.remove(id)
  t.equal((await replace({ option_token: RIGHT })).status, 404)
  t.equal((await owner.get(`${path}/${id}/credentials`)).status, 404)
})

t.test('a connection has the name that its owner gives it, and else one that says what it is', async (t) => {
  const { owner, workspaceId, path, connections, connect } = await workspace()
  const fields = { option_base_url: github.url, option_token: RIGHT }
  await connect({ ...fields, connection_name: '  Acme at work ', option_owners: 'acme' })
  await connect(fields)
  const [named, unnamed] = await connections.list(workspaceId)
  t.match(named, { name: 'Acme at work', usualName: 'GitHub, acme' })
  t.equal(unnamed!.name, `GitHub, ${new URL(github.url).host}`, 'the host, where nothing else tells them apart')

  const refused = await connect({ ...fields, connection_name: 'a\u202eb' })
  t.equal(refused.status, 422)
  t.match(refused.html, /id="connection_name-problem">The name is not valid: [^<]*U\+202E/)
  t.match(refused.html, /id="connection_name"[^>]* autofocus/)
  t.match(refused.html, `value="${github.url}"`, 'what was typed stays')
  t.notMatch(refused.html, SECRETS)

  const to = `${path}/${named!.id}/name`
  t.match((await owner.get(to)).html, /name="connection_name"[^>]*value="Acme at work"/)
  const wrong = await owner.post(to, { connection_name: 'x'.repeat(101) })
  t.equal(wrong.status, 422)
  t.match(wrong.html, /aria-invalid="true"[^>]* autofocus[^>]*value="x{101}"/)
  const renamed = await owner.post(to, { connection_name: 'Production' })
  t.equal(renamed.path, `${path}?done=connection-renamed`)
  t.match(textOf(renamed.html), /The connection is renamed\..*Production Reached, but not tried/)
  await owner.post(to, { connection_name: ' ' })
  t.match(await connections.list(workspaceId), [{ name: 'GitHub, acme' }], 'without a name it has its usual one')
})

t.test('a connection is tested in place, and what cannot be read comes first, with what to do', async (t) => {
  const { owner, workspaceId, path, connections, connect } = await workspace()
  const fields = { option_base_url: github.url, option_token: RIGHT, try: PRIVATE }
  for (const name of ['one', 'two']) await connect({ ...fields, connection_name: name })
  const [one, two] = await connections.list(workspaceId)
  const order = (html: string) => [...html.matchAll(/<h3 id="conn_[^"]+"><bdi>([^<]+)/g)].map(([, name]) => name)

  github.faults.inject({ fault: status(401), times: 1 })
  const failed = await owner.post(`${path}/${two!.id}/test`)
  t.equal(failed.path, `${path}?done=connection-refused`)
  const text = textOf(failed.html)
  t.match(
    text,
    /A connection could not be read\. .*two : the destination refused the credentials\. Replace the credentials\./,
  )
  t.match(text, /two Refused now : the destination refused the credentials/)
  t.match(failed.html, `href="#${two!.id}"`)
  t.strictSame(order(failed.html), ['two', 'one'])
  t.match(await connections.openById(two!.id), { options: { token: RIGHT } }, 'it stays as it is')

  github.addToken({ token: RIGHT, scopes: 'repo', repositories })
  const worked = await owner.post(`${path}/${two!.id}/test`)
  github.addToken({ token: RIGHT, scopes: 'read:org', repositories })
  t.equal(worked.path, `${path}?done=connection-works`)
  t.match(textOf(worked.html), /Tested: it works\..*two Works: read acme\/private now This token can also write/)
  t.notMatch(worked.html, 'aria-label="Problems"')
  t.strictSame(order(worked.html), ['one', 'two'])

  await connections.remove(one!.id)
  t.equal((await owner.post(`${path}/${one!.id}/test`)).status, 404)
})

t.test('disconnecting asks first, and forgets the credentials', async (t) => {
  const { owner, workspaceId, path, connections, connect } = await workspace()
  await connect({ option_token: 'a-token-text' }, 'mailbox')
  const [{ id } = { id: '' }] = await connections.list(workspaceId)
  const asked = await owner.get(`${path}/${id}/disconnect`)
  t.match(textOf(asked.html), /Disconnect Mailbox\?/)
  t.equal((await connections.list(workspaceId)).length, 1, 'asking changes nothing')
  const gone = await owner.post(`${path}/${id}/disconnect`)
  t.equal(gone.path, `${path}?done=disconnected`)
  t.match(textOf(gone.html), /Disconnected\..*Nothing is connected/)
  t.strictSame(await connections.open(workspaceId), [])
  t.equal((await owner.get(`${path}/${id}/disconnect`)).status, 404)
  t.equal((await owner.post(`${path}/${id}/disconnect`)).status, 404)
})

t.test('owners find destinations by kind, with the line that adds what the service does not load', async (t) => {
  const { owner, path } = await workspace()
  const text = textOf((await owner.get(path)).html)
  for (const { package: name, connections } of SHELF) {
    t.ok(text.includes(connections.join(', ')), name)
    t.ok(text.includes(`{"use":"${name}"}`), name)
  }
  t.notOk(text.includes('{"use":"@claimcheck/plugin-codehost"}'))
  t.match(text, /Container images.*Container registry.*Payments.*Stripe.*Others.*Mailbox/s)

  const search = async (words: string) => {
    const { html } = await owner.get(`${path}?q=${encodeURIComponent(words)}`)
    return textOf(html.slice(html.indexOf('id="connect"')))
  }
  const refunds = await search(' REFUND  stripe ')
  t.match(refunds, /Payments.*Stripe.*plugin-payments.*Show all destinations|Show all destinations.*Payments.*Stripe/s)
  t.notMatch(refunds, /Mailbox|Container registry/)
  t.match(await search('mailbox'), /Mailbox/, 'by the name of what is loaded')
  const none = await search('<b>fax</b>')
  t.match(none, /No destination fits/)
  const { html } = await owner.get(`${path}?q=${encodeURIComponent('"><script>')}`)
  t.notMatch(html, /"><script>/, 'what is typed stays text')
})

t.test('members see the connections, and change none', async (t) => {
  const { host, workspaceId, path, connections } = await workspace()
  const { id } = await connectUntested({ connections }, workspaceId, 'mailbox', { token: 'a-token-text' })
  const member = await Visitor.joining(host, workspaceId, 'member', 'Mia')
  const page = await member.get(path)
  t.match(textOf(page.html), /Mailbox Verifies Message test\.message\.send/)
  t.notMatch(page.html, /connections\/new|disconnect|credentials|<h2 id="connect">|#connect/)
  const answers = [
    await member.get(`${path}/new/mailbox`),
    await member.post(`${path}/new/mailbox`, { option_token: 'b' }),
    await member.get(`${path}/${id}/disconnect`),
    await member.post(`${path}/${id}/disconnect`),
    await member.get(`${path}/${id}/credentials`),
    await member.post(`${path}/${id}/credentials`, { option_token: 'b' }),
    await member.get(`${path}/${id}/name`),
    await member.post(`${path}/${id}/name`, { connection_name: 'mine' }),
    await member.post(`${path}/${id}/test`),
  ]
  for (const { status, html } of answers) {
    t.equal(status, 403)
    t.match(textOf(html), /Only owners of the workspace may do this/)
  }
  t.equal((await connections.list(workspaceId)).length, 1)
})

t.test("another workspace's connections are not there", async (t) => {
  const { host, owner, path, connections } = await workspace()
  const { id: elsewhere } = await host.claimcheck.workspaces.create('elsewhere')
  const { id } = await connectUntested({ connections }, elsewhere, 'git', {
    base_url: await deserted(),
    owners: ['secret-project'],
  })
  t.notMatch((await owner.get(path)).html, 'secret-project')
  const theirs = `/console/w/${elsewhere}/connections`
  const answers = [
    await owner.get(`${path}/${id}/disconnect`),
    await owner.post(`${path}/${id}/disconnect`),
    await owner.get(`${path}/${id}/credentials`),
    await owner.post(`${path}/${id}/credentials`, { option_token: 'b' }),
    await owner.get(`${path}/${id}/name`),
    await owner.post(`${path}/${id}/name`, { connection_name: 'mine' }),
    await owner.post(`${path}/${id}/test`),
    await owner.get(`${theirs}/${id}/credentials`),
    await owner.post(`${theirs}/${id}/credentials`, { option_token: 'b' }),
    await owner.get(`${theirs}/${id}/disconnect`),
    await owner.post(`${theirs}/${id}/disconnect`),
    await owner.get(theirs),
    await owner.get(`${theirs}/new/mailbox`),
    await owner.post(`${theirs}/new/mailbox`, { option_token: 'b' }),
  ]
  for (const { status, path } of answers) t.equal(status, 404, path)
  t.equal((await connections.list(elsewhere)).length, 1)
})

t.test('markup in options, and in what destinations say, comes out as text', async (t) => {
  const { owner, workspaceId, path, connections, connect } = await workspace()
  github.addToken({ token: 'marked-token-text', scopes: MARKUP })
  const fields = { option_base_url: github.url, option_token: 'marked-token-text', option_owners: MARKUP }
  await connect(fields)
  const [{ id } = { id: '' }] = await connections.list(workspaceId)
  for (const at of [path, `${path}/${id}/disconnect`]) {
    const { html } = await owner.get(at)
    t.notMatch(html, '<img')
    t.match(textOf(html), MARKUP)
  }
  const wrong = Object.fromEntries(Object.keys(fields).map((name) => [name, `</textarea>${MARKUP}`]))
  const refused = await connect({ ...wrong, option_username: MARKUP }, 'git')
  t.equal(refused.status, 422)
  t.notMatch(refused.html, '<img')
  t.equal(refused.html.match(/<\/textarea>/g)?.length, 1)
})

t.test(
  'whether receipts may name the address is asked with what follows from it, and shown with the connection',
  async (t) => {
    const { owner, workspaceId, path, connections, connect } = await workspace()
    const asked = await owner.get(`${path}/new/github`)
    t.match(asked.html, /<input[^>]*type="checkbox"[^>]*name="publish_address"/)
    t.notMatch(asked.html, /name="publish_address"[^>]*checked/, 'not unless it is wanted')
    t.match(textOf(asked.html), /Everyone who has a receipt can then read the address .* address withheld/)
    t.match(textOf(asked.html), /no difference for the address https:\/\/api\.github\.com , which the operator lists/)
    t.match(textOf((await owner.get(`${path}/new/git`)).html), /Receipts may name the address/)

    const fields = { option_base_url: github.url, option_token: RIGHT }
    const refused = await connect({ ...fields, option_token: WRONG, publish_address: 'yes' })
    t.match(refused.html, /name="publish_address"[^>]*checked/, 'what was ticked stays')
    const named = await connect({ ...fields, publish_address: 'yes' })
    t.match(textOf(named.html), /Address in receipts named Connected/)
    t.match(await connections.list(workspaceId), [{ address: 'published' }])
    const withheld = await connect(fields)
    t.match(
      textOf(withheld.html),
      /Address in receipts withheld: readers see that this workspace chose the destination/,
    )
    t.match(await connections.list(workspaceId), [{ address: 'published' }, { address: 'withheld' }])
  },
)

t.test('nothing is asked of a destination with one address that the operator lists', async (t) => {
  const { owner, path, connect } = await workspace()
  const form = await owner.get(`${path}/new/mailbox`)
  t.notMatch(form.html, 'publish_address')
  t.match(textOf(form.html), /Receipts name the address https:\/\/example\.com : the operator lists it/)
  const connected = await connect({ option_token: 'a-token-text' }, 'mailbox')
  t.match(textOf(connected.html), /Address in receipts named: the operator lists it as a public destination/)
})
