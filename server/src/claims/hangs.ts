/**
 * Destinations that hang. After some timeouts in a row, few checks of a workspace try such a destination at a time, and those that
 * decide meanwhile share how a try ends. Otherwise a flood of claims at a destination that hangs would take hours of slots, and its
 * closing reads would come late.
 */
import { type CheckRecord, isRead } from '@claimcheck/core'
import { LRUCache } from 'lru-cache'
import type { Lane } from '../storage/claims.ts'

export interface Hangs {
  /** Undefined while a check may try. Else the outcome of the last try that began: true when it hung. */
  tryUnderWay(lane: Lane): Promise<boolean> | undefined
  /** A check begins to read. The result ends it, with its record, or without one when it was not made. */
  begin(lane: Lane): (record: CheckRecord | undefined) => void
}

/** A destination hangs after so many timeouts without an answer in between. */
const TIMEOUTS_IN_A_ROW = 4
const MOST_TRIES = 2
const MAX_DESTINATIONS = 10_000

interface Destination {
  timeouts: number
  readonly tries: Set<Promise<boolean>>
}

export function createHangs(): Hangs {
  const destinations = new LRUCache<string, Destination>({ max: MAX_DESTINATIONS })

  /** Of one workspace: nobody's claims fail because of what others read. */
  function destinationOf({ workspaceId, connectionId, origin }: Lane): Destination {
    const name = `${workspaceId} ${connectionId ?? ''} ${origin ?? ''}`
    const known = destinations.get(name)
    if (known) return known
    const created: Destination = { timeouts: 0, tries: new Set() }
    destinations.set(name, created)
    return created
  }

  return {
    tryUnderWay(lane) {
      const { timeouts, tries } = destinationOf(lane)
      return timeouts >= TIMEOUTS_IN_A_ROW && tries.size >= MOST_TRIES ? [...tries].at(-1) : undefined
    },
    begin(lane) {
      const destination = destinationOf(lane)
      let resolve = (_hung: boolean) => {}
      const promise = new Promise<boolean>((settle) => {
        resolve = settle
      })
      destination.tries.add(promise)
      return (record) => {
        destination.tries.delete(promise)
        const hung = record !== undefined && isTimeout(record)
        if (hung) destination.timeouts++
        else if (record) destination.timeouts = 0
        resolve(hung)
      }
    },
  }
}

function isTimeout(record: CheckRecord): boolean {
  return !isRead(record) && record.failure.code === 'timeout'
}
