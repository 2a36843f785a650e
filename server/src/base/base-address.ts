/** Reads the base address of a destination, by the rules that every host of plugins has. */
import * as core from '@claimcheck/core/hosting'
import { LRUCache } from 'lru-cache'

export { isLiteral, type SocketAddress, socketAddress, unbracketed } from '@claimcheck/core/hosting'

interface Parts {
  readonly origin: string
  /** An IPv6 address in brackets. */
  readonly hostname: string
  /** The one form of the whole address. */
  readonly normal: string
}

/** A claim asks for the parts of one address several times, and most claims name an address that others named before. */
const addresses = new LRUCache<string, { readonly parts: Parts | undefined }>({ max: 1000 })
/** Longer addresses are read each time, so that the cache stays small whatever a plugin or a client sends. */
const MOST_CACHED = 200

/** As core's: the scheme, host and port of a base address, in one form; undefined for what is none. */
export function originOf(text: string): string | undefined {
  return partsOf(text)?.origin
}

/** As core's. @throws TypeError for what is no base address. Its text does not repeat what was given */
export function requireOrigin(text: string): string {
  return originOf(text) ?? core.requireOrigin(text)
}

/** The host of a base address, as a URL has it. @throws TypeError as `requireOrigin` */
export function requireHostname(text: string): string {
  return partsOf(text)?.hostname ?? core.requireOrigin(text)
}

/** As core's: the one form of a base address. @throws TypeError for what is no URL */
export function normalAddress(text: string): string {
  return partsOf(text)?.normal ?? core.normalAddress(text)
}

function partsOf(text: string): Parts | undefined {
  const known = addresses.get(text)
  if (known) return known.parts
  const origin = core.originOf(text)
  const parts =
    origin === undefined ? undefined : { origin, hostname: new URL(origin).hostname, normal: core.normalAddress(text) }
  if (text.length <= MOST_CACHED) addresses.set(text, { parts })
  return parts
}
