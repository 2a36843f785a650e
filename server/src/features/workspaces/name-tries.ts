/** Slows people who try names to find out which workspaces there are. */
import type { Instant } from '@claimcheck/core/rules'
import type { Acting } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import type { Storage } from '../../storage/storage.ts'

/** Taken names that one person may be told of in a day. */
export const MOST_TAKEN = 20
const DAY_MS = 24 * 60 * 60_000

/** Does not say which one: it may be one of people that the other does not know. */
export class NameTakenError extends ServiceError {
  constructor(name: string) {
    super('conflict', `the name ${name} is taken, or looks like one that is: choose another name`)
  }
}

/** @param work throws `NameTakenError` @throws ServiceError `too_many`, before the name is looked at: it tells nothing */
export async function countingTakenNames<T>(
  storage: Pick<Storage, 'write'>,
  { actor }: Acting,
  at: Instant,
  work: () => Promise<T>,
): Promise<T> {
  if (actor.kind !== 'user') return work()
  const subject = `taken names by ${actor.id}`
  const before = await storage.write(async (tx) => (await tx.throttles.take([subject], at)).get(subject)!)
  if (before.count >= MOST_TAKEN) {
    const message = `you tried ${MOST_TAKEN} names that are taken today: choose one tomorrow, or ask the operator`
    throw new ServiceError('too_many', message, { retryAfterMs: before.expiresAt - at })
  }
  try {
    return await work()
  } catch (error) {
    if (error instanceof NameTakenError) {
      await storage.write(async (tx) => {
        const throttle = (await tx.throttles.take([subject], at)).get(subject)!
        const expiresAt = throttle.count === 0 ? at + DAY_MS : throttle.expiresAt
        await tx.throttles.put([{ ...throttle, count: throttle.count + 1, expiresAt }])
      })
    }
    throw error
  }
}
