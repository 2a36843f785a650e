/** The developers screen: keys are made, shown once, listed for ever, and revoked at once. Threat K1 of `security.md`. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { MACHINE_SECRET_PATTERN } from '@claimcheck/server/features/oauth/machines'
import { KEY_PATTERN } from '@claimcheck/server/features/workspaces/keys'
import t from 'tap'
import { Installation, sharedInstallation } from '../support/installation.ts'
import { PASSWORD, type Page, textOf, Visitor } from '../support/visitor.ts'

const shared = sharedInstallation()

async function developers(installation: Installation) {
  const owner = await Visitor.owner(installation.host)
  const workspaceId = await owner.workspaceId()
  const path = `/console/w/${workspaceId}/developers`
  await owner.get(path)
  return { installation, host: installation.host, owner, workspaceId, path }
}

/** What its copy buttons copy. */
function copied({ html }: Page): string[] {
  return [...html.matchAll(/data-copy="([^"]*)"/g)].map(([, text]) => unescaped(text!))
}

function unescaped(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&')
}

/** The arguments that a shell gives to curl. */
function argumentsOf(command: string): string[] {
  const text = execFileSync('sh', ['-c', `curl() { printf '%s\\0' "$@"; }\n${command}`], { encoding: 'utf8' })
  return text.split('\0').slice(0, -1)
}

t.test('a key is shown once, with a command that submits a first claim', async (t) => {
  const { host, owner, path } = await developers(await shared())
  const page = await owner.post(`${path}/keys`, { name: ' build server ' })
  t.equal(page.status, 201)
  t.equal(page.headers.get('cache-control'), 'no-store')
  t.match(textOf(page.html), /Copy this key now: it is not shown again/)
  const [key, command] = copied(page)
  t.match(key, /^svc_sk_[A-Za-z0-9_-]{43}$/)

  const [url, ...rest] = argumentsOf(command!)
  t.equal(url, `${host.url}/v1/claims`)
  const headers = rest.filter((_, index) => rest[index - 1] === '-H')
  t.strictSame(headers, [`Authorization: Bearer ${key}`, 'Content-Type: application/json'])
  const submitted = await fetch(url!, {
    method: 'POST',
    headers: headers.map((line) => line.split(': ') as [string, string]),
    body: rest.at(-1)!,
  })
  t.equal(submitted.status, 202)
  t.match(await submitted.json(), { state: 'decided', verdict: 'verified' })

  let listed = await owner.get(path)
  // The service notes uses together.
  for (
    const end = Date.now() + 10_000;
    !/ from 127/.test(textOf(listed.html)) && Date.now() < end;
    await setTimeout(200)
  )
    listed = await owner.get(path)
  t.notMatch(listed.html, key!)
  t.match(textOf(listed.html), `build server svc_sk_…${key!.slice(-4)} active`)
  t.match(textOf(listed.html), / from 127\.0\.0\.1 .* owner Change Replace Revoke/, 'who made it')
  t.equal((await owner.get(`${path}/keys`)).path, path, 'the page of a new key is not there a second time')
})

t.test('the command names the address that the operator gave', async (t) => {
  const origin = 'https://claims.example.com'
  const installation = await Installation.during(t, { env: { PUBLIC_URL: origin } })
  const token = await installation.claimcheck.accounts.setupToken()
  const owner = new Visitor(installation.host)
  const fields = { name: 'Ann', email: 'ann@example.com', password: PASSWORD, workspace: 'far' }
  await owner.post(`/console/setup/${token}`, fields, { origin })
  const path = `/console/w/${await owner.workspaceId()}/developers`
  await owner.get(path)
  const page = await owner.post(`${path}/keys`, { name: 'x' }, { origin })
  t.match(copied(page)[1], /^curl 'https:\/\/claims\.example\.com\/v1\/claims'/)
})

t.test('a key has a name, and what is no name is told', async (t) => {
  const { host, owner, path, workspaceId } = await developers(await shared())
  for (const name of ['', '   ', 'x'.repeat(101), 'a\u0007b']) {
    const page = await owner.post(`${path}/keys`, { name })
    t.equal(page.status, 422)
    const why = name.includes('a')
      ? 'it has a control character (U+0007 at position 2): leave it out'
      : 'use 1 to 100 characters'
    t.match(textOf(page.html), `No key was made: the name is not valid: ${why}`)
    t.match(page.html, /aria-invalid="true"/)
  }
  t.equal((await owner.post(`${path}/keys`)).status, 422, 'without a name at all')
  t.strictSame(await host.claimcheck.keys.list(workspaceId), [])
})

t.test('revoking asks first, holds at the next request, and leaves the key listed', async (t) => {
  const { host, owner, path, workspaceId } = await developers(await shared())
  const { id, key } = await host.claimcheck.keys.create(workspaceId, 'made by command')
  const status = async () => (await host.request('/v1/whoami', { headers: { authorization: `Bearer ${key}` } })).status
  t.equal(await status(), 200)

  const listed = await owner.get(path)
  t.match(listed.html, `href="${path}/keys/${id}/revoke"`)
  t.match(textOf(listed.html), /made by command .* active .* command line/)
  const asked = await owner.get(`${path}/keys/${id}/revoke`)
  t.match(textOf(asked.html), /Revoke this key\? .*made by command/)
  t.equal(await status(), 200, 'asking changes nothing')

  const revoked = await owner.post(`${path}/keys/${id}/revoke`)
  t.equal(revoked.path, `${path}?done=key-revoked`)
  t.match(textOf(revoked.html), /The key is revoked\..*made by command .* revoked/)
  t.notMatch(revoked.html, `${id}/revoke`)
  t.equal(await status(), 401)
  t.match(textOf((await owner.get(`${path}/keys/${id}/revoke`)).html), /This key is revoked/)
  t.equal((await owner.post(`${path}/keys/${id}/revoke`)).status, 200, 'a second time changes nothing')
})

t.test('members see the keys, and make and revoke none', async (t) => {
  const { host, path, workspaceId } = await developers(await shared())
  const { id } = await host.claimcheck.keys.create(workspaceId, 'theirs')
  const member = await Visitor.joining(host, workspaceId, 'member', 'Mia')
  const page = await member.get(path)
  t.match(textOf(page.html), /theirs/)
  t.notMatch(page.html, /\/keys|\/revoke/)
  const answers = [
    await member.post(`${path}/keys`, { name: 'x' }),
    await member.get(`${path}/keys/${id}/revoke`),
    await member.post(`${path}/keys/${id}/revoke`),
  ]
  for (const { status, html } of answers) {
    t.equal(status, 403)
    t.match(textOf(html), /Only owners of the workspace may do this/)
  }
  t.match(await host.claimcheck.keys.list(workspaceId), [{ id, revokedAt: null }])
})

t.test("another workspace's keys are not there", async (t) => {
  const { host, owner, path } = await developers(await shared())
  const { id: elsewhere } = await host.claimcheck.workspaces.create('elsewhere')
  const { id } = await host.claimcheck.keys.create(elsewhere, 'secret project')
  t.notMatch((await owner.get(path)).html, 'secret project')
  for (const other of [`${path}/keys/${id}/revoke`, `${path}/keys/key_none/revoke`]) {
    const [asked, sent] = [await owner.get(other), await owner.post(other)]
    t.strictSame([asked.status, sent.status], [404, 404])
  }
  const theirs = `/console/w/${elsewhere}/developers`
  for (const page of [await owner.get(theirs), await owner.post(`${theirs}/keys`, { name: 'x' })]) {
    t.equal(page.status, 404)
  }
  t.match(await host.claimcheck.keys.list(elsewhere), [{ id, revokedAt: null }])
})

t.test('markup in names comes out as text', async (t) => {
  const { host, owner, path, workspaceId } = await developers(await shared())
  const name = `<img src=x onerror="alert(1)">'&`
  const other = await Visitor.joining(host, workspaceId, 'owner', name)
  await other.get(path)
  await other.post(`${path}/keys`, { name })
  const [{ id } = { id: '' }] = await host.claimcheck.keys.list(workspaceId)
  for (const at of [path, `${path}/keys/${id}/revoke`]) {
    const { html } = await owner.get(at)
    t.notMatch(html, '<img')
    t.match(textOf(html), name)
  }
  const refused = await owner.post(`${path}/keys`, { name: `${name.repeat(10)}` })
  t.equal(refused.status, 422)
  t.notMatch(refused.html, '<img')
})

t.test(
  'a key is held to what the form says, and shows it; the rest of the form stays when a part is wrong',
  async (t) => {
    const { host, owner, path, workspaceId } = await developers(await shared())
    const limits = { expires: '2099-12-31', networks: '10.1.2.3/8\r\n 2001:db8::1 \r\n', agents: 'release-bot\n' }
    t.equal((await owner.post(`${path}/keys`, { name: 'held', ...limits })).status, 201)
    const [key] = await host.claimcheck.keys.list(workspaceId)
    t.match(key, {
      expiresAt: Date.UTC(2100, 0, 1),
      networks: ['10.0.0.0/8', '2001:db8::1/128'],
      agentIds: ['release-bot'],
    })
    const page = textOf((await owner.get(path)).html)
    t.match(page, /active, expires .* agents release-bot networks 10\.0\.0\.0\/8 , 2001:db8::1\/128/)
    t.match(page, /Bound agents .*release-bot held/)

    const wrong: readonly (readonly [object, RegExp])[] = [
      [{ expires: '2020-01-01' }, /must be in the future/],
      [{ expires: 'tomorrow' }, /the last day is not a date/],
      [{ networks: 'office' }, /is not a network/],
      [{ agents: 'x'.repeat(257) }, /the agent id .* is not valid/],
    ]
    for (const [field, problem] of wrong) {
      const refused = await owner.post(`${path}/keys`, { name: 'typed', ...limits, ...field })
      t.match([refused.status, textOf(refused.html)], [422, problem])
      t.match(refused.html, 'value="typed"')
      t.match(refused.html, '<details open')
      const unchanged = await owner.post(`${path}/keys/${key!.id}`, { name: 'held', ...limits, ...field })
      t.match([unchanged.status, textOf(unchanged.html)], [422, problem])
    }
    t.strictSame(await host.claimcheck.keys.list(workspaceId), [key])
  },
)

t.test('a key is changed in place; an end within a day stays when the day does', async (t) => {
  const { host, owner, path, workspaceId } = await developers(await shared())
  const { keys } = host.claimcheck
  const expiresAt = Date.UTC(2099, 5, 1, 13, 30)
  const { id } = await keys.create(workspaceId, 'ci', { expiresAt, networks: ['10.0.0.0/8'], agentIds: ['bot'] })
  const form = await owner.get(`${path}/keys/${id}`)
  t.match(form.html, 'value="2099-06-01"')
  const fields = { name: 'ci 2', expires: '2099-06-01', networks: '', agents: '' }
  const changed = await owner.post(`${path}/keys/${id}`, fields)
  t.equal(changed.path, `${path}?done=key-changed`)
  t.match(await keys.list(workspaceId), [{ name: 'ci 2', expiresAt, networks: [], agentIds: null }])
  await owner.post(`${path}/keys/${id}`, { ...fields, expires: '' })
  t.match(await keys.list(workspaceId), [{ expiresAt: null }])

  t.match(textOf(changed.html), /bot no key/, 'the agent stays bound')
  const release = `${path}/agents/release?agent=bot`
  t.match(textOf((await owner.get(release)).html), /Release this agent\? bot has no key left/)
  const released = await owner.post(`${path}/agents/release`, { agent: 'bot' })
  t.equal(released.path, `${path}?done=agent-released`)
  t.strictSame(await keys.boundAgents(workspaceId), [])
  t.equal((await owner.get(release)).status, 404)
  await keys.create(workspaceId, 'holder', { agentIds: ['bot'] })
  const held = await owner.post(`${path}/agents/release`, { agent: 'bot' })
  t.match([held.status, textOf(held.html)], [422, /bound to the key holder/])
})

t.test('replacing a key asks first, shows the new one, and tells when the old one ends', async (t) => {
  const { host, owner, path, workspaceId } = await developers(await shared())
  const { id } = await host.claimcheck.keys.create(workspaceId, 'old')
  t.match(textOf((await owner.get(`${path}/keys/${id}/rotate`)).html), /Replace this key\? .*old/)
  t.equal((await host.claimcheck.keys.list(workspaceId)).length, 1, 'asking changes nothing')
  const made = await owner.post(`${path}/keys/${id}/rotate`, { overlap: '1h' })
  t.equal(made.status, 201)
  t.match(copied(made)[0], /^svc_sk_[A-Za-z0-9_-]{43}$/)
  t.match(textOf(made.html), /That key expires in (60 min|1 hr)/)
  t.match(textOf((await owner.get(path)).html), /active, expires in .*, replaced by svc_sk_/)
  for (const overlap of ['', 'soon', '1000d', '1h']) {
    const refused = await owner.post(`${path}/keys/${id}/rotate`, { overlap })
    t.match([refused.status, textOf(refused.html)], [422, /No key was made/])
  }
  t.equal((await owner.get(path)).html.match(/aria-label="Change old"/g)?.length, 1, 'what is changed is the new one')
  const revived = await owner.post(`${path}/keys/${id}`, { name: 'old', expires: '' })
  t.match([revived.status, textOf(revived.html)], [422, /is replaced already, by key_\w+: use that one/])
  const member = await Visitor.joining(host, workspaceId, 'member', 'Max')
  for (const rest of [`/keys/${id}`, `/keys/${id}/rotate`, '/agents/release']) {
    t.equal((await member.get(path + rest)).status, 403)
    t.equal((await member.post(path + rest)).status, 403)
  }
  const stranger = await Visitor.owner(host)
  await stranger.get('/console')
  const theirs = `/console/w/${await stranger.workspaceId()}/developers`
  for (const rest of [`/keys/${id}`, `/keys/${id}/rotate`]) {
    t.equal((await stranger.get(theirs + rest)).status, 404)
    t.equal((await stranger.post(theirs + rest, { overlap: '1h' })).status, 404)
  }
})

t.test('the documentation tells scanners the patterns of keys and of secrets', async (t) => {
  const page = readFileSync('server/docs/keys.md', 'utf8')
  for (const pattern of [KEY_PATTERN, MACHINE_SECRET_PATTERN]) t.ok(page.includes(`\`${pattern}\``), pattern)
})
