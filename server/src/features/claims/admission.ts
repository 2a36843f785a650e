/** Admits checks: gives each the slot that its workspace, key and destination may take, and leaves request budgets to others. */
import type { CheckRecord, Instant } from '@claimcheck/core/rules'
import type { Asker, ConcurrencyLimit, Share } from '../../outbound/concurrency-limit.ts'
import type { Destinations } from '../../outbound/destinations.ts'
import type { RateLimitBudgets } from '../../outbound/rate-limit-budget.ts'
import { type DueClaim, type DueKind, type Lane, namesOfLane, partsOfLane } from '../../storage/claims.ts'
import { type CircuitBreakers, createCircuitBreakers, type DueRead } from './circuit-breaker.ts'
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
  /** Destinations that hang. */
  readonly openBreakers: number
}

interface AdmissionOptions {
  readonly config: Pick<ClaimsConfig, 'checks'>
  readonly destinations: Destinations
  readonly budgets: RateLimitBudgets
  readonly slots: ConcurrencyLimit
  readonly now: () => Instant
}

/** Beyond this the earliest are forgotten, and refused once more. */
const MAX_BUSY = 1000
/** Checks that share an outcome take no slot, but some kilobytes of memory. */
const MAX_SHARING = 5000

interface Admissions {
  readonly slots: ConcurrencyLimit
  readonly breakers: CircuitBreakers
  readonly destinations: Destinations
  readonly budgets: RateLimitBudgets
  /** By name, a claim that was refused. */
  readonly busy: Readonly<Record<DueKind, Map<string, DueClaim>>>
  readonly refused: Record<DueKind, number>
  sharing: number
}

export function createAdmission({ config, destinations, budgets, slots, now }: AdmissionOptions): Admission {
  const { timeoutMs } = config.checks
  const breakers = createCircuitBreakers({ timeoutMs, now })
  const busy = { deciding: new Map(), first: new Map(), watching: new Map(), looking: new Map() }
  const refused = { deciding: 0, first: 0, watching: 0, looking: 0 }
  const admissions: Admissions = { slots, breakers, destinations, budgets, busy, refused, sharing: 0 }
  return {
    enter: (due, kind) => enter(admissions, due, kind),
    busy(kind) {
      const ofKind = admissions.busy[kind]
      for (const [name, due] of ofKind) if (mayEnter(admissions, readOf(due), kind)) ofKind.delete(name)
      return [...ofKind.keys()]
    },
    onFree(listener) {
      slots.onFree(() => {
        if (Object.values(busy).some(({ size }) => size > 0)) listener()
      })
    },
    state: () => ({ running: slots.usage(), refused: { ...refused }, openBreakers: breakers.open() }),
  }
}

function enter(admissions: Admissions, due: DueClaim, kind: DueKind): Entry | undefined {
  const { slots, breakers, budgets } = admissions
  const read = readOf(due)
  const { lane } = read
  if (!mayRead(admissions, read, kind)) return refuse(admissions, due, kind, 'lane')
  const first = mayAddSharer(admissions, kind) ? breakers.toShare(read) : undefined
  if (first) return share(admissions, first, kind)
  const release = slots.take(askerOf(admissions, lane), kind)
  if (typeof release === 'string') {
    const outcome = mayAddSharer(admissions, kind) ? breakers.toShare(read, true) : undefined
    return outcome ? share(admissions, outcome, kind) : refuse(admissions, due, kind, release)
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
}

/** Whether `enter` would let the check begin now: with a slot, or by sharing, which takes none. */
function mayEnter(admissions: Admissions, read: DueRead, kind: DueKind): boolean {
  const { slots, breakers } = admissions
  if (!mayRead(admissions, read, kind)) return false
  const mayShare = mayAddSharer(admissions, kind) && breakers.mayShare(read)
  return mayShare || !slots.usedUp(askerOf(admissions, read.lane), kind)
}

/**
 * A check that only looks waits for its destination and its budget. One that decides never waits for them: its receipt has to say
 * that the destination hung, or that the budget was used up.
 */
function mayRead({ budgets, breakers }: Admissions, read: DueRead, kind: DueKind): boolean {
  return isDeciding(kind) || (budgets.mayBegin(read.lane) && !breakers.mustWait(read))
}

function mayAddSharer({ sharing }: Admissions, kind: DueKind): boolean {
  return isDeciding(kind) && sharing < MAX_SHARING
}

function isDeciding(kind: DueKind): boolean {
  return kind === 'deciding'
}

function readOf({ lane, ...due }: DueClaim): DueRead {
  return { ...due, lane: partsOfLane(lane) }
}

function askerOf({ destinations }: Admissions, { payer, workspaceId, submittedBy, origin }: Lane): Asker {
  return { payer, workspaceId, submittedBy, destinations: origin === null ? [] : destinations.of(origin) }
}

function refuse(
  { refused, busy }: Admissions,
  due: DueClaim,
  kind: DueKind,
  usedUp: keyof ReturnType<typeof namesOfLane>,
): undefined {
  refused[kind]++
  const ofKind = busy[kind]
  ofKind.set(namesOfLane(due.lane)[usedUp], due)
  if (ofKind.size > MAX_BUSY) ofKind.delete(ofKind.keys().next().value!)
}

function share(admissions: Admissions, shared: Promise<boolean>, kind: DueKind): Entry {
  admissions.sharing++
  return {
    kind,
    shared,
    end() {
      admissions.sharing--
    },
  }
}
