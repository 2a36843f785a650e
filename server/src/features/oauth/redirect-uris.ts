/** The rules for redirect URIs: https, http on a loopback address, or a private-use scheme (RFC 8252 7). */
import { parseUrl } from '@claimcheck/core/plugin'

/** The most redirect URIs that a client may have. */
export const MAX_REDIRECT_URIS = 20
export const MAX_REDIRECT_URI_LENGTH = 2000

const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])
// Browsers run or show these schemes themselves, or pass them to a fixed application: none can belong to a client.
const FORBIDDEN_SCHEMES: ReadonlySet<string> = new Set(
  'about: blob: data: file: filesystem: ftp: intent: javascript: mailto: tel: view-source: vbscript: ws: wss:'.split(
    ' ',
  ),
)
// Hosts may have more characters in browsers, such as a comma or an asterisk, which no name of a host has.
const HOST = /^([a-z0-9._-]+|\[[0-9a-f:.]+\])$/

/** Finds the mistake in a redirect URI, as words that follow "the URI"; undefined when it is valid. */
export function redirectProblem(text: string): string | undefined {
  // The URL parser removes line breaks and tabs, so that the text and the compared address would be two different ones.
  if (isUnclear(text)) return 'must have no spaces, line breaks or control characters'
  const url = parseUrl(text)
  if (!url) return 'must be an absolute URI'
  const { protocol, hostname, username, password } = url
  if (text.includes('#')) return 'must have no fragment'
  if (username + password !== '') return 'must have no user or password'
  if (FORBIDDEN_SCHEMES.has(protocol)) return `must not have the scheme ${protocol.slice(0, -1)}`
  if (/^https?:$/.test(protocol) && !HOST.test(hostname)) return 'must name a host'
  if (protocol === 'http:' && !LOOPBACK.has(hostname)) return 'must be https, or http on a loopback address'
  if (protocol === 'https:' && LOOPBACK.has(hostname)) return 'must be http on a loopback address'
  return undefined
}

/** Tells whether readers of addresses may read a text differently. */
export function isUnclear(redirectUri: string): boolean {
  return /[\s\p{C}]/u.test(redirectUri)
}

/** Describes the recipient of a redirect to the person who is asked for consent. */
export function redirectPlace(redirectUri: string): string {
  const { protocol, host, hostname } = new URL(redirectUri)
  if (LOOPBACK.has(hostname)) return 'an application on this device'
  return protocol === 'https:' ? host : `the application that opens ${protocol} links on this device`
}
