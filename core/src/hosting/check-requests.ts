/** What one check may ask of its destination, within its manifest and its limits: one set of rules for every host of plugins. */
import type { SecretValues } from '../contract/auth.ts'
import { DestinationError } from '../contract/destination-error.ts'
import { CEILING, type CheckLimits, type FetchInit, MAX_CHECK_BYTES } from '../contract/fetch.ts'
import type { Manifest } from '../contract/plugin.ts'
import type { ConnectInit, Query, QueryAnswer, Socket, SocketGrant } from '../contract/socket.ts'
import type { CheckContext, DigestAnswer, DigestInit, ResolvedAddress } from '../contract/verifier.ts'
import type { Instant } from '../evidence.ts'
import { parseUrl } from '../url.ts'
import { isOwnWww, requireOrigin, type SocketAddress, socketAddress, unbracketed } from './base-address.ts'
import { BreachError } from './breach.ts'
import { type CallRequest, callRequest } from './calls.ts'
import {
  type ClientCertificate,
  type Connected,
  certificateOf,
  declaredSpend,
  type Spend,
  unboundSecrets,
} from './credentials.ts'
import { type CreateHash, digestAnswer, digestHeaders } from './digest.ts'
import { refusal, toDestinationError } from './failures.ts'
import { type Grant, grantOf } from './grants.ts'
import { requestHeaders } from './headers.ts'
import { mergeReadings, NO_READINGS, type Readings, readAnswer, readTime } from './readings.ts'
import { schemeHost } from './scheme-host.ts'
import type { Outgoing } from './schemes/scheme.ts'
import { connectionAsked, openSocket } from './sockets/open.ts'
import { MOST_QUERY_BYTES, type QueryResult, queryAsked, type SecretQuery } from './sockets/query.ts'
import type { Dialed, RawSocket } from './sockets/streams.ts'

/** The rule that a check broke. */
export type RequestRule = 'hosts' | 'origin' | 'methods' | 'headers' | 'credentials' | 'sockets' | 'limits'

export interface RequestGuard {
  /** Each request reads its signal. */
  readonly timer: Pick<AbortController, 'signal'>
  readonly now: () => Instant
  /** The only one that the check may read. */
  readonly origin: string
  /** Of that origin. Calls go there, where the manifest declares no paths for them. */
  readonly baseUrl: string
  /** The connection that the check reads through; none, when left out. */
  readonly connected?: Connected | undefined
  readonly manifest: Pick<Manifest, 'hosts' | 'methods' | 'sockets'>
  /** Of the connection, by handle. */
  readonly secrets: SecretValues
  readonly limits?: CheckLimits | undefined
  readonly userAgent: string
  /** Of one answer, and of all in a check. */
  readonly maxDigestBytes: number
  /** Says when the bytes of an answer that came may be passed on; now, when left out. */
  readonly pace?: Pace | undefined
  /** Runs a read for digests once there is room for one. */
  readonly limitDigests?: (<T>(read: () => Promise<T>) => Promise<T>) | undefined
  /** Counts a request against a budget. The result takes the headers of its answer. */
  readonly spend?: (() => (headers?: Headers) => void) | undefined
  /** Hears of what is refused. @param breach the plugin asked for what its manifest does not allow */
  readonly refused: (rule: RequestRule, problem: string, breach?: BreachError) => void
}

/** @returns what to wait for; undefined: nothing */
export type Pace = (bytes: number) => Promise<void> | undefined

/** How a host makes what the rules allow. `A`: what it found out about an address that it lets through. */
export interface Transport<A> {
  /** @param publicOnly a claim names the address @throws DestinationError for an address that the host does not reach */
  admitUrl(text: string, publicOnly: boolean): A & { readonly url: URL }
  /** As `admitUrl`. */
  admitSocket(address: SocketAddress, publicOnly: boolean): A
  send(admitted: A & { readonly url: URL }, init: SendInit, maxBytes: number): Promise<Response>
  /** Begins a connection, over TLS from its first byte where the address says so. */
  dial(address: SocketAddress, admitted: A): Dialed
  /** Goes over to TLS on an open connection. Left out by a host that carries all in plain. */
  readonly secure?: (plain: RawSocket, address: SocketAddress) => Dialed
  /** @throws DestinationError */
  query(address: SocketAddress, admitted: A, asked: SecretQuery): Promise<QueryResult>
  /** The address that a name of a host leads to. */
  lookUp(hostname: string, admitted: A): Promise<string>
  readonly createHash: CreateHash
}

export interface SendInit {
  readonly method: string
  readonly headers: Headers
  readonly body?: string | undefined
  readonly signal: AbortSignal
  /** Counts the request once more, because it is sent again. Throws DestinationError where it may not be. */
  readonly sentAgain?: () => void
  /** Counts bytes of the body as they come. Throws DestinationError where a check may read no more. */
  readonly received?: Pace
  readonly clientCertificate?: ClientCertificate | undefined
  /** It ends by its signal alone: neither with its check nor with the host. */
  readonly outlives?: boolean
}

export interface GuardedRequests extends Pick<CheckContext, 'fetch' | 'digest' | 'connect' | 'query'> {
  resolve(url: string): Promise<ResolvedAddress>
  readings(): Readings
  /** Takes over the readings of a check that read for this one as well. */
  inherit(readings: Readings): void
  /** Counts requests anew, because the check is made again. The readings and the count of bytes stay. */
  again(): void
}

const MAX_REDIRECTS = 3
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
const MAX_SOCKETS = 4

export function guardRequests<A>(guard: RequestGuard, transport: Transport<A>): GuardedRequests {
  const requests = new Requests(guard, transport)
  return {
    fetch: (text, init) => requests.fetch(text, init),
    digest: (text, init) => requests.digest(text, init),
    connect: (text, init) => requests.connect(text, init),
    query: (text, query) => requests.query(text, query),
    resolve: (text) => requests.resolve(text),
    readings: () => requests.readings,
    inherit(others) {
      requests.readings = mergeReadings(requests.readings, others)
    },
    again() {
      requests.made = NOTHING_MADE
    },
  }
}

type AdmittedUrl<A> = A & { readonly url: URL }

/** What is read, or only digested. */
type Use = 'body' | 'digest'

const NOTHING_MADE = { requests: 0, sockets: 0, names: 0 }

/** One check's, with what they count. */
class Requests<A> {
  readings: Readings = NO_READINGS
  made: Readonly<typeof NOTHING_MADE> = NOTHING_MADE
  readonly #guard: RequestGuard
  readonly #transport: Transport<A>
  readonly #most: { readonly requests: number; readonly bodyBytes: number }
  readonly #left: Record<Use, number>

  constructor(guard: RequestGuard, transport: Transport<A>) {
    this.#guard = guard
    this.#transport = transport
    const { requests = CEILING.requests, bodyBytes = CEILING.bodyBytes } = guard.limits ?? {}
    this.#most = { requests, bodyBytes }
    this.#left = { body: MAX_CHECK_BYTES, digest: guard.maxDigestBytes }
  }

  async fetch(text: string, init: FetchInit = {}, use: Use = 'body'): Promise<Response> {
    const { secrets, userAgent, connected } = this.#guard
    const spend = this.#under('credentials', () => declaredSpend(init.auth, connected))
    const auth = spend ? undefined : init.auth
    const headerSecrets = unboundSecrets(secrets, connected)
    const headers = this.#under('headers', () => requestHeaders({ ...init, auth, userAgent }, headerSecrets))
    if (spend && headers.has('authorization'))
      throw this.#refused('headers', new BreachError('the header authorization is set twice, by headers and by auth'))
    let admitted = this.#admit(text)
    const call = this.#under('methods', () => this.#callOf(admitted.url, init))
    const isCall = call !== undefined
    for (const [name, value] of Object.entries(call?.headers ?? {})) headers.set(name, value)
    const { method, body } = call ?? { method: init.method ?? 'GET', body: undefined }
    for (let redirects = 0; ; redirects++) {
      const used = isCall ? 'body' : use
      const response = await this.#sendWith(spend, admitted, { method, headers, body }, used).catch(
        (error: unknown) => {
          // Where the destination leads is not what the plugin asked for.
          if (redirects > 0 && error instanceof BreachError) throw new DestinationError('unexpected_response')
          throw this.#refused('credentials', error)
        },
      )
      const location = REDIRECTS.has(response.status) ? response.headers.get('location') : null
      if (location === null || (init.redirect === 'manual' && !isCall)) return response
      await response.body?.cancel()
      const { url } = admitted
      const next = parseUrl(location, url.href)
      const isLast = redirects === MAX_REDIRECTS || this.made.requests === this.#most.requests
      // Another origin would receive the credentials of this one, another path a body that was not declared for it.
      if (next?.origin !== url.origin || isLast || isCall)
        throw new DestinationError('unexpected_response', { status: response.status })
      admitted = this.#admit(next.href)
    }
  }

  async digest(text: string, { algorithms, headers, ...init }: DigestInit): Promise<DigestAnswer> {
    const asked = { ...init, headers: this.#under('headers', () => digestHeaders(headers, algorithms)) }
    const { limitDigests = (read) => read() } = this.#guard
    return limitDigests(async () => {
      const response = await this.fetch(text, asked, 'digest')
      const { createHash } = this.#transport
      return digestAnswer(response, { algorithms, createHash, maxDecodedBytes: this.#most.bodyBytes })
    })
  }

  async connect(text: string, { login }: ConnectInit = {}): Promise<Socket> {
    const { address, admitted, grant } = this.#admitSocket(text)
    const { secrets, connected, now, timer } = this.#guard
    const unbound = unboundSecrets(secrets, connected)
    const asked = this.#under('sockets', () => connectionAsked(grant, login, unbound))
    this.#countSocket()
    const isStartTls = grant.tls === 'starttls'
    const { secure } = this.#transport
    return this.#counted(async () => {
      const sentAt = now()
      const socket = await openSocket({
        ...asked,
        dial: () => this.#transport.dial({ ...address, isTls: address.isTls && !isStartTls }, admitted),
        secure: isStartTls && secure ? (plain) => secure(plain, address) : undefined,
        now,
        signal: timer.signal,
        maxBytes: this.#most.bodyBytes,
        received: (bytes) => this.#received(bytes, 'body'),
        toldTime: (...told) => this.#read(readTime(...told)),
        breached: (breach) => this.#guard.refused('sockets', breach.message, breach),
      })
      // What may still tell the clock is not undated yet.
      return { result: socket, readings: { ...NO_READINGS, sentAt, isUndated: asked.grant.clock === undefined } }
    })
  }

  async query(text: string, query: Query): Promise<QueryAnswer> {
    const { address, admitted, grant } = this.#admitSocket(text)
    const { secrets, connected, now, timer } = this.#guard
    const unbound = unboundSecrets(secrets, connected)
    const asked = this.#under('sockets', () => queryAsked(grant, query, unbound))
    this.#countSocket()
    return this.#counted(async () => {
      const { signal } = timer
      const maxBytes = Math.min(this.#most.bodyBytes, MOST_QUERY_BYTES)
      const bounds = { signal, now, maxBytes, received: (bytes: number) => this.#received(bytes, 'body') }
      const sentAt = now()
      const { clock, ...result } = await this.#transport.query(address, admitted, { ...asked, ...bounds })
      const readings = { ...readTime(clock, clock.askedAt, clock.answeredAt), sentAt }
      return { result, readings }
    })
  }

  #admitSocket(text: string): { address: SocketAddress; admitted: A; grant: SocketGrant } {
    const { origin, manifest } = this.#guard
    const address = socketAddress(text)
    if (!address) throw this.#refuse('sockets', 'connects to what is no tls://host:port or tcp://host:port')
    if (address.hostname !== new URL(origin).hostname)
      throw this.#refuse('sockets', 'connects to another host than that of its base address')
    // Another port of the host may be another one's: what a workspace typed names a port, or leaves it to the manifest.
    const isPublicOnly = this.#under('hosts', () => this.#grant(requireOrigin(text))) === 'target'
    const grant = this.#under('sockets', () => socketGrant(address, manifest))
    return { address, admitted: this.#transport.admitSocket(address, isPublicOnly), grant }
  }

  #countSocket(): void {
    if (this.#count('sockets') > MAX_SOCKETS)
      throw this.#refuse('sockets', `opens more than ${MAX_SOCKETS} connections in a check`)
  }

  async resolve(text: string): Promise<ResolvedAddress> {
    const admitted = this.#admit(text)
    const { requests: most } = this.#most
    // Each may ask a name server.
    if (this.#count('names') > most) throw this.#refuse('limits', `resolves more than ${most} names in a check`)
    const { hostname, port, protocol } = admitted.url
    const address = await this.#transport.lookUp(hostname, admitted)
    const usual = protocol === 'https:' ? 443 : 80
    return { hostname: unbracketed(hostname), port: Number(port) || usual, address }
  }

  #count(what: keyof typeof NOTHING_MADE): number {
    this.made = { ...this.made, [what]: this.made[what] + 1 }
    return this.made[what]
  }

  #refuse(rule: RequestRule, problem: string): DestinationError {
    this.#guard.refused(rule, problem)
    return refusal(problem)
  }

  /** Runs what throws a BreachError where a rule is broken. */
  #under<T>(rule: RequestRule, run: () => T): T {
    try {
      return run()
    } catch (error) {
      throw this.#refused(rule, error)
    }
  }

  #refused(rule: RequestRule, error: unknown): unknown {
    if (error instanceof BreachError) this.#guard.refused(rule, error.message, error)
    return error
  }

  /** @throws BreachError where the manifest allows no check there */
  #grant(origin: string): Grant {
    const { connected, secrets, manifest } = this.#guard
    const given = grantOf(manifest, { origin, typed: connected?.options, hasSecrets: secrets.size > 0 })
    if (given !== undefined) return given
    throw new BreachError(
      `the manifest of this plugin does not declare ${origin}: add its host to manifest.hosts, or 'connection.<option>' for the address that a workspace typed`,
    )
  }

  /** The receipt says that the check read this origin; one that a claim names may have `www.` before its name. */
  #admit(text: string): AdmittedUrl<A> {
    const { origin } = this.#guard
    const isTarget = this.#under('hosts', () => this.#grant(origin)) === 'target'
    const admitted = this.#transport.admitUrl(text, isTarget)
    const asked = admitted.url.origin
    if (asked === origin || (isTarget && isOwnWww(asked, origin))) return admitted
    throw this.#refuse('origin', `asks ${asked}, and its base address is ${origin}`)
  }

  /** @returns undefined for GET and HEAD @throws BreachError */
  #callOf(url: URL, { method, call }: FetchInit): CallRequest | undefined {
    if (call === undefined) {
      if (method === undefined || method === 'GET' || method === 'HEAD') return undefined
      throw new BreachError('a check may use GET and HEAD only')
    }
    if (method !== undefined) throw new BreachError('a call has no other method')
    const { manifest, baseUrl } = this.#guard
    return callRequest(call, manifest.methods, { path: pathOf(url), basePath: pathOf(new URL(baseUrl)) })
  }

  #read(readings: Readings): void {
    this.readings = mergeReadings(this.readings, readings)
  }

  #spend(): (headers?: Headers) => void {
    const { requests: most } = this.#most
    if (this.#count('requests') > most) throw this.#refuse('limits', `sends more than ${most} requests in a check`)
    return this.#guard.spend?.() ?? (() => {})
  }

  /** @throws DestinationError */
  #received(bytes: number, use: Use): Promise<void> | undefined {
    this.#left[use] -= bytes
    if (this.#left[use] >= 0) return this.#guard.pace?.(bytes)
    this.#guard.refused('limits', `reads more than ${this.#mostOf(use)} bytes in a check`)
    throw new DestinationError('too_large')
  }

  #mostOf(use: Use): number {
    return use === 'digest' ? this.#guard.maxDigestBytes : MAX_CHECK_BYTES
  }

  async #sendWith(
    spend: Spend | undefined,
    admitted: AdmittedUrl<A>,
    init: Omit<Outgoing, 'url'>,
    use: Use,
  ): Promise<Response> {
    const { connected, now, origin, timer } = this.#guard
    const send = (request: Omit<Outgoing, 'url'>, url = admitted.url) => {
      const clientCertificate = certificateOf(connected)
      return this.#send({ ...admitted, url }, { ...request, clientCertificate }, use)
    }
    if (!spend || !connected) return send(init)
    const received = (bytes: number) => this.#received(bytes, 'body')
    const host = schemeHost({
      connected,
      now,
      send: ({ url, ...request }) => send(request, url),
      exchange: (request, { mostBytes, ...own }) => {
        const admittedHost = this.#transport.admitUrl(request.url.href, false)
        const counted = this.#guard.spend?.() ?? (() => {})
        // What a check has read must not cost a token that is used up by now.
        const bounds = own.outlives ? own : { ...own, received }
        return this.#transport
          .send(admittedHost, { ...request, signal: timer.signal, ...bounds }, mostBytes)
          .finally(() => counted())
      },
      origin,
    })
    // An exchange that outlives the check keeps no one waiting.
    return untilAborted(timer.signal, spend({ ...init, url: admitted.url }, host))
  }

  #send(
    admitted: AdmittedUrl<A>,
    init: Omit<SendInit, 'signal' | 'sentAgain' | 'received'>,
    use: Use,
  ): Promise<Response> {
    const { signal } = this.#guard.timer
    const maxBytes = use === 'digest' ? this.#guard.maxDigestBytes : this.#most.bodyBytes
    const received = (bytes: number) => this.#received(bytes, use)
    return this.#counted(async (sentAgain) => {
      const response = await this.#transport.send(admitted, { ...init, signal, sentAgain, received }, maxBytes)
      return { result: response, headers: response.headers }
    })
  }

  /** Counts what is sent, and reads the answer's clock. */
  async #counted<T>(send: (sentAgain: () => void) => Promise<Counted<T>>): Promise<T> {
    const { now } = this.#guard
    let answered = this.#spend()
    const sentAgain = () => {
      const next = this.#spend()
      answered()
      answered = next
    }
    const sentAt = now()
    let headers: Headers | undefined
    try {
      const sent = await send(sentAgain)
      headers = sent.headers
      this.#read(sent.readings ?? readAnswer(sent.headers, sentAt, now()))
      return sent.result
    } finally {
      answered(headers)
    }
  }
}

/** What a request gave, and what shows the clock: the headers of its answer, or what another protocol told. */
type Counted<T> = { readonly result: T } & (
  | { readonly headers: Headers; readonly readings?: undefined }
  | { readonly headers?: undefined; readonly readings: Readings }
)
/** @throws DestinationError once it is aborted */
function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = () => reject(toDestinationError(signal.reason, signal))
    if (signal.aborted) end()
    signal.addEventListener('abort', end, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', end))
  })
}

/** @throws BreachError */
function socketGrant({ port, isTls }: SocketAddress, { sockets = [] }: Pick<Manifest, 'sockets'>): SocketGrant {
  const grant = sockets.find((declared) => declared.port === port && (declared.tls !== false) === isTls)
  if (grant) return grant
  throw new BreachError(
    `the manifest of this plugin does not declare the port ${port} ${isTls ? 'with' : 'without'} TLS`,
  )
}

function pathOf({ pathname, search }: URL): string {
  return pathname + search
}
