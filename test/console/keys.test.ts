/** The developers screen: keys are made, shown once, listed for ever, and revoked at once. Threat K1 of `security.md`. */
import { execFileSync } from 'node:child_process'
import t from 'tap'
import { createDatabase } from '../support/database.ts'
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

  await host.claimcheck.activity.close()
  const listed = await owner.get(path)
  t.notMatch(listed.html, key!)
  t.match(textOf(listed.html), `build server svc_sk_…${key!.slice(-4)} active`)
  t.match(textOf(listed.html), / from 127\.0\.0\.1 now owner Change Replace Revoke/, 'who made it')
  t.equal((await owner.get(`${path}/keys`)).path, path, 'the page of a new key is not there a second time')
})

t.test('the command names the address that the operator gave', async (t) => {
  const origin = 'https://claims.example.com'
  const installation = await Installation.start({ env: { PUBLIC_URL: origin } })
  t.teardown(() => installation.remove())
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
    t.match(textOf(page.html), /No key was made: the name is not valid: use 1 to 100 characters/)
    t.match(page.html, /aria-invalid="true"/)
  }
  t.equal((await owner.post(`${path}/keys`)).status, 422, 'without a name at all')
  t.strictSame(await host.claimcheck.keys.list(workspaceId), [])
})

t.test('revoking asks first, holds at the next request on every host, and leaves the key listed', async (t) => {
  const installation = await Installation.start({ database: await createDatabase('postgres') })
  t.teardown(() => installation.remove())
  const { host, owner, path, workspaceId } = await developers(installation)
  const hosts = [host, await installation.addHost()]
  const { id, key } = await host.claimcheck.keys.create(workspaceId, 'made by command')
  const statuses = () =>
    Promise.all(
      hosts.map(async (each) => {
        return (await each.request('/v1/whoami', { headers: { authorization: `Bearer ${key}` } })).status
      }),
    )
  t.ok((await statuses()).every((status) => status === 200))

  const listed = await owner.get(path)
  t.match(listed.html, `href="${path}/keys/${id}/revoke"`)
  t.match(textOf(listed.html), /made by command .* active .* command line/)
  const asked = await owner.get(`${path}/keys/${id}/revoke`)
  t.match(textOf(asked.html), /Revoke this key\? .*made by command/)
  t.ok(
    (await statuses()).every((status) => status === 200),
    'asking changes nothing',
  )

  const revoked = await owner.post(`${path}/keys/${id}/revoke`)
  t.equal(revoked.path, `${path}?done=key-revoked`)
  t.match(textOf(revoked.html), /The key is revoked\..*made by command .* revoked/)
  t.notMatch(revoked.html, `${id}/revoke`)
  t.ok((await statuses()).every((status) => status === 401))
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
