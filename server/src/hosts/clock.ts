/** The clock for all timestamps: hosts that share a database use the database's clock, which each host estimates by measuring. */
import { setTimeout } from 'node:timers/promises'
import type { Instant } from '@claimcheck/core'
import type { FastifyBaseLogger } from 'fastify'
import { type Storage, StorageError } from '../storage/storage.ts'

export interface Clock {
  /** @throws StorageError `unavailable` while the time is uncertain */
  readonly now: () => Instant
  close(): Promise<void>
}

interface ClockOptions {
  readonly storage: Pick<Storage, 'shared'>
  readonly logger: Pick<FastifyBaseLogger, 'warn'>
  /** A monotonic clock of this host, in milliseconds. Only its rate matters, not the time that it shows. */
  readonly monotonic?: () => number
  /** The system's clock. When it moves against `monotonic`, the machine was suspended or the system's clock was set. */
  readonly wall?: () => number
  readonly everyMs?: number
}

/** The database's clock minus this host's monotonic clock. The error is at most half the round trip of the measurement. */
interface Measurement {
  readonly offsetMs: number
  readonly errorMs: number
}

const MEASURE_EVERY_MS = 10_000
const ROUND_TRIPS = 5
/** A larger correction is a jump: the database moved to another machine, its clock was set, or this host was suspended. */
const MAX_CORRECTION_MS = 1000

/** Resolves after the first measurement. @throws StorageError `unavailable` */
export async function openClock(options: ClockOptions): Promise<Clock> {
  const { storage, logger, monotonic = monotonicClock, everyMs = MEASURE_EVERY_MS } = options
  const { shared } = storage
  // A single host uses its own clock.
  if (!shared) return { now: options.monotonic ?? Date.now, close: async () => {} }
  const wall = options.wall ?? (options.monotonic ? monotonic : Date.now)
  return measuredClock(shared.clock, { logger, monotonic, wall, everyMs })
}

/** Keeps its rate when the system's clock is set. */
function monotonicClock(): number {
  return performance.timeOrigin + performance.now()
}

async function measuredClock(
  databaseClock: () => Promise<number>,
  { logger, monotonic, wall, everyMs }: Required<Omit<ClockOptions, 'storage'>>,
): Promise<Clock> {
  const closing = new AbortController()
  let { offsetMs } = await measure(databaseClock, monotonic)
  let wallOffsetMs = wall() - monotonic()
  let latest = Number.NEGATIVE_INFINITY
  let remeasuring: Promise<void> | undefined

  /** Corrects the offset only as far as the measurement proves it wrong: a measurement with a long round trip proves little. */
  function correct(measured: Measurement): void {
    const { offsetMs: middle, errorMs } = measured
    const corrected = Math.min(Math.max(offsetMs, middle - errorMs), middle + errorMs)
    const byMs = Math.round(corrected - offsetMs)
    if (Math.abs(byMs) > MAX_CORRECTION_MS) logger.warn({ byMs }, 'the clock jumped')
    offsetMs = corrected
    wallOffsetMs = wall() - monotonic()
  }

  /**
   * A monotonic clock does not count the time in which the machine is suspended: timestamps would be too early until the next
   * measurement.
   */
  function wasSuspended(): boolean {
    return Math.abs(wall() - monotonic() - wallOffsetMs) > MAX_CORRECTION_MS
  }

  async function remeasure(): Promise<void> {
    try {
      const { offsetMs: middle } = await measure(databaseClock, monotonic)
      offsetMs = middle
      wallOffsetMs = wall() - monotonic()
    } catch (error) {
      logger.warn({ err: error }, 'cannot measure the clock')
    } finally {
      remeasuring = undefined
    }
  }

  async function keepMeasuring(): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        await setTimeout(everyMs, undefined, { signal: closing.signal, ref: false })
        correct(await measure(databaseClock, monotonic))
      } catch (error) {
        if (!closing.signal.aborted) logger.warn({ err: error }, 'cannot measure the clock: the last offset stays')
      }
    }
  }

  const measuring = keepMeasuring()

  return {
    now() {
      if (wasSuspended()) {
        remeasuring ??= remeasure()
        throw new StorageError(
          'unavailable',
          'this host was suspended or its clock was set: it measures the clock again',
        )
      }
      const at = Math.floor(monotonic() + offsetMs)
      // After a correction the time waits instead of running back, so that the timestamps of one host are in the order of its
      // events. After a jump it does run back: timestamps from before the jump are wrong, and checks report them as contradictions.
      if (at > latest || latest - at > MAX_CORRECTION_MS) latest = at
      return latest
    },
    async close() {
      closing.abort()
      await measuring
      await remeasuring
    },
  }
}

/** Uses the shortest of a few round trips, and assumes that the database read its clock in the middle of it. */
async function measure(databaseClock: () => Promise<number>, monotonic: () => number): Promise<Measurement> {
  let best: Measurement | undefined
  for (let trip = 0; trip < ROUND_TRIPS; trip++) {
    const sentAt = monotonic()
    const read = await databaseClock()
    const errorMs = (monotonic() - sentAt) / 2
    if (!best || errorMs < best.errorMs) best = { offsetMs: read - sentAt - errorMs, errorMs }
  }
  return best!
}
