/**
 * Destinations that hang. After some timeouts in a row, few checks of a workspace try such a destination at a time, and those that
 * decide meanwhile share how a try ends. Otherwise a flood of claims at a destination that hangs would take hours of slots, and its
 * closing reads would come late.
 */
import { type CheckRecord, isRead } from '@claimcheck/core'
import { LRUCache } from 'lru-cache'
import type { DueClaim, Lane } from '../storage/claims.ts'

export interface Hangs {
  /** Whether a check that only looks has to wait. */
  mustWait(due: Hanging): boolean
  /**
   * The outcome that a check that decides shares, which is true when the other one hung; undefined: it reads itself.
   * @param again also when the claim's last check was shared: there is no slot for it
   */
  toShare(due: Hanging, again?: boolean): Promise<boolean> | undefined
  /** A check begins to read. The result ends it, with its record, or without one when it was not made. */
  begin(due: Hanging): (record: CheckRecord | undefined) => void
}

export interface Hanging extends Pick<DueClaim, 'claimId' | 'target'> {
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

/** A check that reads. Most end before anybody waits for that. */
interface Try {
  /** True when it hung. */
  outcome: Promise<boolean> | undefined
  settle(hung: boolean | Promise<boolean>): void
}

function outcomeOf(one: Try): Promise<boolean> {
  one.outcome ??= new Promise((resolve) => {
    one.settle = resolve
  })
  return one.outcome
}

/** @param timeoutMs a check that was ended earlier, by its own deadline, says nothing of the destination */
export function createHangs({ timeoutMs }: { readonly timeoutMs: number }): Hangs {
  const origins = new LRUCache<string, Origin>({ max: MAX_DESTINATIONS })
  /** Claims whose last check was shared: the next one is read, where there is a slot, so that no claim depends on others alone. */
  const sharers = new LRUCache<string, true>({ max: MAX_SHARERS })

  /** One for each workspace, connection and origin: no claim fails because of what another workspace reads. */
  function originOf({ workspaceId, connectionId, origin }: Lane): Origin {
    const name = `${workspaceId} ${connectionId ?? ''} ${origin ?? ''}`
    const known = origins.get(name)
    if (known) return known
    const created: Origin = { timeouts: 0, targets: new Set(), tries: new Set() }
    origins.set(name, created)
    return created
  }

  function lastTry({ lane, target }: Hanging): Try | undefined {
    const { timeouts, targets, tries } = originOf(lane)
    const hangs = timeouts >= TIMEOUTS_IN_A_ROW && (targets.size >= TARGETS_OF_A_DESTINATION || targets.has(target))
    return hangs && tries.size >= MOST_TRIES ? [...tries].at(-1) : undefined
  }

  return {
    mustWait: (due) => lastTry(due) !== undefined,
    toShare(due, again = false) {
      const shared = again || !sharers.has(due.claimId) ? lastTry(due) : undefined
      if (shared) sharers.set(due.claimId, true)
      else sharers.delete(due.claimId)
      return shared && outcomeOf(shared)
    },
    begin({ lane, target }) {
      const origin = originOf(lane)
      const begun: Try = { outcome: undefined, settle() {} }
      origin.tries.add(begun)
      return (record) => {
        origin.tries.delete(begun)
        const hung = record !== undefined && isHang(record, timeoutMs)
        const answered = record !== undefined && isAnswered(record)
        if (hung) {
          origin.timeouts++
          if (origin.targets.size < TARGETS_OF_A_DESTINATION) origin.targets.add(target)
        } else if (answered) {
          origin.timeouts = 0
          origin.targets.clear()
        }
        // A try that its own deadline ended says nothing: who shares it goes on with the next one.
        const next = hung || answered ? undefined : [...origin.tries].at(-1)
        begun.settle(next && begun.outcome ? outcomeOf(next) : hung)
      }
    },
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
