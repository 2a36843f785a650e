// Test run: end-to-end, slow, alone
/**
 * Whatever is sent to the service, by whomever: no answer is a fault of ours. `npm run fuzz` sends ten times as much.
 * Threats A6, W6 and S1 of `security.md`.
 */
import t from 'tap'
import { commitSeed } from '../../scripts/commit-seed.ts'
import { createJudge } from '../fuzz/judge.ts'
import type { FuzzAnswer } from '../fuzz/request.ts'
import { runFuzz } from '../fuzz/run.ts'
import { MARK, MARK_HEADER } from '../fuzz/values.ts'
import { IS_THOROUGH, LONG } from '../support/extent.ts'

const REQUESTS = IS_THOROUGH ? 20_000 : 2000

t.test('no request is answered with a fault, with another form than is described, or not at all', LONG, async (t) => {
  const seed = commitSeed()
  const { problems, statuses, forms, routes, operations } = await runFuzz({ requests: REQUESTS, seed })
  t.comment(`seed ${seed}: ${JSON.stringify(statuses)}`)
  t.strictSame(problems, [], `npm run fuzz -- --requests ${REQUESTS} --seed ${seed}`)
  t.ok(operations > 10, `${operations} operations`)
  t.ok(routes > 80, `${routes} routes`)
  t.ok(forms > 15, `${forms} forms`)
  // What is refused at the door alone would show nothing.
  for (const [kind, reached] of [
    ['api', 202],
    ['api', 200],
    ['api', 422],
    ['form', 303],
    ['page', 200],
    ['oauth', 201],
  ] as const) {
    t.ok((statuses[kind]?.[reached] ?? 0) > 0, `${kind}: ${reached}`)
  }
})

const OPEN_API = {
  paths: {
    '/v1/things/{id}': {
      get: {
        operationId: 'getThing',
        responses: { 200: { content: { 'application/json': { schema: { type: 'object', required: ['id'] } } } } },
      },
    },
  },
}
const judge = createJudge({ openApi: OPEN_API, url: 'http://localhost:1', mayLeadTo: ['https://backend.example/back'] })
const JSON_TYPE = { 'content-type': 'application/json' }
const PAGE = { 'content-type': 'text/html', 'content-security-policy': "default-src 'none'" }

const faults: readonly (readonly [
  what: string,
  path: string,
  answer: Partial<FuzzAnswer>,
  problem: RegExp | undefined,
])[] = [
  ['a sound answer', '/v1/things/1', { headers: JSON_TYPE, body: Buffer.from('{"id":1}') }, undefined],
  [
    'an error in its form',
    '/v1/things/1',
    { status: 404, headers: JSON_TYPE, body: Buffer.from('{"detail":"no"}') },
    undefined,
  ],
  ['a sound page', '/console', { headers: PAGE }, undefined],
  ['a fault', '/console', { status: 500, headers: PAGE }, /^500/],
  ['an answer of another form', '/v1/things/1', { headers: JSON_TYPE, body: Buffer.from('{}') }, /not as described/],
  [
    'a status that is not described',
    '/v1/things/1',
    { status: 402, headers: JSON_TYPE, body: Buffer.from('{"detail":"no"}') },
    /402/,
  ],
  [
    'an error of another form',
    '/v1/things/1',
    { status: 422, headers: JSON_TYPE, body: Buffer.from('{"detail":"no"}') },
    /form of an error/,
  ],
  ['an error that is a page', '/v1/things/1', { status: 404, headers: PAGE }, /form of an error/],
  ['markup of others', '/console', { headers: PAGE, body: Buffer.from(`<p>${MARK}`) }, /repeats markup/],
  ['a page without a policy', '/console', { headers: { 'content-type': 'text/html' } }, /no policy/],
  ['a header of others', '/', { headers: { [MARK_HEADER]: '1' } }, /became a header/],
  ['a place in the program', '/', { body: Buffer.from('at run (file.js:1:2)') }, /where in the program/],
  ['a redirect elsewhere', '/', { headers: { location: 'https://evil.example/' } }, /leads to/],
  ['a redirect to an application', '/', { headers: { location: 'https://backend.example/back?code=1' } }, undefined],
  ['a cookie for scripts', '/', { headers: { 'set-cookie': ['claimcheck=1; path=/'] } }, /scripts may read/],
  ['a cookie of others', '/', { headers: { 'set-cookie': ['x=1; HttpOnly'] } }, /not ours/],
]

for (const [what, path, answer, problem] of faults) {
  t.test(`${what} is ${problem ? 'seen' : 'no fault'}`, async (t) => {
    const problems = judge(
      { method: 'GET', path, headers: {} },
      { status: 200, headers: {}, body: Buffer.alloc(0), ...answer },
    )
    if (!problem) return t.strictSame(problems, [])
    t.match(problems.join(), problem)
  })
}
