/** Reads the base address of a destination, by the rules that every host of plugins has. */
import * as core from '@claimcheck/core'
import { LRUCache } from 'lru-cache'

export { isLiteral, normalAddress, type SocketAddress, socketAddress, unbracketed } from '@claimcheck/core'

/** A claim asks for the origin of one address several times, and most claims name an address that others named before. */
const origins = new LRUCache<string, { readonly origin: string | undefined }>({ max: 1000 })
/** Longer addresses are read each time, so that the cache stays small whatever a plugin or a client sends. */
const MOST_CACHED = 200

/** As core's: the scheme, host and port of a base address, in one form; undefined for what is none. */
export function originOf(text: string): string | undefined {
  const known = origins.get(text)
  if (known) return known.origin
  const origin = core.originOf(text)
  if (text.length <= MOST_CACHED) origins.set(text, { origin })
  return origin
}

/** As core's. @throws TypeError for what is no base address. Its text does not repeat what was given */
export function requireOrigin(text: string): string {
  return originOf(text) ?? core.requireOrigin(text)
}
