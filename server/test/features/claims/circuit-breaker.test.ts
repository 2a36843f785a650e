import type { CheckRecord } from '@claimcheck/core/rules'
import { createCircuitBreakers, type DueRead } from '@claimcheck/server/features/claims/circuit-breaker'
import t from 'tap'

const TIMEOUT_MS = 10_000
const OPTIONS = { timeoutMs: TIMEOUT_MS, now: () => 0 }

let claims = 0
const claimAt = (
  target: string,
  over: { workspaceId?: string; connectionId?: string; deadlineAt?: number } = {},
): DueRead => ({
  claimId: `clm_${++claims}`,
  target,
  deadlineAt: over.deadlineAt ?? 0,
  lane: {
    workspaceId: over.workspaceId ?? 'ws_1',
    payer: 'ws_1',
    submittedBy: 'key_1',
    connectionId: over.connectionId ?? 'conn_1',
    origin: 'https://git.example',
  },
})

const timeout = (tookMs = TIMEOUT_MS): CheckRecord => ({
  sentAt: 0,
  answeredAt: tookMs,
  failure: { code: 'timeout' },
})
const answer: CheckRecord = { sentAt: 0, answeredAt: 10, failure: { code: 'forbidden', status: 404 } }

/** So many checks about these targets, one after another, that end like this. */
function checked(breakers: ReturnType<typeof createCircuitBreakers>, targets: readonly string[], record: CheckRecord) {
  for (const target of targets) breakers.begin(claimAt(target))(record)
}

t.test('after four timeouts about several targets two checks try, and the others share the last one', async (t) => {
  const breakers = createCircuitBreakers(OPTIONS)
  checked(breakers, ['a', 'b', 'c', 'd'], timeout())
  t.equal(breakers.toShare(claimAt('x')), undefined)
  breakers.begin(claimAt('x'))
  const end = breakers.begin(claimAt('y'))
  const outcome = breakers.toShare(claimAt('z'))!
  t.ok(breakers.mustWait(claimAt('z')), 'those that only look wait')
  end(timeout())
  t.equal(await outcome, true)
})

t.test('an answer ends it, and who shares it is told that nothing hung', async (t) => {
  const breakers = createCircuitBreakers(OPTIONS)
  checked(breakers, ['a', 'b', 'c', 'd'], timeout())
  breakers.begin(claimAt('x'))
  const end = breakers.begin(claimAt('y'))
  const outcome = breakers.toShare(claimAt('z'))!
  end(answer)
  t.equal(await outcome, false)
  t.notOk(breakers.mustWait(claimAt('z')))
})

t.test('one slow target hangs alone', async (t) => {
  const breakers = createCircuitBreakers(OPTIONS)
  checked(breakers, Array(10).fill('huge'), timeout())
  breakers.begin(claimAt('huge'))
  breakers.begin(claimAt('huge'))
  t.ok(breakers.mustWait(claimAt('huge')))
  t.notOk(breakers.mustWait(claimAt('small')))
})

t.test('a check that ended by its own deadline, or asked nobody, says nothing', async (t) => {
  const breakers = createCircuitBreakers(OPTIONS)
  checked(breakers, ['a', 'b', 'c', 'd', 'e'], timeout(600))
  breakers.begin(claimAt('x'))
  breakers.begin(claimAt('y'))
  t.notOk(breakers.mustWait(claimAt('z')))
  checked(breakers, ['a', 'b', 'c'], timeout())
  checked(breakers, ['d'], { sentAt: 0, answeredAt: 1, failure: { code: 'rate_limited' } })
  checked(breakers, ['e'], timeout())
  t.ok(breakers.mustWait(claimAt('z')), 'it does not end a row of timeouts either')
})

t.test('a check shares one that its deadline does not cut short, or not before this one', async (t) => {
  const breakers = createCircuitBreakers(OPTIONS)
  checked(breakers, ['a', 'b', 'c', 'd'], timeout())
  breakers.begin(claimAt('w', { deadlineAt: 3000 }))
  breakers.begin(claimAt('x', { deadlineAt: 5000 }))
  t.ok(breakers.mustWait(claimAt('z')))
  t.ok(breakers.toShare(claimAt('z', { deadlineAt: 5000 })))
  const closing = claimAt('z')
  t.notOk(breakers.toShare(closing, true), 'it reads itself')
  t.notOk(breakers.mayShare(closing))
  const end = breakers.begin(claimAt('y'))
  breakers.begin(claimAt('w', { deadlineAt: 4000 }))
  const outcome = breakers.toShare(closing)!
  end(timeout())
  t.equal(await outcome, true)
})

t.test('a claim shares every other check, unless there is no slot for it', async (t) => {
  const breakers = createCircuitBreakers(OPTIONS)
  checked(breakers, ['a', 'b', 'c', 'd'], timeout())
  breakers.begin(claimAt('x'))
  breakers.begin(claimAt('y'))
  const claim = claimAt('z')
  t.ok(breakers.toShare(claim))
  t.notOk(breakers.toShare(claim))
  t.ok(breakers.toShare(claim))
  t.ok(breakers.toShare(claim, true))
})

t.test('other workspaces and connections have nothing to do with it', async (t) => {
  const breakers = createCircuitBreakers(OPTIONS)
  checked(breakers, ['a', 'b', 'c', 'd'], timeout())
  breakers.begin(claimAt('x'))
  breakers.begin(claimAt('y'))
  for (const other of [{ workspaceId: 'ws_2' }, { connectionId: 'conn_2' }]) {
    t.notOk(breakers.mustWait(claimAt('a', other)))
  }
})
