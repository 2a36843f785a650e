/**
 * Destinations that hang. After some timeouts in a row, few checks of a workspace try such a destination at a time, and those that
 * decide meanwhile share how a try ends. Otherwise a flood of claims at a destination that hangs would take hours of slots, and its
 * closing reads would come late.
 */
import { type CheckRecord, type Instant, isRead } from '@claimcheck/core/rules'
import { LRUCache } from 'lru-cache'
import type { DueClaim, Lane } from '../../storage/claims.ts'
import { checkTime } from './check.ts'

export interface DueRead extends Omit<DueClaim, 'lane'> {
  readonly lane: Lane
}

/** A destination hangs after so many timeouts without an answer in between. */
const TIMEOUTS_IN_A_ROW = 4
/** About so many different targets; else only the targets hang that timed out. */
const TARGETS_OF_A_DESTINATION = 3
const MOST_TRIES = 2
const MAX_DESTINATIONS = 10_000
const MAX_SHARERS = 20_000

interface Origin {
  timeouts: number
  /** That timed out since the last answer; no more than are needed to tell. */
  readonly targets: Set<string>
  readonly tries: Set<Try>
}

/**
 * One for each workspace, connection and origin, and not for who pays: no claim fails because of what another workspace reads. Who makes
 * more workspaces gains some tries, of the slots that the concurrency limit gives them by who pays.
 */
function nameOf({ workspaceId, connectionId, origin }: Lane): string {
  return `${workspaceId} ${connectionId ?? ''} ${origin ?? ''}`
}

/** A check that reads. Most end before another check waits for the outcome. */
interface Try extends Span {
  /** True when it hung. */
  outcome: Promise<boolean> | undefined
  settle(hung: boolean): void
}

/** How long a check that begins now may take. */
interface Span {
  readonly endsAt: Instant
  /** Its deadline does not cut it short. */
  readonly isWhole: boolean
}

function outcomeOf(one: Try): Promise<boolean> {
  one.outcome ??= new Promise((resolve) => {
    one.settle = resolve
  })
  return one.outcome
}

interface CircuitBreakersOptions {
  /** A check that was ended earlier, by its own deadline, says nothing of the destination. */
  readonly timeoutMs: number
  readonly now: () => Instant
}

export type CircuitBreakers = ReturnType<typeof createCircuitBreakers>

export function createCircuitBreakers({ timeoutMs, now }: CircuitBreakersOptions) {
  const origins = new LRUCache<string, Origin>({ max: MAX_DESTINATIONS })
  /** Claims that shared an outcome at their last check: the next one is read, where there is a slot, so that no claim depends on others alone. */
  const sharers = new LRUCache<string, true>({ max: MAX_SHARERS })

  function spanOf(due: DueRead): Span {
    const startedAt = now()
    const tookMs = checkTime(due, startedAt, timeoutMs)
    return { endsAt: startedAt + tookMs, isWhole: tookMs === timeoutMs }
  }

  /** The tries at a destination that hangs, when there are enough of them. */
  function triesAt({ lane, target }: DueRead): readonly Try[] | undefined {
    const known = origins.get(nameOf(lane))
    if (!known || known.timeouts < TIMEOUTS_IN_A_ROW || known.tries.size < MOST_TRIES) return undefined
    const hangs = known.targets.size >= TARGETS_OF_A_DESTINATION || known.targets.has(target)
    return hangs ? [...known.tries] : undefined
  }

  /** The last try that tells whether this check would hang: one that is not cut short, or not before this one. */
  function tryFor(due: DueRead): Try | undefined {
    const tries = triesAt(due)
    if (!tries) return undefined
    const { endsAt } = spanOf(due)
    return tries.findLast((one) => one.isWhole || one.endsAt >= endsAt)
  }

  return {
    /** Tells whether a check that only looks has to wait. */
    mustWait: (due: DueRead) => triesAt(due) !== undefined,
    /** Tells whether a check that decides may share an outcome. */
    mayShare: (due: DueRead) => tryFor(due) !== undefined,
    /**
     * The outcome that a check that decides shares, which is true when the other one hung; undefined: it reads itself.
     * @param again also when the claim's last check was shared: there is no slot for it
     */
    toShare(due: DueRead, again = false): Promise<boolean> | undefined {
      const shared = again || !sharers.has(due.claimId) ? tryFor(due) : undefined
      if (shared) sharers.set(due.claimId, true)
      else sharers.delete(due.claimId)
      return shared && outcomeOf(shared)
    },
    /** Begins to read. The returned function ends the check, with its record, or without one when it was not made. */
    begin(due: DueRead): (record: CheckRecord | undefined) => void {
      const { target } = due
      const name = nameOf(due.lane)
      const origin = origins.get(name) ?? { timeouts: 0, targets: new Set(), tries: new Set() }
      origins.set(name, origin)
      const begun: Try = { outcome: undefined, settle() {}, ...spanOf(due) }
      origin.tries.add(begun)
      return (record) => {
        origin.tries.delete(begun)
        const hung = record !== undefined && isHang(record, timeoutMs)
        if (hung) {
          origin.timeouts++
          if (origin.targets.size < TARGETS_OF_A_DESTINATION) origin.targets.add(target)
        } else if (record && isAnswered(record)) {
          origin.timeouts = 0
          origin.targets.clear()
        }
        begun.settle(hung)
      }
    },
    /** Counts the destinations that hang, each for every workspace and connection that reads it. */
    open: () => [...origins.values()].filter(({ timeouts }) => timeouts >= TIMEOUTS_IN_A_ROW).length,
  }
}

function isHang(record: CheckRecord, timeoutMs: number): boolean {
  const tookMs = record.answeredAt - record.sentAt
  return !isRead(record) && record.failure.code === 'timeout' && tookMs >= timeoutMs - RESOLUTION_MS
}

/** Timers are a little early at times. */
const RESOLUTION_MS = 50

/** The destination said something, and not this host. */
function isAnswered(record: CheckRecord): boolean {
  return isRead(record) || record.failure.status !== undefined
}
