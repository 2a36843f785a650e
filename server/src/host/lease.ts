/** Leases: one host at a time does a piece of work, and another host takes over when the first stops renewing. */
import { randomUUID } from 'node:crypto'
import type { Storage } from '../storage/storage.ts'

/** The time between renewals. A lease lasts three times as long. */
export const RENEW_MS = 5000

interface LeaseParts {
  readonly storage: Pick<Storage, 'write'>
  readonly renewMs?: number
}

export function createLease(name: string, { storage, renewMs = RENEW_MS }: LeaseParts) {
  const holder = randomUUID()
  const take = () => storage.write((tx) => tx.leases.take(name, holder, 3 * renewMs))

  return {
    /**
     * Takes or renews the lease, does the work, and keeps renewing until it is done. When the host loses the lease, the signal aborts.
     * Work that goes on after that must notice the other host by a conflict when it writes.
     * @returns undefined, without doing the work, when another host has the lease
     */
    async hold<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
      if (!(await take())) return undefined
      const lost = new AbortController()
      const renewal = setInterval(() => {
        take().then(
          (isHeld) => isHeld || lost.abort(new LeaseLost()),
          // An unreachable database ends nothing yet: a later renewal may succeed before the lease ends.
          () => {},
        )
      }, renewMs)
      try {
        return await work(lost.signal)
      } finally {
        clearInterval(renewal)
      }
    },
    /** Ends the lease now, so that another host need not wait until it expires. */
    release: () => storage.write((tx) => tx.leases.release(name, holder)),
  }
}

export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
}
