import { setTimeout } from 'node:timers/promises'
import { openClock } from '@claimcheck/server/clock/clock'
import { type Shared, StorageError } from '@claimcheck/server/storage/storage'
import t, { type Test } from 'tap'

const HOUR_MS = 3_600_000
const NOON = Date.UTC(2026, 8, 25, 12)
const READINGS = 5

interface Trip {
  readonly thereMs: number
  readonly backMs: number
}

/** True time, in which nothing passes but what is said: a database that shows it and a host whose own clock is off from it. */
class World {
  time = NOON
  databaseOffMs = 0
  ownOffMs = 0
  trip: (reading: number) => Trip = () => ({ thereMs: 1, backMs: 1 })
  isDown = false
  readings = 0
  readonly warnings: object[] = []
  readonly logger = { warn: (fields: object) => this.warnings.push(fields) }

  readonly own = (): number => this.time + this.ownOffMs

  readonly #database = async (): Promise<number> => {
    if (this.isDown) {
      this.readings++
      throw new StorageError('unavailable', 'no database')
    }
    const { thereMs, backMs } = this.trip(this.readings++ % READINGS)
    this.time += thereMs
    const read = this.time + this.databaseOffMs
    this.time += backMs
    return read
  }

  async open(t: Test, more: { readonly wall?: () => number } = {}) {
    const clock = await openClock({
      storage: { shared: { clock: this.#database, ...({} as Omit<Shared, 'clock'>) } },
      logger: this.logger as never,
      steady: this.own,
      wall: this.own,
      everyMs: 1,
      ...more,
    })
    t.teardown(() => clock.close())
    return clock
  }

  /** Returns after a measurement that began after this was called. */
  async measured(): Promise<void> {
    const enough = (Math.floor(this.readings / READINGS) + 2) * READINGS + 1
    while (this.readings < enough) await setTimeout(1)
  }
}

t.test('a host stamps by the time of the database, whatever its own clock shows', async (t) => {
  for (const ownOffMs of [0, HOUR_MS, -HOUR_MS, 0.25 - NOON]) {
    const world = new World()
    world.ownOffMs = ownOffMs
    const clock = await world.open(t)
    t.equal(clock.now(), Math.floor(world.time), `${ownOffMs} ms off`)
    world.time += 5000
    t.equal(clock.now(), Math.floor(world.time), 'and goes on at its own pace')
  }
})

t.test('the clock is off by half the shortest round trip at most', async (t) => {
  const rows: [name: string, trips: Trip[]][] = [
    ['all of it on the way there', [{ thereMs: 8, backMs: 0 }]],
    ['all of it on the way back', [{ thereMs: 0, backMs: 8 }]],
    ['one of five is quick', [300, 50, 8, 900, 70].map((thereMs) => ({ thereMs, backMs: 0 }))],
  ]
  for (const [name, trips] of rows) {
    const world = new World()
    world.trip = (reading) => trips[reading % trips.length]!
    const clock = await world.open(t)
    t.ok(Math.abs(clock.now() - world.time) <= 4, name)
  }
})

t.test('a clock is corrected as far as a measurement proves and no further', async (t) => {
  const world = new World()
  const clock = await world.open(t)
  world.trip = () => ({ thereMs: 600, backMs: 0 })
  await world.measured()
  t.equal(clock.now(), world.time, 'a slow round trip proves nothing against it')
  world.trip = () => ({ thereMs: 1, backMs: 1 })
  world.ownOffMs -= 40
  await world.measured()
  t.equal(clock.now(), world.time - 1, 'a quick one proves that it is behind')
  t.strictSame(world.warnings, [])
})

t.test('a correction makes time stand still rather than run back', async (t) => {
  const world = new World()
  world.trip = () => ({ thereMs: 0, backMs: 0 })
  const clock = await world.open(t)
  world.ownOffMs += 500
  t.equal(clock.now(), NOON + 500)
  await world.measured()
  t.equal(clock.now(), NOON + 500)
  world.time += 499
  t.equal(clock.now(), NOON + 500)
  world.time += 2
  t.equal(clock.now(), NOON + 501)
})

t.test('a database whose clock jumped is not followed: the time is in doubt until it agrees again', async (t) => {
  for (const databaseOffMs of [HOUR_MS, -HOUR_MS]) {
    const world = new World()
    world.trip = () => ({ thereMs: 0, backMs: 0 })
    const clock = await world.open(t)
    t.equal(clock.now(), NOON)
    world.databaseOffMs = databaseOffMs
    await world.measured()
    t.equal(clock.now(), NOON)
    t.match(clock.doubt(), /^the database's clock is 3600 s/)
    world.databaseOffMs = 0
    await world.measured()
    t.equal(clock.doubt(), undefined)
    t.equal(clock.now(), NOON)
  }
})

t.test('while the database cannot be read the clock goes on as it was', async (t) => {
  const world = new World()
  world.trip = () => ({ thereMs: 0, backMs: 0 })
  const clock = await world.open(t)
  world.isDown = true
  await world.measured()
  world.time += 1000
  t.equal(clock.now(), NOON + 1000)
  t.match(world.warnings[0], { err: { code: 'unavailable' } }, 'which is told')
  world.isDown = false
  world.databaseOffMs = 250
  await world.measured()
  t.equal(clock.now(), NOON + 1250, 'and is measured again when it can be')
})

t.test('nothing is stamped before the first measurement', async (t) => {
  const world = new World()
  world.isDown = true
  await t.rejects(world.open(t), { code: 'unavailable' })
})

t.test('a closed clock is measured no more', async (t) => {
  const world = new World()
  const clock = await world.open(t)
  await clock.close()
  const { readings } = world
  await setTimeout(20)
  t.equal(world.readings, readings)
  t.strictSame(world.warnings, [])
})

t.test('for one host, the clock of the system is the clock, and the monotonic one keeps the time', async (t) => {
  const world = new World()
  let setMs = 0
  const options = { storage: { shared: undefined }, logger: world.logger as never, steady: world.own }
  const clock = await openClock({ ...options, wall: () => world.time + setMs })
  t.teardown(() => clock.close())
  t.equal(clock.now(), NOON)
  setMs = HOUR_MS
  world.time += 1000
  t.equal(clock.now(), NOON + 1000)
  t.match(clock.doubt(), /^the clock of this machine is 3600 s ahead/, 'at once')
  setMs = 0
  t.equal(clock.doubt(), undefined)
  t.equal(clock.now(), NOON + 1000)
})

t.test('that of this machine shows its time', async (t) => {
  const before = Date.now()
  const clock = await openClock({ storage: { shared: undefined }, logger: { warn: t.fail } as never })
  t.teardown(() => clock.close())
  t.ok(clock.now() >= before - 1 && clock.now() <= Date.now())
  t.equal(clock.doubt(), undefined)
})

t.test('where the two clocks of a host move apart, the database is asked before anything is decided', async (t) => {
  const world = new World()
  const clock = await world.open(t, { wall: () => world.time })
  t.equal(clock.doubt(), undefined)
  world.isDown = true
  world.ownOffMs -= HOUR_MS
  t.match(clock.doubt(), /the database's clock is read again/)
  await setTimeout(10)
  t.match(clock.doubt(), /read again/, 'nor while it cannot be asked')
  world.isDown = false
  await world.measured()
  t.match(clock.doubt(), /^the database's clock is 3600 s ahead/, 'the monotonic clock stood still')
  world.time += 1
  const ahead = { least: HOUR_MS - 500, most: HOUR_MS + 500 }
  clock.heard('https://a.example', { ahead, isUndated: false }, clock.turn())
  t.equal(clock.doubt(), undefined)
  t.ok(Math.abs(clock.now() - world.time) <= 2)
})

t.test('a clock of the system that is set alone is not the clock of a host with a shared database', async (t) => {
  const world = new World()
  let setMs = 0
  const clock = await world.open(t, { wall: () => world.own() + setMs })
  setMs = HOUR_MS
  t.match(clock.doubt(), /read again/)
  await world.measured()
  t.equal(clock.doubt(), undefined, 'the database and the monotonic clock agree')
})
