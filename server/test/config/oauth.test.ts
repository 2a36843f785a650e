/** The configuration of OAuth: what is taken of it, and what is refused. */
import { ConfigError, loadConfig } from '@claimcheck/server/config/config'
import { formActionSource, redirectProblem } from '@claimcheck/server/config/redirect-uris'
import t, { type Test } from 'tap'

const CLIENT = { client_id: 'desk', client_name: 'Desk', redirect_uris: ['https://desk.example/back'] }

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
  const { client_name: clientName, redirect_uris: redirectUris } = CLIENT
  t.same(load(t, oauth), {
    clients: [
      { clientId: 'desk', clientName, redirectUris, clientSecret: undefined },
      { clientId: 'office', clientName, redirectUris, clientSecret: secret },
    ],
    resources: ['https://mcp.example.com'],
    dynamicRegistration: true,
  })
})

t.test('each problem is listed with its place, and no secret is repeated', async (t) => {
  const found = problems(t, {
    clients: [CLIENT, { ...CLIENT, redirect_uris: ['https://desk.example/back', 'http://desk.example/back', 'none'] }],
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
    'https://desk.example/back?x=1',
    'http://127.0.0.1/back',
    'http://localhost:7777/',
    'http://[::1]:1/back',
    'com.example.desk:/back',
    'desk://back',
  ]
  const bad = [
    'http://desk.example/back',
    'https://localhost/back',
    'https://u:p@desk.example/',
    'https://desk.example/#',
    'https://*.example/back',
    'https://a,b.example/back',
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'https://desk.example/back\nSet-Cookie: a=b',
    'http://127.0.0.1/ba\r\nck',
    'https://desk\t.example/back',
    '\u0000https://desk.example/back',
    'https://desk.example/\u0085back',
    'https://desk.example/\u2028back',
    'https://desk.example/ back',
    '//desk.example/back',
    '/back',
    '',
  ]
  for (const uri of good) t.equal(redirectProblem(uri), undefined, uri)
  for (const uri of bad) t.type(redirectProblem(uri), 'string', encodeURI(uri))
})

t.test('a form may lead to an origin, or a scheme where the policy has no words for it', async (t) => {
  for (const [uri, source] of [
    ['https://desk.example/back', 'https://desk.example'],
    ['http://127.0.0.1:80/back', 'http://127.0.0.1'],
    ['http://[::1]:7/back', 'http:'],
    ['com.example.desk:/back;script-src', 'com.example.desk:'],
    ['https://desk.example/;script-src%20*', 'https://desk.example'],
  ] as const) {
    t.equal(formActionSource(uri), source)
  }
})
