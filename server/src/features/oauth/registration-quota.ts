/** Limits the clients that one network may register a day: anyone may register, and a client that no person allows is kept for a week. */
import type { Instant } from '@claimcheck/core/rules'
import { ServiceError } from '../../base/errors.ts'
import type { Storage } from '../../storage/storage.ts'

export const REGISTRATIONS_A_DAY = 20
const DAY_MS = 24 * 60 * 60_000

export function createRegistrationQuota({ storage, now }: { storage: Pick<Storage, 'write'>; now: () => Instant }) {
  /** Counts a registration, or takes one back. Returns the time until the next may come, if there are too many. */
  function add(network: string, change: 1 | -1): Promise<number | undefined> {
    const subject = `registration from ${network}`
    return storage.write(async (tx) => {
      const at = now()
      const throttle = (await tx.throttles.take([subject], at)).get(subject)!
      const expiresAt = throttle.expiresAt <= at ? at + DAY_MS : throttle.expiresAt
      if (change > 0 && throttle.count >= REGISTRATIONS_A_DAY) return expiresAt - at
      await tx.throttles.put([{ ...throttle, count: Math.max(0, throttle.count + change), expiresAt }])
      return undefined
    })
  }

  return {
    /** Counts a registration before it is made. @throws ServiceError `too_many`; StorageError `unavailable` */
    async take(network: string): Promise<void> {
      const retryAfterMs = await add(network, 1)
      if (retryAfterMs === undefined) return
      const message = `too many applications were registered from this address: at most ${REGISTRATIONS_A_DAY} a day. Use one that is registered, or ask the operator to configure yours`
      throw new ServiceError('too_many', message, { retryAfterMs })
    },
    /** Takes back a registration that was refused, and stores nothing. */
    async giveBack(network: string): Promise<void> {
      await add(network, -1)
    },
  }
}
