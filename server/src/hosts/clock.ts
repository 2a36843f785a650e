/** The clock that everything is stamped by. Hosts that share a database stamp by its clock, each as far as it can measure it. */
import { setTimeout } from 'node:timers/promises'
import type { Instant } from '@claimcheck/core'
import type { FastifyBaseLogger } from 'fastify'
import { type Storage, StorageError } from '../storage/storage.ts'

export interface Clock {
  /** @throws StorageError `unavailable` for the moment in which nobody can tell */
  readonly now: () => Instant
  close(): Promise<void>
}

interface ClockOptions {
  readonly storage: Pick<Storage, 'shared'>
  readonly logger: Pick<FastifyBaseLogger, 'warn'>
  /** This host's clock, in milliseconds. Between measurements its pace counts, not what it shows. */
  readonly own?: () => number
  /** What the system says the time is. Where it parts from `own`, the machine stood still, or somebody set it. */
  readonly wall?: () => number
  readonly everyMs?: number
}

/** How far this host's clock is behind the database's; off by no more than half the round trip that it was measured with. */
interface Measurement {
  readonly offsetMs: number
  readonly errorMs: number
}

const MEASURE_EVERY_MS = 10_000
const ROUND_TRIPS = 5
/** Larger corrections are jumps: the database moved to another machine, its clock was set, or this host stood still. */
const LARGEST_CORRECTION_MS = 1000

/** Nothing is stamped before the first measurement. @throws StorageError `unavailable` */
export async function openClock(options: ClockOptions): Promise<Clock> {
  const { storage, logger, own = steadyClock, everyMs = MEASURE_EVERY_MS } = options
  const { shared } = storage
  // One host: there is no other clock than its own.
  if (!shared) return { now: options.own ?? Date.now, close: async () => {} }
  const wall = options.wall ?? (options.own ? own : Date.now)
  return measuredClock(shared.clock, { logger, own, wall, everyMs })
}

/** Goes on at its pace when the system's clock is set. */
function steadyClock(): number {
  return performance.timeOrigin + performance.now()
}

async function measuredClock(
  databaseClock: () => Promise<number>,
  { logger, own, wall, everyMs }: Required<Omit<ClockOptions, 'storage'>>,
): Promise<Clock> {
  const closing = new AbortController()
  let { offsetMs } = await measure(databaseClock, own)
  let apart = wall() - own()
  let latest = Number.NEGATIVE_INFINITY
  let measuringAgain: Promise<void> | undefined

  /** As far as the measurement proves, and no further: one that took long proves little. */
  function correct(measured: Measurement): void {
    const { offsetMs: middle, errorMs } = measured
    const corrected = Math.min(Math.max(offsetMs, middle - errorMs), middle + errorMs)
    const byMs = Math.round(corrected - offsetMs)
    if (Math.abs(byMs) > LARGEST_CORRECTION_MS) logger.warn({ byMs }, 'the clock jumped')
    offsetMs = corrected
    apart = wall() - own()
  }

  /** What steady clocks do not count: a machine that is suspended. Until the next measurement its stamps would be too early. */
  function stoodStill(): boolean {
    return Math.abs(wall() - own() - apart) > LARGEST_CORRECTION_MS
  }

  async function measureAgain(): Promise<void> {
    try {
      const { offsetMs: middle } = await measure(databaseClock, own)
      offsetMs = middle
      apart = wall() - own()
    } catch (error) {
      logger.warn({ err: error }, 'the clock could not be measured')
    } finally {
      measuringAgain = undefined
    }
  }

  async function keepMeasuring(): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        await setTimeout(everyMs, undefined, { signal: closing.signal, ref: false })
        correct(await measure(databaseClock, own))
      } catch (error) {
        if (!closing.signal.aborted)
          logger.warn({ err: error }, 'the clock could not be measured: it goes on as it was')
      }
    }
  }

  const measuring = keepMeasuring()

  return {
    now() {
      if (stoodStill()) {
        measuringAgain ??= measureAgain()
        throw new StorageError('unavailable', 'this host stood still, or its clock was set: the time is asked again')
      }
      const at = Math.floor(own() + offsetMs)
      // After a correction time stands still rather than runs back, so that one host's stamps are in the order of what they
      // stamp. Not after a jump: what was stamped before it contradicts what comes after, and is judged as that.
      if (at > latest || latest - at > LARGEST_CORRECTION_MS) latest = at
      return latest
    },
    async close() {
      closing.abort()
      await measuring
      await measuringAgain
    },
  }
}

/** By the shortest of a few round trips: the database's clock was read within it, at its middle if both ways took as long. */
async function measure(databaseClock: () => Promise<number>, own: () => number): Promise<Measurement> {
  let best: Measurement | undefined
  for (let trip = 0; trip < ROUND_TRIPS; trip++) {
    const sentAt = own()
    const read = await databaseClock()
    const errorMs = (own() - sentAt) / 2
    if (!best || errorMs < best.errorMs) best = { offsetMs: read - sentAt - errorMs, errorMs }
  }
  return best!
}
