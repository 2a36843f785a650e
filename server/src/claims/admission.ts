/** Admits checks: gives each the slot that its workspace, key and destination may take, and leaves request allowances to others. */
import type { Config } from '../config/config.ts'
import type { Allowances } from '../outbound/allowances.ts'
import type { Destinations } from '../outbound/destinations.ts'
import { type DueKind, partsOfLane } from '../storage/claims.ts'
import { type Asker, createSlots, type Release, type Share } from './slots.ts'

export interface Admission {
  /** Lets a check of this lane begin; undefined: not now. */
  enter(lane: string, kind: DueKind): Release | undefined
  /** The lanes that were refused, and still would be. */
  busyLanes(kind: DueKind): string[]
  /** Called when a check ends after others were refused, so that theirs may begin. */
  onFree(listener: () => void): void
  state(): AdmissionState
}

export interface AdmissionState {
  readonly running: Readonly<Record<Share, number>>
  /** Since the host started. */
  readonly refused: Readonly<Record<DueKind, number>>
}

interface AdmissionOptions {
  readonly config: Pick<Config, 'checks'>
  readonly destinations: Destinations
  readonly allowances: Allowances
}

/** Beyond this the earliest are forgotten, and refused once more. */
const MAX_BUSY_LANES = 1000

export function createAdmission({ config, destinations, allowances }: AdmissionOptions): Admission {
  const slots = createSlots(config.checks.concurrency)
  const busy: Readonly<Record<DueKind, Set<string>>> = { deciding: new Set(), looking: new Set() }
  const refused = { deciding: 0, looking: 0 }

  const isDeciding = (kind: DueKind) => kind === 'deciding'

  function askerOf(lane: string): Asker {
    const { workspaceId, submittedBy, origin } = partsOfLane(lane)
    return { workspaceId, submittedBy, destination: origin === null ? undefined : destinations.of(origin) }
  }

  /** A check that decides may always try: when the allowance is used up, its receipt has to say so. */
  function hasAllowance(lane: string, kind: DueKind): boolean {
    return isDeciding(kind) || allowances.mayBegin(partsOfLane(lane))
  }

  function refuse(lane: string, kind: DueKind): undefined {
    refused[kind]++
    const lanes = busy[kind]
    lanes.add(lane)
    if (lanes.size > MAX_BUSY_LANES) lanes.delete(lanes.values().next().value!)
  }

  return {
    enter(lane, kind) {
      if (!hasAllowance(lane, kind)) return refuse(lane, kind)
      const release = slots.take(askerOf(lane), isDeciding(kind))
      if (!release) return refuse(lane, kind)
      const end = allowances.begin(partsOfLane(lane))
      return () => {
        end()
        release()
      }
    },
    busyLanes(kind) {
      for (const lane of busy[kind]) {
        if (hasAllowance(lane, kind) && slots.isFree(askerOf(lane), isDeciding(kind))) busy[kind].delete(lane)
      }
      return [...busy[kind]]
    },
    onFree(listener) {
      slots.onFree(() => {
        if (busy.deciding.size + busy.looking.size > 0) listener()
      })
    },
    state: () => ({ running: slots.usage(), refused: { ...refused } }),
  }
}
