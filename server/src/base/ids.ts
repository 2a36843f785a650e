/** Identifiers: a ULID behind a prefix that tells what it names. */
import { randomFillSync } from 'node:crypto'
import type { Instant } from '@claimcheck/core'

// Crockford's base 32, as the ULID specification takes it.
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

const TIME_LETTERS = 10
const RANDOM_LETTERS = 16
// Many ids' bytes at once: each call for random bytes costs more than the bytes.
const random = new Uint8Array(256 * RANDOM_LETTERS)
let used = random.length

type Prefix = 'ws_' | 'key_' | 'conn_' | 'clm_' | 'rcpt_' | 'usr_' | 'mem_' | 'ses_' | 'lnk_'

/** 48 bits of time and 80 random ones, never counted up: an id says nothing about its neighbours. */
export function newId(prefix: Prefix, now: Instant): string {
  let time = ''
  for (let left = Math.floor(now); time.length < TIME_LETTERS; left = Math.floor(left / 32))
    time = ALPHABET[left % 32] + time
  let id = prefix + time
  // 256 is a multiple of 32: no letter is likelier than another.
  for (const byte of randomBytes()) id += ALPHABET[byte % 32]
  return id
}

/** Given to nobody before. */
function randomBytes(): Uint8Array {
  if (used === random.length) {
    randomFillSync(random)
    used = 0
  }
  used += RANDOM_LETTERS
  return random.subarray(used - RANDOM_LETTERS, used)
}

/** When an id was made; undefined where it is none of ours. */
export function instantOf(id: string): Instant | undefined {
  const [, letters] = /^[a-z]+_([0-9A-HJKMNP-TV-Z]{10})[0-9A-HJKMNP-TV-Z]{16}$/.exec(id) ?? []
  if (letters === undefined) return undefined
  let instant = 0
  for (const letter of letters) instant = instant * 32 + ALPHABET.indexOf(letter)
  return instant
}
