/** The key that agents and the connection of tests share, and the fingerprints that agents make with it. */
import { createHmac } from 'node:crypto'

export const KEY = 'a-key-that-agents-share'

export function fingerprintOf(address: string): string {
  return `hmac-sha256:${createHmac('sha256', KEY).update(`claimcheck.fingerprint:${address}`).digest('hex')}`
}
