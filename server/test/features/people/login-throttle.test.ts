/** How those who guess are slowed, and that nobody is kept out by others: on each database, as the counts are in it. Threat K4 of `security.md`. */
import { ServiceError } from '@claimcheck/server/base/errors'
import {
  createLoginThrottle,
  FORGOTTEN_AFTER_MS,
  GROWTH,
  type LoginThrottle,
  type Place,
  waitAfter,
} from '@claimcheck/server/features/people/login-throttle'
import type { Storage } from '@claimcheck/server/storage/storage'
import t from 'tap'
import { DIALECTS, newDatabase, opened } from '../../support/databases.ts'
import { NOON } from './people.ts'

const HOUR = 60 * 60_000
const ANN = 'password of ann@example.com'

const from = (network: string): Place => ({ network, browser: undefined })
const inBrowser = (browser: string, network = '192.0.2.1'): Place => ({ network, browser })

interface Opened {
  readonly loginThrottle: LoginThrottle
  /** Another host's. */
  readonly other: LoginThrottle
  readonly clock: { now: number }
  /** How long a guess has to wait; 0 for one that is looked at, and fails. */
  fail(account: string, place: Place): Promise<number>
}

let tests = 0

/** The accounts and places of one test, in a database that tests share. */
function open(storage: Storage): Opened {
  const clock = { now: NOON }
  const test = ++tests
  const own = ({ begin }: LoginThrottle): LoginThrottle => ({
    begin: (account, { network, browser }) =>
      begin(`${test} ${account}`, { network: `${test} ${network}`, browser: browser && `${test} ${browser}` }),
  })
  const parts = { storage, now: () => clock.now }
  const loginThrottle = own(createLoginThrottle(parts))
  const fail = (account: string, place: Place) => waitOf(loginThrottle.begin(account, place))
  return { loginThrottle, other: own(createLoginThrottle(parts)), clock, fail }
}

async function waitOf(begun: Promise<unknown>): Promise<number> {
  try {
    await begun
    return 0
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'too_many') throw error
    return error.retryAfterMs!
  }
}

t.test('the delay doubles after the free failures, up to the longest', async (t) => {
  const growth = { free: 3, firstMs: 10, mostMs: 100 }
  t.same(
    [0, 2, 3, 4, 5, 6, 7, 5000].map((failures) => waitAfter(failures, growth)),
    [0, 0, 10, 20, 40, 80, 100, 100],
  )
})

for (const dialect of DIALECTS) {
  t.test(`on ${dialect}`, async (t) => {
    const storage = await opened(t, await newDatabase(t, dialect))

    t.test('one place guesses slower and slower, also over several hosts', async (t) => {
      const { loginThrottle, other, clock, fail } = open(storage)
      const { free, firstMs, mostMs } = GROWTH.pair
      for (let failures = 1; failures < free; failures++) {
        t.equal(await waitOf((failures % 2 ? loginThrottle : other).begin(ANN, from('a'))), 0)
      }
      t.equal(await fail(ANN, from('a')), 0, 'the last free one')
      const waits = []
      for (let failures = 0; failures < 12; failures++) {
        const waitMs = await waitOf(other.begin(ANN, from('a')))
        t.equal(await fail(ANN, from('a')), waitMs, 'who asks again waits no longer for it')
        waits.push(waitMs)
        clock.now += waitMs
        t.equal(await fail(ANN, from('a')), 0)
      }
      t.equal(waits[0], firstMs)
      for (const [index, waitMs] of waits.slice(1).entries()) t.equal(waitMs, Math.min(mostMs, waits[index]! * 2))
      t.equal(waits.at(-1), mostMs)
      t.equal(await fail('password of bob@example.com', from('a')), 0, 'another account is free')
      t.equal(await fail(ANN, from('b')), 0, 'and so is another network')
    })

    t.test('guesses at the same time are all counted', async (t) => {
      const { fail } = open(storage)
      const waits = await Promise.all(Array.from({ length: 40 }, () => fail(ANN, from('a'))))
      t.equal(waits.filter((waitMs) => waitMs === 0).length, GROWTH.pair.free)
    })

    t.test('many addresses gain one guess each in a time that grows, and keep nobody out', async (t) => {
      const { loginThrottle, clock, fail } = open(storage)
      let tried = 0
      const botnet = Array.from({ length: 30 }, (_, index) => from(`bot ${index}`))
      const until = clock.now + HOUR
      const known = inBrowser('known')
      let personWaits: number | undefined
      for (; clock.now < until; clock.now += 5 * 60_000) {
        for (const bot of botnet) if ((await fail(ANN, bot)) === 0) tried += 1
        // Halfway the person comes, once in a browser that is known and once in a new one from a new network.
        if (clock.now - NOON < HOUR / 2 || personWaits !== undefined) continue
        const right = await loginThrottle.begin(ANN, known)
        await right.succeeded()
        personWaits = await fail(ANN, from('new'))
        clock.now += personWaits
        for (const bot of botnet) await fail(ANN, bot)
        t.equal(await fail(ANN, from('new')), 0, 'whatever others do meanwhile, the wait comes to an end')
      }
      t.equal(personWaits, GROWTH.account.mostMs)
      // Each for itself they would have tried some 330 times.
      t.ok(tried < GROWTH.account.free + botnet.length * 6, `${tried} guesses`)
    })

    t.test('a browser that is known has guesses of its own, and waits for them', async (t) => {
      const { fail } = open(storage)
      for (let failures = 0; failures < GROWTH.pair.free; failures++) await fail(ANN, from('192.0.2.1'))
      t.not(await fail(ANN, from('192.0.2.1')), 0)
      for (let failures = 0; failures < GROWTH.pair.free; failures++) {
        t.equal(await fail(ANN, inBrowser('mine')), 0, 'in the same network')
      }
      t.not(await fail(ANN, inBrowser('mine')), 0)
      t.not(await fail(ANN, inBrowser('mine', '192.0.2.2')), 0, 'wherever it is')
      t.equal(await fail(ANN, inBrowser('other')), 0)
    })

    t.test('a network that guesses at many accounts is slowed', async (t) => {
      const { clock, fail } = open(storage)
      const { free, firstMs } = GROWTH.network
      for (let account = 0; account < free; account++) t.equal(await fail(`${account}`, from('a')), 0)
      t.equal(await fail('another', from('a')), firstMs)
      t.equal(await fail('another', from('b')), 0)
      t.equal(await fail('another', inBrowser('known', 'a')), 0, 'but for the browsers that are known there')
      clock.now += firstMs
      t.equal(await fail('another', from('a')), 0)
      t.equal(await fail('yet another', from('a')), firstMs * 2)
    })

    t.test('what was right costs nothing, and forgives only what was guessed there', async (t) => {
      const { loginThrottle, fail } = open(storage)
      for (let signIns = 0; signIns < GROWTH.network.free * 2; signIns++) {
        const guess = await loginThrottle.begin(`${signIns % 3}`, from('office'))
        await guess.succeeded()
      }
      for (let failures = 0; failures < GROWTH.pair.free; failures++) await fail(ANN, from('office'))
      const own = await loginThrottle.begin('own', from('office'))
      await own.succeeded()
      t.not(await fail(ANN, from('office')), 0, 'the failures at another account stay')
    })

    t.test('failures are forgotten after a day without another', async (t) => {
      const { clock, fail } = open(storage)
      for (let failures = 0; failures < GROWTH.pair.free; failures++) await fail(ANN, from('a'))
      t.not(await fail(ANN, from('a')), 0)
      clock.now += FORGOTTEN_AFTER_MS
      for (let failures = 0; failures < GROWTH.pair.free; failures++) t.equal(await fail(ANN, from('a')), 0)
    })
  })
}
