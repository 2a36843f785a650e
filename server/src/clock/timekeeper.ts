/**
 * Tells the time by sources each of which may be wrong: the monotonic clock of this host; the clock that the host goes by (the
 * database's, or the system's where one host has its database to itself); the listed destinations; and the log, which is not ahead.
 * Time advances by the monotonic clock. Where the sources contradict each other, the time is in doubt until two of them agree.
 */

import type { Readings } from '@claimcheck/core/hosting'
import { formatInstant, type Instant } from '@claimcheck/core/rules'

export type Timekeeper = ReturnType<typeof createTimekeeper>

/** The difference of the clock that this host goes by and the monotonic clock. Its error is at most half the round trip of the measurement. */
export interface Measurement {
  readonly offsetMs: number
  readonly errorMs: number
}

/** Bounds of how far a destination's clock is ahead of the monotonic clock, which no step of another clock moves. */
interface Reading {
  readonly least: number
  readonly most: number
  readonly at: number
}

type Ahead = Omit<Reading, 'at'>

/** The clock of a destination of which nothing is remembered, taken for right. */
const NOT_OFF: Ahead = { least: 0, most: 0 }

interface Voice {
  /** A destination's last reading before its clock jumped; undefined until two agree: one alone may be the odd one. */
  readonly usual?: Reading | undefined
  readonly last: Reading
}

/** The difference of clocks beyond which one made a step: a clock was set, or the machine stood still. */
export const STEP_MS = 2000
/** The fastest slew: clocks are slewed by 500 ppm, and by chrony by a tenth at most. A clock that moves faster was set in small steps. */
const LARGEST_SLEW = 0.1
/** The most by which a destination's clock may be off before it contradicts the time. */
const LARGEST_DIFFERENCE_MS = 30_000
/** The most by which a clock drifts while this host is down. A clock that moved by more was set. */
const LARGEST_DRIFT_MS = 5_000
/** The time within which each host of a database notices a step, and tells moments by the old clock until then. */
const NOTICED_WITHIN_MS = 12_000
/** The most steps of the clock that are remembered. */
const MOST_STEPS = 100
/** The age after which the time that a destination told counts no more. */
const REMEMBERED_MS = 10 * 60_000

const WAY_OUT =
  'Nothing is decided or signed meanwhile. Let a time daemon set the clock. This ends when the two agree, or when listed destinations confirm one of them; or restart the service once the clock is right'

export function createTimekeeper({
  steady,
  reference,
  first,
}: {
  readonly steady: () => number
  /** The name, for people, of the clock that this host goes by. */
  readonly reference: string
  readonly first: Measurement
}) {
  const startedAt = steady()
  let offsetMs = first.offsetMs
  let latest = Number.NEGATIVE_INFINITY
  let measuredMs = first.offsetMs
  let measuredAt = startedAt
  /** The most by which the next measurement may correct the time, in milliseconds. */
  let slewMs = STEP_MS
  let isMeasurementDue = false
  /** A step of the clock that this host goes by against the monotonic clock, while nothing says which of the two is right. */
  let step: { readonly byMs: number; readonly since: number } | undefined
  /** The step that destinations contradict, in milliseconds. */
  let refutedMs: number | undefined
  let isContradicted = false
  let newestInLog = Number.NEGATIVE_INFINITY
  let turns = 0
  /** The steps of the time that is told: by how much, and the latest time that was told before. */
  const steps: { readonly before: Instant; readonly byMs: number }[] = []
  let wasDoubted = false
  const voices = new Map<string, Voice>()
  /** The bounds by which the clock of each origin was ahead before the start: what all reads agree on, and what any of them allows. */
  const remembered = new Map<string, { readonly agreed: Ahead; readonly any: Ahead }>()

  function now(): Instant {
    const at = Math.floor(steady() + offsetMs)
    // After a correction the time waits instead of running back, so that the timestamps of one host are in the order of its events.
    if (at > latest || latest - at > STEP_MS) latest = at
    return latest
  }

  function measured({ offsetMs: middle, errorMs }: Measurement): void {
    const at = steady()
    slewMs = Math.min(STEP_MS, slewMs + Math.max(0, at - measuredAt) * LARGEST_SLEW)
    measuredAt = at
    measuredMs = middle
    isMeasurementDue = false
    // Corrects the time only as far as the measurement proves it wrong: a measurement with a long round trip proves little.
    const corrected = Math.min(Math.max(offsetMs, middle - errorMs), middle + errorMs)
    const byMs = corrected - offsetMs
    if (Math.abs(byMs) <= slewMs) {
      slewMs -= Math.abs(byMs)
      follow(corrected)
    } else if (refutedMs === undefined || Math.abs(byMs - refutedMs) > STEP_MS) {
      refutedMs = undefined
      if (!step || Math.abs(byMs - step.byMs) > STEP_MS) step = { byMs, since: at }
      settleStep()
    }
  }

  function heard(origin: string, { ahead, isUndated }: Pick<Readings, 'ahead' | 'isUndated'>, turn: number): void {
    if (!ahead || isUndated || turn !== turns) return
    const last = { least: ahead.least + offsetMs, most: ahead.most + offsetMs, at: steady() }
    voices.set(origin, { usual: usualOf(voices.get(origin), last), last })
    settleStep()
  }

  function doubt(): string | undefined {
    const reason = doubtNow()
    if (reason !== undefined && !wasDoubted) turns++
    wasDoubted = reason !== undefined
    return reason
  }

  function follow(nextOffsetMs: number): void {
    const byMs = nextOffsetMs - offsetMs
    if (Math.abs(byMs) > STEP_MS) {
      turns++
      steps.push({ before: now(), byMs })
      if (steps.length > MOST_STEPS) steps.shift()
    }
    offsetMs = nextOffsetMs
    step = undefined
    refutedMs = undefined
  }

  /** Tells whether most of the destinations that were heard since a moment agree with a time. */
  function isConfirmed(at: number, since: number): boolean {
    const fresh = [...voices.values()].filter(({ last }) => last.at > since)
    const fitting = fresh.filter(({ last: { least, most } }) => at >= least - STEP_MS && at <= most + STEP_MS)
    return fitting.length * 2 > fresh.length
  }

  function settleStep(): void {
    if (!step) return
    const { byMs, since } = step
    if (isConfirmed(measuredMs, since)) {
      follow(measuredMs)
      // The monotonic clock may have stood still: what was said before cannot be compared with what follows.
      for (const [origin, { last }] of voices) {
        if (last.at > since) voices.set(origin, { last })
        else voices.delete(origin)
      }
    } else if (isConfirmed(offsetMs, since)) {
      refutedMs = byMs
      step = undefined
    }
  }

  /** Forgets destinations that were not heard lately. While there is a contradiction none is forgotten: silence does not end it. */
  function forgetOld(before: number): void {
    if (isContradicted) return
    for (const [origin, { last }] of voices) if (last.at < before) voices.delete(origin)
  }

  /** Tells whether all destinations that were heard lately are off in the same direction, each for certain. */
  function doDestinationsContradict(least: number): boolean {
    if (voices.size < least) return false
    let common = 0
    for (const { last } of voices.values()) {
      const direction = directionOf(last, offsetMs)
      if (direction === 0 || direction === -common) return false
      common = direction
    }
    return common !== 0
  }

  /**
   * Tells whether several destinations jumped in one direction: the monotonic clock stood still, or ran ahead. One alone may have answered from a
   * cache, or had its own clock set.
   */
  function haveDestinationsJumped(since: number): boolean {
    const recent = [...voices.values()].filter(({ last }) => last.at >= since)
    const jumped = recent.filter((voice) => jumpOf(voice) !== 0)
    if (jumped.length < 2) return false
    const first = Math.min(...jumped.map(({ last }) => last.at))
    const directions = new Set(recent.filter(({ last }) => last.at >= first).map(jumpOf))
    return directions.size === 1
  }

  /**
   * Tells whether the clock was set while the host was down: a destination is off by more than before the start, and none says that the time is
   * right. The destination's own clock may have been set, so this counts for a while only.
   */
  function wasSetBeforeStart(at: number): boolean {
    if (remembered.size === 0 || at - startedAt > REMEMBERED_MS) return false
    const heard = [...voices].map(([origin, { last }]) => {
      const before = remembered.get(origin)
      return {
        isKnown: before !== undefined,
        direction: directionFrom(before ? boundsOf(before) : NOT_OFF, last, offsetMs),
      }
    })
    const directions = new Set(heard.map(({ direction }) => direction))
    return heard.some(({ isKnown }) => isKnown) && directions.size === 1 && !directions.has(0)
  }

  function doubtNow(): string | undefined {
    const at = steady()
    forgetOld(at - REMEMBERED_MS)
    // One destination may have a wrong clock. Without a log nothing confirms ours, so one is enough then.
    isContradicted = doDestinationsContradict(newestInLog === Number.NEGATIVE_INFINITY ? 1 : 2)
    if (isMeasurementDue) return `the system's clock was set, or this machine was suspended: ${reference} is read again`
    if (step) return `${reference} is ${apart(step.byMs)} the monotonic clock of this host. ${WAY_OUT}`
    const origins = [...voices.keys()].join(', ')
    if (isContradicted)
      return `${reference} and the listed destinations (${origins}) differ by more than 30 s. ${WAY_OUT}`
    if (wasSetBeforeStart(at))
      return `${reference} was set while this host was down: listed destinations (${origins}) are off by more than before. ${WAY_OUT}, or after ten minutes`
    if (haveDestinationsJumped(at - REMEMBERED_MS))
      return `the clocks of several listed destinations jumped against ${reference}. ${WAY_OUT}`
    if (newestInLog - at - offsetMs > STEP_MS) {
      return `${reference} is behind the newest time in the log, ${formatInstant(newestInLog)}. Nothing is decided or signed until it has passed. Set the clock, if it is behind; if the log is ahead, wait until then, or restore the database from before it`
    }
    return undefined
  }

  return {
    /** Tells the time by the monotonic clock since the last measurement, also while it is in doubt. */
    now,
    /** Takes a measurement of the clock that this host goes by. */
    measured,
    /** Suspends trust in the monotonic clock until the next measurement, when the system's clock was set, or the machine was suspended. */
    mustMeasure() {
      isMeasurementDue = true
    },
    /**
     * Takes the time that a listed destination answered with.
     * @param turn the turn when it was asked: a request that spans a step is timed by two clocks, and dropped
     */
    heard,
    /**
     * Takes how far a listed destination's clock was ahead before the start. The monotonic clock of that time is gone, so that destinations alone
     * tell whether the clock that this host goes by was set meanwhile.
     */
    remembers(origin: string, ahead: Ahead) {
      const { agreed, any } = remembered.get(origin) ?? { agreed: ahead, any: ahead }
      remembered.set(origin, {
        agreed: { least: Math.max(ahead.least, agreed.least), most: Math.min(ahead.most, agreed.most) },
        any: { least: Math.min(ahead.least, any.least), most: Math.max(ahead.most, any.most) },
      })
    },
    /** Takes the newest time in the log. */
    logged(at: Instant) {
      newestInLog = at
    },
    /** Says why the time is in doubt, and what to do; undefined while it is certain. */
    doubt,
    /** Returns a number that changes when a doubt begins and when the time is stepped: what began before it was timed by another clock. */
    turn: () => turns,
    /**
     * Returns by how many milliseconds the time was stepped, in whichever direction, since a moment that this host or another one told. A step back
     * makes moments come twice: then it counts.
     */
    setSince: (moment: Instant) =>
      steps
        .filter(({ before, byMs }) => moment <= before + Math.max(byMs, NOTICED_WITHIN_MS))
        .reduce((sum, { byMs }) => sum + Math.abs(Math.round(byMs)), 0),
    /** Tells whether a destination contradicts the time; one alone proves nothing. */
    isSuspected: () => doDestinationsContradict(1),
  }
}

function apart(byMs: number): string {
  return `${Math.round(Math.abs(byMs) / 1000)} s ${byMs > 0 ? 'ahead of' : 'behind'}`
}

/** Tells which way a destination's clock is off for certain: 1 when it is ahead, -1 when it is behind. */
function directionOf({ least, most }: Reading, offsetMs: number): 1 | 0 | -1 {
  if (least - offsetMs > LARGEST_DIFFERENCE_MS) return 1
  return most - offsetMs < -LARGEST_DIFFERENCE_MS ? -1 : 0
}

/** Reads from before and after a step of the clock, or of several servers behind one origin, exclude each other. */
function boundsOf({ agreed, any }: { readonly agreed: Ahead; readonly any: Ahead }): Ahead {
  return agreed.least > agreed.most ? any : agreed
}

/** Tells which way a destination's clock moved for certain since before, by more than a clock drifts. */
function directionFrom(before: Ahead, { least, most }: Reading, offsetMs: number): 1 | 0 | -1 {
  if (least - offsetMs > before.most + LARGEST_DRIFT_MS) return 1
  return most - offsetMs < before.least - LARGEST_DRIFT_MS ? -1 : 0
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
