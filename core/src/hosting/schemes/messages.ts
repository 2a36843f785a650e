/** Requests with what a scheme adds, and answers without what it hides. */
import { DestinationError, isDestinationError } from '../../contract/destination-error.ts'
import { BreachError } from '../breach.ts'
import type { Outgoing } from './scheme.ts'

/** What tells how a password was proven, or opens the destination by itself. */
const HIDDEN = [
  'www-authenticate',
  'authentication-info',
  'proxy-authenticate',
  'proxy-authentication-info',
  'set-cookie',
]

/**
 * @throws BreachError where the plugin gave such a header itself
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

interface Shown {
  /** Which the plugin sees, where another one was sent. */
  readonly url?: string
  readonly status?: number
  replaced?(value: string): string
}

/** The answer as the plugin gets it. */
export function shown(
  response: Response,
  { url = response.url, status = response.status, replaced = (value) => value }: Shown = {},
): Response {
  const statusText = status === response.status ? response.statusText : ''
  const headers = new Headers()
  for (const [name, value] of response.headers) if (!HIDDEN.includes(name)) headers.append(name, replaced(value))
  return Object.defineProperty(new Response(response.body, { status, statusText, headers }), 'url', { value: url })
}

/** Encodes all but RFC 3986's unreserved characters. */
export function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

export function targetOf({ pathname, search }: URL): string {
  return pathname + search
}

const LONGEST_TOKEN = 16 * 1024

/** Whether a token host gave what a header can carry as a token. */
export function isAccessToken(value: unknown): value is string {
  return typeof value === 'string' && value.length <= LONGEST_TOKEN && /^[\x21-\x7e]+$/.test(value)
}

/** A status of a token host would be taken for the destination's answer: 404 for what is not there. */
export function withoutStatus(error: unknown): unknown {
  if (!isDestinationError(error) || error.status === undefined) return error
  const { code, retryAfterMs } = error
  return new DestinationError(code, { cause: error, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) })
}
