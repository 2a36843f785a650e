/** The configuration of OAuth: what is taken of it, and what is refused. */
import { ConfigError } from '@claimcheck/server/config/config'
import { loadConfig } from '@claimcheck/server/features'
import { redirectProblem } from '@claimcheck/server/features/oauth/redirect-uris'
import t, { type Test } from 'tap'

const CLIENT = { client_id: 'desk', client_name: 'Backend', redirect_uris: ['https://backend.example/back'] }

function load(t: Test, oauth: unknown) {
  return loadConfig({}, t.testdir({ 'claimcheck.config.json': JSON.stringify({ oauth }) })).oauth
}

function problems(t: Test, oauth: unknown): readonly string[] {
  try {
    load(t, oauth)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

t.test('without a word about it, there is no application, and none makes itself known', async (t) => {
  t.same(loadConfig({}, t.testdir()).oauth, { clients: [], resources: [], dynamicRegistration: false })
})

t.test('applications, resources and registration are taken as they are written', async (t) => {
  const secret = 's'.repeat(32)
  const oauth = {
    clients: [CLIENT, { ...CLIENT, client_id: 'office', client_secret: secret }],
    resources: ['https://mcp.example.com'],
    dynamic_registration: true,
  }
  t.same(load(t, oauth), {
    clients: [CLIENT, { ...CLIENT, client_id: 'office', client_secret: secret }],
    resources: ['https://mcp.example.com'],
    dynamicRegistration: true,
  })
})

t.test('the name of a configured application is kept in its one form', async (t) => {
  const { clients } = load(t, { clients: [{ ...CLIENT, client_name: ' Cafe\u0301\u00a0 bar ' }] })
  t.equal(clients[0]!.client_name, 'Caf\u00e9 bar')
})

t.test('each problem is listed with its place, and no secret is repeated', async (t) => {
  const found = problems(t, {
    clients: [
      CLIENT,
      { ...CLIENT, redirect_uris: ['https://backend.example/back', 'http://backend.example/back', 'none'] },
    ],
    resources: ['https://mcp.example.com#x', 'mcp'],
  })
  t.equal(found.length, 5)
  for (const place of [
    'clients.1.client_id',
    'clients.1.redirect_uris.1',
    'clients.1.redirect_uris.2',
    'resources.0',
    'resources.1',
  ]) {
    t.ok(
      found.some((problem) => problem.includes(`: oauth.${place}: `)),
      place,
    )
  }
  for (const name of [' ', 'Acme\u200b', '\u202eelgooG', 'a\u0007b']) {
    const [problem, ...others] = problems(t, { clients: [{ ...CLIENT, client_name: name }] })
    t.match(problem, /: oauth\.clients\.0\.client_name: it /, JSON.stringify(name))
    t.same(others, [])
  }
  const alike = (client_name: string) => problems(t, { clients: [CLIENT, { ...CLIENT, client_id: 'b', client_name }] })
  t.strictSame(alike('Backend 2'), [])
  t.match(alike('Вackend'), [
    /: oauth\.clients\.1\.client_name: it is, or looks like, the name Backend of another client/,
  ])
  t.match(alike('Claimcheck command line'), [
    /it is, or looks like, the name Claimcheck command line of another client/,
  ])
  const rows = [
    { clients: [{ ...CLIENT, client_id: 'with blank' }] },
    { clients: [{ ...CLIENT, client_secret: 'too-short' }] },
    { clients: [{ ...CLIENT, redirect_uris: [] }] },
    { clients: [{ client_id: 'desk' }] },
    { clients: [{ ...CLIENT, scope: 'x' }] },
    { dynamic_registration: 'yes' },
    { more: 1 },
  ]
  for (const oauth of rows) {
    const found = problems(t, oauth)
    t.ok(found.length > 0, JSON.stringify(oauth))
    t.notOk(found.some((problem) => problem.includes('too-short')))
  }
})

t.test('people are sent back over https, to their own device, or to a scheme of the application', async (t) => {
  const good = [
    'https://backend.example/back?x=1',
    'http://127.0.0.1/back',
    'http://localhost:7777/',
    'http://[::1]:1/back',
    'com.example.backend:/back',
    'desk://back',
  ]
  const bad = [
    'http://backend.example/back',
    'https://localhost/back',
    'https://u:p@backend.example/',
    'https://backend.example/#',
    'https://*.example/back',
    'https://a,b.example/back',
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'https://backend.example/back\nSet-Cookie: a=b',
    'http://127.0.0.1/ba\r\nck',
    'https://backend\t.example/back',
    '\u0000https://backend.example/back',
    'https://backend.example/\u0085back',
    'https://backend.example/\u2028back',
    'https://backend.example/ back',
    '//backend.example/back',
    '/back',
    '',
  ]
  for (const uri of good) t.equal(redirectProblem(uri), undefined, uri)
  for (const uri of bad) t.type(redirectProblem(uri), 'string', encodeURI(uri))
})
