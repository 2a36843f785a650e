import type { CheckRecord } from '@claimcheck/core'
import { createHangs, type Hanging } from '@claimcheck/server/claims/hangs'
import t from 'tap'

const TIMEOUT_MS = 10_000
const OPTIONS = { timeoutMs: TIMEOUT_MS, now: () => 0 }

let claims = 0
const claimAt = (
  target: string,
  over: { workspaceId?: string; connectionId?: string; deadlineAt?: number } = {},
): Hanging => ({
  claimId: `clm_${++claims}`,
  target,
  deadlineAt: over.deadlineAt ?? 0,
  lane: {
    workspaceId: over.workspaceId ?? 'ws_1',
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
function checked(hangs: ReturnType<typeof createHangs>, targets: readonly string[], record: CheckRecord) {
  for (const target of targets) hangs.begin(claimAt(target))(record)
}

t.test(
  'after four timeouts about several targets two checks try, and the others share how the last one ends',
  async (t) => {
    const hangs = createHangs(OPTIONS)
    checked(hangs, ['a', 'b', 'c', 'd'], timeout())
    t.equal(hangs.toShare(claimAt('x')), undefined)
    hangs.begin(claimAt('x'))
    const end = hangs.begin(claimAt('y'))
    const outcome = hangs.toShare(claimAt('z'))!
    t.ok(hangs.mustWait(claimAt('z')), 'those that only look wait')
    end(timeout())
    t.equal(await outcome, true)
  },
)

t.test('an answer ends it, and who shares it is told that nothing hung', async (t) => {
  const hangs = createHangs(OPTIONS)
  checked(hangs, ['a', 'b', 'c', 'd'], timeout())
  hangs.begin(claimAt('x'))
  const end = hangs.begin(claimAt('y'))
  const outcome = hangs.toShare(claimAt('z'))!
  end(answer)
  t.equal(await outcome, false)
  t.notOk(hangs.mustWait(claimAt('z')))
})

t.test('one slow target hangs alone', async (t) => {
  const hangs = createHangs(OPTIONS)
  checked(hangs, Array(10).fill('huge'), timeout())
  hangs.begin(claimAt('huge'))
  hangs.begin(claimAt('huge'))
  t.ok(hangs.mustWait(claimAt('huge')))
  t.notOk(hangs.mustWait(claimAt('small')))
})

t.test('a check that ended by its own deadline, or asked nobody, says nothing', async (t) => {
  const hangs = createHangs(OPTIONS)
  checked(hangs, ['a', 'b', 'c', 'd', 'e'], timeout(600))
  hangs.begin(claimAt('x'))
  hangs.begin(claimAt('y'))
  t.notOk(hangs.mustWait(claimAt('z')))
  checked(hangs, ['a', 'b', 'c'], timeout())
  checked(hangs, ['d'], { sentAt: 0, answeredAt: 1, failure: { code: 'rate_limited' } })
  checked(hangs, ['e'], timeout())
  t.ok(hangs.mustWait(claimAt('z')), 'it does not end a row of timeouts either')
})

t.test('a check shares one that its deadline does not cut short, or not before this one', async (t) => {
  const hangs = createHangs(OPTIONS)
  checked(hangs, ['a', 'b', 'c', 'd'], timeout())
  hangs.begin(claimAt('w', { deadlineAt: 3000 }))
  hangs.begin(claimAt('x', { deadlineAt: 5000 }))
  t.ok(hangs.mustWait(claimAt('z')))
  t.ok(hangs.toShare(claimAt('z', { deadlineAt: 5000 })))
  const closing = claimAt('z')
  t.notOk(hangs.toShare(closing, true), 'it reads itself')
  t.notOk(hangs.mayShare(closing))
  const end = hangs.begin(claimAt('y'))
  hangs.begin(claimAt('w', { deadlineAt: 4000 }))
  const outcome = hangs.toShare(closing)!
  end(timeout())
  t.equal(await outcome, true)
})

t.test('a claim shares every other check, unless there is no slot for it', async (t) => {
  const hangs = createHangs(OPTIONS)
  checked(hangs, ['a', 'b', 'c', 'd'], timeout())
  hangs.begin(claimAt('x'))
  hangs.begin(claimAt('y'))
  const claim = claimAt('z')
  t.ok(hangs.toShare(claim))
  t.notOk(hangs.toShare(claim))
  t.ok(hangs.toShare(claim))
  t.ok(hangs.toShare(claim, true))
})

t.test('other workspaces and connections have nothing to do with it', async (t) => {
  const hangs = createHangs(OPTIONS)
  checked(hangs, ['a', 'b', 'c', 'd'], timeout())
  hangs.begin(claimAt('x'))
  hangs.begin(claimAt('y'))
  for (const other of [{ workspaceId: 'ws_2' }, { connectionId: 'conn_2' }]) {
    t.notOk(hangs.mustWait(claimAt('a', other)))
  }
})
