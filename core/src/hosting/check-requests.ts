/** What one check may ask of its destination, within its manifest and its limits: one set of rules for every host of plugins. */
import type { SecretValues } from '../contract/auth.ts'
import { DestinationError } from '../contract/destination-error.ts'
import { CEILING, type CheckLimits, type FetchInit } from '../contract/fetch.ts'
import type { Manifest } from '../contract/plugin.ts'
import type { CheckContext, DigestInit, ResolvedAddress, Socket } from '../contract/verifier.ts'
import type { Instant } from '../evidence.ts'
import { parseUrl } from '../url.ts'
import { isOwnWww, type SocketAddress, socketAddress, unbracketed } from './base-address.ts'
import { BreachError } from './breach.ts'
import { callBody } from './calls.ts'
import { type CreateHash, digestAnswer, digestHeaders } from './digest.ts'
import { refusal } from './failures.ts'
import { type Grant, grantOf } from './grants.ts'
import { requestHeaders } from './headers.ts'
import { mergeReadings, NO_READINGS, type Readings, readAnswer } from './readings.ts'

/** The rule that a check broke. */
export type RequestRule = 'hosts' | 'origin' | 'methods' | 'headers' | 'sockets' | 'limits'

export interface RequestGuard {
  /** Each request reads its signal. */
  readonly timer: Pick<AbortController, 'signal'>
  readonly now: () => Instant
  /** The only one that the check may read. */
  readonly origin: string
  /** Of that origin. Calls go there, where the manifest declares no paths for them. */
  readonly baseUrl: string
  /** The origin is the address of a connection, and not one that the plugin names for a claim. */
  readonly throughConnection: boolean
  readonly manifest: Pick<Manifest, 'hosts' | 'methods' | 'sockets'>
  /** Of the connection, by handle. */
  readonly secrets: SecretValues
  readonly limits?: CheckLimits | undefined
  readonly userAgent: string
  readonly maxDigestBytes: number
  /** Counts a request against a budget. The result takes the headers of its answer. */
  readonly spend?: (() => (headers?: Headers) => void) | undefined
  /** Hears of what is refused. @param breach the plugin asked for what its manifest does not allow */
  readonly refused: (rule: RequestRule, problem: string, breach?: BreachError) => void
}

/** How a host makes what the rules allow. `A`: what it found out about an address that it lets through. */
export interface Transport<A> {
  /** @param publicOnly a claim names the address @throws DestinationError for an address that the host does not reach */
  admitUrl(text: string, publicOnly: boolean): A & { readonly url: URL }
  /** As `admitUrl`. */
  admitSocket(address: SocketAddress, publicOnly: boolean): A
  send(admitted: A & { readonly url: URL }, init: SendInit, maxBytes: number): Promise<Response>
  open(address: SocketAddress, admitted: A, maxBytes: number): Promise<Socket>
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
}

export interface GuardedRequests extends Pick<CheckContext, 'fetch' | 'digest' | 'connect'> {
  resolve(url: string): Promise<ResolvedAddress>
  readings(): Readings
  /** Takes over the readings of a check that read for this one as well. */
  inherit(readings: Readings): void
  /** Counts anew, because the check is made again. The readings stay. */
  again(): void
}

const MAX_REDIRECTS = 3
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
const MAX_SOCKETS = 4
const NO_HEADERS = new Headers()

export function guardRequests<A>(guard: RequestGuard, transport: Transport<A>): GuardedRequests {
  const { timer, now, origin, secrets, limits = {}, manifest, refused } = guard
  const { requests: mostRequests = CEILING.requests, bodyBytes = CEILING.bodyBytes } = limits
  const made = { requests: 0, sockets: 0, names: 0 }
  let readings = NO_READINGS

  function refuse(rule: RequestRule, problem: string): DestinationError {
    refused(rule, problem)
    return refusal(problem)
  }

  /** Runs what throws a BreachError where a rule is broken. */
  function under<T>(rule: RequestRule, run: () => T): T {
    try {
      return run()
    } catch (error) {
      if (error instanceof BreachError) refused(rule, error.message, error)
      throw error
    }
  }

  /** @throws BreachError where the manifest allows no check there */
  function grant(): Grant {
    const { throughConnection } = guard
    const given = grantOf(manifest, { origin, throughConnection, hasSecrets: secrets.size > 0 })
    if (given !== undefined) return given
    throw new BreachError(
      `the manifest of this plugin does not declare the host of ${origin}: add it to manifest.hosts, or 'connection'`,
    )
  }

  /** The receipt says that the check read this origin; one that a claim names may have `www.` before its name. */
  function admit(text: string): A & { readonly url: URL } {
    const isTarget = under('hosts', grant) === 'target'
    const admitted = transport.admitUrl(text, isTarget)
    const asked = admitted.url.origin
    if (asked !== origin && !(isTarget && isOwnWww(asked, origin)))
      throw refuse('origin', `asks ${asked}, and its base address is ${origin}`)
    return admitted
  }

  function count(): (headers?: Headers) => void {
    if (++made.requests > mostRequests) throw refuse('limits', `sends more than ${mostRequests} requests in a check`)
    return guard.spend?.() ?? (() => {})
  }

  async function request(
    admitted: A & { readonly url: URL },
    init: Omit<SendInit, 'signal' | 'sentAgain'>,
    maxBytes: number,
  ): Promise<Response> {
    let answered = count()
    const sentAgain = () => {
      const next = count()
      answered()
      answered = next
    }
    const sentAt = now()
    let headers: Headers | undefined
    try {
      const response = await transport.send(admitted, { ...init, signal: timer.signal, sentAgain }, maxBytes)
      headers = response.headers
      readings = mergeReadings(readings, readAnswer(headers, sentAt, now()))
      return response
    } finally {
      answered(headers)
    }
  }

  /** @returns the body of a call; undefined for GET and HEAD */
  function bodyOf(url: URL, { method, call }: FetchInit): string | undefined {
    if (call === undefined) {
      if (method === undefined || method === 'GET' || method === 'HEAD') return undefined
      throw new BreachError('a check may use GET and HEAD only')
    }
    if (method !== undefined) throw new BreachError('a call has no other method')
    return callBody(call, manifest.methods, { path: pathOf(url), basePath: pathOf(new URL(guard.baseUrl)) })
  }

  async function fetch(text: string, init: FetchInit = {}, maxBytes = bodyBytes): Promise<Response> {
    const headers = under('headers', () => requestHeaders({ ...init, userAgent: guard.userAgent }, secrets))
    let admitted = admit(text)
    const body = under('methods', () => bodyOf(admitted.url, init))
    const isCall = body !== undefined
    if (isCall) headers.set('content-type', 'application/json')
    const method = isCall ? 'POST' : (init.method ?? 'GET')
    for (let redirects = 0; ; redirects++) {
      const response = await request(admitted, { method, headers, body }, maxBytes)
      const location = REDIRECTS.has(response.status) ? response.headers.get('location') : null
      if (location === null || (init.redirect === 'manual' && !isCall)) return response
      await response.body?.cancel()
      const { url } = admitted
      const next = parseUrl(location, url.href)
      const isLast = redirects === MAX_REDIRECTS || made.requests === mostRequests
      // Another origin would receive the credentials of this one, another path a body that was not declared for it.
      if (next?.origin !== url.origin || isLast || isCall)
        throw new DestinationError('unexpected_response', { status: response.status })
      admitted = admit(next.href)
    }
  }

  async function digest(text: string, { algorithms, headers, ...init }: DigestInit) {
    const asked = { ...init, headers: under('headers', () => digestHeaders(headers, algorithms)) }
    const response = await fetch(text, asked, guard.maxDigestBytes)
    return digestAnswer(response, { algorithms, createHash: transport.createHash, maxDecodedBytes: bodyBytes })
  }

  async function connect(text: string): Promise<Socket> {
    const address = socketAddress(text)
    if (!address) throw refuse('sockets', 'connects to what is no tls://host:port or tcp://host:port')
    const isPublicOnly = under('hosts', grant) === 'target'
    if (address.hostname !== new URL(origin).hostname)
      throw refuse('sockets', 'connects to another host than that of its base address')
    under('sockets', () => checkPort(address, manifest))
    const admitted = transport.admitSocket(address, isPublicOnly)
    if (++made.sockets > MAX_SOCKETS) throw refuse('sockets', `opens more than ${MAX_SOCKETS} connections in a check`)
    const answered = count()
    const sentAt = now()
    try {
      const socket = await transport.open(address, admitted, bodyBytes)
      // Nothing tells the destination's clock.
      readings = mergeReadings(readings, readAnswer(NO_HEADERS, sentAt, now()))
      return socket
    } finally {
      answered()
    }
  }

  async function resolve(text: string): Promise<ResolvedAddress> {
    const admitted = admit(text)
    // Each may ask a name server.
    if (++made.names > mostRequests) throw refuse('limits', `resolves more than ${mostRequests} names in a check`)
    const { hostname, port, protocol } = admitted.url
    const address = await transport.lookUp(hostname, admitted)
    const usual = protocol === 'https:' ? 443 : 80
    return { hostname: unbracketed(hostname), port: Number(port) || usual, address }
  }

  return {
    fetch: (text, init) => fetch(text, init),
    digest,
    connect,
    resolve,
    readings: () => readings,
    inherit(others) {
      readings = mergeReadings(readings, others)
    },
    again() {
      made.requests = made.sockets = made.names = 0
    },
  }
}

/** @throws BreachError */
function checkPort({ port, isTls }: SocketAddress, { sockets = [] }: Pick<Manifest, 'sockets'>): void {
  if (sockets.some((declared) => declared.port === port && declared.tls === isTls)) return
  throw new BreachError(
    `the manifest of this plugin does not declare the port ${port} ${isTls ? 'with' : 'without'} TLS`,
  )
}

function pathOf({ pathname, search }: URL): string {
  return pathname + search
}
