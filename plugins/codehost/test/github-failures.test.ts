// Test run: slow
/** Checks at GitHub when it fails or answers wrongly. */
import { DestinationError, type Observation } from '@claimcheck/core/plugin'
import t from 'tap'
import {
  brokenOff,
  type Fault,
  html,
  json,
  redirectTo,
  silence,
  status,
  truncatedJson,
} from '../../../test/destinations/faults.ts'
import type { Push } from '../../../test/destinations/forge/model.ts'
import { outcome } from './context.ts'
import { appearedAt, atGitHub, MINUTE, NOON, wholeSecond } from './github-fixture.ts'

const RESET = String(NOON / 1000 + 11 * 60)
const ELSEWHERE = 'http://localhost:9/repos/acme/app'

const REPOSITORY = {
  ...{ id: 1, full_name: 'acme/app', private: false, default_branch: 'main', created_at: '2026-01-01T00:00:00Z' },
}

const FAILURES: readonly (readonly [string, Fault, string, number?])[] = [
  ['401', status(401), 'unauthorized'],
  ['403 without a sign of a limit', status(403, { 'x-ratelimit-remaining': '17' }), 'forbidden'],
  [
    '403 with no requests remaining',
    status(403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': RESET }),
    'rate_limited',
    MINUTE,
  ],
  ['403 with Retry-After', status(403, { 'retry-after': '7' }), 'rate_limited', 7000],
  [
    '403 with a message about a secondary limit',
    status(403, {}, { message: 'You have exceeded a secondary rate limit.' }),
    'rate_limited',
    MINUTE,
  ],
  ['429 with Retry-After', status(429, { 'retry-after': '30' }), 'rate_limited', 30_000],
  [
    '429 with a date',
    status(429, { 'retry-after': new Date(NOON + 12 * MINUTE).toUTCString() }),
    'rate_limited',
    2 * MINUTE,
  ],
  ['404', status(404), 'forbidden'],
  ['451', status(451), 'forbidden'],
  ['418', status(418), 'unexpected_response'],
  ['500', status(500), 'unavailable'],
  ['503 with Retry-After', status(503, { 'retry-after': '5' }), 'unavailable', 5000],
  ['HTML', html(), 'unexpected_response'],
  ['truncated JSON', truncatedJson(), 'unexpected_response'],
  ['an answer that ends early', brokenOff(), 'unexpected_response'],
  ['JSON of another form', json([1, 2]), 'unexpected_response'],
  ['JSON with a wrong type', json({ ...REPOSITORY, id: '1' }), 'unexpected_response'],
  ['a name that leads out of the path', json({ ...REPOSITORY, full_name: 'acme/..' }), 'unexpected_response'],
  ['a redirect to another host', redirectTo(ELSEWHERE), 'unexpected_response'],
]

t.test('each failure has its code, with the time to wait', async (t) => {
  const { github, base, look } = await atGitHub(t)
  for (const [name, fault, code, retryAfterMs] of FAILURES) {
    github.faults.inject({ fault, on: /GET \/repos\/acme\/app$/, times: 1 })
    const error = await look(base).then(
      () => undefined,
      (error: unknown) => error,
    )
    t.ok(error instanceof DestinationError, name)
    t.match(error, { code, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }, name)
  }
  t.equal(await outcome(look(base)), 'as claimed', 'after the failures the commit is found')
})

t.test('a commit is never absent when one of the requests fails', async (t) => {
  const { github, repository, base, look } = await atGitHub(t)
  const sha = await repository.commit({ parents: [base] })
  await repository.push('develop', base)
  repository.defaultBranch = 'develop'
  const requests = [/app$/, /git\/ref\/heads\/main/, /activity/, /where-head/, /git\/ref\/heads\/develop/]
  t.equal(await outcome(look(sha)), 'absent')
  for (const on of requests) {
    for (const [fault, code] of [
      [status(500), 'unavailable'],
      [html(), 'unexpected_response'],
      [status(429), 'rate_limited'],
    ] as const) {
      github.faults.inject({ fault, on, times: 1 })
      t.equal(await outcome(look(sha)), code, String(on))
    }
  }
  for (const fault of [status(500), html()]) {
    github.faults.inject({ fault, on: /compare/, times: 1 })
    t.not(await outcome(look(sha)), 'absent', 'compare')
  }
})

t.test('a check of a silent host ends with its time', async (t) => {
  const { github, base, look } = await atGitHub(t)
  github.faults.inject({ fault: silence(), on: /git\/ref/ })
  t.equal(await outcome(look(base, { timeoutMs: 300 })), 'timeout')
})

t.test('a refused comparison of a known commit is an error', async (t) => {
  const { github, repository, base, look, first } = await atGitHub(t)
  github.faults.inject({ fault: status(422), on: /compare/ })
  t.equal(await outcome(look(first)), 'unexpected_response')
  const sha = await repository.commit({ parents: [base] })
  t.equal(await outcome(look(sha)), 'absent', 'the comparison is refused because the commit is unknown')
})

t.test('a comparison must have the commit itself as the common base', async (t) => {
  const { github, first, base, look } = await atGitHub(t)
  github.faults.inject({ fault: json({ status: 'ahead', merge_base_commit: { sha: base } }), on: /compare/ })
  t.not(await outcome(look(first)), 'as claimed')
})

t.test('a commit on the branch is found without the push log, at an unknown time', async (t) => {
  for (const fault of [status(500), html(), status(429), status(403), status(404), status(422)]) {
    const { github, repository, base, look } = await atGitHub(t)
    github.faults.inject({ fault, on: /activity/ })
    const seen = await look(base)
    t.match(seen, { kind: 'present', differs: [], facts: { repository_id: repository.id, head: base } })
    t.notOk(seen.stays)
  }
})

t.test('the push log counts only up to its first gap', async (t) => {
  async function withLog(change: (log: Push[]) => void) {
    const { repository, base, push, look } = await atGitHub(t)
    const first = await repository.commit({ parents: [base] })
    const second = await repository.commit({ parents: [first] })
    const third = await repository.commit({ parents: [second] })
    await push('main', first, NOON + MINUTE)
    await push('main', second, NOON + 2 * MINUTE)
    await push('main', third, NOON + 3 * MINUTE)
    change(repository.pushes)
    return look(first)
  }
  const appeared = (seen: Observation) => appearedAt(seen) ?? undefined

  t.same(appeared(await withLog(() => {})), wholeSecond(NOON + MINUTE))
  t.same(appeared(await withLog((log) => log.splice(0))), undefined, 'the log is empty')
  t.same(
    appeared(await withLog((log) => log.splice(0, 2))),
    { notAfter: NOON + 2 * MINUTE + 999 },
    'the log begins after the push',
  )
  t.same(
    appeared(await withLog((log) => log.splice(1, 1))),
    { notAfter: NOON + 2 * MINUTE + 999 },
    'the gap is at the push',
  )
  t.same(
    appeared(await withLog((log) => log.splice(2, 1))),
    { notAfter: NOON + 3 * MINUTE + 999 },
    'the gap is after the push',
  )
  t.same(appeared(await withLog((log) => log.splice(1))), undefined, 'the log lags behind')
})

t.test('the push log is read back to the time of the claim, and three pages at most', async (t) => {
  const { repository, base, push, look, github } = await atGitHub(t)
  const sha = await repository.commit({ parents: [base] })
  await push('main', sha, NOON + MINUTE)
  const { pushes } = repository
  const { ref, kind, by } = pushes.at(-1)!
  const filler = (i: number) => ({
    id: 100 + i,
    before: sha,
    after: sha,
    ref,
    kind,
    by,
    batch: 0,
    at: NOON + 2 * MINUTE,
  })
  const pushed = pushes.slice()
  const logOf = (count: number) => {
    pushes.splice(0, pushes.length, ...pushed, ...Array.from({ length: count }, (_, i) => filler(i)))
  }
  logOf(150)
  t.same(appearedAt(await look(sha)), wholeSecond(NOON + MINUTE))
  t.equal(github.requests.filter((line) => line.includes('/activity')).length, 2)
  logOf(400)
  t.same(appearedAt(await look(sha)), { notAfter: NOON + 2 * MINUTE + 999 })
  t.equal(github.requests.filter((line) => line.includes('/activity')).length, 5)
})
