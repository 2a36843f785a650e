/** Claims that are refused, and how each mistake is named. Threats A3 and A6 of `security.md`. */
import t from 'tap'
import { afterFile } from '../../../test/support/after-file.ts'
import { CLAIM, startApp } from './support/server.ts'

const app = await startApp()
afterFile(app.close)
// For what is good, so that `app` shows that nothing bad gets through.
const accepting = await startApp()
afterFile(accepting.close)

const claimWith = (over: object) => JSON.stringify({ ...CLAIM, ...over })
const paramsWith = (over: object) => claimWith({ params: { ...CLAIM.params, ...over } })
const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`

t.test('each claim field that is missing is named', async (t) => {
  for (const name of Object.keys(CLAIM)) {
    const answer = await app.post(claimWith({ [name]: undefined }))
    t.equal(answer.status, 422, name)
    t.match(answer.json.detail, [{ loc: ['body', name], msg: 'Field required', type: 'missing' }], name)
    t.equal(answer.json.detail.length, 1, name)
  }
})

t.test('each claim field of the wrong type is named', async (t) => {
  for (const name of [...Object.keys(CLAIM), 'deadline_at']) {
    const type = name === 'params' ? 'dict_type' : 'string_type'
    for (const value of [7, null, true, ['x']]) {
      const answer = await app.post(claimWith({ [name]: value }))
      t.equal(answer.status, 422, name)
      t.match(answer.json.detail, [{ loc: ['body', name], type }], `${name}: ${value}`)
      t.equal(answer.json.detail.length, 1, name)
    }
  }
})

t.test('each claim field out of its bounds is named', async (t) => {
  const rows: [string, string, (string | number)[], string][] = [
    ['an empty client_claim_id', claimWith({ client_claim_id: '' }), ['client_claim_id'], 'string_too_short'],
    [
      'a client_claim_id of 257',
      claimWith({ client_claim_id: 'x'.repeat(257) }),
      ['client_claim_id'],
      'string_too_long',
    ],
    ['an empty agent_id', claimWith({ agent_id: '' }), ['agent_id'], 'string_too_short'],
    ['an agent_id of 257', claimWith({ agent_id: 'x'.repeat(257) }), ['agent_id'], 'string_too_long'],
    ['an action in two parts', claimWith({ action: 'codehost.commit' }), ['action'], 'string_pattern_mismatch'],
    ['an action in upper case', claimWith({ action: 'Codehost.Commit.Push' }), ['action'], 'string_pattern_mismatch'],
    ['an action with a line end', claimWith({ action: 'a.b.c\n' }), ['action'], 'string_pattern_mismatch'],
    ['an action of 129', claimWith({ action: `a.b.${'c'.repeat(125)}` }), ['action'], 'string_too_long'],
    ['an empty target', claimWith({ action: 'a.b.c', target: '' }), ['target'], 'string_too_short'],
    ['a target of 513', claimWith({ target: `o/${'x'.repeat(511)}` }), ['target'], 'string_too_long'],
    ['a target that the profile refuses', claimWith({ target: 'no-slash' }), ['target'], 'string_pattern_mismatch'],
    ['a sha of 39', paramsWith({ sha: 'a'.repeat(39) }), ['params', 'sha'], 'string_pattern_mismatch'],
    ['a sha of 41', paramsWith({ sha: 'a'.repeat(41) }), ['params', 'sha'], 'string_pattern_mismatch'],
    ['no sha', paramsWith({ sha: undefined }), ['params', 'sha'], 'missing'],
    ['an empty branch', paramsWith({ branch: '' }), ['params', 'branch'], 'string_too_short'],
    ['another param', paramsWith({ tag: 'v1' }), ['params', 'tag'], 'extra_forbidden'],
    ['5 KiB of params', claimWith({ action: 'a.b.c', params: { x: 'x'.repeat(5120) } }), ['params'], 'bytes_too_long'],
    ['another member', claimWith({ verdict: 'verified' }), ['verdict'], 'extra_forbidden'],
    ['claimed_at without a zone', claimWith({ claimed_at: '2026-09-25T14:02:11' }), ['claimed_at'], 'timezone_aware'],
    ['claimed_at before 1970', claimWith({ claimed_at: '1969-12-31T23:59:59Z' }), ['claimed_at'], 'greater_than_equal'],
    [
      'claimed_at on 30 February',
      claimWith({ claimed_at: '2026-02-30T00:00:00Z' }),
      ['claimed_at'],
      'datetime_parsing',
    ],
    [
      'a claimed_at that is too long',
      claimWith({ claimed_at: `2026-09-25T14:02:11.${'0'.repeat(60)}Z` }),
      ['claimed_at'],
      'string_too_long',
    ],
    ['deadline_at in words', claimWith({ deadline_at: 'tomorrow' }), ['deadline_at'], 'datetime_parsing'],
  ]
  for (const [name, body, place, type] of rows) {
    const answer = await app.post(body)
    t.equal(answer.status, 422, name)
    t.match(answer.json.detail, [{ loc: ['body', ...place], type, msg: String }], name)
    t.equal(answer.json.detail.length, 1, name)
  }
})

t.test('bounds are reached', async (t) => {
  const rows: [string, string][] = [
    ['a client_claim_id of 256', claimWith({ client_claim_id: '🦊'.repeat(256) })],
    ['an agent_id of 256', claimWith({ agent_id: 'x'.repeat(256) })],
    ['a target of 512', claimWith({ action: 'a.b.c', target: 'x'.repeat(512) })],
    ['4 KiB of params', claimWith({ action: 'a.b.c', params: { x: 'x'.repeat(4096 - 8) } })],
    ['a nesting of 32', claimWith({ action: 'a.b.c', params: { x: JSON.parse(nested(30)) } })],
    ['a sha in upper case', paramsWith({ sha: 'A'.repeat(40) })],
    ['the largest integer', claimWith({ action: 'a.b.c', params: { x: Number.MAX_SAFE_INTEGER } })],
  ]
  for (const [name, body] of rows) t.equal((await accepting.post(body)).status, 202, name)
})

t.test('several mistakes are named at once', async (t) => {
  const answer = await app.post({
    ...CLAIM,
    agent_id: undefined,
    target: 7,
    params: { sha: 'short', branch: 'main' },
    x: 1,
  })
  t.same(
    answer.json.detail.map(({ loc, type }: { loc: string[]; type: string }) => `${loc.join('.')} ${type}`).sort(),
    [
      'body.agent_id missing',
      'body.params.sha string_pattern_mismatch',
      'body.target string_type',
      'body.x extra_forbidden',
    ],
  )
})

t.test('a body that readers could understand differently is refused', async (t) => {
  const body = JSON.stringify(CLAIM)
  const param = (text: string) => claimWith({ action: 'a.b.c', params: { x: 'HERE' } }).replace('"HERE"', text)
  const inParams = ['body', 'params', 'x']
  const rows: [string, string | Buffer, unknown[], string][] = [
    ['words', 'not json', ['body', 0], 'json_invalid'],
    ['half of it', body.slice(0, 40), ['body', Number], 'json_invalid'],
    ['something after it', `${body} x`, ['body', Number], 'json_invalid'],
    ['a comment', `/**/${body}`, ['body', 0], 'json_invalid'],
    ['a byte order mark', `\ufeff${body}`, ['body', 0], 'json_invalid'],
    ['bytes that are no UTF-8', Buffer.from(body.replace('main', '\xff'), 'latin1'), ['body', 0], 'json_invalid'],
    ['a member given twice', body.replace('{', '{"agent_id":"other",'), ['body', Number], 'json_invalid'],
    ['deep nesting', param(nested(31)), ['body', Number], 'json_invalid'],
    ['very deep nesting', param(nested(30_000)), ['body', Number], 'json_invalid'],
    ['__proto__', body.replace('{', '{"__proto__":{"agent_id":"x"},'), ['body', '__proto__'], 'extra_forbidden'],
    ['__proto__ in params', param('{"__proto__":1}'), [...inParams, '__proto__'], 'extra_forbidden'],
    ['NUL', claimWith({ agent_id: 'a\0b' }), ['body', 'agent_id'], 'string_unicode'],
    ['NUL in a member name', param('{"a\\u0000":1}'), inParams, 'string_unicode'],
    ['NUL in a list', param('[1,"\\u0000"]'), [...inParams, 1], 'string_unicode'],
    ['a lone surrogate', param('"\\ud800"'), ['body', Number], 'string_unicode'],
    ['a fraction', param('1.5'), inParams, 'int_from_float'],
    ['an integer past 2^53', param('9007199254740993'), inParams, 'int_from_float'],
    ['a fraction that is none', param('1.0'), ['body'], 'int_from_float'],
    ['an exponent', param('1e3'), ['body'], 'int_from_float'],
    ['a number that no double holds', param('1e999'), ['body', Number], 'json_invalid'],
    ['nothing', '', ['body'], 'missing'],
    ['null', 'null', ['body'], 'missing'],
    ['a list', '[]', ['body'], 'model_attributes_type'],
    ['a string', '"claim"', ['body'], 'model_attributes_type'],
  ]
  for (const [name, bytes, loc, type] of rows) {
    const answer = await app.post(bytes)
    t.equal(answer.status, 422, name)
    t.match(answer.json?.detail, [{ loc, type, msg: String }], name)
  }
  t.notOk('agent_id' in {}, 'no prototype was changed')
})

t.test('a body of another media type is refused', async (t) => {
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/jsonp',
    'application/json-seq',
    'json',
    '',
  ]) {
    const answer = await app.post(CLAIM, { headers: { 'content-type': type } })
    t.match(answer, { status: 415, json: { detail: String } }, type || 'none')
  }
  t.equal((await app.post(CLAIM, { headers: { 'content-encoding': 'gzip' } })).status, 415, 'an encoded body')
})

t.test('the media type may say utf-8, in any case', async (t) => {
  for (const type of ['application/json; charset=utf-8', 'Application/JSON;charset=UTF-8']) {
    t.equal((await accepting.post(CLAIM, { headers: { 'content-type': type } })).status, 202, type)
  }
})

t.test('a body of more than 64 KiB is refused, also when it does not say its length', async (t) => {
  const large = claimWith({ agent_id: 'x'.repeat(65 * 1024) })
  t.match(await app.post(large), { status: 413, json: { detail: String } }, 'with a length')
  t.match(await app.post(large, { chunked: true }), { status: 413, json: { detail: String } }, 'in chunks')
  const whole = JSON.stringify(CLAIM).padEnd(64 * 1024)
  t.equal((await accepting.post(whole, { chunked: true })).status, 202, '64 KiB are not too much')
})

t.test('an answer does not repeat a large input', async (t) => {
  const members = Object.fromEntries(Array.from({ length: 4000 }, (_, index) => [`m${index}`, 1]))
  t.ok((await app.post({ ...CLAIM, ...members })).text.length < 8192, 'of many members')
  t.ok((await app.post({ ...CLAIM, [`x${'y'.repeat(60_000)}`]: 1 })).text.length < 1024, 'of one long name')
  t.ok((await app.post({ ...CLAIM, agent_id: 'x'.repeat(60_000) })).text.length < 1024, 'of one long value')
})

t.test('of all that was refused nothing reached the service', async (t) => {
  t.equal(app.claims.submitted.length, 0)
})
