/**
 * Outgoing requests that a plugin may make: to public addresses over https, read-only, bounded. What is private is reached
 * only where the operator allows it by name.
 */
import { type LookupAddress, lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { DestinationError, type GuardedFetch, type Instant, type ResolvedAddress } from '@claimcheck/core'
import { Agent, fetch as undiciFetch } from 'undici'
import { VERSION } from '../base/version.ts'
import { isAllowed } from '../config/allow-private.ts'
import type { Config } from '../config/config.ts'
import { isPublicAddress } from './addresses.ts'
import { clockOffset } from './clock-offset.ts'

export interface Outbound {
  /** The requests of one check, counted and measured together. The timer is asked for its signal when one is made. */
  forCheck(timer: Pick<AbortController, 'signal'>, now: () => Instant): CheckRequests
  /**
   * One request of the installation's own, to where its operator or what they trust sends it: of any method, bounded like the
   * others, and without following redirects. @throws DestinationError
   */
  request(url: string, init: OwnRequest): Promise<Response>
  close(): Promise<void>
}

export interface OwnRequest {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
  readonly signal?: AbortSignal | undefined
}

export interface CheckRequests {
  readonly fetch: GuardedFetch
  readonly resolve: (url: string) => Promise<ResolvedAddress>
  /** How far the clocks of the destinations were seen to be off, at most, without sign. Milliseconds. */
  clockOffsetMs(): number
}

/** As node:dns has it; tests of rebinding bring their own. */
type Lookup = (
  hostname: string,
  options: { readonly all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

const LARGEST_BODY_BYTES = 5 * 1024 * 1024
const LARGEST_HEADER_BYTES = 32 * 1024
const MOST_REDIRECTS = 3
const MOST_REQUESTS = 64
const CONNECT_TIMEOUT_MS = 5000
const READ_TIMEOUT_MS = 10_000
const NO_BODY: ReadonlySet<number> = new Set([204, 205, 304])
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

export function createOutbound(
  { allowPrivate }: Pick<Config, 'allowPrivate'>,
  { resolver = lookup as Lookup }: { readonly resolver?: Lookup } = {},
): Outbound {
  // Addresses are checked where the connection is made, and the connection goes to what was checked: nothing resolves again.
  const publicOnly = createAgent(guardedLookup(resolver))
  const allowed = createAgent(plainLookup(resolver))

  /** @throws DestinationError `unavailable` for what must not be reached */
  function checkUrl(text: string): URL {
    const url = URL.canParse(text) ? new URL(text) : undefined
    if (url?.username !== '' || url.password !== '') throw refused('not a URL without credentials')
    if (isAllowed(url, allowPrivate)) {
      if (url.protocol !== 'https:' && url.protocol !== 'http:') throw refused('neither http nor https')
      return url
    }
    if (url.protocol !== 'https:') throw refused('not https')
    const literal = unbracketed(url.hostname)
    if (isIP(literal) !== 0 && !isPublicAddress(literal)) throw refused('not a public address')
    return url
  }

  /** To a URL that was checked. @throws DestinationError */
  async function send(url: URL, { method, headers, body, signal }: OwnRequest & { readonly signal: AbortSignal }) {
    const response = await undiciFetch(url.href, {
      method,
      headers: checkHeaders({ 'user-agent': `claimcheck/${VERSION}`, ...headers }),
      body: body ?? null,
      redirect: 'manual',
      signal,
      dispatcher: isAllowed(url, allowPrivate) ? allowed : publicOnly,
    }).catch((error: unknown) => {
      throw failure(error, signal)
    })
    return bounded(response as unknown as Response, signal)
  }

  return {
    async request(text, { signal, ...init }) {
      const timeout = AbortSignal.timeout(READ_TIMEOUT_MS)
      return send(checkUrl(text), { ...init, signal: signal ? AbortSignal.any([signal, timeout]) : timeout })
    },
    forCheck(timer, now) {
      let requests = 0
      let clockOffsetMs = 0

      async function request(url: URL, init: Parameters<GuardedFetch>[1]): Promise<Response> {
        if (++requests > MOST_REQUESTS) throw refused('too many requests in one check')
        const { signal } = timer
        const sentAt = now()
        const response = await send(url, { method: init?.method ?? 'GET', headers: init?.headers ?? {}, signal })
        clockOffsetMs = Math.max(clockOffsetMs, clockOffset(response.headers.get('date'), sentAt, now()))
        return response
      }

      return {
        async fetch(text, init) {
          if (init?.method !== undefined && init.method !== 'GET' && init.method !== 'HEAD') throw refused('not a read')
          let url = checkUrl(text)
          for (let redirects = 0; ; redirects++) {
            const response = await request(url, init)
            const location = response.headers.get('location')
            if (!REDIRECTS.has(response.status) || location === null) return response
            await response.body?.cancel()
            const next = URL.canParse(location, url.href) ? new URL(location, url.href) : undefined
            // Credentials and trust belong to one origin.
            if (next?.origin !== url.origin || redirects === MOST_REDIRECTS) {
              throw new DestinationError('unexpected_response', { status: response.status })
            }
            url = checkUrl(next.href)
          }
        },
        async resolve(text) {
          const url = checkUrl(text)
          const hostname = unbracketed(url.hostname)
          const [first] = isIP(hostname)
            ? [{ address: hostname }]
            : await lookUp(resolver, hostname, !isAllowed(url, allowPrivate)).catch((error: unknown) => {
                throw failure(error, timer.signal)
              })
          const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
          return { hostname, port, address: first!.address }
        },
        clockOffsetMs: () => clockOffsetMs,
      }
    },
    async close() {
      await Promise.all([publicOnly.destroy(), allowed.destroy()])
    },
  }
}

/** @throws DestinationError `unavailable`; fetch's own error would repeat the value, which may be a credential */
function checkHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  try {
    return Object.fromEntries(new Headers(headers))
  } catch {
    throw refused('a header that cannot be sent')
  }
}

function createAgent(lookupFunction: LookupFunction): Agent {
  return new Agent({
    connect: { lookup: lookupFunction, timeout: CONNECT_TIMEOUT_MS },
    headersTimeout: READ_TIMEOUT_MS,
    bodyTimeout: READ_TIMEOUT_MS,
    maxHeaderSize: LARGEST_HEADER_BYTES,
    connections: 16,
  })
}

/** Every address must be public: a name that has one that is not may be aimed at it. @throws Error */
async function lookUp(resolver: Lookup, hostname: string, publicOnly: boolean): Promise<LookupAddress[]> {
  const addresses = await new Promise<LookupAddress[]>((resolve, reject) => {
    resolver(hostname, { all: true }, (error, found) => (error ? reject(error) : resolve(found)))
  })
  if (addresses.length === 0) throw new Error('the name has no address')
  if (publicOnly && !addresses.every(({ address }) => isPublicAddress(address))) {
    throw refused('the name has an address that is not public')
  }
  return addresses
}

function guardedLookup(resolver: Lookup): LookupFunction {
  return toLookupFunction((hostname) => lookUp(resolver, hostname, true))
}

function plainLookup(resolver: Lookup): LookupFunction {
  return toLookupFunction((hostname) => lookUp(resolver, hostname, false))
}

function toLookupFunction(find: (hostname: string) => Promise<LookupAddress[]>): LookupFunction {
  return (hostname, options, done) => {
    find(hostname).then(
      (addresses) => {
        const [first] = addresses
        if (options.all) done(null, addresses)
        else done(null, first!.address, first!.family)
      },
      (error) => done(error, '', 0),
    )
  }
}

/**
 * The same answer with a body that ends in an error when it is too long or the check's time is over.
 * @throws DestinationError `unexpected_response` for a status that is none
 */
function bounded(response: Response, signal: AbortSignal): Response {
  const { status, statusText, headers } = response
  // No Response can be made of these.
  if (status < 200 || status > 599) throw new DestinationError('unexpected_response', { status })
  const copy = (body: ReadableStream | null) => {
    const copied = new Response(body, { status, statusText, headers: [...headers] })
    // Only fetch itself can give a response its address.
    return Object.defineProperty(copied, 'url', { value: response.url })
  }
  if (!response.body || NO_BODY.has(status)) return copy(null)
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  let size = 0
  return copy(
    new ReadableStream({
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (done) return controller.close()
          size += value.length
          if (size > LARGEST_BODY_BYTES) {
            await reader.cancel()
            throw new DestinationError('unexpected_response', { status })
          }
          controller.enqueue(value)
        } catch (error) {
          controller.error(error instanceof DestinationError ? error : failure(error, signal))
        }
      },
      cancel: (reason) => reader.cancel(reason),
    }),
  )
}

function refused(why: string): DestinationError {
  return new DestinationError('unavailable', { cause: new Error(`refused: ${why}`) })
}

const TIMEOUTS: ReadonlySet<unknown> = new Set([
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
])

function failure(error: unknown, signal: AbortSignal): DestinationError {
  // fetch wraps what happened in a TypeError.
  const cause = (error as { cause?: unknown }).cause ?? error
  if (cause instanceof DestinationError) return cause
  const isTimeout = signal.aborted || TIMEOUTS.has((cause as { code?: unknown }).code)
  return new DestinationError(isTimeout ? 'timeout' : 'unavailable', { cause })
}

function unbracketed(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
}
