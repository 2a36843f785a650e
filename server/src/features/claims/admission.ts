/** Admits checks: gives each the slot that its payer may take, and leaves request budgets to others. */
import type { CheckRecord, Instant } from '@claimcheck/core/rules'
import type { Asker, ConcurrencyLimit } from '../../outbound/concurrency-limit.ts'
import type { Destinations } from '../../outbound/destinations.ts'
import type { RateLimitBudgets } from '../../outbound/rate-limit-budget.ts'
import {
  type CheckKind,
  type DueClaim,
  type DueKind,
  type Lane,
  namesOfLane,
  partsOfLane,
} from '../../storage/claims.ts'
import { createCircuitBreakers, type DueRead } from './circuit-breaker.ts'
import type { ClaimsConfig } from './config.ts'

export interface Entry {
  readonly kind: CheckKind
  /** Ends the admitted check, with its record, or without one when it was not made. */
  end(record: CheckRecord | undefined): void
  /** The outcome of another check, which this one shares and must not read, while the destination hangs: true when the other one hung as well. */
  readonly shared: Promise<boolean> | undefined
}

/** The most refused names that are kept. Beyond it the earliest are forgotten, and refused once more. */
const MAX_BUSY = 1000
/** The most checks that share an outcome. Each takes no slot, but some kilobytes of memory. */
const MAX_SHARING = 5000

export type Admission = ReturnType<typeof createAdmission>

export function createAdmission(parts: {
  readonly config: Pick<ClaimsConfig, 'checks'>
  readonly destinations: Destinations
  readonly budgets: RateLimitBudgets
  readonly slots: ConcurrencyLimit
  readonly now: () => Instant
}) {
  const { config, destinations, budgets, slots, now } = parts
  const breakers = createCircuitBreakers({ timeoutMs: config.checks.timeoutMs, now })
  /** The claim that was refused last, by kind and by name. */
  const busy: Readonly<Record<DueKind, Map<string, DueClaim>>> = {
    deciding: new Map(),
    first: new Map(),
    watching: new Map(),
    looking: new Map(),
  }
  const refused: Record<CheckKind, number> = { deciding: 0, first: 0, watching: 0, looking: 0, hinted: 0 }
  let sharing = 0

  function askerOf({ payer, origin }: Lane): Asker {
    return { payer, destinations: origin === null ? [] : destinations.of(origin) }
  }

  /**
   * Tells whether a check may read now. One that only looks waits for its destination and its budget. One that decides never waits: its
   * receipt has to say that the destination hung, or that the budget was used up.
   */
  function mayRead(read: DueRead, kind: CheckKind): boolean {
    const mayBegin = kind === 'hinted' ? budgets.mayBeginOnHint : budgets.mayBegin
    return kind === 'deciding' || (mayBegin(read.lane) && !breakers.mustWait(read))
  }

  function mayShare(kind: CheckKind): boolean {
    return kind === 'deciding' && sharing < MAX_SHARING
  }

  /** Tells whether `enter` would let the check begin now: with a slot, or by sharing, which takes none. */
  function mayEnter(read: DueRead, kind: DueKind): boolean {
    if (!mayRead(read, kind)) return false
    return (mayShare(kind) && breakers.mayShare(read)) || !slots.usedUp(askerOf(read.lane), kind)
  }

  function refuse(due: DueClaim, kind: CheckKind, usedUp: keyof ReturnType<typeof namesOfLane>): undefined {
    refused[kind]++
    // Nothing waits for a look on a hint.
    if (kind === 'hinted') return
    busy[kind].set(namesOfLane(due.lane)[usedUp], due)
    if (busy[kind].size > MAX_BUSY) busy[kind].delete(busy[kind].keys().next().value!)
  }

  /** Has a check share an outcome, which takes no slot. @param again shares also after a shared check */
  function share(read: DueRead, kind: CheckKind, again = false): Entry | undefined {
    const shared = mayShare(kind) ? breakers.toShare(read, again) : undefined
    if (!shared) return undefined
    sharing++
    return { kind, shared, end: () => void sharing-- }
  }

  return {
    /** Admits a check of this claim; undefined while it must wait. */
    enter(due: DueClaim, kind: CheckKind): Entry | undefined {
      const read = readOf(due)
      if (!mayRead(read, kind)) return refuse(due, kind, 'lane')
      const sharer = share(read, kind)
      if (sharer) return sharer
      const release = slots.take(askerOf(read.lane), kind)
      if (typeof release === 'string') return share(read, kind, true) ?? refuse(due, kind, release)
      const endReading = budgets.begin(read.lane, kind === 'deciding')
      const endTry = breakers.begin(read)
      return {
        kind,
        shared: undefined,
        end(record) {
          endReading()
          endTry(record)
          release()
        },
      }
    },
    /** Lists the names whose claims were refused, and still would be, in the form of `namesOfLane`. */
    busy(kind: DueKind): string[] {
      for (const [name, due] of busy[kind]) if (mayEnter(readOf(due), kind)) busy[kind].delete(name)
      return [...busy[kind].keys()]
    },
    /** Calls the listener when a check ends after others were refused, so that theirs may begin. */
    onFree(listener: () => void): void {
      slots.onFree(() => {
        if (Object.values(busy).some(({ size }) => size > 0)) listener()
      })
    },
    state: () => ({
      running: slots.usage(),
      /** The number of refusals since the host started; the same check may be refused again and again. */
      refused: { ...refused },
      /** The number of destinations that hang. */
      openBreakers: breakers.open(),
    }),
  }
}

function readOf({ lane, ...due }: DueClaim): DueRead {
  return { ...due, lane: partsOfLane(lane) }
}
