/** Adds a scheme's headers to requests, and hides its credentials in answers. */
import { DestinationError, isDestinationError } from '../../contract/destination-error.ts'
import { BreachError } from '../failures.ts'
import type { Outgoing } from './scheme.ts'

/** Headers that tell how a password was proven, or that open the destination by themselves. */
const HIDDEN = [
  'www-authenticate',
  'authentication-info',
  'proxy-authenticate',
  'proxy-authentication-info',
  'set-cookie',
]

/**
 * Adds headers to a request.
 * @throws BreachError for a header that the plugin gave itself
 * @throws DestinationError `misconfigured` for a value that no header can carry. It repeats no value
 */
export function withHeaders(request: Outgoing, added: Readonly<Record<string, string>>): Outgoing {
  const headers = new Headers(request.headers)
  for (const [name, value] of Object.entries(added)) {
    if (request.headers.has(name)) throw new BreachError(`the header ${name} is set twice, by headers and by auth`)
    try {
      headers.set(name, value)
    } catch {
      throw new DestinationError('misconfigured')
    }
  }
  return { ...request, headers }
}

/** Makes the answer that the plugin gets. @param url the address that the plugin sees, where another one was sent */
export function hideCredentials(
  response: Response,
  {
    url = response.url,
    status = response.status,
    replace = (value) => value,
  }: { readonly url?: string; readonly status?: number; replace?(value: string): string } = {},
): Response {
  const statusText = status === response.status ? response.statusText : ''
  const headers = new Headers()
  for (const [name, value] of response.headers) if (!HIDDEN.includes(name)) headers.append(name, replace(value))
  return Object.defineProperty(new Response(response.body, { status, statusText, headers }), 'url', { value: url })
}

/** Percent-encodes all but RFC 3986's unreserved characters. */
export function percentEncode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

const LONGEST_TOKEN = 16 * 1024

/** Tells whether a token host's value is a token that a header can carry. */
export function isAccessToken(value: unknown): value is string {
  return typeof value === 'string' && value.length <= LONGEST_TOKEN && /^[\x21-\x7e]+$/.test(value)
}

/** Removes the status of a token host, which would be taken for the destination's: a 404 would mean absence. */
export function withoutStatus(error: unknown): unknown {
  if (!isDestinationError(error) || error.status === undefined) return error
  const { code, retryAfterMs } = error
  return new DestinationError(code, { cause: error, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) })
}
