/**
 * Circuit breakers of destinations that hang. After some timeouts in a row, few checks of a workspace try such a destination at a time, and those
 * that decide meanwhile share the outcome of a try. Otherwise a flood of claims at a destination that hangs would take hours of slots, and its
 * closing reads would come late.
 */
import { type CheckRecord, type Instant, isRead } from '@claimcheck/core/rules'
import { LRUCache } from 'lru-cache'
import type { DueClaim, Lane } from '../../storage/claims.ts'
import { checkTime } from './check.ts'

export interface DueRead extends Omit<DueClaim, 'lane'> {
  readonly lane: Lane
}

/** The number of timeouts without an answer in between after which a destination counts as hanging. */
const TIMEOUTS_IN_A_ROW = 4
/** The number of different targets that must have timed out; below it only those targets count as hanging. */
const TARGETS_OF_A_DESTINATION = 3
const MOST_TRIES = 2
const MAX_DESTINATIONS = 10_000
const MAX_SHARERS = 20_000

interface Origin {
  timeouts: number
  /** Targets that timed out since the last answer; no more than are needed to tell. */
  readonly targets: Set<string>
  readonly tries: Set<Try>
}

/**
 * Names a circuit breaker, one for each workspace, connection and origin, and not for the payer: no claim fails because of what another workspace
 * reads. Somebody with more workspaces gains some tries, of the slots that the concurrency limit gives to the payer.
 */
function nameOf({ workspaceId, connectionId, origin }: Lane): string {
  return `${workspaceId} ${connectionId ?? ''} ${origin ?? ''}`
}

/** A check that reads, and may be shared. Most end before another check waits for the outcome. */
interface Try extends Span {
  /** The outcome, which is true when the try hung. */
  outcome: Promise<boolean> | undefined
  settle(hung: boolean): void
}

/** The time that a check may take if it begins now. */
interface Span {
  readonly endsAt: Instant
  /** True if the deadline does not cut the check short. */
  readonly isWhole: boolean
}

function outcomeOf(one: Try): Promise<boolean> {
  one.outcome ??= new Promise((resolve) => {
    one.settle = resolve
  })
  return one.outcome
}

interface CircuitBreakersOptions {
  /** The time after which a check counts as hung. One that ended earlier, by its own deadline, says nothing of the destination. */
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

  /** Returns the tries at a destination that hangs, when there are enough of them. */
  function triesAt({ lane, target }: DueRead): readonly Try[] | undefined {
    const known = origins.get(nameOf(lane))
    if (!known || known.timeouts < TIMEOUTS_IN_A_ROW || known.tries.size < MOST_TRIES) return undefined
    const hangs = known.targets.size >= TARGETS_OF_A_DESTINATION || known.targets.has(target)
    return hangs ? [...known.tries] : undefined
  }

  /** Finds the last try that tells whether a check would hang: one that is not cut short, or not before this check. */
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
     * Returns the outcome that a deciding check shares, which is true when the other check hung; undefined when the check has to read itself.
     * @param again shares also after a shared check, for a claim for which there is no slot
     */
    toShare(due: DueRead, again = false): Promise<boolean> | undefined {
      const shared = again || !sharers.has(due.claimId) ? tryFor(due) : undefined
      if (shared) sharers.set(due.claimId, true)
      else sharers.delete(due.claimId)
      return shared && outcomeOf(shared)
    },
    /** Begins a try. The returned function ends it, with its record, or without one when it was not made. */
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

/** The most by which timers are early. */
const RESOLUTION_MS = 50

/** Tells whether the destination answered, and not this host alone. */
function isAnswered(record: CheckRecord): boolean {
  return isRead(record) || record.failure.status !== undefined
}
