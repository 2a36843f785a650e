/** Passwords: kept as argon2id with the parameters that OWASP names (19 MiB, two passes). */
import { hash, verify } from '@node-rs/argon2'
import { ServiceError } from '../base/errors.ts'

// argon2id is what the library makes unless told otherwise.
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** In code points. */
export const PASSWORD_LENGTH = { least: 12, most: 256 } as const

// One at a time, and so many in wait: each takes memory, and a place among the threads that sign.
const MOST_WAITING = 64
let waiting = 0
let last: Promise<unknown> = Promise.resolve()

// Of no password. Whoever asks for somebody unknown waits as long as for somebody known.
let ofNobody: Promise<string> | undefined

/** @throws ServiceError `bad_request` for one that is too short or too long; `unavailable` */
export async function hashPassword(password: string): Promise<string> {
  const { length } = [...password]
  const { least, most } = PASSWORD_LENGTH
  if (length < least) throw new ServiceError('bad_request', `a password has at least ${least} characters`)
  if (length > most) throw new ServiceError('bad_request', `a password has at most ${most} characters`)
  return inTurn(() => hash(password.normalize('NFC'), PARAMETERS))
}

/** False where there is no password, after the same time. @throws ServiceError `unavailable` */
export async function isPassword(password: string, passwordHash: string | null | undefined): Promise<boolean> {
  const ofNone = await nobodys()
  const expected = passwordHash ?? ofNone
  // What nobody can have is compared with nothing shorter.
  const given = password.length > PASSWORD_LENGTH.most * 4 ? '' : password.normalize('NFC')
  const matches = await inTurn(() => verify(expected, given))
  return matches && typeof passwordHash === 'string'
}

function nobodys(): Promise<string> {
  ofNobody ??= inTurn(() => hash('', PARAMETERS)).catch((error) => {
    // Else whoever is unknown would be refused in this way for good, which tells them apart.
    ofNobody = undefined
    throw error
  })
  return ofNobody
}

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (waiting >= MOST_WAITING) throw new ServiceError('unavailable', 'too many are signing in just now: try again')
  waiting += 1
  const turn = last.then(work)
  last = turn.catch(() => {})
  try {
    return await turn
  } finally {
    waiting -= 1
  }
}
