/** Whatever is sent to the console, and however slowly: it is refused in words, and is no fault of ours. Threat S1 of `security.md`. */
import { once } from 'node:events'
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { filled, routesOf } from '../support/console-routes.ts'
import { SCRIPTED, sharedInstallation } from '../support/installation.ts'
import { PASSWORD, textOf, Visitor } from '../support/visitor.ts'

const NUL = 'a\0b@example.com'
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

const shared = sharedInstallation({
  plugins: [SCRIPTED, { use: resolve('build/test/plugins/connected.js'), trusted: true }],
})

async function installed() {
  const installation = await shared()
  const owner = await Visitor.owner(installation.host)
  const workspace = await owner.workspaceId()
  await owner.get('/console/account')
  return { installation, owner, workspace }
}

/** A request whose headers are as given, where `fetch` has its own. */
function begun(url: string, headers: Readonly<Record<string, string>>, method = 'POST'): ClientRequest {
  return httpRequest(url, { method, headers })
}

async function statusOf(request: ClientRequest, body = ''): Promise<number> {
  request.end(body)
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  response.resume()
  await once(response, 'end')
  return response.statusCode!
}

function cookieOf({ cookies }: Visitor): string {
  return [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
}

t.test('text that a database refuses is refused by every route, in its address, its query and its form', async (t) => {
  const { installation, owner, workspace } = await installed()
  const { host, claimcheck } = installation
  const invitation = await claimcheck.accounts.inviteToken(workspace, 'member', null)
  const known = { workspace, provider: 'mailbox', token: invitation, uid: 'u', grant: 'g' }
  const values = {
    ...known,
    claim_id: 'c',
    agent_id: 'a',
    key: 'k',
    machine: 'm',
    connection: 'c',
    member: 'm',
    webhook: 'w',
  }
  const fields = { email: NUL, password: PASSWORD, name: NUL, id: NUL, role: 'member', next: NUL, action: NUL }
  for (const route of await routesOf(claimcheck)) {
    const strange = Object.fromEntries(Object.keys(values).map((name) => [name, NUL]))
    for (const visitor of [new Visitor(host), owner]) {
      const at = filled(route, values)
      const elsewhere = filled(route, visitor === owner ? { ...strange, workspace } : strange)
      const what = `${route.method} ${route.url} ${visitor === owner ? 'by the owner' : ''}`
      if (route.method === 'GET') {
        const { status } = await visitor.once(`${at}?${new URLSearchParams(fields)}`)
        t.ok(status < 500, `${what}: ${status}`)
        const { status: there } = await visitor.once(elsewhere)
        t.ok(there < 500, `${what}, elsewhere: ${there}`)
        continue
      }
      const send = (path: string, form: Readonly<Record<string, string>>) => {
        const body = new URLSearchParams({ ...form, _csrf: owner.csrf! })
        return visitor.once(path, { method: 'POST', headers: { origin: host.url }, body })
      }
      const { status } = await send(at, fields)
      t.ok(status >= 400 && status < 500, `${what}: ${status}`)
      if (elsewhere === at) continue
      const { status: there } = await send(elsewhere, {})
      t.ok(there < 500, `${what}, elsewhere: ${there}`)
    }
  }
})

t.test(
  'of a field that comes twice the last one counts, and none of an address or a cookie stands for it',
  async (t) => {
    const { installation, owner } = await installed()
    const rename = async (path: string, fields: readonly (readonly [string, string])[], more = '') => {
      const body = new URLSearchParams([['_csrf', owner.csrf!], ...fields.map(([...pair]) => pair)])
      const headers = { origin: installation.url, cookie: `${cookieOf(owner)}${more}` }
      const { status } = await fetch(installation.url + path, { method: 'POST', body, headers, redirect: 'manual' })
      return [status, /name="name"[^>]*value="([^"]*)"/.exec((await owner.get('/console/account')).html)?.[1]]
    }
    const path = '/console/account/name'
    const twice = [
      ['name', 'One'],
      ['name', 'Two'],
    ] as const
    t.strictSame(await rename(path, twice), [303, 'Two'])
    t.strictSame(await rename(`${path}?name=Three`, [['name', 'Four']]), [303, 'Four'])
    t.strictSame(await rename(`${path}?name=Five`, [], '; name=Six'), [422, 'Four'])
    const { status } = await installation.request('/v1/log/entries?limit=1&limit=2')
    t.equal(status, 422, 'the API refuses it')
  },
)

t.test('who is signed in keeps the way to everything else on a page for an error', async (t) => {
  const { installation, owner, workspace } = await installed()
  const { host } = installation
  const member = await Visitor.joining(host, workspace, 'member', 'Mia')
  const here = `/console/w/${workspace}`
  const ways = ['claims', 'connections', 'developers', 'members'].map((section) => `href="${here}/${section}"`)
  for (const [visitor, path, status, advice] of [
    [
      owner,
      `${here}/nothing`,
      404,
      /Page not found There is no such page\. Check the address\..* Go to the claims of acme/,
    ],
    [owner, `${here}/claims/clm_none`, 404, /Page not found .* Check the address\./],
    [owner, '/console/nothing', 404, /Check the address\./],
    [owner, '/console/w/ws_of_others/members', 404, /You see only workspaces of which you are a member/],
    [
      member,
      `${here}/connections/new/mailbox`,
      403,
      /Not allowed Only owners .*: ask one of them\. See who the owners of acme/,
    ],
  ] as const) {
    const page = await visitor.get(path)
    t.equal(page.status, status, path)
    t.match(textOf(page.html), advice, path)
    t.match(page.html, /<details class="menu"><summary><bdi>acme/, path)
    for (const way of ways) t.ok(page.html.includes(way), `${path}: ${way}`)
    t.notMatch(page.html, 'aria-current="page"')
  }
})

t.test('who belongs to no workspace, or is not signed in, is shown where to go as well', async (t) => {
  const { installation, workspace } = await installed()
  const { host, claimcheck } = installation
  const leaver = await Visitor.joining(host, workspace, 'member', 'Leaver')
  const { id } = (await claimcheck.members.list(workspace)).find(({ email }) => email === leaver.email)!
  await claimcheck.members.remove(workspace, id)
  const left = await leaver.get(`/console/w/${workspace}/claims`)
  t.equal(left.status, 404)
  t.match(left.html, /<summary>Workspaces<.*href="\/console\/workspaces\/new".*Go to the console/s)
  t.notMatch(left.html, 'acme', 'nothing is told of what they left')

  const stranger = await new Visitor(host).get('/console/nothing')
  t.equal(stranger.status, 404)
  t.match(stranger.html, /href="\/console\/sign-in[^"]*".*href="\/docs".*href="\/log"/s)
  t.match(textOf(stranger.html), /Page not found There is no such page\. Check the address\./)
})

t.test('a form whose token is as long as the right one, in other characters, has to be confirmed', async (t) => {
  const { installation, owner } = await installed()
  const headers = { ...FORM, origin: installation.url, cookie: cookieOf(owner) }
  const body = new URLSearchParams({ _csrf: 'é'.repeat(owner.csrf!.length), name: 'Other' })
  t.equal(await statusOf(begun(`${installation.url}/console/account/name`, headers), String(body)), 409)
})

t.test('a request is refused whose Host header names no host', async (t) => {
  const { installation, owner } = await installed()
  const { url } = installation
  const cookie = cookieOf(owner)
  for (const host of ['[', 'a b', '%', 'x:99999999']) {
    t.equal(await statusOf(begun(`${url}/console/account`, { host, cookie }, 'GET')), 400, host)
    const headers = { ...FORM, host, origin: `http://${host}` }
    t.equal(await statusOf(begun(`${url}/console/sign-in/passkey/options`, headers)), 400, host)
  }
})

t.test('a passkey is refused that is none, whatever its JSON holds', async (t) => {
  const { installation } = await installed()
  const { url } = installation
  const host = `localhost:${new URL(url).port}`
  const headers = { ...FORM, host, origin: `http://${host}` }
  const handle = { response: { userHandle: '\0' } }
  const ids = [{ toString: 1, valueOf: 1 }, '\0', null, 1, [], 'x'.repeat(10_000)]
  const credentials = [...ids.map((id) => ({ id, ...handle })), null, [], 'text', { response: 'text' }]
  for (const credential of credentials) {
    const begins = begun(`${url}/console/sign-in/passkey/options`, headers)
    begins.end()
    const [begin] = (await once(begins, 'response')) as [IncomingMessage]
    begin.resume()
    const cookie = String(begin.headers['set-cookie']).split(';')[0]!
    t.match(cookie, /^claimcheck-passkey=.+/)
    const body = new URLSearchParams({ credential: JSON.stringify(credential) })
    const request = begun(`${url}/console/sign-in/passkey`, { ...headers, cookie })
    t.equal(await statusOf(request, String(body)), 422, JSON.stringify(credential).slice(0, 60))
  }
})

t.test('nothing stands in an e-mail address that a terminal would obey, or that nobody sees', async (t) => {
  const { installation, workspace } = await installed()
  const { host, claimcheck } = installation
  const token = await claimcheck.accounts.inviteToken(workspace, 'member', null)
  for (const email of ['\u001b[2Jone@example.com', 'o\u200bne@example.com', 'one@\u202eexample.com']) {
    const { status } = await new Visitor(host).post(`/console/join/${token}`, {
      name: 'One',
      email,
      password: PASSWORD,
    })
    t.equal(status, 422, JSON.stringify(email))
  }
})

t.test('what somebody may do is looked up once their form is there, however long that takes', async (t) => {
  const { installation, workspace } = await installed()
  const { host, claimcheck, url } = installation
  const other = await Visitor.joining(host, workspace, 'owner', 'Other')
  await other.get('/console/account')
  const headers = { ...FORM, origin: url, cookie: cookieOf(other) }
  const body = String(new URLSearchParams({ _csrf: other.csrf!, name: 'kept' }))
  const slow = begun(`${url}/console/w/${workspace}/developers/keys`, {
    ...headers,
    'content-length': `${body.length}`,
  })
  slow.flushHeaders()
  slow.write(body.slice(0, 5))
  await sleep(300)
  const members = await claimcheck.members.list(workspace)
  await claimcheck.members.remove(workspace, members.find(({ email }) => email === other.email)!.id)
  t.equal(await statusOf(slow, body.slice(5)), 404)
  t.strictSame(await claimcheck.keys.list(workspace), [])
})
