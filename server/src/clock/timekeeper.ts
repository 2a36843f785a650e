/**
 * What the time is, by sources each of which may be wrong: the monotonic clock of this host; the clock that the host goes by (the
 * database's, or the system's where one host has its database to itself); the listed destinations; and the log, which is not ahead.
 * Time advances by the monotonic clock. Where the sources contradict each other, the time is in doubt until two of them agree.
 */

import type { Readings } from '@claimcheck/core/hosting'
import { formatInstant, type Instant } from '@claimcheck/core/rules'

export interface Timekeeper {
  /** By the monotonic clock since the last measurement, also while the time is in doubt. */
  now(): Instant
  /** The clock that this host goes by has been read. */
  measured(measurement: Measurement): void
  /** The system's clock was set, or the machine was suspended: the monotonic clock proves nothing until the next measurement. */
  mustMeasure(): void
  /** A listed destination has answered. @param turn when it was asked: what was asked before a step is of two clocks, and dropped */
  heard(origin: string, readings: Pick<Readings, 'ahead' | 'isUndated'>, turn: number): void
  /**
   * A check before the start found the clock of a listed destination at most so far off. The monotonic clock of that time is gone, so that
   * destinations alone tell whether the clock that this host goes by was set meanwhile.
   */
  remembers(origin: string, offsetMs: number): void
  /** The newest time in the log. */
  logged(at: Instant): void
  /** Why the time is in doubt, and what to do; undefined while it is certain. */
  doubt(): string | undefined
  /** A number that changes when a doubt begins and when the time is stepped: what began before it was timed by another clock. */
  turn(): number
  /** A destination says that the time is wrong; alone it proves nothing. */
  isSuspected(): boolean
}

/** The clock that this host goes by, minus the monotonic clock. The error is at most half the round trip of the measurement. */
export interface Measurement {
  readonly offsetMs: number
  readonly errorMs: number
}

interface TimekeeperOptions {
  readonly steady: () => number
  /** The clock that this host goes by, as people call it. */
  readonly reference: string
  readonly first: Measurement
}

/** By how much a destination's clock is ahead of the monotonic clock, which no step of another clock moves. */
interface Reading {
  readonly least: number
  readonly most: number
  readonly at: number
}

interface Voice {
  /** The last reading of those that agree, before it moved; undefined until two agree: one alone may be the odd one. */
  readonly usual?: Reading | undefined
  readonly last: Reading
}

/** A larger difference is a step: the clock was set, or the machine stood still. */
export const STEP_MS = 2000
/** Clocks are slewed by 500 ppm, and by chrony by a tenth at most. What moves faster was set in small steps. */
const LARGEST_SLEW = 0.1
/** The clocks of destinations may be so far off. */
const LARGEST_DIFFERENCE_MS = 30_000
/** A clock that moved by more while this host was down was set, and not slewed. */
const LARGEST_DRIFT_MS = 5_000
/** What a destination said longer ago counts no more. */
const REMEMBERED_MS = 10 * 60_000

const WAY_OUT =
  'Nothing is decided or signed meanwhile. Let a time daemon set the clock. This ends when the two agree, or when listed destinations confirm one of them; or restart the service once the clock is right'

export function createTimekeeper(options: TimekeeperOptions): Timekeeper {
  const time = new ComparedTime(options)
  return {
    now: () => time.now(),
    measured: (measurement) => time.measured(measurement),
    mustMeasure: () => time.mustMeasure(),
    heard: (origin, readings, turn) => time.heard(origin, readings, turn),
    remembers: (origin, offsetMs) => time.remembers(origin, offsetMs),
    logged: (at) => time.logged(at),
    doubt: () => time.doubt(),
    turn: () => time.turn(),
    isSuspected: () => time.isSuspected(),
  }
}

class ComparedTime {
  readonly #steady: () => number
  readonly #reference: string
  #offsetMs: number
  #latest = Number.NEGATIVE_INFINITY
  #measuredMs: number
  #measuredAt: number
  /** So far may the next measurement correct the time. */
  #slewMs = STEP_MS
  #mustMeasure = false
  /** The clock that this host goes by has moved against the monotonic one, and nothing says yet which is right. */
  #step: { readonly byMs: number; readonly since: number } | undefined
  /** It moved by so much, and destinations contradict it. */
  #refutedMs: number | undefined
  #isContradicted = false
  #newestInLog = Number.NEGATIVE_INFINITY
  #turns = 0
  #wasDoubted = false
  readonly #voices = new Map<string, Voice>()
  readonly #startedAt: number
  /** By origin: how far off its clock was at most before the start. */
  readonly #remembered = new Map<string, number>()

  constructor({ steady, reference, first }: TimekeeperOptions) {
    this.#steady = steady
    this.#reference = reference
    this.#offsetMs = first.offsetMs
    this.#measuredMs = first.offsetMs
    this.#measuredAt = steady()
    this.#startedAt = this.#measuredAt
  }

  now(): Instant {
    const at = Math.floor(this.#steady() + this.#offsetMs)
    // After a correction the time waits instead of running back, so that the timestamps of one host are in the order of its events.
    if (at > this.#latest || this.#latest - at > STEP_MS) this.#latest = at
    return this.#latest
  }

  measured({ offsetMs: middle, errorMs }: Measurement): void {
    const at = this.#steady()
    this.#slewMs = Math.min(STEP_MS, this.#slewMs + Math.max(0, at - this.#measuredAt) * LARGEST_SLEW)
    this.#measuredAt = at
    this.#measuredMs = middle
    this.#mustMeasure = false
    // Corrects the time only as far as the measurement proves it wrong: a measurement with a long round trip proves little.
    const corrected = Math.min(Math.max(this.#offsetMs, middle - errorMs), middle + errorMs)
    const byMs = corrected - this.#offsetMs
    if (Math.abs(byMs) <= this.#slewMs) {
      this.#slewMs -= Math.abs(byMs)
      this.#follow(corrected)
    } else if (this.#refutedMs === undefined || Math.abs(byMs - this.#refutedMs) > STEP_MS) {
      this.#refutedMs = undefined
      if (!this.#step || Math.abs(byMs - this.#step.byMs) > STEP_MS) this.#step = { byMs, since: at }
      this.#settleStep()
    }
  }

  mustMeasure(): void {
    this.#mustMeasure = true
  }

  heard(origin: string, { ahead, isUndated }: Pick<Readings, 'ahead' | 'isUndated'>, turn: number): void {
    if (!ahead || isUndated || turn !== this.#turns) return
    const last = { least: ahead.least + this.#offsetMs, most: ahead.most + this.#offsetMs, at: this.#steady() }
    this.#voices.set(origin, { usual: usualOf(this.#voices.get(origin), last), last })
    this.#settleStep()
  }

  remembers(origin: string, offsetMs: number): void {
    this.#remembered.set(origin, Math.min(offsetMs, this.#remembered.get(origin) ?? Number.POSITIVE_INFINITY))
  }

  logged(at: Instant): void {
    this.#newestInLog = at
  }

  turn(): number {
    return this.#turns
  }

  isSuspected(): boolean {
    return this.#doDestinationsContradict(1)
  }

  doubt(): string | undefined {
    const doubt = this.#doubtNow()
    if (doubt !== undefined && !this.#wasDoubted) this.#turns++
    this.#wasDoubted = doubt !== undefined
    return doubt
  }

  #follow(nextOffsetMs: number): void {
    if (Math.abs(nextOffsetMs - this.#offsetMs) > STEP_MS) this.#turns++
    this.#offsetMs = nextOffsetMs
    this.#step = undefined
    this.#refutedMs = undefined
  }

  /** Whether most of what destinations said since then fits a time. */
  #isConfirmed(at: number, since: number): boolean {
    const fresh = [...this.#voices.values()].filter(({ last }) => last.at > since)
    const fitting = fresh.filter(({ last: { least, most } }) => at >= least - STEP_MS && at <= most + STEP_MS)
    return fitting.length * 2 > fresh.length
  }

  #settleStep(): void {
    if (!this.#step) return
    const { byMs, since } = this.#step
    if (this.#isConfirmed(this.#measuredMs, since)) {
      this.#follow(this.#measuredMs)
      // The monotonic clock may have stood still: what was said before cannot be compared with what follows.
      for (const [origin, { last }] of this.#voices) {
        if (last.at > since) this.#voices.set(origin, { last })
        else this.#voices.delete(origin)
      }
    } else if (this.#isConfirmed(this.#offsetMs, since)) {
      this.#refutedMs = byMs
      this.#step = undefined
    }
  }

  /** Silence ends no contradiction. */
  #forgetOld(before: number): void {
    if (this.#isContradicted) return
    for (const [origin, { last }] of this.#voices) if (last.at < before) this.#voices.delete(origin)
  }

  /** All destinations that were heard lately are off in the same direction, each for certain. */
  #doDestinationsContradict(least: number): boolean {
    if (this.#voices.size < least) return false
    let common = 0
    for (const { last } of this.#voices.values()) {
      const direction = directionOf(last, this.#offsetMs)
      if (direction === 0 || direction === -common) return false
      common = direction
    }
    return common !== 0
  }

  /** The monotonic clock stood still, or ran ahead: one destination alone may have answered from a cache, or had its own clock set. */
  #haveDestinationsJumped(since: number): boolean {
    const recent = [...this.#voices.values()].filter(({ last }) => last.at >= since)
    const jumped = recent.filter((voice) => jumpOf(voice) !== 0)
    if (jumped.length < 2) return false
    const first = Math.min(...jumped.map(({ last }) => last.at))
    const directions = new Set(recent.filter(({ last }) => last.at >= first).map(jumpOf))
    return directions.size === 1
  }

  /**
   * A destination is off by more than before the start, and no other one says that the time is right. It may be its own clock that was set:
   * after a while that is believed.
   */
  #wasSetBeforeStart(at: number): boolean {
    if (this.#remembered.size === 0 || at - this.#startedAt > REMEMBERED_MS) return false
    const heard = [...this.#voices].map(([origin, { last }]) => {
      const before = this.#remembered.get(origin)
      return {
        isKnown: before !== undefined,
        direction: directionOf(last, this.#offsetMs, (before ?? 0) + LARGEST_DRIFT_MS),
      }
    })
    const directions = new Set(heard.map(({ direction }) => direction))
    return heard.some(({ isKnown }) => isKnown) && directions.size === 1 && !directions.has(0)
  }

  #doubtNow(): string | undefined {
    const at = this.#steady()
    this.#forgetOld(at - REMEMBERED_MS)
    // One may have a wrong clock; but without a log nothing speaks for ours.
    this.#isContradicted = this.#doDestinationsContradict(this.#newestInLog === Number.NEGATIVE_INFINITY ? 1 : 2)
    const reference = this.#reference
    if (this.#mustMeasure)
      return `the system's clock was set, or this machine was suspended: ${reference} is read again`
    if (this.#step) {
      const seconds = Math.round(Math.abs(this.#step.byMs) / 1000)
      const direction = this.#step.byMs > 0 ? 'ahead of' : 'behind'
      return `${reference} is ${seconds} s ${direction} the monotonic clock of this host. ${WAY_OUT}`
    }
    if (this.#isContradicted) {
      const origins = [...this.#voices.keys()].join(', ')
      return `${reference} and the listed destinations (${origins}) differ by more than 30 s. ${WAY_OUT}`
    }
    if (this.#wasSetBeforeStart(at)) {
      const origins = [...this.#voices.keys()].join(', ')
      return `${reference} was set while this host was down: listed destinations (${origins}) are off by more than before. ${WAY_OUT}, or after ten minutes`
    }
    if (this.#haveDestinationsJumped(at - REMEMBERED_MS))
      return `the clocks of several listed destinations jumped against ${reference}. ${WAY_OUT}`
    if (this.#newestInLog - at - this.#offsetMs > STEP_MS) {
      return `${reference} is behind the newest time in the log, ${formatInstant(this.#newestInLog)}. Nothing is decided or signed until it has passed. Set the clock, if it is behind; if the log is ahead, wait until then, or restore the database from before it`
    }
    return undefined
  }
}

/** Which way a destination's clock is off for certain: 1 when it is ahead, -1 when it is behind. */
function directionOf({ least, most }: Reading, offsetMs: number, largestMs = LARGEST_DIFFERENCE_MS): 1 | 0 | -1 {
  if (least - offsetMs > largestMs) return 1
  return most - offsetMs < -largestMs ? -1 : 0
}

function usualOf(before: Voice | undefined, last: Reading): Reading | undefined {
  const kept = before?.usual && last.at - before.usual.at <= REMEMBERED_MS ? before.usual : undefined
  const agrees = before !== undefined && jumpOf({ usual: kept ?? before.last, last }) === 0
  return agrees ? last : kept
}

function jumpOf({ usual, last }: Voice): 1 | 0 | -1 {
  if (!usual) return 0
  if (last.least - usual.most > STEP_MS) return 1
  return last.most - usual.least < -STEP_MS ? -1 : 0
}
