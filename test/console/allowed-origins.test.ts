/** Scripts of other sites: which may submit claims, what they can read, and who says so. */
import t from 'tap'
import { runClaimcheck } from '../support/command.ts'
import { sharedInstallation } from '../support/installation.ts'
import { Visitor } from '../support/visitor.ts'

const shared = sharedInstallation()
const APP = 'https://app.example'

async function preflight(origin: string, method: string, path = '/v1/claims') {
  const { url } = await shared()
  const headers = {
    origin,
    'access-control-request-method': method,
    'access-control-request-headers': 'authorization, content-type',
  }
  const { headers: told } = await fetch(url + path, { method: 'OPTIONS', headers })
  return {
    origin: told.get('access-control-allow-origin'),
    methods: told.get('access-control-allow-methods'),
    age: told.get('access-control-max-age'),
    vary: told.get('vary'),
  }
}

t.test(
  'any site may read, and a site that a workspace lists may submit claims with keys of that workspace',
  async (t) => {
    const installation = await shared()
    const acme = await installation.client('acme')
    const other = await installation.client('other')
    t.match(await preflight(APP, 'POST'), { origin: null, methods: null })
    const set = await runClaimcheck(
      installation.folder,
      ['workspace', 'sites', 'acme', APP, 'http://localhost:3000'],
      installation.env,
    )
    t.match(set, { code: 0, stdout: /keys of the workspace acme: http:\/\/localhost:3000, https:\/\/app\.example/ })

    // What was asked before is remembered for two seconds: another host would not wait.
    await new Promise((done) => setTimeout(done, 2100))
    t.match(await preflight(APP, 'POST'), { origin: APP, methods: /POST/, age: '5', vary: /origin/i })
    t.match(await preflight('http://localhost:3000', 'POST'), { origin: 'http://localhost:3000' })
    for (const origin of ['https://app.example.evil.example', 'http://app.example', 'null', 'https://APP.example'])
      t.match(await preflight(origin, 'POST'), { origin: null, methods: null }, origin)
    for (const path of ['/v1/claims', '/v1/connections', '/v1/whoami', '/v1/log/head'])
      t.match(await preflight('https://any.example', 'GET', path), { origin: '*', methods: 'GET, HEAD' }, path)

    const claimed = async (client: typeof acme, origin: string, path = '/v1/claims') => {
      const claim = {
        client_claim_id: `from ${origin} at ${path}`,
        agent_id: 'agent-1',
        action: 'test.outcome.reach',
        target: 'somewhere',
        params: { see: 'present' },
        claimed_at: new Date(installation.claimcheck.now()).toISOString(),
      }
      const { status, headers } = await client.request(path, {
        method: 'POST',
        body: JSON.stringify(claim),
        headers: { 'content-type': 'application/json', origin },
      })
      return [status, headers.get('access-control-allow-origin')]
    }
    t.strictSame(await claimed(acme, APP), [202, APP])
    t.match(
      (await acme.post('{}', { origin: APP })).headers.get('access-control-allow-origin'),
      APP,
      'also of a refusal',
    )
    t.strictSame(await claimed(other, APP), [403, null], 'the workspace of this key lists nothing')
    t.strictSame(await claimed(acme, 'https://any.example'), [403, null])
    t.strictSame(await claimed(acme, 'null'), [403, null], 'a frame without an origin')
    t.strictSame(await claimed(acme, 'https://any.example', '/%761/claims'), [403, null], 'however the path is written')
    t.equal((await other.get('/v1/claims')).body.claims.length, 0, 'nothing of it is stored')
    t.strictSame((await claimed(acme, 'chrome-extension://abcdefgh'))[0], 202, 'which is no site')
    const unknown = await installation.request('/v1/claims', { method: 'POST', headers: { origin: APP } })
    t.equal(unknown.status, 401)
    t.equal(unknown.headers.get('access-control-allow-origin'), APP, 'a script learns that its key is wrong')

    t.match(await runClaimcheck(installation.folder, ['workspace', 'sites', 'acme', 'off'], installation.env), {
      code: 0,
      stdout: /no other site/,
    })
    t.strictSame(await claimed(acme, APP), [403, null], 'at once')
    const wrong = await runClaimcheck(
      installation.folder,
      ['workspace', 'sites', 'acme', 'http://a.example'],
      installation.env,
    )
    t.match(wrong, { code: 1, stderr: /a site is the beginning of an address/ })
  },
)

t.test('owners list sites in the console, and the audit trail tells it', async (t) => {
  const { host, claimcheck } = await shared()
  const owner = await Visitor.owner(host, 'sites-of-owners')
  const workspace = await owner.workspaceId()
  const path = `/console/w/${workspace}/developers`
  t.match((await owner.get(path)).html, /Scripts of no other site may submit claims/)
  await owner.post(`${path}/sites`, { sites: `${APP}\r\n\r\nhttps://b.example/` })
  t.strictSame(await claimcheck.allowedOrigins.list(workspace), [APP, 'https://b.example'])
  const refused = await owner.post(`${path}/sites`, { sites: 'https://b.example/path' })
  t.equal(refused.status, 422)
  t.match(refused.html, /the sites are as before: a site is the beginning of an address/)
  t.match(refused.html, /b\.example\/path/)
  const member = await Visitor.joining(host, workspace, 'member', 'reads-sites')
  t.match((await member.get(path)).html, /https:\/\/b\.example/)
  t.equal((await member.post(`${path}/sites`, { sites: '' })).status, 403)
  t.match(
    (await owner.get(`/console/w/${workspace}/audit-trail`)).html,
    /changed from which sites scripts may submit claims/,
  )
})
