// Test run: every-node
import { createRateLimitBudgets, type Spender } from '@claimcheck/server/outbound/rate-limit-budget'
import t from 'tap'

const NOON = Date.UTC(2026, 8, 25, 12)
const HOUR_MS = 60 * 60_000
const ORIGIN = 'https://api.github.com'

const anonymous = (payer: string): Spender => ({ payer, connectionId: null, origin: ORIGIN })

/** GitHub: 60 requests an hour, of which each request uses one. */
function github({ limit = 60, headers = githubHeaders } = {}) {
  const clock = { now: NOON }
  const place = { used: 0, resetAt: NOON + HOUR_MS }
  const budgets = createRateLimitBudgets({ now: () => clock.now })

  /** One check of two requests. False: it may not begin, or not send both. */
  function look(spender: Spender): boolean {
    if (!budgets.mayBegin(spender)) return false
    const end = budgets.begin(spender, false)
    try {
      read(spender, false)
      read(spender, false)
      return true
    } catch {
      return false
    } finally {
      end()
    }
  }

  function read(spender: Spender, isDeciding: boolean, isFree = false, isAgain = false, isHinted = false): void {
    const hasCredentials = spender.connectionId !== null
    const answered = budgets.forCheck(spender, { isDeciding, isAgain, isHinted, hasCredentials }).count()
    if (clock.now >= place.resetAt) Object.assign(place, { used: 0, resetAt: clock.now + HOUR_MS })
    if (!isFree) place.used++
    answered(new Headers(headers(limit, limit - place.used, place.resetAt, clock.now)))
  }

  function untilRefused(spender: Spender): number {
    let looks = 0
    while (looks < 1000 && look(spender)) looks++
    return looks
  }

  return { budgets, clock, place, look, read, untilRefused }
}

function githubHeaders(limit: number, remaining: number, resetAt: number, now: number): Record<string, string> {
  return {
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-reset': String(resetAt / 1000),
    date: new Date(now).toUTCString(),
  }
}

t.test('trials of new credentials push no budget out', async (t) => {
  const { budgets, read } = github({ limit: 4 })
  const known = { ...anonymous('a'), connectionId: 'conn_1' }
  for (let reads = 0; reads < 4; reads++) read(known, true)
  t.notOk(budgets.mayBegin(known))
  for (let trial = 0; trial < 6000; trial++) {
    const spender = { ...anonymous('a'), connectionId: `trial ${trial}` }
    budgets.mayBegin(spender)
    budgets.begin(spender, false)()
    budgets.forget(spender.connectionId)
  }
  t.notOk(budgets.mayBegin(known), 'it is used up still')
})

t.test('whoever pays leaves requests to others, and all to checks that decide', async (t) => {
  const { place, read, untilRefused } = github()
  t.equal(untilRefused(anonymous('a')), 16)
  t.equal(place.used, 32)
  t.ok(untilRefused(anonymous('b')) >= 2, 'another one')
  const rest = 60 - place.used
  t.ok(rest >= 15, `${rest} are kept`)
  read(anonymous('c'), true)
  t.throws(
    () => {
      for (;;) read(anonymous('a'), true)
    },
    { code: 'rate_limited', retryAfterMs: undefined },
  )
  t.ok(place.used < 60, 'checks that decide share the kept ones in the same way')
  read(anonymous('c'), true)
})

t.test('when the hour is over, all begins anew', async (t) => {
  const { clock, look, untilRefused } = github()
  untilRefused(anonymous('a'))
  t.notOk(look(anonymous('a')))
  clock.now += HOUR_MS
  t.ok(look(anonymous('a')))
  t.equal(untilRefused(anonymous('a')), 15)
})

t.test('what others use of the same budget counts', async (t) => {
  const { place, look } = github()
  t.ok(look(anonymous('a')))
  place.used = 46
  t.notOk(look(anonymous('a')), 'it begins, and hears of it with the first answer')
  t.notOk(look(anonymous('a')))
})

t.test('each connection has its own', async (t) => {
  const { place, untilRefused, look } = github({ limit: 1000 })
  const mine = { ...anonymous('a'), connectionId: 'conn_1' }
  t.ok(untilRefused(mine) > 200)
  t.notOk(look(mine))
  place.used = 0
  t.ok(look({ ...mine, connectionId: 'conn_2' }))
})

t.test('before the first answer few anonymous checks begin, and a silent destination ends that', async (t) => {
  const { budgets } = github()
  const ends = [1, 2, 3, 4].map(() => budgets.begin(anonymous('a'), false))
  t.notOk(budgets.mayBegin(anonymous('b')))
  t.ok(budgets.mayBegin({ ...anonymous('b'), connectionId: 'conn_1' }), 'a connection has enough')
  t.ok(budgets.mayBegin({ ...anonymous('b'), origin: null }), 'what reads nothing needs none')
  ends[0]!()
  t.ok(budgets.mayBegin(anonymous('b')))
})

const HEADERS: [what: string, headers: Record<string, string>, isTold: boolean][] = [
  ['of GitHub', githubHeaders(60, 0, NOON + HOUR_MS, NOON), true],
  ['with seconds from now', { 'ratelimit-limit': '60', 'ratelimit-remaining': '0', 'ratelimit-reset': '60' }, true],
  ['of another resource', { ...githubHeaders(10, 0, NOON + HOUR_MS, NOON), 'x-ratelimit-resource': 'search' }, false],
  ['of a window that is over', githubHeaders(60, 0, NOON - 1000, NOON), false],
  ['without a limit', { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '60' }, false],
  [
    'that are no numbers',
    { 'ratelimit-limit': '60;w=1', 'ratelimit-remaining': '-1', 'ratelimit-reset': 'soon' },
    false,
  ],
  ['none', {}, false],
]
for (const [what, headers, isTold] of HEADERS) {
  t.test(`headers ${what} ${isTold ? 'tell' : 'do not tell'} that nothing is left`, async (t) => {
    const { read, look } = github({ headers: () => headers })
    read(anonymous('a'), false)
    t.equal(look(anonymous('a')), !isTold)
  })
}

t.test('the end of a window is a time by the clock of the destination', async (t) => {
  const aheadMs = 10 * HOUR_MS
  const headers = (limit: number, _remaining: number, resetAt: number, now: number) =>
    githubHeaders(limit, 0, resetAt + aheadMs, now + aheadMs)
  const { budgets, clock, read } = github({ headers })
  read(anonymous('a'), false)
  clock.now += HOUR_MS - 1
  t.notOk(budgets.mayBegin(anonymous('a')))
  clock.now += 1
  t.ok(budgets.mayBegin(anonymous('a')))
})

t.test('a burst of checks that have not asked yet leaves the kept requests alone', async (t) => {
  const { budgets, read, place } = github()
  read(anonymous('a'), false)
  let begun = 0
  while (begun < 100 && budgets.mayBegin(anonymous('a'))) {
    budgets.begin(anonymous('a'), false)
    begun++
  }
  t.ok(begun * 4 <= 45, `${begun} checks begin at once`)
  for (let request = 0; request < begun * 64; request++) {
    try {
      read(anonymous('a'), false)
    } catch {
      break
    }
  }
  t.ok(place.used <= 45, `${place.used} requests: what is kept is left, however many each sends`)
  read(anonymous('b'), true)
})

t.test("looking again uses half of a workspace's own token at most, and closing reads are free of that", async (t) => {
  const { place, read } = github({ limit: 5000 })
  const mine = { ...anonymous('a'), connectionId: 'conn_1' }
  const lookAgain = () => read(mine, false, false, true)
  const refusedAfter = () => {
    for (let sent = 0; ; sent++) {
      try {
        lookAgain()
      } catch (error) {
        t.match(error, { code: 'rate_limited', retryAfterMs: undefined })
        return sent
      }
    }
  }
  place.used = 500
  read(mine, false)
  const left = 5000 - place.used
  for (let times = 0; times < 100; times++) read(mine, false, true, true)
  const again = refusedAfter()
  t.ok(again > left / 2 - 3 && again <= left / 2 + 1, `${again} of ${left}`)
  read(mine, false)
  read(mine, true, false, true)
})

t.test('answers that cost nothing are not counted, and a window that slides goes on', async (t) => {
  const { read, look } = github()
  for (let times = 0; times < 100; times++) read(anonymous('a'), true, true)
  t.ok(look(anonymous('a')), 'a destination that says 60 are left has 60 left')
  const sliding = { 'ratelimit-limit': '60', 'ratelimit-remaining': '60', 'ratelimit-reset': '60' }
  const other = github({ headers: () => sliding })
  for (let times = 0; times < 20; times++) other.read(anonymous('a'), false)
  other.clock.now += 60_000
  for (let times = 0; times < 20; times++) other.read(anonymous('a'), false)
  t.ok(other.look(anonymous('a')))
})

t.test('a connection without credentials uses the budget of all', async (t) => {
  const { budgets, place, look } = github()
  t.ok(look(anonymous('a')))
  const tokenless = { ...anonymous('b'), connectionId: 'conn_1' }
  budgets.forCheck(tokenless, { isDeciding: false, isAgain: false, hasCredentials: false })
  place.used = 55
  look(anonymous('a'))
  t.notOk(budgets.mayBegin(tokenless))
})

t.test('an end in a year is believed for an hour', async (t) => {
  const { budgets, clock, read } = github({
    headers: (limit, _remaining, resetAt, now) => githubHeaders(limit, 0, resetAt + 9000 * HOUR_MS, now),
  })
  read(anonymous('a'), false)
  t.notOk(budgets.mayBegin(anonymous('a')))
  clock.now += HOUR_MS
  t.ok(budgets.mayBegin(anonymous('a')))
})

t.test('25 accounts that one invited use no more of what all share than it may alone', async (t) => {
  const { place, untilRefused } = github()
  for (let account = 0; account < 25; account++) untilRefused(anonymous(`hostile/${account}`))
  t.ok(place.used <= 32, `${place.used} requests`)
  t.ok(untilRefused(anonymous('victim')) >= 2, 'another account')
})

t.test('a connection is of one workspace, which uses all of it but what is kept for checks that decide', async (t) => {
  const { place, read, untilRefused } = github()
  const mine = { ...anonymous('a/b'), connectionId: 'conn_1' }
  untilRefused(mine)
  t.ok(place.used > 40 && place.used <= 45, `${place.used} requests`)
  while (place.used < 60) read(mine, true)
  t.throws(() => read(mine, true), { code: 'rate_limited' })
})

t.test('looks on hints end while half of the limit is left, and leave looking again what it has', async (t) => {
  const { budgets, place, read } = github({ limit: 5000 })
  const mine = { ...anonymous('a'), connectionId: 'conn_1' }
  t.ok(budgets.mayBeginOnHint(mine), 'nothing is known yet')
  read(mine, false)
  const hint = () => read(mine, false, false, true, true)
  while (place.used < 4000 && budgets.mayBeginOnHint(mine)) hint()
  t.ok(place.used > 1200 && place.used <= 1252, `${place.used} requests of 5000`)
  t.throws(hint, { code: 'rate_limited' }, 'nor does one go on that has begun')
  const before = place.used
  t.throws(() => {
    for (;;) read(mine, false, false, true)
  })
  t.ok(place.used - before >= (5000 - before) / 2 - 1, `${place.used - before} looks of the schedule`)
  read(mine, true)
  t.notOk(budgets.mayBeginOnHint(mine))
})

t.test('no hint spends the budget that all share', async (t) => {
  const { budgets, read } = github()
  t.notOk(budgets.mayBeginOnHint(anonymous('a')), 'while it is not known')
  read(anonymous('a'), false)
  t.notOk(budgets.mayBeginOnHint(anonymous('a')))
  const untold = github({ headers: () => ({}) })
  untold.read(anonymous('a'), false)
  t.ok(untold.budgets.mayBeginOnHint(anonymous('a')), 'where none is told, there is none')
})
