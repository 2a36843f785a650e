/** Admits checks: gives each the slot that its workspace, key and destination may take, and leaves request allowances to others. */
import type { CheckRecord } from '@claimcheck/core'
import type { Config } from '../config/config.ts'
import type { Allowances } from '../outbound/allowances.ts'
import type { Destinations } from '../outbound/destinations.ts'
import { type DueKind, partsOfLane } from '../storage/claims.ts'
import type { Hangs } from './hangs.ts'
import { type Asker, createSlots, type Share } from './slots.ts'

export interface Admission {
  /** Lets a check of this lane begin; undefined: not now. */
  enter(lane: string, kind: DueKind): Entry | undefined
  /** The lanes that were refused, and still would be. */
  busyLanes(kind: DueKind): string[]
  /** Called when a check ends after others were refused, so that theirs may begin. */
  onFree(listener: () => void): void
  state(): AdmissionState
}

export interface Entry {
  /** Ends the check, with its record, or without one when it was not made. */
  end(record: CheckRecord | undefined): void
  /** Where the destination hangs: the check must not read. It shares the outcome of another one, which is true when that hung as well. */
  readonly shared: Promise<boolean> | undefined
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
  readonly hangs: Hangs
}

/** Beyond this the earliest are forgotten, and refused once more. */
const MAX_BUSY_LANES = 1000

export function createAdmission({ config, destinations, allowances, hangs }: AdmissionOptions): Admission {
  const slots = createSlots(config.checks.concurrency)
  const busy: Readonly<Record<DueKind, Set<string>>> = { deciding: new Set(), looking: new Set() }
  const refused = { deciding: 0, looking: 0 }

  const isDeciding = (kind: DueKind) => kind === 'deciding'

  function askerOf(lane: string): Asker {
    const { workspaceId, submittedBy, origin } = partsOfLane(lane)
    return { workspaceId, submittedBy, destination: origin === null ? undefined : destinations.of(origin) }
  }

  /**
   * A check that only looks waits for its destination and its allowance. One that decides never waits for them: its receipt has to say
   * that the destination hung, or that the allowance was used up.
   */
  function mayRead(lane: string, kind: DueKind): boolean {
    const parts = partsOfLane(lane)
    return isDeciding(kind) || (allowances.mayBegin(parts) && !hangs.tryUnderWay(parts))
  }

  function refuse(lane: string, kind: DueKind): undefined {
    refused[kind]++
    const lanes = busy[kind]
    lanes.add(lane)
    if (lanes.size > MAX_BUSY_LANES) lanes.delete(lanes.values().next().value!)
  }

  return {
    enter(lane, kind) {
      if (!mayRead(lane, kind)) return refuse(lane, kind)
      const parts = partsOfLane(lane)
      const shared = hangs.tryUnderWay(parts)
      if (shared) return { shared, end() {} }
      const release = slots.take(askerOf(lane), isDeciding(kind))
      if (!release) return refuse(lane, kind)
      const endReading = allowances.begin(parts)
      const endTry = hangs.begin(parts)
      return {
        shared: undefined,
        end(record) {
          endReading()
          endTry(record)
          release()
        },
      }
    },
    busyLanes(kind) {
      for (const lane of busy[kind]) {
        if (mayRead(lane, kind) && slots.isFree(askerOf(lane), isDeciding(kind))) busy[kind].delete(lane)
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
