/** Admits checks: gives each the slot that its workspace, key and destination may take, and leaves request budgets to others. */
import type { CheckRecord, Instant } from '@claimcheck/core/rules'
import type { Destinations } from '../../outbound/destinations.ts'
import type { RateLimitBudgets } from '../../outbound/rate-limit-budget.ts'
import { type DueClaim, type DueKind, type Lane, namesOfLane, partsOfLane } from '../../storage/claims.ts'
import { createCircuitBreakers, type Hanging } from './circuit-breaker.ts'
import { type Asker, createConcurrencyLimit, type Share } from './concurrency-limit.ts'
import type { ClaimsConfig } from './config.ts'

export interface Admission {
  /** Lets a check of this claim begin; undefined: not now. */
  enter(due: DueClaim, kind: DueKind): Entry | undefined
  /** Whose claims were refused, and still would be: names as in `namesOfLane`. */
  busy(kind: DueKind): string[]
  /** Called when a check ends after others were refused, so that theirs may begin. */
  onFree(listener: () => void): void
  state(): AdmissionState
}

export interface Entry {
  readonly kind: DueKind
  /** Ends the check, with its record, or without one when it was not made. */
  end(record: CheckRecord | undefined): void
  /** Where the destination hangs: the check must not read. It shares the outcome of another one, which is true when that hung as well. */
  readonly shared: Promise<boolean> | undefined
}

export interface AdmissionState {
  readonly running: Readonly<Record<Share, number>>
  /** How often a check was refused since the host started, the same one again and again. */
  readonly refused: Readonly<Record<DueKind, number>>
}

interface AdmissionOptions {
  readonly config: Pick<ClaimsConfig, 'checks'>
  readonly destinations: Destinations
  readonly budgets: RateLimitBudgets
  readonly now: () => Instant
}

/** Beyond this the earliest are forgotten, and refused once more. */
const MAX_BUSY = 1000
/** Checks that share an outcome take no slot, but some kilobytes of memory. */
const MAX_SHARING = 5000

export function createAdmission({ config, destinations, budgets, now }: AdmissionOptions): Admission {
  const slots = createConcurrencyLimit(config.checks.concurrency)
  const breakers = createCircuitBreakers({ timeoutMs: config.checks.timeoutMs, now })
  /** By name, a claim that was refused. */
  const busy: Readonly<Record<DueKind, Map<string, DueClaim>>> = {
    deciding: new Map(),
    first: new Map(),
    looking: new Map(),
  }
  const refused = { deciding: 0, first: 0, looking: 0 }
  let sharing = 0

  const isDeciding = (kind: DueKind) => kind === 'deciding'
  const readOf = ({ lane, ...due }: DueClaim): Hanging => ({ ...due, lane: partsOfLane(lane) })

  function askerOf({ workspaceId, submittedBy, origin }: Lane): Asker {
    return { workspaceId, submittedBy, destinations: origin === null ? [] : destinations.of(origin) }
  }

  /**
   * A check that only looks waits for its destination and its budget. One that decides never waits for them: its receipt has to say
   * that the destination hung, or that the budget was used up.
   */
  function mayRead(read: Hanging, kind: DueKind): boolean {
    return isDeciding(kind) || (budgets.mayBegin(read.lane) && !breakers.mustWait(read))
  }

  const mayAddSharer = (kind: DueKind) => isDeciding(kind) && sharing < MAX_SHARING

  /** Whether `enter` would let the check begin now: with a slot, or by sharing, which takes none. */
  function mayEnter(read: Hanging, kind: DueKind): boolean {
    if (!mayRead(read, kind)) return false
    return (mayAddSharer(kind) && breakers.mayShare(read)) || !slots.usedUp(askerOf(read.lane), kind)
  }

  function refuse(due: DueClaim, kind: DueKind, usedUp: keyof ReturnType<typeof namesOfLane>): undefined {
    refused[kind]++
    const ofKind = busy[kind]
    ofKind.set(namesOfLane(due.lane)[usedUp], due)
    if (ofKind.size > MAX_BUSY) ofKind.delete(ofKind.keys().next().value!)
  }

  function share(shared: Promise<boolean>, kind: DueKind): Entry {
    sharing++
    return {
      kind,
      shared,
      end() {
        sharing--
      },
    }
  }

  return {
    enter(due, kind) {
      const read = readOf(due)
      const { lane } = read
      if (!mayRead(read, kind)) return refuse(due, kind, 'lane')
      const first = mayAddSharer(kind) ? breakers.toShare(read) : undefined
      if (first) return share(first, kind)
      const release = slots.take(askerOf(lane), kind)
      if (typeof release === 'string') {
        const outcome = mayAddSharer(kind) ? breakers.toShare(read, true) : undefined
        return outcome ? share(outcome, kind) : refuse(due, kind, release)
      }
      const endReading = budgets.begin(lane, isDeciding(kind))
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
    busy(kind) {
      for (const [name, due] of busy[kind]) {
        if (mayEnter(readOf(due), kind)) busy[kind].delete(name)
      }
      return [...busy[kind].keys()]
    },
    onFree(listener) {
      slots.onFree(() => {
        if (busy.deciding.size + busy.first.size + busy.looking.size > 0) listener()
      })
    },
    state: () => ({ running: slots.usage(), refused: { ...refused } }),
  }
}
