/** What one check may ask of its destination, within its manifest and its limits. */
import { createHash } from 'node:crypto'
import {
  BreachError,
  callBody,
  credentialHeader,
  digestAnswer,
  digestHeaders,
  isOwnWww,
  mergeReadings,
  NO_READINGS,
  type Readings,
  readAnswer,
  requestHeaders,
  type SecretValues,
} from '@claimcheck/core/hosting'
import {
  CEILING,
  type CheckContext,
  type CheckLimits,
  DestinationError,
  type DigestAnswer,
  type DigestInit,
  type FetchInit,
  type GuardedFetch,
  MAX_DIGEST_BYTES,
  parseUrl,
  type ResolvedAddress,
} from '@claimcheck/core/plugin'
import type { Instant } from '@claimcheck/core/rules'
import { requireHostname, requireOrigin, socketAddress, unbracketed } from '../base/base-address.ts'
import { type LeakFinder, leakFinder } from '../base/leaks.ts'
import { VERSION } from '../base/version.ts'
import { type Grant, grantOf, type Reach } from './declared.ts'
import type { DigestLimit } from './digest-limit.ts'
import { refusal, toDestinationError } from './failures.ts'
import type { AdmittedUrl, Gate } from './gate.ts'
import type { Spending } from './rate-limit-budget.ts'
import { type OpenSocketOptions, openSocket } from './sockets.ts'

/** What one check may do. */
export interface CheckGuard {
  /** Each request reads its signal. */
  readonly timer: Pick<AbortController, 'signal'>
  readonly now: () => Instant
  /** The only one that the check may read. */
  readonly origin: string
  /** Of that origin; without a path, when left out. Calls go there, where the manifest declares no paths for them. */
  readonly baseUrl?: string
  /** The origin is the address of a connection, and not one that the plugin names for a claim. */
  readonly throughConnection: boolean
  readonly reach: Reach
  /** Of the connection, by handle. */
  readonly secrets: SecretValues
  readonly limits?: CheckLimits
  /** Of the claim; left out where a connection is tried. */
  readonly workspaceId?: string
  /** What its requests count against; nothing, when left out. */
  readonly spending?: Spending
}

export interface CheckRequests extends Pick<CheckContext, 'connect' | 'digest' | 'reveal'> {
  readonly fetch: GuardedFetch
  readonly resolve: (url: string) => Promise<ResolvedAddress>
  readings(): Readings
  /** Its own limits ended the check's requests: its time is over, or it may send no more. */
  isEnded(): boolean
  /** The check is made again, because its plugin's process ended with another one: its requests are counted anew. What was told stays. */
  again(): void
  /** Takes over what a read told that another check made for this one as well. */
  inherit(readings: Readings): void
  /** The first thing that the plugin asked for without being allowed to. What it then reports is no evidence. */
  breach(): BreachError | undefined
  /** Finds the check's secrets in what its plugin says. */
  leaks(): LeakFinder
}

/** How requests and connections that passed the gate are made. */
export interface Sender {
  readonly gate: Gate
  send(admitted: AdmittedUrl, init: SendInit, maxBytes: number): Promise<Response>
  readonly ca: OpenSocketOptions['ca']
  readonly limitDigests: DigestLimit
}

export interface SendInit {
  readonly method: string
  readonly headers: Headers
  readonly body?: string | undefined
  readonly signal: AbortSignal
  /** It is sent once more. Throws DestinationError where it may not be. */
  readonly sentAgain?: () => void
}

const USER_AGENT = `claimcheck/${VERSION}`
const MAX_REDIRECTS = 3
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
const MAX_SOCKETS = 4

export function createCheckRequests(guard: CheckGuard, { gate, send, ca, limitDigests }: Sender): CheckRequests {
  const { timer, now, secrets, limits = {}, reach, spending } = guard
  const { requests: mostRequests = CEILING.requests, bodyBytes = CEILING.bodyBytes } = limits
  const origin = requireOrigin(guard.origin)
  const hostname = requireHostname(origin)
  let requests = 0
  let sockets = 0
  let resolved = 0
  let readings = NO_READINGS
  let breach: BreachError | undefined

  /** @throws BreachError where the manifest allows no check there */
  function grant(): Grant {
    const { throughConnection } = guard
    const given = grantOf(reach, { origin, throughConnection, hasSecrets: secrets.size > 0 })
    if (given === undefined)
      throw new BreachError(
        `the manifest of this plugin does not declare the host of ${origin}: add it to manifest.hosts, or 'connection'`,
      )
    return given
  }

  /** The receipt says that the check read this origin; a place that a claim names may have `www.` before its name. */
  function admit(text: string): AdmittedUrl {
    const isTarget = grant() === 'target'
    const admitted = gate.checkUrl(text, isTarget)
    const asked = admitted.url.origin
    if (asked !== origin && !(isTarget && isOwnWww(asked, origin)))
      throw refusal("a check may read its connection's base address only")
    return admitted
  }

  /** Counts a request that is sent now. The result takes the headers of its answer. */
  function count(): (headers?: Headers) => void {
    if (++requests > mostRequests) throw refusal(`a check may make ${mostRequests} requests`)
    return spending?.count() ?? (() => {})
  }

  async function request(
    admitted: AdmittedUrl,
    init: Omit<SendInit, 'signal' | 'sentAgain'>,
    maxBytes = bodyBytes,
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
      const response = await send(admitted, { ...init, signal: timer.signal, sentAgain }, maxBytes)
      headers = response.headers
      readings = mergeReadings(readings, readAnswer(headers, sentAt, now()))
      return response
    } finally {
      answered(headers)
    }
  }

  async function fetch(text: string, init: FetchInit = {}, maxBytes?: number): Promise<Response> {
    const { call, method = 'GET' } = init
    const headers = requestHeaders({ ...init, userAgent: USER_AGENT }, secrets)
    let admitted = admit(text)
    if (call !== undefined) {
      if (init.method !== undefined) throw new BreachError('a call has no other method')
      headers.set('content-type', 'application/json')
      const body = callBody(call, reach.methods, { path: pathOf(admitted.url), basePath: basePath(guard) })
      const response = await request(admitted, { method: 'POST', headers, body })
      // Elsewhere the body would not be the one that was declared for that place.
      if (isRedirect(response)) throw await unexpected(response)
      return response
    }
    if (method !== 'GET' && method !== 'HEAD') throw new BreachError('a check may use GET and HEAD only')
    for (let redirects = 0; ; redirects++) {
      const response = await request(admitted, { method, headers }, maxBytes)
      if (!isRedirect(response) || init.redirect === 'manual') return response
      const { url } = admitted
      const location = response.headers.get('location')!
      const next = parseUrl(location, url.href)
      // A redirect to another origin would receive the credentials of this one.
      const isLast = redirects === MAX_REDIRECTS || requests === mostRequests
      if (next?.origin !== url.origin || isLast) throw await unexpected(response)
      await response.body?.cancel()
      admitted = admit(next.href)
    }
  }

  async function digest(text: string, { algorithms, headers, ...init }: DigestInit): Promise<DigestAnswer> {
    const asked = { ...init, headers: digestHeaders(headers, algorithms) }
    return limitDigests(guard.workspaceId ?? '', async () => {
      const response = await fetch(text, asked, MAX_DIGEST_BYTES)
      return digestAnswer(response, { algorithms, createHash, maxDecodedBytes: bodyBytes })
    })
  }

  async function connect(text: string) {
    const address = socketAddress(text)
    if (!address) throw refusal('the URL is not tls://host:port or tcp://host:port')
    const isPublicOnly = grant() === 'target'
    if (address.hostname !== hostname)
      throw refusal("a check may connect to the host of its connection's base address only")
    const { port, isTls } = address
    if (!reach.sockets?.some((declared) => declared.port === port && declared.tls === isTls)) {
      throw new BreachError(
        `the manifest of this plugin does not declare the port ${port} ${isTls ? 'with' : 'without'} TLS`,
      )
    }
    const admitted = gate.checkSocket(address, isPublicOnly)
    if (++sockets > MAX_SOCKETS) throw refusal(`a check may open ${MAX_SOCKETS} connections`)
    const answered = count()
    const sentAt = now()
    try {
      const lookup = gate.lookupFunction(admitted)
      const socket = await openSocket(address, { lookup, ca, signal: timer.signal, maxBytes: bodyBytes, secrets })
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
    if (++resolved > mostRequests) throw refusal(`a check may resolve ${mostRequests} names`)
    const { hostname, port, protocol } = admitted.url
    const [first] = await gate.lookUp(hostname, admitted).catch((error: unknown) => {
      throw toDestinationError(error, timer.signal)
    })
    const usual = protocol === 'https:' ? 443 : 80
    return { hostname: unbracketed(hostname), port: Number(port) || usual, address: first!.address }
  }

  function noteBreach(error: unknown): never {
    if (error instanceof BreachError) breach ??= error
    throw error
  }

  return {
    fetch: (text, init) => fetch(text, init).catch(noteBreach),
    digest: (text, init) => digest(text, init).catch(noteBreach),
    connect: (text) => connect(text).catch(noteBreach),
    resolve: (text) => resolve(text).catch(noteBreach),
    reveal(auth) {
      if (!reach.mayReveal)
        throw new TypeError('the manifest of this plugin names no programs, or the operator does not trust it')
      return credentialHeader(auth, secrets)
    },
    readings: () => readings,
    isEnded: () => timer.signal.aborted || spending?.isRefused() === true,
    again() {
      requests = sockets = resolved = 0
    },
    inherit(others) {
      readings = mergeReadings(readings, others)
    },
    breach: () => breach,
    leaks: () => leakFinder([...secrets.values()]),
  }
}

const NO_HEADERS = new Headers()

function isRedirect({ status, headers }: Response): boolean {
  return REDIRECTS.has(status) && headers.has('location')
}

async function unexpected({ status, body }: Response): Promise<DestinationError> {
  await body?.cancel()
  return new DestinationError('unexpected_response', { status })
}

function pathOf({ pathname, search }: URL): string {
  return pathname + search
}

function basePath({ baseUrl, origin }: CheckGuard): string {
  return pathOf(new URL(baseUrl ?? origin))
}
