import { CLOSING } from '@claimcheck/core/rules'
import { ServiceError, type ServiceErrorCode } from '@claimcheck/server/base/errors'
import { createMeters } from '@claimcheck/server/base/meters'
import { profileList } from '@claimcheck/server/features/claims/profile-list'
import { StorageError } from '@claimcheck/server/storage/storage'
import t from 'tap'
import { afterFile } from '../../../test/support/after-file.ts'
import { CLAIM, exchange, KEY, PROFILE, startApp } from './support/server.ts'
import { memoryClaims, memoryConnections, memoryKeys, memoryLog, memoryReceipts } from './support/services.ts'

const RECEIPT = '{ "body" : {"receipt_id":"rcpt_1"} , "signature":{} }'

const EVIDENCE = '{"b" : 1,  "a":"\u00e9\\u00e9"}'

const app = await startApp({
  published: profileList(
    [
      PROFILE,
      { ...PROFILE, version: '2', ageMs: 10_000, removedWithinMs: 5 },
      { ...PROFILE, version: '3', neverLate: true },
    ],
    CLOSING,
  ),
  services: {
    claims: memoryClaims(),
    keys: memoryKeys({}),
    log: memoryLog(),
    receipts: memoryReceipts({ rcpt_1: RECEIPT, rcpt_before: RECEIPT }, { rcpt_1: EVIDENCE }),
    connections: memoryConnections([]),
  },
})
afterFile(app.close)

t.test('a receipt is sent byte for byte as it is kept', async (t) => {
  const answer = await app.ask('/v1/receipts/rcpt_1')
  t.equal(answer.status, 200)
  t.equal(answer.text, RECEIPT)
  t.match(answer.headers, { 'content-type': /^application\/json/, 'cache-control': /^public, max-age=\d$/ })
})

t.test('evidence is sent byte for byte as it is kept', async (t) => {
  const answer = await app.ask('/v1/receipts/rcpt_1/evidence')
  t.equal(answer.status, 200)
  t.equal(answer.text, EVIDENCE)
  t.match(answer.headers, { 'content-type': /^application\/json/, 'content-length': `${Buffer.byteLength(EVIDENCE)}` })
})

t.test('a receipt of before there was evidence has none, as has no receipt', async (t) => {
  t.equal((await app.ask('/v1/receipts/rcpt_before')).status, 200)
  for (const id of ['rcpt_before', 'rcpt_2', '__proto__', '%00', 'x'.repeat(5000)]) {
    const answer = await app.ask(`/v1/receipts/${id}/evidence`)
    t.match(answer, { status: 404, headers: { 'cache-control': 'no-store' } }, id.slice(0, 20))
  }
})

t.test('the rules and the words of every loaded version of a profile are published, to anyone', async (t) => {
  const { status, json, headers } = await app.ask('/v1/profiles')
  t.equal(status, 200)
  t.match(headers, { 'cache-control': /^public/ })
  const rules = {
    action: PROFILE.action,
    version: '1',
    rules_version: 1,
    summary: PROFILE.summary,
    required: { sha: 'content' },
    tolerance_ms: 600_000,
    deadline_ms: 900_000,
    max_deadline_ms: 86_400_000,
    age_ms: 0,
    removed_within_ms: 0,
    fresh_ms: 10_000,
    closing_ms: 30_000,
    grace_ms: 120_000,
    words: PROFILE.words,
    titles: { params: { branch: 'Branch' }, facts: {} },
  }
  t.strictSame(json, {
    profiles: [
      rules,
      { ...rules, version: '2', age_ms: 10_000, removed_within_ms: 5 },
      { ...rules, version: '3', never_late: true },
    ],
    settings: [],
  })
})

t.test('what names no receipt is not found, and the answer is not kept', async (t) => {
  for (const id of ['rcpt_2', '%00', 'rcpt_1%00', '%', 'x'.repeat(5000), '__proto__', 'constructor', '']) {
    const answer = await app.ask(`/v1/receipts/${id}`)
    t.match(
      answer,
      { status: 404, json: { detail: String }, headers: { 'cache-control': 'no-store' } },
      id.slice(0, 20),
    )
  }
})

t.test('the key document is sent as it is given, text or object', async (t) => {
  t.same((await app.ask('/.well-known/poaw-keys.json')).json, { issuer: 'Claimcheck' })
  const kept = await startApp({ keyDocument: async () => '{ "issuer" : "x" }' })
  t.teardown(kept.close)
  const answer = await kept.ask('/.well-known/poaw-keys.json')
  t.equal(answer.text, '{ "issuer" : "x" }')
  t.match(answer.headers['content-type'], /^application\/json/)
})

t.test('health is told while the process answers, readiness with its problems', async (t) => {
  t.same((await app.ask('/healthz')).json, { status: 'ok' })
  t.same((await app.ask('/readyz')).json, { ok: true, problems: [], warnings: [] })
  const unreadiness = {
    ok: false,
    problems: ['the database does not answer'],
    reasons: ['database'],
    warnings: ['fsync is off'],
  }
  const unready = await startApp({ readiness: async () => unreadiness })
  t.teardown(unready.close)
  const answer = await unready.ask('/readyz')
  t.equal(answer.status, 503)
  const { reasons: _, ...said } = unreadiness
  t.same(answer.json, said)
})

t.test('figures for monitoring are told as plain text, and as unavailable while the database is', async (t) => {
  const answer = await app.ask('/metrics')
  t.match(answer, { status: 200, text: 'claimcheck_log_tree_size 1\n' })
  t.match(answer.headers['content-type'], /^text\/plain/)
  const text = () => Promise.reject(new StorageError('unavailable', 'away'))
  const away = await startApp({ metrics: { contentType: 'text/plain', text } })
  t.teardown(away.close)
  t.match(await away.ask('/metrics'), { status: 503, headers: { 'retry-after': String } })
})

t.test('a service that cannot tell its readiness is not ready', async (t) => {
  const unready = await startApp({ readiness: () => Promise.reject(new Error('secret words')) })
  t.teardown(unready.close)
  const answer = await unready.ask('/readyz')
  t.match(answer, { status: 503, json: { ok: false } })
  t.notMatch(answer.text, /secret/)
})

t.test('every code of a service error has its status', async (t) => {
  const rows: [ServiceErrorCode, number][] = [
    ['invalid', 422],
    ['not_found', 404],
    ['bad_request', 400],
    ['conflict', 409],
    ['read_only', 503],
    ['unavailable', 503],
  ]
  for (const [code, status] of rows) {
    const issues = [{ loc: ['body', 'claimed_at'], msg: 'too late', type: 'value_error' }]
    const failing = await startApp({
      keyDocument: async () => {
        throw new ServiceError(code, 'in words', { issues: code === 'invalid' ? issues : [] })
      },
    })
    t.teardown(failing.close)
    const answer = await failing.ask('/.well-known/poaw-keys.json')
    t.equal(answer.status, status, code)
    const expected =
      code === 'invalid' ? { detail: issues, message: 'body.claimed_at: too late' } : { detail: 'in words' }
    t.same(answer.json, expected, code)
    t.equal(answer.headers['cache-control'], 'no-store')
  }
})

t.test('a 422 says its mistakes in one line, too, whatever names a client chose', async (t) => {
  const app = await startApp()
  t.teardown(app.close)
  const params = { ...CLAIM.params, sha: 1, 'x\n"detail\u2028\u202e': 1 }
  const several = await app.post({ ...CLAIM, claimed_at: undefined, agent_id: '', params })
  const { detail, message } = several.json
  t.equal(several.status, 422)
  t.equal(detail.length, 4)
  t.equal(message.split('; ').length, 4)
  t.match(message, /^.*body\.claimed_at: Field required.*$/)
  t.match(message, /body\.params\.sha: /)
  t.notMatch(message, /[\n\u2028\u202e]/)
  const many = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`member ${index}`, index]))
  t.match((await app.post({ ...CLAIM, ...many })).json.message, /; and 32 more$/)
  t.match((await app.ask('/v1/log/entries?limit=x')).json.message, /^query\.limit: /)
  const misspelt = await app.ask('/v1/log/entries?limits=5')
  t.match(misspelt, { status: 422, json: { detail: [{ loc: ['query', 'limits'], type: 'extra_forbidden' }] } })
  t.match((await app.post('{')).json, { detail: [{ loc: ['body', Number] }], message: /^body\.1: JSON decode error$/ })
})

t.test('an unexpected error is logged and counted, and its words stay here', async (t) => {
  const meters = createMeters()
  const failing = await startApp({
    meters,
    keyDocument: async () => {
      throw new Error('secret words')
    },
  })
  t.teardown(failing.close)
  t.match(await meters.text(), 'claimcheck_http_errors_total 0')
  const answer = await failing.ask('/.well-known/poaw-keys.json')
  t.equal(answer.status, 500)
  t.match(await meters.text(), 'claimcheck_http_errors_total 1')
  t.same(answer.json, { detail: 'internal error' })
  const logged = failing.lines.filter(({ level }) => level === 'error')
  t.match(logged, [{ message: 'request failed', fields: { err: { message: 'secret words' } } }])
})

t.test('what names nothing is not found', async (t) => {
  for (const path of ['/', '/v1', '/v2/claims', '/v1/receipts', '/v1/log', '/%', '/%zz', '//', '/v1/log/head/']) {
    t.match(await app.ask(path), { status: 404, json: { detail: String } }, path)
  }
})

t.test('another method than those of the address is not allowed', async (t) => {
  const rows: [string, string, string][] = [
    ['DELETE', '/v1/claims', 'GET, HEAD, POST'],
    ['POST', '/v1/claims/clm_1', 'GET, HEAD'],
    ['PUT', '/v1/receipts/rcpt_1', 'GET, HEAD'],
    ['POST', '/v1/log/entries', 'GET, HEAD'],
    ['PATCH', '/.well-known/poaw-keys.json', 'GET, HEAD'],
  ]
  for (const [method, path, allow] of rows) {
    const answer = await app.ask(path, { method })
    t.match(answer, { status: 405, json: { detail: String }, headers: { allow } }, `${method} ${path}`)
  }
})

t.test('HEAD is answered like GET, without the body', async (t) => {
  const answer = await app.ask('/v1/log/entries', { method: 'HEAD' })
  t.match(answer, { status: 200, text: '', headers: { 'content-type': /^application\/json/ } })
})

t.test('what is not HTTP is answered with JSON as well', async (t) => {
  const rows: [string, string, number][] = [
    ['garbage', 'GARBAGE\r\n\r\n', 400],
    ['too many headers', `GET / HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`, 431],
    ['an expectation', 'GET /healthz HTTP/1.1\r\nhost: x\r\nexpect: more\r\n\r\n', 417],
    ['a bad length', 'POST /v1/claims HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n', 400],
  ]
  for (const [name, bytes, status] of rows) {
    const answer = await exchange(app.port, bytes)
    t.match(answer, new RegExp(`^HTTP/1.1 ${status} `), name)
    t.type(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)).detail, 'string', name)
  }
})

t.test('where the service is at an https address, every answer keeps browsers to https', async (t) => {
  const rows: [publicUrl: string | undefined, expected: string | undefined][] = [
    ['https://claims.example.com', 'max-age=31536000; includeSubDomains'],
    ['http://claims.example.com', undefined],
    [undefined, undefined],
  ]
  for (const [publicUrl, expected] of rows) {
    const app = await startApp(publicUrl === undefined ? {} : { publicUrl })
    t.teardown(app.close)
    for (const path of ['/v1/log/head', '/v1/claims', '/nothing', '/%zz', '/openapi.json', '/healthz']) {
      t.equal((await app.ask(path)).headers['strict-transport-security'], expected, path)
    }
    const raw = await exchange(app.port, 'GARBAGE\r\n\r\n')
    t.equal(/^strict-transport-security: (.*)\r$/im.exec(raw)?.[1], expected, 'what is not HTTP')
  }
})

t.test('two Host headers are refused, in any spelling', async (t) => {
  const hosts = [
    ['Host: a.example', 'Host: b.example'],
    ['host: a.example', 'HOST: a.example'],
    ['Host: a.example', 'X-Other: 1', 'hOST:b.example'],
  ]
  for (const path of ['/v1/log/head', '/healthz', '/nothing', '/v1/claims']) {
    for (const lines of hosts) {
      const answer = await exchange(
        app.port,
        [`GET ${path} HTTP/1.1`, ...lines, 'Connection: close', '', ''].join('\r\n'),
      )
      t.match(answer, /^HTTP\/1\.1 400 [\s\S]*several Host headers: send one/, `${path} ${lines}`)
    }
  }
  t.match(
    await exchange(app.port, 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n'),
    /^HTTP\/1\.1 400 /,
    'and none',
  )
})

t.test('what is not HTTP and asks for the head alone gets no body', async (t) => {
  const answer = await exchange(app.port, 'HEAD /\x80 HTTP/1.1\r\nhost: x\r\n\r\n')
  t.match(answer, /^HTTP\/1.1 400 /)
  t.match(answer, /\r\n\r\n$/)
})

t.test('browsers of any origin may read, and see when to come back', async (t) => {
  const origin = { origin: 'https://checker.example' }
  const read = await app.ask('/v1/receipts/rcpt_1', { headers: origin })
  t.equal(read.headers['access-control-allow-origin'], '*')
  for (const name of ['retry-after', 'ratelimit', 'ratelimit-remaining']) {
    t.ok(String(read.headers['access-control-expose-headers']).split(', ').includes(name), name)
  }
  const headers = {
    ...origin,
    'access-control-request-method': 'GET',
    'access-control-request-headers': 'authorization',
  }
  const preflight = await app.ask('/v1/claims', { method: 'OPTIONS', headers })
  t.equal(preflight.status, 204)
  t.match(preflight.headers['access-control-allow-headers'], /authorization/)
  t.notMatch(preflight.headers['access-control-allow-methods'], /POST/)
  const refused = await app.ask('/v1/claims', { headers: origin })
  t.equal(refused.headers['access-control-allow-origin'], '*', 'an error may be read as well')
})

t.test('no answer is guessed to be of another type', async (t) => {
  for (const path of ['/v1/log/head', '/v1/claims', '/nothing', '/openapi.json']) {
    t.equal((await app.ask(path)).headers['x-content-type-options'], 'nosniff', path)
  }
})

t.test('a request is logged with its route, and without what may not be known', async (t) => {
  const app = await startApp()
  t.teardown(app.close)
  await app.post({ ...CLAIM, agent_id: 'agent-in-body' })
  await app.ask('/v1/receipts/rcpt_hidden', { key: KEY })
  await app.ask('/nothing?x=1')
  await app.ask(`/v1/claims?key=${KEY}`)
  const requests = app.lines.filter(({ message }) => message === 'request').map(({ fields }) => fields)
  t.equal(new Set(requests.map(({ reqId }) => reqId)).size, 4, 'each has an id of its own')
  t.match(requests, [
    { reqId: String, method: 'POST', route: '/v1/claims', status: 202, ms: Number, anonymous: undefined },
    { method: 'GET', route: '/v1/receipts/:receipt_id', status: 404, ms: Number, anonymous: true },
    { method: 'GET', route: null, status: 404, ms: Number },
    { method: 'GET', route: '/v1/claims', status: 401, ms: Number },
  ])
  t.notMatch(JSON.stringify(app.lines), /svc_sk_|agent-in-body|rcpt_hidden/)
})

t.test('a probe that is answered is not logged, and one that is refused is', async (t) => {
  let ok = true
  const app = await startApp({ readiness: async () => ({ ok, problems: [], reasons: [], warnings: [] }) })
  t.teardown(app.close)
  const requests = () => app.lines.filter(({ message }) => message === 'request')
  for (const path of ['/healthz', '/readyz', '/readyz/read']) t.equal((await app.ask(path)).status, 200)
  t.strictSame(requests(), [])
  ok = false
  await app.ask('/readyz')
  t.match(requests(), [{ message: 'request', fields: { route: '/readyz', status: 503 } }])
})

t.test('a request that is under way while the server closes is answered', async (t) => {
  let begun = () => {}
  let finish = () => {}
  const hasBegun = new Promise<void>((resolve) => {
    begun = resolve
  })
  const mayFinish = new Promise<void>((resolve) => {
    finish = resolve
  })
  const closing = await startApp({
    keyDocument: async () => {
      begun()
      await mayFinish
      return {}
    },
  })
  const answer = closing.ask('/.well-known/poaw-keys.json')
  await hasBegun
  const closed = closing.close()
  finish()
  t.equal((await answer).status, 200)
  await closed
})
