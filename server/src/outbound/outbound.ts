/**
 * Guards all outgoing requests: https to public addresses only, with limits on time and size. Private and plain http
 * destinations are reached only when the operator names them in ALLOW_PRIVATE. Plugins get read-only requests.
 */
import { type LookupAddress, lookup } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import {
  type Auth,
  authHeader,
  CEILING,
  type CheckContext,
  type CheckLimits,
  DestinationError,
  type FetchInit,
  type GuardedFetch,
  type Instant,
  type Manifest,
  type ResolvedAddress,
  type SecretValues,
} from '@claimcheck/core'
import { Agent, fetch as undiciFetch } from 'undici'
import { VERSION } from '../base/version.ts'
import { isAllowed } from '../config/allow-private.ts'
import type { Config } from '../config/config.ts'
import { isPublicAddress } from './addresses.ts'
import type { Spending } from './allowances.ts'
import { mergeReadings, NO_READINGS, type Readings, readAnswer } from './readings.ts'

export interface Outbound {
  /**
   * The read-only requests of one check: they share a limit on their number, and what their answers tell of clocks and ages is kept.
   */
  forCheck(guard: CheckGuard): CheckRequests
  /**
   * A request that the service makes for itself, such as to its OpenID provider. It may have any method, has the same limits, and
   * follows no redirect. @throws DestinationError
   */
  request(url: string, init: ServiceRequest): Promise<Response>
  /** The addresses behind an origin's name. Rejects when it has none that may be reached. */
  addressesOf(origin: string): Promise<readonly string[]>
  close(): Promise<void>
}

export interface ServiceRequest {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** What one check may do. */
export interface CheckGuard {
  /** Each request reads its signal. */
  readonly timer: Pick<AbortController, 'signal'>
  readonly now: () => Instant
  /** The only one that the check may read. */
  readonly origin: string
  /** The origin is the address of a connection, and not one that the plugin names for a claim. */
  readonly throughConnection: boolean
  readonly reach: Reach
  /** Of the connection, by handle. */
  readonly secrets: SecretValues
  readonly limits?: CheckLimits
  /** What its requests count against; nothing, when left out. */
  readonly spending?: Spending
}

/** What a plugin may reach, by its manifest. */
export interface Reach extends Pick<Manifest, 'hosts' | 'methods' | 'sockets'> {
  /** It starts programs, which send requests of their own with the credentials that it reveals to them. */
  readonly mayReveal: boolean
}

export interface CheckRequests extends Pick<CheckContext, 'connect' | 'reveal'> {
  readonly fetch: GuardedFetch
  readonly resolve: (url: string) => Promise<ResolvedAddress>
  readings(): Readings
  /** Its own limits ended the check's requests: its time is over, or it may send no more. */
  isEnded(): boolean
  /** Takes over what a read told that another check made for this one as well. */
  inherit(readings: Readings): void
}

/** The form of node:dns `lookup`, which tests of DNS rebinding replace. */
type Lookup = (
  hostname: string,
  options: { readonly all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void

const MAX_HEADER_BYTES = 32 * 1024
const MAX_REDIRECTS = 3
const CONNECT_TIMEOUT_MS = 5000
const READ_TIMEOUT_MS = 10_000
/** As many as checks of one destination run at a time: none waits for another one's connection. */
const CONNECTIONS_PER_ORIGIN = 128
const NO_BODY: ReadonlySet<number> = new Set([204, 205, 304])
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

export function createOutbound(
  { allowPrivate }: Pick<Config, 'allowPrivate'>,
  { resolver }: { readonly resolver?: Lookup } = {},
): Outbound {
  const resolverFor = (url: URL) => resolver ?? (isAllowed(url, allowPrivate) ? systemLookup : queryNames)
  // Against DNS rebinding, an agent checks the addresses in its own lookup and connects to one of those: nothing resolves the name again.
  const publicOnly = createAgent(guardedLookup(resolver ?? queryNames))
  const allowed = createAgent(plainLookup(resolver ?? systemLookup))

  /** @throws DestinationError `unavailable` when the request is forbidden */
  function checkUrl(text: string): URL {
    const url = URL.canParse(text) ? new URL(text) : undefined
    if (url?.username !== '' || url.password !== '') throw refusal('the URL is not valid, or contains credentials')
    // A program that gets such a name as an argument takes it for an option.
    if (url.hostname.startsWith('-')) throw refusal('the name of the host begins with a hyphen')
    if (isAllowed(url, allowPrivate)) {
      if (url.protocol !== 'https:' && url.protocol !== 'http:') throw refusal('the URL is neither http nor https')
      return url
    }
    if (url.protocol !== 'https:') throw refusal('the URL is not https')
    const literal = unbracketed(url.hostname)
    if (isIP(literal) !== 0 && !isPublicAddress(literal)) throw refusal('the address is not public')
    return url
  }

  /** @param url passed checkUrl. @throws DestinationError */
  async function send(
    url: URL,
    { method, headers, body, signal }: ServiceRequest & { readonly signal: AbortSignal },
    maxBytes: number = CEILING.bodyBytes,
  ) {
    const response = await undiciFetch(url.href, {
      method,
      headers: checkHeaders({ 'user-agent': `claimcheck/${VERSION}`, ...headers }),
      body: body ?? null,
      redirect: 'manual',
      signal,
      dispatcher: isAllowed(url, allowPrivate) ? allowed : publicOnly,
    }).catch((error: unknown) => {
      throw toDestinationError(error, signal)
    })
    return limitBody(response as unknown as Response, signal, maxBytes)
  }

  return {
    async request(text, { signal, ...init }) {
      const timeout = AbortSignal.timeout(READ_TIMEOUT_MS)
      return send(checkUrl(text), { ...init, signal: signal ? AbortSignal.any([signal, timeout]) : timeout })
    },
    forCheck({ timer, now, origin, secrets, limits = {}, reach, throughConnection, spending }) {
      const { requests: mostRequests = CEILING.requests, bodyBytes = CEILING.bodyBytes } = limits
      let requests = 0
      let readings = NO_READINGS

      /** The receipt says that the check read this origin. */
      function checkOrigin(url: URL): URL {
        if (url.origin !== origin) throw refusal("a check may read its connection's base address only")
        return url
      }

      async function request(url: URL, { method = 'GET', headers: given = {}, auth }: FetchInit): Promise<Response> {
        if (++requests > mostRequests) throw refusal(`a check may make ${mostRequests} requests`)
        const { signal } = timer
        const sentAt = now()
        const answered = spending?.count()
        let headers: Headers | undefined
        try {
          const sent = auth ? { ...given, ...credential(auth) } : given
          const response = await send(url, { method, headers: sent, signal }, bodyBytes)
          headers = response.headers
          readings = mergeReadings(readings, readAnswer(headers, sentAt, now()))
          return response
        } finally {
          answered?.(headers)
        }
      }

      function credential(auth: Auth): Record<string, string> {
        const { name, value } = authHeader(auth, secrets)
        return { [name]: value }
      }

      return {
        async connect() {
          throw refusal('sockets')
        },
        reveal(auth) {
          if (!reach.mayReveal)
            throw new TypeError('the manifest of this plugin names no programs, or the operator does not trust it')
          return authHeader(auth, secrets)
        },
        async fetch(text, init) {
          if (init?.method !== undefined && init.method !== 'GET' && init.method !== 'HEAD') {
            throw refusal('a check may use GET and HEAD only')
          }
          let url = checkOrigin(checkUrl(text))
          for (let redirects = 0; ; redirects++) {
            const response = await request(url, init ?? {})
            const location = response.headers.get('location')
            if (!REDIRECTS.has(response.status) || location === null) return response
            await response.body?.cancel()
            const next = URL.canParse(location, url.href) ? new URL(location, url.href) : undefined
            // A redirect to another origin would receive the credentials of this one.
            if (next?.origin !== url.origin || redirects === MAX_REDIRECTS) {
              throw new DestinationError('unexpected_response', { status: response.status })
            }
            url = checkUrl(next.href)
          }
        },
        async resolve(text) {
          const url = checkOrigin(checkUrl(text))
          const hostname = unbracketed(url.hostname)
          const [first] = isIP(hostname)
            ? [{ address: hostname }]
            : await lookUp(resolverFor(url), hostname, !isAllowed(url, allowPrivate)).catch((error: unknown) => {
                throw toDestinationError(error, timer.signal)
              })
          const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
          return { hostname, port, address: first!.address }
        },
        readings: () => readings,
        isEnded: () => timer.signal.aborted || spending?.isRefused === true,
        inherit(others) {
          readings = mergeReadings(readings, others)
        },
      }
    },
    async addressesOf(origin) {
      const url = checkUrl(origin)
      const found = await lookUp(resolverFor(url), unbracketed(url.hostname), !isAllowed(url, allowPrivate))
      return found.map(({ address }) => address)
    },
    async close() {
      await Promise.all([publicOnly.destroy(), allowed.destroy()])
    },
  }
}

/** The system's own way, for names that the operator listed: it knows the hosts file and search domains. */
const systemLookup = lookup as Lookup

const publicNames = new Resolver({ timeout: 2000, tries: 2 })

/**
 * Asks the name servers directly. The system's lookup occupies one of four threads, which the database needs too, for as long as a
 * stranger's name server likes.
 */
const queryNames: Lookup = (hostname, _options, done) => {
  Promise.allSettled([publicNames.resolve4(hostname), publicNames.resolve6(hostname)]).then(([four, six]) => {
    const ofFamily = (result: PromiseSettledResult<string[]>, family: 4 | 6) =>
      result.status === 'fulfilled' ? result.value.map((address) => ({ address, family })) : []
    const found = [...ofFamily(four, 4), ...ofFamily(six, 6)]
    const error = four.status === 'rejected' ? (four.reason as NodeJS.ErrnoException) : null
    done(found.length > 0 ? null : error, found)
  })
}

/** @throws DestinationError `unavailable`. The error of fetch would repeat the value, which may be a credential. */
function checkHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  try {
    return Object.fromEntries(new Headers(headers))
  } catch {
    throw refusal('a header is not valid')
  }
}

function createAgent(lookupFunction: LookupFunction): Agent {
  return new Agent({
    connect: { lookup: lookupFunction, timeout: CONNECT_TIMEOUT_MS },
    headersTimeout: READ_TIMEOUT_MS,
    bodyTimeout: READ_TIMEOUT_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    connections: CONNECTIONS_PER_ORIGIN,
  })
}

/** @throws Error when one of the addresses is not public: an attacker mixes public and private addresses to reach the private one */
async function lookUp(resolver: Lookup, hostname: string, publicOnly: boolean): Promise<LookupAddress[]> {
  const addresses = await new Promise<LookupAddress[]>((resolve, reject) => {
    resolver(hostname, { all: true }, (error, found) => (error ? reject(error) : resolve(found)))
  })
  if (addresses.length === 0) throw new Error('the name has no address')
  if (publicOnly && !addresses.every(({ address }) => isPublicAddress(address))) {
    throw refusal('the name has an address that is not public')
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
 * Copies the response; reading the body of the copy fails when the body is too large or the time is over.
 * @throws DestinationError `unexpected_response` for an invalid status
 */
function limitBody(response: Response, signal: AbortSignal, maxBytes: number): Response {
  const { status, statusText, headers } = response
  // The constructor of Response refuses these.
  if (status < 200 || status > 599) throw new DestinationError('unexpected_response', { status })
  const copy = (body: ReadableStream | null) => {
    const copied = new Response(body, { status, statusText, headers: [...headers] })
    // The constructor of Response cannot set the URL.
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
          if (size > maxBytes) {
            await reader.cancel()
            throw new DestinationError('too_large', { status })
          }
          controller.enqueue(value)
        } catch (error) {
          controller.error(error instanceof DestinationError ? error : toDestinationError(error, signal))
        }
      },
      cancel: (reason) => reader.cancel(reason),
    }),
  )
}

function refusal(reason: string): DestinationError {
  return new DestinationError('unavailable', { cause: new Error(`the request was not sent: ${reason}`) })
}

const TIMEOUTS: ReadonlySet<unknown> = new Set([
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
])

function toDestinationError(error: unknown, signal: AbortSignal): DestinationError {
  // fetch throws a TypeError whose cause is the actual error.
  const cause = (error as { cause?: unknown }).cause ?? error
  if (cause instanceof DestinationError) return cause
  const isTimeout = signal.aborted || TIMEOUTS.has((cause as { code?: unknown }).code)
  return new DestinationError(isTimeout ? 'timeout' : 'unavailable', { cause })
}

function unbracketed(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
}
