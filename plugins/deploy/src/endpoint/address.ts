/** Brings the addresses of endpoints into one form. */
import { DestinationError, parseUrl } from '@claimcheck/core/plugin'
import { LONGEST_ADDRESS } from './profile.ts'

/** Parses an address; undefined if it is no URL, or not in its one form. */
export function readAddress(target: string): URL | undefined {
  const url = parseUrl(target)
  return url?.href === target ? url : undefined
}

/** Writes the host in lower case, and drops the usual port and dots in the path. An address without such a form stays, and is refused later. */
export function normalAddress(target: string): string {
  const href = parseUrl(target)?.href ?? target
  return href.length <= LONGEST_ADDRESS ? href : target
}

/**
 * The origin at which a claim is read without a connection; undefined for another port than that of https, through which an asker could find out
 * which services a machine has.
 * @throws DestinationError `unsupported_target`
 */
export function publicOrigin(target: string): string | undefined {
  const url = readAddress(target)
  if (url === undefined) throw new DestinationError('unsupported_target')
  return url.port === '' ? url.origin : undefined
}

/** Tells whether a redirect leads to the same address, with a slash at its end or without. */
export function isSameEndpoint(one: URL, other: URL): boolean {
  return one.origin === other.origin && one.search === other.search && withoutSlash(one) === withoutSlash(other)
}

function withoutSlash({ pathname }: URL): string {
  return pathname.endsWith('/') ? pathname.slice(0, -1) : pathname
}
