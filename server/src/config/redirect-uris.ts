/** Where a client may have people sent back to: https, a loopback address, or a scheme of the application's own (RFC 8252 7). */

/** Of one application. */
export const MAX_REDIRECT_URIS = 20
export const MAX_REDIRECT_URI_LENGTH = 2000

const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])
// What browsers run, show or hand over themselves: no application's own.
const FORBIDDEN_SCHEMES: ReadonlySet<string> = new Set(
  'about: blob: data: file: filesystem: ftp: intent: javascript: mailto: tel: view-source: vbscript: ws: wss:'.split(
    ' ',
  ),
)
// What browsers take for more than a name, such as a comma or an asterisk, would mean something in a policy.
const HOST = /^([a-z0-9._-]+|\[[0-9a-f:.]+\])$/

/** What is wrong with a redirect URI; undefined when nothing is. */
export function redirectProblem(text: string): string | undefined {
  if (!URL.canParse(text)) return 'is no absolute URI'
  const { protocol, hostname, username, password } = new URL(text)
  if (text.includes('#')) return 'must have no fragment'
  if (username + password !== '') return 'must name no user'
  if (FORBIDDEN_SCHEMES.has(protocol)) return `must not be of the scheme ${protocol.slice(0, -1)}`
  if (/^https?:$/.test(protocol) && !HOST.test(hostname)) return 'must name a host'
  if (protocol === 'http:' && !LOOPBACK.has(hostname)) return 'must be https, or http on a loopback address'
  if (protocol === 'https:' && LOOPBACK.has(hostname)) return 'must be http on a loopback address'
  return undefined
}

/**
 * As a source of `form-action`: Chrome holds it also against where a form's answer redirects to.
 * Of what the grammar has no words for, such as IPv6 addresses, the scheme.
 */
export function formActionSource(redirectUri: string): string {
  const { protocol, origin, hostname } = new URL(redirectUri)
  const isWeb = protocol === 'http:' || protocol === 'https:'
  return isWeb && !hostname.startsWith('[') ? origin : protocol
}

/** Who it leads to, as people read it. */
export function redirectPlace(redirectUri: string): string {
  const { protocol, host, hostname } = new URL(redirectUri)
  if (LOOPBACK.has(hostname)) return 'an application on this device'
  return protocol === 'https:' ? host : `the application that opens ${protocol} links on this device`
}
