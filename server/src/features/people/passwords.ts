/** Password hashes: argon2id with the parameters that OWASP recommends (19 MiB, two passes). */
import { hash, verify } from '@node-rs/argon2'
import pLimit from 'p-limit'
import { ServiceError } from '../../base/errors.ts'

// argon2id is the library's default algorithm.
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** The limits of a password's length, in code points. */
export const PASSWORD_LENGTH = { least: 12, most: 256 } as const

// One password is hashed at a time, because each hash takes memory and a thread of the pool that also signs receipts.
const MAX_WAITING = 64
const oneAtATime = pLimit(1)

// A hash to verify for an unknown account, so that the time of an answer does not reveal which accounts exist.
let dummyHash: Promise<string> | undefined

/**
 * Checks the length of a password.
 * @throws ServiceError `bad_request` when it is too short or too long
 */
export function checkLength(password: string): void {
  const { length } = [...password]
  const { least, most } = PASSWORD_LENGTH
  if (length < least)
    throw new ServiceError('bad_request', `the password is too short: use at least ${least} characters`)
  if (length > most) throw new ServiceError('bad_request', `the password is too long: use at most ${most} characters`)
}

/**
 * Hashes a password.
 * @throws ServiceError `bad_request` when it is too short or too long; `unavailable`
 */
export async function hashPassword(password: string): Promise<string> {
  checkLength(password)
  return inTurn(() => hash(password.normalize('NFC'), PARAMETERS))
}

/** Compares a password with a hash. Without a hash it returns false after the same time. @throws ServiceError `unavailable` */
export async function isPassword(password: string, passwordHash: string | null | undefined): Promise<boolean> {
  const dummy = await hashOfNoPassword()
  const expected = passwordHash ?? dummy
  // A text that is too long for any password is not worth normalizing and hashing; the empty password matches no stored hash.
  const given = password.length > PASSWORD_LENGTH.most * 4 ? '' : password.normalize('NFC')
  const matches = await inTurn(() => verify(expected, given))
  return matches && typeof passwordHash === 'string'
}

function hashOfNoPassword(): Promise<string> {
  dummyHash ??= inTurn(() => hash('', PARAMETERS)).catch((error) => {
    // A failure that stayed here would refuse every later sign-in.
    dummyHash = undefined
    throw error
  })
  return dummyHash
}

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (oneAtATime.activeCount + oneAtATime.pendingCount >= MAX_WAITING)
    throw new ServiceError('unavailable', 'too many people are signing in now: try again later')
  return oneAtATime(work)
}
