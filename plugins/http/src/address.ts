/** Brings the addresses of claims into one form, and compares them. */
import { DestinationError, parseUrl } from '@claimcheck/core/plugin'

/** Parses an address; undefined if it is no URL, or not in its one form: no claim with it could be signed in one form. */
export function readAddress(target: string): URL | undefined {
  const url = parseUrl(target)
  return url?.href === target ? url : undefined
}

/** The longest target that receipts take, in characters. */
const LONGEST = 512

/**
 * Writes the host in lower case and ASCII, and drops the usual port and dots in the path. An address without such a form stays, and is
 * refused later.
 */
export function normalAddress(target: string): string {
  const href = parseUrl(target)?.href ?? target
  return href.length <= LONGEST ? href : target
}

/**
 * The origin at which a claim is read without a connection; undefined for another port than that of https, through which an asker could find out
 * which services a machine has.
 * @throws DestinationError `unsupported_target` for an address that no URL parser takes
 */
export function publicOrigin(target: string): string | undefined {
  const url = readAddress(target)
  if (url === undefined) throw new DestinationError('unsupported_target')
  return url.port === '' ? url.origin : undefined
}

/** Drops an address's query and fragment, which may carry a token. */
export function withoutQuery({ origin, pathname }: URL): string {
  return origin + pathname
}

/** Compares addresses without a slash at their ends. */
export function isSameAddress(one: string, other: string): boolean {
  return withoutSlash(one) === withoutSlash(other)
}

/** Tells whether a redirect leads to the same site, whose name may have `www.` before it. */
export function isSameSite(one: URL, other: URL): boolean {
  return one.protocol === other.protocol && withoutWww(one.host) === withoutWww(other.host)
}

/**
 * The prefix that a redirect put before the path of the same page, such as a language; empty if the redirect changed only how the page is written, or
 * `www.` before the name; undefined if it leads to another page.
 */
export function prefixOf(final: URL, target: URL): string | undefined {
  if (!isSameSite(final, target) || final.search !== target.search) return undefined
  const named = pageOf(target.pathname)
  if (pageOf(final.pathname) === named) return ''
  const [, prefix = '', path = ''] = /^\/([^/]+)(.*)/.exec(final.pathname) ?? []
  return pageOf(path) === named ? prefix : undefined
}

/** Brings a path into one form. Sites vary its case, `.html`, the page of a folder, doubled slashes, and escapes of characters that need none. */
function pageOf(path: string): string {
  const plain = path.replace(/%(?:2d|2e|5f|7e|3[0-9]|[46][1-9a-f]|[57][0-9a])/gi, decodeURIComponent)
  const one = plain.replace(/\/{2,}/g, '/').toLowerCase()
  return withoutSlash(one.replace(/\/index\.html?$/, '/').replace(/(?<=[^/])\.html?$/, ''))
}

function withoutSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path
}

function withoutWww(host: string): string {
  return host.startsWith('www.') ? host.slice('www.'.length) : host
}
