/** A lease as its holder has it: one host at a time does something, and another takes over when this one falls silent. */
import { randomUUID } from 'node:crypto'
import type { Storage } from '../storage/storage.ts'

export interface Lease {
  /**
   * Does the work when this host has the lease, or gets it now, and renews it meanwhile. The signal is aborted when it is lost
   * all the same; work that goes on then has to find out by what it writes.
   * @returns undefined, without having done it, when another host has the lease
   */
  hold<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T | undefined>
  /** Lets go, so that another host need not wait until it runs out. */
  release(): Promise<void>
}

/** How often it is renewed: it lasts three times as long. */
export const RENEW_MS = 5000

export function createLease(name: string, { storage, renewMs = RENEW_MS }: LeaseOptions): Lease {
  const holder = randomUUID()
  const take = () => storage.write((tx) => tx.leases.take(name, holder, 3 * renewMs))

  return {
    async hold(work) {
      if (!(await take())) return undefined
      const lost = new AbortController()
      const renewal = setInterval(() => {
        take().then(
          (isHeld) => isHeld || lost.abort(new LeaseLost()),
          // The database is away for now: it may be back before the lease has run out.
          () => {},
        )
      }, renewMs)
      try {
        return await work(lost.signal)
      } finally {
        clearInterval(renewal)
      }
    },
    release: () => storage.write((tx) => tx.leases.release(name, holder)),
  }
}

interface LeaseOptions {
  readonly storage: Pick<Storage, 'write'>
  readonly renewMs?: number
}

export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
}
