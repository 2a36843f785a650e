import type { CheckRecord } from '@claimcheck/core/rules'
import t from 'tap'
import { afterFile } from '../../../test/support/after-file.ts'
import { CLAIM, KEY, OTHER_KEY, startApp, WORKSPACE } from './support/server.ts'
import { claimStatus, NOW } from './support/services.ts'

const app = await startApp()
afterFile(app.close)

const input = {
  clientClaimId: 'kept',
  agentId: 'release-bot',
  action: CLAIM.action,
  target: CLAIM.target,
  params: CLAIM.params,
  claimedAt: NOW,
}

t.test('a submitted claim is accepted with its whole status', async (t) => {
  const answer = await app.post(CLAIM)
  t.equal(answer.status, 202)
  t.match(answer.headers, { 'content-type': /^application\/json/, 'cache-control': 'no-store' })
  t.same(answer.json, {
    claim_id: answer.json.claim_id,
    client_claim_id: 'run-1',
    agent_id: 'release-bot',
    action: 'codehost.commit.push',
    target: 'octo-org/hello-world',
    claimed_at: '2026-09-25T14:02:11.000Z',
    deadline_at: '2026-09-25T14:17:11.000Z',
    submitted_at: '2026-09-25T14:02:11.000Z',
    claim_digest: answer.json.claim_digest,
    state: 'queued',
    attempts: 1,
    next_check_at: '2026-09-25T14:02:12.000Z',
    receipt_id: null,
    verdict: null,
    reason_code: null,
    last_check: null,
    created: true,
  })
})

t.test('times reach the service cut to milliseconds', async (t) => {
  await app.post({ ...CLAIM, claimed_at: '2026-09-25T14:02:11.98765+00:00', deadline_at: '2026-09-25T15:00:00Z' })
  t.match(app.claims.submitted.at(-1), { claimedAt: NOW + 987, deadlineAt: Date.UTC(2026, 8, 25, 15) })
})

t.test('a status tells what the last check showed', async (t) => {
  const times = { sentAt: NOW, answeredAt: NOW + 5 }
  const read = { ...times, clockOffsetMs: 0 }
  const rows: [string, CheckRecord, object][] = [
    [
      'present',
      { ...read, observation: { kind: 'present', facts: { n: 1 }, differs: [] } },
      { result: 'present', facts: { n: 1 } },
    ],
    [
      'differs',
      { ...read, observation: { kind: 'present', facts: {}, differs: ['branch'] } },
      { result: 'differs', facts: {}, differs: ['branch'] },
    ],
    ['absent', { ...read, observation: { kind: 'absent', facts: {} } }, { result: 'absent', facts: {} }],
    [
      'failed',
      { ...times, failure: { code: 'unavailable', status: 502, retryAt: NOW } },
      { result: 'failed', code: 'unavailable', status: 502 },
    ],
    ['failed without an answer', { ...times, failure: { code: 'timeout' } }, { result: 'failed', code: 'timeout' }],
  ]
  for (const [name, lastCheck, expected] of rows) {
    const claim = claimStatus(input, { lastCheck })
    app.claims.put(WORKSPACE, claim)
    const { json } = await app.ask(`/v1/claims/${claim.claimId}`, { key: KEY })
    t.same(json.last_check, { at: '2026-09-25T14:02:11.005Z', ...expected }, name)
  }
})

t.test('what names no claim of the workspace is not found', async (t) => {
  const { json } = await app.post({ ...CLAIM, client_claim_id: 'mine' })
  const rows = [
    'clm_unknown',
    '%00',
    '%2e%2e%2f',
    '%F0%9F%A6%8A',
    '..%2f..%2fetc',
    '%',
    '%zz',
    "'%20OR%201=1",
    'x'.repeat(65),
    'x'.repeat(5000),
    '__proto__',
    '',
  ]
  for (const id of rows) {
    const answer = await app.ask(`/v1/claims/${id}`, { key: KEY })
    t.match(answer, { status: 404, json: { detail: String } }, id.slice(0, 70))
  }
  t.equal((await app.ask(`/v1/claims/${json.claim_id}`, { key: KEY })).status, 200)
  const foreign = await app.ask(`/v1/claims/${json.claim_id}`, { key: OTHER_KEY })
  const unknown = await app.ask('/v1/claims/clm_unknown', { key: OTHER_KEY })
  t.same([foreign.status, foreign.json], [unknown.status, unknown.json], "another workspace's claim is like none")
})

t.test('a bad claim query is refused', async (t) => {
  const rows: [string, number, string?, string?][] = [
    ['limit=0', 422, 'limit', 'greater_than_equal'],
    ['limit=201', 422, 'limit', 'less_than_equal'],
    ['limit=abc', 422, 'limit', 'int_parsing'],
    ['limit=1&limit=2', 422, 'limit', 'int_type'],
    ['state=open', 422, 'state', 'literal_error'],
    ['verdict=true', 422, 'verdict', 'literal_error'],
    ['agent_id=a%00b', 422, 'agent_id', 'string_unicode'],
    ['agent_id=a&agent_id=b', 422, 'agent_id', 'string_type'],
    [`cursor=${'9'.repeat(513)}`, 422, 'cursor', 'string_too_long'],
  ]
  for (const [query, status, name, type] of rows) {
    const answer = await app.ask(`/v1/claims?${query}`, { key: KEY })
    t.equal(answer.status, status, query)
    if (name) t.match(answer.json.detail, [{ loc: ['query', name], type }], query)
  }
})
