/** Slows people who guess what others have: names of workspaces, addresses that have an account. */
import type { Instant } from '@claimcheck/core/rules'
import type { Acting } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import type { Storage } from '../../storage/storage.ts'
import { counted } from '../../storage/throttles.ts'

const DAY_MS = 24 * 60 * 60_000
/** The most taken names that one person may be told of in a day. */
export const MOST_TAKEN = 20

interface Guesses {
  /** The name of the count: whose guesses they are, and at what. */
  readonly subject: string
  /** The most right guesses in a day. */
  readonly most: number
  /** Tells whether the error of the work says that the guess was right. */
  isRight(error: unknown): boolean
  /** The message, as in "you tried 20 names that are taken today: choose one tomorrow". */
  readonly refusal: string
}

/**
 * Does work, and counts right guesses.
 * @throws ServiceError `too_many` before the work begins, so that it tells nothing
 */
export async function countingGuesses<T>(
  storage: Pick<Storage, 'read' | 'write'>,
  { subject, most, isRight, refusal }: Guesses,
  at: Instant,
  work: () => Promise<T>,
): Promise<T> {
  const before = await storage.read.throttles.of(subject, at)
  if (before && before.count >= most)
    throw new ServiceError('too_many', refusal, { retryAfterMs: before.expiresAt - at })
  try {
    return await work()
  } catch (error) {
    if (isRight(error)) {
      await storage.write(async (tx) => {
        const throttle = (await tx.throttles.take([subject], at)).get(subject)!
        await tx.throttles.put([counted(throttle, at, DAY_MS)])
      })
    }
    throw error
  }
}

/** The error of a taken name. It does not say which name it is like, as that may belong to strangers. */
export class NameTakenError extends ServiceError {
  constructor(name: string) {
    super('conflict', `the name ${name} is taken, or looks like one that is: choose another name`)
  }
}

/** Limits how many taken names a person learns in a day. The command line has no limit. @throws ServiceError `too_many` */
export function countingTakenNames<T>(
  storage: Pick<Storage, 'read' | 'write'>,
  { actor }: Acting,
  at: Instant,
  work: () => Promise<T>,
): Promise<T> {
  if (actor.kind !== 'user') return work()
  const guesses = {
    subject: `taken names by ${actor.id}`,
    most: MOST_TAKEN,
    isRight: (error: unknown) => error instanceof NameTakenError,
    refusal: `you tried ${MOST_TAKEN} names that are taken today: choose one tomorrow, or ask the operator`,
  }
  return countingGuesses(storage, guesses, at, work)
}
