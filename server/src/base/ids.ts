/** Identifiers: a prefix that says what the id names, then a ULID. */
import { randomFillSync } from 'node:crypto'
import type { Instant } from '@claimcheck/core/rules'

// Crockford's base 32, which the ULID specification prescribes.
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

const TIME_LETTERS = 10
const RANDOM_LETTERS = 16
// Random bytes for 256 ids at a time: a call for random bytes takes longer than making them.
const pool = new Uint8Array(256 * RANDOM_LETTERS)
let used = pool.length

type Prefix =
  | 'ws_'
  | 'key_'
  | 'conn_'
  | 'clm_'
  | 'rcpt_'
  | 'usr_'
  | 'mem_'
  | 'ses_'
  | 'lnk_'
  | 'mail_'
  | 'bkp_'
  | 'wht_'
  | 'msg_'
  | 'rvt_'
  | 'fnd_'

/** Makes an id of 48 bits of time and 80 random bits. The random bits are never counted up, so an id does not reveal its neighbours. */
export function newId(prefix: Prefix, now: Instant): string {
  let time = ''
  for (let left = Math.floor(now); time.length < TIME_LETTERS; left = Math.floor(left / 32))
    time = ALPHABET[left % 32] + time
  let id = prefix + time
  // 256 is a multiple of 32, so every letter is equally likely.
  for (const byte of takeRandom()) id += ALPHABET[byte % 32]
  return id
}

/** Returns each byte of the pool once. */
function takeRandom(): Uint8Array {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += RANDOM_LETTERS
  return pool.subarray(used - RANDOM_LETTERS, used)
}

/** Reads the time in an id; undefined when the text is not an id of this form. */
export function instantOf(id: string): Instant | undefined {
  const [, letters] = /^[a-z]+_([0-9A-HJKMNP-TV-Z]{10})[0-9A-HJKMNP-TV-Z]{16}$/.exec(id) ?? []
  if (letters === undefined) return undefined
  let instant = 0
  for (const letter of letters) instant = instant * 32 + ALPHABET.indexOf(letter)
  return instant
}
