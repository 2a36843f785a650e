/** The addresses that claims name: their one form, and the origin at which they are read. */
import { DestinationError, parseUrl } from '@claimcheck/core/plugin'

/** Undefined for what is no URL, and for what would be written otherwise: no claim with it can be signed in one form. */
export function readAddress(target: string): URL | undefined {
  const url = parseUrl(target)
  return url?.href === target ? url : undefined
}

/** Receipts take no longer target. */
const LONGEST = 512

/** Host in lower case and ASCII, no usual port, no dots in the path. What has no such form stays as it is, and is refused then. */
export function normalAddress(target: string): string {
  const href = parseUrl(target)?.href ?? target
  return href.length <= LONGEST ? href : target
}

/**
 * Where a claim is read without a connection; undefined at another port than that of https: who asks for it could look through it
 * which services a machine has.
 *
 * @throws DestinationError `unsupported_target` for an address that no URL parser takes
 */
export function publicOrigin(target: string): string | undefined {
  const url = readAddress(target)
  if (url === undefined) throw new DestinationError('unsupported_target')
  return url.port === '' ? url.origin : undefined
}

/** A redirect that only adds or removes the slash at the end leads to the same page. */
export function isSamePage(one: URL, other: URL): boolean {
  return pageOf(one) === pageOf(other)
}

function pageOf({ origin, pathname, search }: URL): string {
  return origin + (pathname.endsWith('/') ? pathname.slice(0, -1) : pathname) + search
}
