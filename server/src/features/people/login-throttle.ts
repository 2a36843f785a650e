/**
 * Slows attempts at the secret of an account, and locks no account. Failures count by account and source together: each source has some free
 * attempts, then waits, longer each time. A source is the network that an attempt comes from, or a browser that is known to have signed in to the
 * account. Strangers also wait for the failures of other strangers: at the account, so that many addresses gain little, and in their network. That
 * wait begins for each network when it first asks, so that others cannot use up the turn of the account's person.
 */
import { hash } from 'node:crypto'
import type { Instant } from '@claimcheck/core/rules'
import { duration } from '@claimcheck/core/words/durations'
import { ServiceError } from '../../base/errors.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Throttle } from '../../storage/throttles.ts'

/** The growth of the wait with the number of failures. */
interface Growth {
  readonly free: number
  /** The wait after the last free failure. It doubles with each further one. */
  readonly firstMs: number
  readonly mostMs: number
}

const SECOND = 1000
const MINUTE = 60 * SECOND

export const GROWTH = {
  /** The failures of one source at one account. */
  pair: { free: 5, firstMs: 2 * SECOND, mostMs: 15 * MINUTE },
  /** The failures of all strangers at one account. */
  account: { free: 20, firstMs: SECOND, mostMs: 10 * MINUTE },
  /** The failures of one network's strangers at all accounts: an office may be behind one address. */
  network: { free: 50, firstMs: SECOND, mostMs: MINUTE },
} as const satisfies Readonly<Record<string, Growth>>

/** The time without another failure after which failures are forgotten. */
export const FORGOTTEN_AFTER_MS = 24 * 60 * MINUTE
const REMOVE_EVERY_MS = 10 * MINUTE

export function waitAfter(failures: number, { free, firstMs, mostMs }: Growth): number {
  return failures < free ? 0 : Math.min(mostMs, firstMs * 2 ** (failures - free))
}

/** The source of an attempt. */
export interface Place {
  /** The network by which requests are counted. */
  readonly network: string
  /** The id of a browser that is known to have signed in to the account. */
  readonly browser: string | undefined
}

/** An attempt, which counts as failed until it is known to be right. */
export interface Attempt {
  succeeded(): Promise<void>
}

export type LoginThrottle = ReturnType<typeof createLoginThrottle>

export function createLoginThrottle({ storage, now }: { storage: Pick<Storage, 'write'>; now: () => Instant }) {
  let removedAt: Instant = Number.NEGATIVE_INFINITY

  async function removeForgotten(): Promise<void> {
    const at = now()
    if (at - removedAt < REMOVE_EVERY_MS) return
    removedAt = at
    await storage.write((tx) => tx.throttles.removeExpired(at))
  }

  return {
    /**
     * Counts an attempt before it is checked, so that concurrent attempts are all counted.
     * @param account the target of the attempt, whether it exists or not: an e-mail address, or `code` and the id of a user
     * @throws ServiceError `too_many`; StorageError `unavailable`: no attempt goes uncounted
     */
    async begin(account: string, place: Place): Promise<Attempt> {
      await removeForgotten()
      const subjects = subjectsOf(account, place)
      const ofStrangers = [subjects.account, subjects.network].filter((subject) => subject !== undefined)
      const all = [subjects.pair, ...ofStrangers]
      const waitMs = await storage.write(async (tx) => {
        const at = now()
        const taken = await tx.throttles.take(all, at)
        const { changed, waitMs } = count(subjects, taken, at)
        await tx.throttles.put(changed)
        return waitMs
      })
      if (waitMs > 0) throw tooMany(waitMs)
      return {
        succeeded: () =>
          storage.write(async (tx) => {
            const at = now()
            const taken = await tx.throttles.take(all, at)
            await tx.throttles.remove(subjects.pair)
            // Only this attempt is taken back: a person who knows one secret must not wipe out the failures at others.
            const back = ofStrangers.map((subject) => taken.get(subject)!)
            await tx.throttles.put(
              back.map((throttle) => ({ ...throttle, count: Math.max(0, throttle.count - 1), nextAt: at })),
            )
          }),
      }
    },
  }
}

/** The counts that an attempt belongs to. An attempt from a known browser belongs to its pair alone. */
interface Subjects {
  readonly pair: string
  readonly account?: string
  readonly network?: string
}

/** Names the counts of an attempt. The account is hashed: an address does not concern readers of the database, and may be of any length. */
function subjectsOf(account: string, { network, browser }: Place): Subjects {
  const name = hash('sha256', account)
  if (browser !== undefined) return { pair: `guess ${name} in browser ${browser}` }
  return { pair: `guess ${name} from ${network}`, account: `guess ${name}`, network: `guess from ${network}` }
}

/** Returns the throttles that an attempt changes, and how long it has to wait; 0 for one that may be checked. */
function count(subjects: Subjects, taken: ReadonlyMap<string, Throttle>, at: Instant) {
  const pair = taken.get(subjects.pair)!
  const account = taken.get(subjects.account ?? '')
  const network = taken.get(subjects.network ?? '')
  const expiresAt = at + FORGOTTEN_AFTER_MS
  const accountMs = account ? waitAfter(account.count, GROWTH.account) : 0

  if (network && network.nextAt > at) return { changed: [], waitMs: network.nextAt - at }
  if (pair.nextAt > at) return { changed: [], waitMs: pair.nextAt - at }
  // The first attempt from a network waits for the strangers before it; a time that has come was waited for.
  if (pair.nextAt === 0 && accountMs > 0) {
    return { changed: [{ ...pair, nextAt: at + accountMs, expiresAt }], waitMs: accountMs }
  }

  const failed = (throttle: Throttle, waitMs: number): Throttle => {
    return { ...throttle, count: throttle.count + 1, nextAt: at + waitMs, expiresAt }
  }
  const pairMs = waitAfter(pair.count + 1, GROWTH.pair)
  const changed = [failed(pair, Math.max(pairMs, account ? waitAfter(account.count + 1, GROWTH.account) : 0))]
  if (account) changed.push(failed(account, 0))
  if (network) changed.push(failed(network, waitAfter(network.count + 1, GROWTH.network)))
  return { changed, waitMs: 0 }
}

function tooMany(waitMs: number): ServiceError {
  const message = `too many wrong guesses: wait ${duration(Math.ceil(waitMs / SECOND) * SECOND)}, then try again. A passkey, and a browser in which you have signed in before, need no waiting for the guesses of others`
  return new ServiceError('too_many', message, { retryAfterMs: waitMs })
}
