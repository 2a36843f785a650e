import t from 'tap'
import { afterFile } from '../../../test/support/after-file.ts'
import { KEY, startApp, WORKSPACE } from './support/server.ts'

const app = await startApp()
afterFile(app.close)

const KEYED = ['/v1/claims', '/v1/claims/clm_1', '/v1/connections', '/v1/whoami']
const PUBLIC = [
  '/v1/log/entries',
  '/v1/log/head',
  '/v1/log/anchors',
  '/.well-known/poaw-keys.json',
  '/healthz',
  '/readyz',
  '/readyz/read',
]

t.test('a route that needs a key answers 401 without a good one', async (t) => {
  const rows: [string, Record<string, string>][] = [
    ['no header', {}],
    ['an empty header', { authorization: '' }],
    ['no scheme', { authorization: KEY }],
    ['another scheme', { authorization: `Basic ${KEY}` }],
    ['no key', { authorization: 'Bearer ' }],
    ['a malformed key', { authorization: 'Bearer sk-123' }],
    ['two keys', { authorization: `Bearer ${KEY} ${KEY}` }],
    ['an unknown key', { authorization: `Bearer svc_sk_${'x'.repeat(43)}` }],
    ['a key with bytes beyond ASCII', { authorization: 'Bearer \xfc\xff' }],
    ['a name that every object has', { authorization: 'Bearer __proto__' }],
  ]
  for (const path of KEYED) {
    for (const [name, headers] of rows) {
      const answer = await app.ask(path, { headers })
      t.equal(answer.status, 401, `${path}: ${name}`)
      t.equal(answer.text, '{"detail":"invalid or missing API key"}')
      t.equal(answer.headers['www-authenticate'], 'Bearer')
      t.equal(answer.headers['cache-control'], 'no-store')
    }
  }
})

t.test('a missing key is told before anything about the body', async (t) => {
  const headers = { 'content-type': 'application/json' }
  t.equal((await app.ask('/v1/claims', { method: 'POST', headers, body: 'not json' })).status, 401)
  t.equal((await app.ask('/v1/claims?limit=0')).status, 401)
})

t.test('the scheme may be written in any case', async (t) => {
  for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
    const headers = { authorization: `${scheme} ${KEY}` }
    t.equal((await app.ask('/v1/whoami', { headers })).status, 200, scheme)
  }
})

t.test('whoami says whose key it is', async (t) => {
  const { status, json } = await app.ask('/v1/whoami', { key: KEY })
  t.equal(status, 200)
  t.same(json, { workspace_id: WORKSPACE, kind: 'key', scopes: null, audience: null })
})

t.test('a public route does not look at any Authorization header', async (t) => {
  app.keys.asked.length = 0
  for (const path of PUBLIC) {
    for (const authorization of ['Bearer nonsense', 'Basic x', `Bearer ${KEY}`, '']) {
      t.equal((await app.ask(path, { headers: { authorization } })).status, 200, `${path} ${authorization}`)
    }
  }
  t.same(app.keys.asked, [])
})
