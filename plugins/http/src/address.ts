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

/** Without its query and fragment, which may carry a token. */
export function withoutQuery({ origin, pathname }: URL): string {
  return origin + pathname
}

/** They differ in a slash at the end alone. */
export function isSameAddress(one: string, other: string): boolean {
  return withoutSlash(one) === withoutSlash(other)
}

/** Where a redirect may lead that still is the site which the claim names. */
export function isSameSite(one: URL, other: URL): boolean {
  return one.protocol === other.protocol && withoutWww(one.host) === withoutWww(other.host)
}

/**
 * What a redirect put before the path of the same page, which may be a language; empty where it changed only how the page is written, or `www.`
 * before the name; undefined where it leads to another page.
 */
export function prefixOf(final: URL, target: URL): string | undefined {
  if (!isSameSite(final, target) || final.search !== target.search) return undefined
  const named = pageOf(target.pathname)
  if (pageOf(final.pathname) === named) return ''
  const [, prefix = '', path = ''] = /^\/([^/]+)(.*)/.exec(final.pathname) ?? []
  return pageOf(path) === named ? prefix : undefined
}

/** What sites write in several forms: the case, `.html`, the page of a folder, doubled slashes, and characters that need no escape. */
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
