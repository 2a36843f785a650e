/** Which clock counts, and when none does, in virtual time. Threat D6 of `security.md`. */
import { createTimekeeper, type Timekeeper } from '@claimcheck/server/clock/timekeeper'
import t from 'tap'

const SECOND_MS = 1000
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const NOON = Date.UTC(2026, 8, 25, 12)

/** A clock that was off by so much at most, either way. */
const within = (ms: number) => ({ least: -ms, most: ms })

/** True time in which a host keeps time by a clock that may be set, a monotonic clock that may stand still, and destinations. */
class World {
  time = NOON
  /** How far the clock that the host goes by is off. */
  setMs: number
  /** How long the monotonic clock stood still. */
  stoodMs = 0
  readonly keeper: Timekeeper
  readonly #steady = () => this.time - NOON - this.stoodMs

  constructor(setMs = 0) {
    this.setMs = setMs
    this.keeper = createTimekeeper({ steady: this.#steady, reference: 'the clock', first: this.#measure() })
    this.keeper.logged(NOON - DAY_MS)
  }

  #measure() {
    return { offsetMs: this.time + this.setMs - this.#steady(), errorMs: 1 }
  }

  /** How far the time that is kept is off. */
  get offMs(): number {
    return this.keeper.now() - this.time
  }

  get isDoubted(): boolean {
    return this.keeper.doubt() !== undefined
  }

  /** The clock is set, and read. */
  set(setMs: number): void {
    this.setMs = setMs
    this.keeper.measured(this.#measure())
  }

  /** The clock is read every second meanwhile. */
  pass(ms: number, slewed = 0): void {
    const seconds = Math.floor(ms / SECOND_MS)
    for (let second = 0; second < seconds; second++) {
      this.time += SECOND_MS
      this.set(this.setMs + slewed / seconds)
    }
  }

  /** A destination answers within a tenth of a second. */
  hear(origin: string, offMs = 0, isUndated = false): void {
    this.time += 100
    const from = Math.floor((this.time + offMs) / SECOND_MS) * SECOND_MS
    const now = this.keeper.now()
    const ahead = { least: from - now - 100, most: from + 999 - now }
    this.keeper.heard(origin, { ahead, isUndated }, this.keeper.turn())
  }

  /** A destination's two first answers, which agree. */
  hearTwice(origin: string, offMs = 0): void {
    this.hear(origin, offMs)
    this.hear(origin, offMs)
  }
}

t.test('a clock that is set leaves the time as it was, in doubt until it is set back', async (t) => {
  for (const setMs of [3 * SECOND_MS, 20 * MINUTE_MS, -20 * MINUTE_MS, HOUR_MS, 10 * 365 * 24 * HOUR_MS]) {
    const world = new World()
    world.set(setMs)
    t.match(world.keeper.doubt(), /monotonic clock.*restart the service/s, `${setMs}`)
    world.pass(5 * MINUTE_MS)
    t.equal(world.offMs, 0, 'time advances by the monotonic clock')
    t.ok(world.isDoubted, 'one clock against another proves nothing, however long')
    world.set(0)
    t.notOk(world.isDoubted)
    t.equal(world.offMs, 0)
  }
})

t.test('a step is said in seconds, with its direction', async (t) => {
  const world = new World()
  world.set(20 * MINUTE_MS)
  t.match(world.keeper.doubt(), 'the clock is 1200 s ahead of the monotonic clock of this host')
  world.set(-90 * SECOND_MS)
  t.match(world.keeper.doubt(), 'the clock is 90 s behind the monotonic clock of this host')
})

t.test('a clock that is slewed is followed', async (t) => {
  for (const [ms, slewedMs] of [
    [HOUR_MS, 1800],
    [HOUR_MS, -1800],
    [MINUTE_MS, 5000],
    [10 * MINUTE_MS, -50_000],
  ] as const) {
    const world = new World()
    world.pass(ms, slewedMs)
    t.notOk(world.isDoubted, `${slewedMs} ms`)
    t.ok(Math.abs(world.offMs - slewedMs) <= 2, `${world.offMs}`)
  }
})

t.test('a correction of up to two seconds is followed, but not many of them', async (t) => {
  const world = new World()
  world.set(1900)
  t.notOk(world.isDoubted)
  t.ok(Math.abs(world.offMs - 1900) <= 1)
  world.pass(SECOND_MS)
  world.set(3800)
  t.ok(world.isDoubted)
  t.ok(world.offMs <= 2000)
  world.pass(20 * SECOND_MS)
  t.notOk(world.isDoubted, 'it is followed later')
  t.ok(Math.abs(world.offMs - 3800) <= 2)
})

t.test('time stands still after a correction back, and never runs back by one', async (t) => {
  const world = new World()
  let last = world.keeper.now()
  for (let second = 0; second < 600; second++) {
    world.time += SECOND_MS
    world.set(world.setMs + (second % 7 === 0 ? -900 : 150))
    const now = world.keeper.now()
    t.ok(now >= last) || t.fail(`${now} before ${last}`)
    last = now
  }
})

t.test('listed destinations tell which clock is right', async (t) => {
  const world = new World()
  world.hear('https://a.example')
  world.set(20 * MINUTE_MS)
  t.ok(world.isDoubted, 'what they said before proves nothing')
  world.pass(5 * SECOND_MS)
  world.hear('https://a.example')
  t.notOk(world.isDoubted, 'the clock was set wrongly')
  t.equal(world.offMs, 0)
  world.pass(HOUR_MS)
  t.notOk(world.isDoubted, 'the monotonic clock and the destination agree, while the clock stays wrong')
  world.set(25 * MINUTE_MS)
  t.ok(world.isDoubted, 'until it is set again')
  world.set(0)
  t.notOk(world.isDoubted)
  world.set(20 * MINUTE_MS)
  t.ok(world.isDoubted, 'what was refuted once is not for ever')
})

t.test('a clock that is set right is followed, when a listed destination confirms it', async (t) => {
  for (const wrongMs of [20 * MINUTE_MS, -20 * MINUTE_MS]) {
    const world = new World(wrongMs)
    t.equal(world.offMs, wrongMs)
    world.set(0)
    t.ok(world.isDoubted, `${wrongMs}`)
    world.pass(2 * SECOND_MS)
    world.hear('https://a.example')
    t.notOk(world.isDoubted)
    t.equal(world.offMs, 0, 'time runs back, too')
  }
  const stood = new World()
  stood.stoodMs = HOUR_MS
  stood.pass(SECOND_MS)
  t.ok(stood.isDoubted, 'the machine stood still, and nothing counted that')
  t.equal(stood.offMs, -HOUR_MS)
  stood.hear('https://a.example')
  t.notOk(stood.isDoubted)
  t.equal(stood.offMs, 0)
})

t.test('destinations that disagree with each other confirm nothing', async (t) => {
  const world = new World()
  world.set(20 * MINUTE_MS)
  world.hear('https://a.example')
  t.notOk(world.isDoubted)
  const other = new World()
  other.set(20 * MINUTE_MS)
  other.hear('https://a.example', HOUR_MS)
  t.ok(other.isDoubted, 'it fits neither')
  other.hear('https://b.example', 20 * MINUTE_MS)
  t.ok(other.isDoubted, 'one of two')
  other.hear('https://c.example', 20 * MINUTE_MS)
  t.notOk(other.isDoubted, 'two of three')
  t.equal(other.offMs, 20 * MINUTE_MS)
})

t.test('the time is in doubt while all listed destinations differ by more than 30 s, in one direction', async (t) => {
  const rows: [least: number, most: number, isDoubted: boolean][] = [
    [30_000, 31_000, false],
    [30_001, 31_000, true],
    [-31_000, -30_000, false],
    [-32_000, -30_001, true],
    [-90_000, 90_000, false],
    [10_000, 90_000, false],
  ]
  for (const [least, most, isDoubted] of rows) {
    const world = new World()
    for (const origin of ['https://a.example', 'https://b.example'])
      world.keeper.heard(origin, { ahead: { least, most }, isUndated: false }, 0)
    t.equal(world.isDoubted, isDoubted, `${least} to ${most}`)
  }
  const world = new World()
  world.hear('https://a.example', 40_000)
  t.notOk(world.isDoubted, 'one alone proves nothing')
  t.ok(world.keeper.isSuspected(), 'but others are asked')
  world.hear('https://b.example', -41_000)
  t.notOk(world.isDoubted, 'in opposite directions')
  world.hear('https://b.example', 50_000)
  t.match(world.keeper.doubt(), 'https://a.example')
  world.pass(HOUR_MS)
  t.ok(world.isDoubted, 'silence ends no doubt')
  world.hear('https://c.example')
  t.notOk(world.isDoubted, 'one of them agrees with this host')
})

t.test('what a destination said more than ten minutes ago counts no more', async (t) => {
  const world = new World()
  world.hear('https://a.example')
  const hearOthers = () => {
    for (const one of ['https://b.example', 'https://c.example']) world.hear(one, 60_000)
  }
  hearOthers()
  world.pass(10 * MINUTE_MS - SECOND_MS)
  t.notOk(world.isDoubted)
  hearOthers()
  world.pass(SECOND_MS)
  t.ok(world.isDoubted, 'the other one has no voice any more')
})

t.test('a first answer that is the odd one is no jump of those that follow', async (t) => {
  const world = new World()
  for (const origin of ['a', 'b']) world.hear(origin, -MINUTE_MS)
  world.hear('c')
  for (let times = 0; times < 3; times++) {
    for (const origin of ['a', 'b']) world.hear(origin)
    t.notOk(world.isDoubted, `${times}`)
    world.pass(MINUTE_MS)
  }
  for (const origin of ['a', 'b']) world.hear(origin, -MINUTE_MS)
  t.ok(world.isDoubted, 'what was said several times is usual')
})

t.test('a step of the clock that is followed moves no voice', async (t) => {
  const offMs = 20 * SECOND_MS
  const world = new World(offMs)
  for (const origin of ['a', 'b', 'c', 'd']) world.hearTwice(origin)
  world.set(0)
  const turn = world.keeper.turn()
  world.hear('a')
  t.notOk(world.isDoubted, 'the clock is right now')
  t.equal(world.offMs, 0)
  world.pass(SECOND_MS)
  const asked = { ahead: { least: -offMs - 500, most: -offMs + 500 }, isUndated: false }
  for (const origin of ['b', 'c', 'd']) world.keeper.heard(origin, asked, turn)
  t.notOk(world.isDoubted, 'what was asked before the step is dropped')
  for (const origin of ['b', 'c', 'd']) world.hear(origin)
  t.notOk(world.isDoubted)
})

t.test('what a machine that stood still heard before is not compared with what follows', async (t) => {
  const world = new World()
  for (const origin of ['a', 'b', 'c']) world.hearTwice(origin)
  world.time += HOUR_MS
  world.stoodMs = HOUR_MS
  world.pass(SECOND_MS)
  t.ok(world.isDoubted)
  world.hear('a')
  t.notOk(world.isDoubted)
  for (const origin of ['b', 'c']) world.hear(origin)
  t.notOk(world.isDoubted)
})

t.test('where there is no log, one destination that contradicts the clock is enough', async (t) => {
  const keeper = createTimekeeper({ steady: () => 0, reference: 'the clock', first: { offsetMs: NOON, errorMs: 1 } })
  keeper.heard('https://a.example', { ahead: { least: HOUR_MS, most: HOUR_MS + 999 }, isUndated: false }, 0)
  t.match(keeper.doubt(), 'https://a.example')
  keeper.logged(NOON)
  t.equal(keeper.doubt(), undefined)
})

t.test('an answer without a time is no voice', async (t) => {
  const world = new World()
  world.hear('https://a.example', HOUR_MS, true)
  world.keeper.heard('https://a.example', { ahead: undefined, isUndated: true }, 0)
  t.notOk(world.isDoubted)
})

t.test('when two listed destinations jump alike, the monotonic clock stood still, or ran ahead', async (t) => {
  for (const jumpMs of [10_000, -10_000]) {
    const world = new World()
    world.hearTwice('https://a.example')
    world.hearTwice('https://b.example', 5000)
    world.pass(MINUTE_MS)
    world.hear('https://a.example', jumpMs)
    t.notOk(world.isDoubted, 'one alone proves nothing')
    world.hear('https://b.example', 5000 + jumpMs)
    t.match(world.keeper.doubt(), /several listed destinations jumped/)
    world.hear('https://a.example')
    t.notOk(world.isDoubted, 'one of them jumped back')
  }
})

t.test('destinations that jump apart, or beside one that does not, raise no doubt', async (t) => {
  const world = new World()
  for (const origin of ['a', 'b', 'c']) world.hearTwice(origin)
  world.pass(MINUTE_MS)
  world.hear('a', 10_000)
  world.hear('b', -10_000)
  t.notOk(world.isDoubted)
  world.hear('b', 10_000)
  t.ok(world.isDoubted)
  world.hear('c')
  t.notOk(world.isDoubted)
})

t.test('a jump that the clock of this host does not follow within ten minutes was the destinations own', async (t) => {
  const world = new World()
  for (const origin of ['a', 'b']) world.hearTwice(origin)
  for (let times = 0; times < 11; times++) {
    world.pass(MINUTE_MS)
    for (const origin of ['a', 'b']) world.hear(origin, 10_000)
    t.equal(world.isDoubted, times < 9, `${times}`)
  }
})

t.test('a machine that stood still recovers when its clock is set and destinations confirm that', async (t) => {
  const world = new World()
  for (const origin of ['a', 'b']) world.hearTwice(origin)
  world.stoodMs += 10_000
  world.setMs -= 10_000
  world.pass(SECOND_MS)
  t.equal(world.offMs, -10_000)
  for (const origin of ['a', 'b']) world.hear(origin)
  t.ok(world.isDoubted, 'both of its clocks stood still')
  world.time += SECOND_MS
  world.set(0)
  world.pass(SECOND_MS)
  t.ok(world.isDoubted)
  world.hear('a')
  t.notOk(world.isDoubted)
  t.equal(world.offMs, 0)
})

t.test('nothing is certain behind the newest time in the log', async (t) => {
  const world = new World()
  world.keeper.logged(NOON + 2000)
  t.notOk(world.isDoubted, 'another host may be a little ahead')
  world.keeper.logged(NOON + MINUTE_MS)
  t.match(world.keeper.doubt(), /newest time in the log, 2026-09-25T12:01:00/)
  world.pass(58 * SECOND_MS)
  t.notOk(world.isDoubted, 'until it has passed')
  world.keeper.logged(NOON + 10 * HOUR_MS)
  t.ok(world.isDoubted)
  world.keeper.logged(NOON)
  t.notOk(world.isDoubted, 'or the log is another one')
})

t.test('a monotonic clock that must be measured proves nothing until it is', async (t) => {
  const world = new World()
  world.keeper.mustMeasure()
  t.match(world.keeper.doubt(), /read again/)
  world.pass(SECOND_MS)
  t.notOk(world.isDoubted)
})

t.test(
  'a clock that was set while the host was down is doubted by one destination that was heard before',
  async (t) => {
    for (const setMs of [8 * SECOND_MS, 40 * SECOND_MS, -40 * SECOND_MS]) {
      const world = new World(setMs)
      world.keeper.remembers('https://forge.example', within(1000))
      t.notOk(world.isDoubted, 'nothing was heard yet')
      world.hear('https://forge.example')
      t.match(world.keeper.doubt(), /was set while this host was down.*forge\.example/, `${setMs}`)
      world.hear('https://other.example')
      t.ok(world.isDoubted, 'the other one agrees')
      world.set(0)
      world.hear('https://forge.example')
      t.notOk(world.isDoubted, 'the clock was set back, as the destination says')
      t.ok(Math.abs(world.offMs) < SECOND_MS)
    }
  },
)

t.test('a destination whose own clock moved while the host was down casts no lasting doubt', async (t) => {
  const slow = new World()
  slow.keeper.remembers('https://forge.example', within(1000))
  slow.hear('https://forge.example', 4 * SECOND_MS)
  t.notOk(slow.isDoubted, 'by little')

  const refuted = new World()
  refuted.keeper.remembers('https://forge.example', within(1000))
  refuted.hear('https://forge.example', 20 * SECOND_MS)
  t.ok(refuted.isDoubted)
  refuted.hear('https://right.example')
  t.notOk(refuted.isDoubted, 'another one says that the time is right')

  const alone = new World()
  alone.keeper.remembers('https://forge.example', within(1000))
  alone.hear('https://forge.example', 20 * SECOND_MS)
  for (let minute = 0; minute < 11; minute++) {
    alone.pass(MINUTE_MS)
    alone.hear('https://forge.example', 20 * SECOND_MS)
  }
  t.notOk(alone.isDoubted, 'it is believed after ten minutes')

  const known = new World()
  known.keeper.remembers('https://forge.example', within(20 * SECOND_MS))
  known.hear('https://forge.example', 20 * SECOND_MS)
  t.notOk(known.isDoubted, 'it was off before')
})

t.test('a step that is followed is remembered, for what was timed before', async (t) => {
  const world = new World()
  world.pass(MINUTE_MS)
  const before = world.keeper.now()
  t.equal(world.keeper.setSince(before), 0)
  world.set(-60 * SECOND_MS)
  t.ok(world.isDoubted)
  t.equal(world.keeper.setSince(before), 0, 'nothing says yet which clock is right')
  world.pass(SECOND_MS)
  world.hear('https://forge.example', -60 * SECOND_MS)
  t.notOk(world.isDoubted)
  const set = world.keeper.setSince(before)
  t.ok(Math.abs(set - 60 * SECOND_MS) <= 2, `${set}`)
  t.equal(world.keeper.setSince(before - 5 * MINUTE_MS), set)
  t.equal(world.keeper.setSince(world.keeper.now()), set, 'a moment that comes twice')
  world.pass(2 * MINUTE_MS)
  t.equal(world.keeper.setSince(world.keeper.now()), 0)
})

t.test(
  'a clock that was set while the host was down is noticed by where it was before, not by how much it is off',
  async (t) => {
    for (const [before, after] of [
      [-30, 29],
      [29, -30],
    ] as const) {
      const world = new World()
      const ms = before * SECOND_MS
      world.keeper.remembers('https://forge.example', { least: ms - 500, most: ms + 500 })
      world.hear('https://forge.example', after * SECOND_MS)
      t.match(world.keeper.doubt(), 'was set while this host was down')
    }
    const stepped = new World()
    stepped.keeper.remembers('https://forge.example', { least: -61_000, most: -59_400 })
    stepped.keeper.remembers('https://forge.example', within(600))
    stepped.hear('https://forge.example')
    t.notOk(stepped.isDoubted, 'what was remembered before and after a step says nothing')
    const steady = new World()
    steady.keeper.remembers('https://forge.example', { least: 28_500, most: 29_500 })
    steady.hear('https://forge.example', 29 * SECOND_MS)
    t.notOk(steady.isDoubted)
  },
)
