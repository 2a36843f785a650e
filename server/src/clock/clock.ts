/**
 * The clock for all timestamps. Hosts that share a database go by the database's clock, which each host estimates by measuring; a host
 * that has its database to itself goes by the system's clock. Between measurements time advances by this host's monotonic clock.
 */
import { setTimeout } from 'node:timers/promises'
import type { Instant } from '@claimcheck/core/rules'
import type { FastifyBaseLogger } from 'fastify'
import type { Storage } from '../storage/storage.ts'
import { steadyClock } from './steady-clock.ts'
import { createTimekeeper, type Measurement, STEP_MS, type Timekeeper } from './timekeeper.ts'

export interface Clock
  extends Pick<Timekeeper, 'heard' | 'remembers' | 'logged' | 'turn' | 'setSince' | 'isSuspected'> {
  readonly now: () => Instant
  /** Says why the time is in doubt, and what to do; undefined while it is certain. In doubt a host decides and signs nothing. */
  doubt(): string | undefined
  close(): Promise<void>
}

interface ClockOptions {
  readonly storage: Pick<Storage, 'shared'>
  readonly logger: Pick<FastifyBaseLogger, 'warn'>
  /** A monotonic clock of this host, in milliseconds. */
  readonly steady?: () => number
  /** The clock of the operating system, for the time of day. */
  readonly wall?: () => number
  readonly everyMs?: number
}

const MEASURE_EVERY_MS = 10_000
const ROUND_TRIPS = 5

/**
 * Opens the clock; resolves after the first measurement.
 * @throws StorageError `unavailable`
 */
export async function openClock(options: ClockOptions): Promise<Clock> {
  const { storage, logger, wall = Date.now, everyMs = MEASURE_EVERY_MS } = options
  const steady = options.steady ?? steadyClock()
  const { shared } = storage
  return shared ? databaseClock(shared.clock, { logger, steady, wall, everyMs }) : systemClock(steady, wall)
}

/** A clock that goes by the system's. Reading that costs nothing, so it happens whenever somebody asks for doubt. */
function systemClock(steady: () => number, wall: () => number): Clock {
  const measure = (): Measurement => {
    const before = steady()
    const read = wall()
    const tookMs = steady() - before
    // System time comes in whole milliseconds.
    return { offsetMs: read - before - tookMs / 2, errorMs: tookMs / 2 + 1 }
  }
  const keeper = createTimekeeper({ steady, reference: 'the clock of this machine', first: measure() })
  return {
    ...keeper,
    doubt() {
      keeper.measured(measure())
      return keeper.doubt()
    },
    close: async () => {},
  }
}

async function databaseClock(
  databaseNow: () => Promise<number>,
  { logger, steady, wall, everyMs }: Required<Omit<ClockOptions, 'storage'>>,
): Promise<Clock> {
  const first = await measure(databaseNow, steady)
  const keeper = createTimekeeper({ steady, reference: "the database's clock", first })
  const closing = new AbortController()
  let wallOffsetMs = wall() - steady()
  let measuring: Promise<void> | undefined

  async function measureAgain(): Promise<void> {
    const wallOffsetBefore = wall() - steady()
    try {
      keeper.measured(await measure(databaseNow, steady))
      wallOffsetMs = wallOffsetBefore
    } catch (error) {
      if (!closing.signal.aborted) logger.warn({ err: error }, 'cannot measure the clock: the last offset stays')
    } finally {
      measuring = undefined
    }
  }

  function remeasure(): Promise<void> {
    measuring ??= measureAgain()
    return measuring
  }

  async function keepMeasuring(): Promise<void> {
    while (!closing.signal.aborted) {
      await setTimeout(everyMs, undefined, { signal: closing.signal, ref: false }).catch(() => {})
      if (!closing.signal.aborted) await remeasure()
    }
  }

  const loop = keepMeasuring()

  return {
    ...keeper,
    doubt() {
      // A suspended machine goes on with a later system time, while its monotonic clock stood still.
      if (Math.abs(wall() - steady() - wallOffsetMs) > STEP_MS) {
        keeper.mustMeasure()
        void remeasure()
      }
      return keeper.doubt()
    },
    async close() {
      closing.abort()
      await loop
      await measuring
    },
  }
}

/** Uses the shortest of a few round trips, and assumes that the database read its clock in the middle of it. */
async function measure(databaseNow: () => Promise<number>, steady: () => number): Promise<Measurement> {
  let best: Measurement | undefined
  for (let trip = 0; trip < ROUND_TRIPS; trip++) {
    const sentAt = steady()
    const read = await databaseNow()
    const errorMs = (steady() - sentAt) / 2
    if (!best || errorMs < best.errorMs) best = { offsetMs: read - sentAt - errorMs, errorMs }
  }
  return best!
}
