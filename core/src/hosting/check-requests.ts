/** Lets a check ask of its destination what its manifest and its limits allow: one set of rules for every host of plugins. */
import type { DeclaredCredential } from '../contract/auth.ts'
import { DestinationError } from '../contract/destination-error.ts'
import type { FetchInit } from '../contract/fetch.ts'
import type { DigestAnswer, DigestInit, ResolvedAddress } from '../contract/verifier.ts'
import { parseUrl } from '../url.ts'
import { isOwnWww, portOf, unbracketed } from './base-address.ts'
import { callRequest } from './calls.ts'
import type { RequestGuard, SendInit, Transport } from './check-guard.ts'
import { guardSockets } from './check-sockets.ts'
import { CheckUsage, type Use } from './check-usage.ts'
import { certificateOf, declaredFingerprint, declaredSpend, type Spend, unboundSecrets } from './credentials.ts'
import { digestAnswer, digestHeaders, readContentDigest, requireContent } from './digest.ts'
import { BreachError, untilAborted } from './failures.ts'
import { requestHeaders } from './headers.ts'
import { NO_READINGS, type Readings } from './readings.ts'
import { tokenHost } from './scheme-host.ts'
import type { Outgoing, SchemeHost } from './schemes/scheme.ts'

const MAX_REDIRECTS = 3
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

export type GuardedRequests = ReturnType<typeof guardRequests>

export function guardRequests<A>(guard: RequestGuard, transport: Transport<A>) {
  type AdmittedUrl = A & { readonly url: URL }
  const { connected, origin, now, timer } = guard
  const usage = new CheckUsage(guard)
  const tokens =
    connected &&
    tokenHost({
      connected,
      now,
      origin,
      exchange(request, { mostBytes, ...own }) {
        const admittedHost = transport.admitUrl(request.url.href, false)
        const counted = guard.spend?.() ?? (() => {})
        // An exchange that outlives the check does not count towards the check's bytes: their limit must not cost a refresh token that is used up by
        // now.
        const bounds = own.outlives ? own : { ...own, received: (bytes: number) => usage.received(bytes, 'body') }
        return transport
          .send(admittedHost, { ...request, signal: timer.signal, ...bounds }, mostBytes)
          .finally(() => counted())
      },
    })

  /** Applies the rules to what a check asks for, before anything is sent. */
  function prepare(text: string, init: FetchInit, use: Use) {
    const spend = usage.under('credentials', () => declaredSpend(init.auth, connected))
    const auth = spend ? undefined : init.auth
    const headerSecrets = unboundSecrets(guard.secrets, connected)
    const headers = usage.under('headers', () =>
      requestHeaders({ ...init, auth, userAgent: guard.userAgent }, headerSecrets),
    )
    if (spend && headers.has('authorization'))
      throw usage.refused('headers', new BreachError('the header authorization is set twice, by headers and by auth'))
    const admitted = admit(text)
    const call = usage.under('methods', () => callOf(admitted.url, init, guard))
    for (const [name, value] of Object.entries(call?.headers ?? {})) headers.set(name, value)
    const { method, body } = call ?? { method: init.method ?? 'GET', body: undefined }
    return {
      spend,
      admitted,
      request: { method, headers, body },
      isCall: call !== undefined,
      used: call ? 'body' : use,
    }
  }

  async function fetch(text: string, init: FetchInit = {}, use: Use = 'body'): Promise<Response> {
    const { contentDigest } = init
    if (contentDigest === undefined) return followed(text, init, use)
    const digest = usage.under('headers', () => readContentDigest(contentDigest, init))
    const { createHash } = transport
    return requireContent(await followed(text, init, use), digest, { url: text, createHash })
  }

  async function followed(text: string, init: FetchInit, use: Use): Promise<Response> {
    const { spend, request, isCall, used, ...prepared } = prepare(text, init, use)
    let { admitted } = prepared
    for (let redirects = 0; ; redirects++) {
      const response = await sendWith(spend, admitted, request, used).catch((error: unknown) => {
        throw refusalOf(error, redirects)
      })
      const location = locationOf(response)
      if (location === null || (init.redirect === 'manual' && !isCall)) return response
      await response.body?.cancel()
      // A call follows no redirect, because another path would receive a body that was not declared for it.
      const mayFollow = redirects < MAX_REDIRECTS && usage.hasRequestsLeft && !isCall
      const next = mayFollow ? redirectWithin(admitted.url, location) : undefined
      if (next === undefined) return readElsewhere(response, mayFollow && init.contentDigest, { location, admitted })
      admitted = admit(next)
    }
  }

  /** The error of a request. The destination, not the plugin, chose where a redirect leads. */
  function refusalOf(error: unknown, redirects: number): unknown {
    return redirects > 0 && error instanceof BreachError
      ? new DestinationError('unexpected_response')
      : usage.refused('credentials', error)
  }

  /** Admits an address of the origin that the receipt says was read. One that a claim names may have `www.` before its name. */
  function admit(text: string): AdmittedUrl {
    const isTarget = usage.under('hosts', () => usage.grant(origin)) === 'target'
    const admitted = transport.admitUrl(text, isTarget)
    const asked = admitted.url.origin
    if (asked !== origin && !(isTarget && isOwnWww(asked, origin)))
      throw usage.refuse('origin', `asks ${asked}, and its base address is ${origin}`)
    const lost = lostInAddress(text)
    // A claim chose the name in the address, so the plugin is to blame for no more than letting it through.
    if (lost !== undefined)
      throw usage.refuse('address', `asks an address with ${lost}, which leads elsewhere`, 'ambiguous_claim')
    return admitted
  }

  async function sendWith(
    spend: Spend | undefined,
    admitted: AdmittedUrl,
    init: Omit<Outgoing, 'url'>,
    use: Use,
  ): Promise<Response> {
    const sendTo = (request: Omit<Outgoing, 'url'>, url: URL) =>
      send({ ...admitted, url }, { ...request, clientCertificate: certificateOf(connected) }, use)
    if (!spend || !tokens) return sendTo(init, admitted.url)
    const host: SchemeHost = {
      ...tokens,
      send({ url, ...request }) {
        usage.noteToken(bearerOf(request))
        return sendTo(request, url)
      },
    }
    // Stops waiting when the check's time is over, because an exchange can outlive the check.
    return untilAborted(timer.signal, spend({ ...init, url: admitted.url }, host))
  }

  /**
   * Follows a redirect to another origin for content whose digest is known. Neither credentials nor a certificate go there. Nothing but the content
   * comes back: neither its clock nor its failures are the destination's. The attack: a place that a claim names leads to a private address.
   */
  async function readElsewhere(
    { status }: Response,
    digest: string | false | undefined,
    redirect: { readonly location: string; readonly admitted: AdmittedUrl },
  ): Promise<Response> {
    const isTarget = usage.grant(origin) === 'target'
    const url = digest ? parseUrl(redirect.location, redirect.admitted.url.href) : undefined
    const admitted = url && transport.admitContent?.(url.href, isTarget)
    if (!admitted) throw new DestinationError('unexpected_response', { status })
    const headers = requestHeaders({ userAgent: guard.userAgent }, new Map())
    const received = (bytes: number) => usage.received(bytes, 'body')
    const sentAt = now()
    return usage.counted(async (sentAgain) => {
      const init = { method: 'GET', headers, signal: timer.signal, sentAgain, received }
      const response = await transport.send(admitted, init, usage.most.bodyBytes)
      if (!response.ok) {
        await response.body?.cancel()
        throw new DestinationError('unexpected_response', { status })
      }
      // The destination has answered already, by its redirect.
      return { result: new Response(response.body), readings: { ...NO_READINGS, sentAt }, isSilent: true }
    })
  }

  function send(
    admitted: AdmittedUrl,
    init: Omit<SendInit, 'signal' | 'sentAgain' | 'received'>,
    use: Use,
  ): Promise<Response> {
    const { signal } = timer
    const maxBytes = use === 'digest' ? guard.maxDigestBytes : usage.most.bodyBytes
    const received = (bytes: number) => usage.received(bytes, use)
    return usage.counted(async (sentAgain) => {
      const response = await transport.send(admitted, { ...init, signal, sentAgain, received }, maxBytes)
      return { result: response, headers: response.headers }
    })
  }

  return {
    fetch: (text: string, init?: FetchInit) => fetch(text, init),
    async digest(text: string, { algorithms, headers, ...init }: DigestInit): Promise<DigestAnswer> {
      const asked = { ...init, headers: usage.under('headers', () => digestHeaders(headers, algorithms)) }
      const { limitDigests = (read) => read() } = guard
      return limitDigests(async () => {
        const response = await fetch(text, asked, 'digest')
        const { createHash } = transport
        return digestAnswer(response, { algorithms, createHash, maxDecodedBytes: usage.most.bodyBytes })
      })
    },
    ...guardSockets(guard, { transport, usage, tokens }),
    async fingerprint(key: DeclaredCredential, text: string): Promise<string> {
      return usage.under('credentials', () => declaredFingerprint(key, text, connected))
    },
    async resolve(text: string): Promise<ResolvedAddress> {
      const admitted = admit(text)
      const { requests: most } = usage.most
      // Resolving a name may ask a name server, so names are counted.
      if (usage.count('names') > most) throw usage.refuse('limits', `resolves more than ${most} names in a check`)
      const { hostname } = admitted.url
      const address = await transport.lookUp(hostname, admitted)
      return { hostname: unbracketed(hostname), port: portOf(admitted.url), address }
    },
    async ask<T>(text: string, run: () => Promise<T>): Promise<T> {
      admit(text)
      const asked = usage.begin()
      const sentAt = now()
      const result = await run()
      usage.read({ ...NO_READINGS, sentAt })
      usage.answered(asked)
      return result
    },
    readings: () => usage.readings,
    /** Number of answers of the check's source: its own, and those of the reads that it joined. 0 means that it read nowhere. */
    answers: () => usage.answers,
    /** Takes over the readings of a check that read for this one as well. */
    inherit: (others: Readings) => usage.read(others),
    /** Counts requests anew, because the check is made again. The readings and the count of bytes stay. */
    again: () => usage.again(),
  }
}

/**
 * Writes the call of a request.
 * @returns undefined for GET and HEAD
 * @throws BreachError for any other method, and a call that the manifest does not declare
 */
function callOf(url: URL, { method, call }: FetchInit, { manifest, baseUrl, secrets }: RequestGuard) {
  if (call === undefined) {
    if (method === undefined || method === 'GET' || method === 'HEAD') return undefined
    throw new BreachError('a check may use GET and HEAD only')
  }
  if (method !== undefined) throw new BreachError('a call has no other method')
  const places = { path: pathOf(url), basePath: pathOf(new URL(baseUrl)), handles: [...secrets.keys()] }
  return callRequest(call, manifest.methods, places)
}

function locationOf({ status, headers }: Response): string | null {
  return REDIRECTS.has(status) ? headers.get('location') : null
}

/**
 * The address of a redirect within an origin; undefined for any other. Another origin would receive the credentials of this one.
 */
function redirectWithin(url: URL, location: string): string | undefined {
  const next = parseUrl(location, url.href)
  if (next?.origin !== url.origin) return undefined
  // The fragment of a redirect's address is for browsers.
  next.hash = ''
  return next.href
}

function bearerOf({ headers }: Pick<Outgoing, 'headers'>): string | undefined {
  return /^bearer (\S+)$/i.exec(headers.get('authorization') ?? '')?.[1]
}

function pathOf({ pathname, search }: URL): string {
  return pathname + search
}

/**
 * A dot segment, also in percent encoding, which parsers of URLs resolve: `/a/x/../b` is `/a/b`. Servers that decode the path first, such as
 * nginx, resolve it between encoded slashes, too: `/a/x%2F..%2Fb`; and others after they cut off what follows a semicolon: `/a/x/..;/b`.
 */
const DOT_SEGMENT = /(?:^|[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?=[/\\;]|%2f|%5c|$)/i

/**
 * The part of an address that a parser of URLs or a server removes or replaces, in words; undefined if both keep everything. A name that a
 * claim chose must not lead to another object.
 */
function lostInAddress(text: string): string | undefined {
  const [beforeFragment = '', fragment] = text.split('#', 2)
  const path = beforeFragment.replace(/^[a-z]+:\/\/[^/\\?]*/i, '').split('?', 1)[0]!
  if (DOT_SEGMENT.test(path)) return 'a segment . or .. in its path'
  if (path.includes('\\')) return 'a backslash in its path'
  if (fragment !== undefined) return 'a fragment, after #'
  // Parsers of URLs remove tabs and line ends anywhere, and white space around an address.
  return /[\t\n\r]|^[\0- ]|[\0- ]$/.test(text) ? 'white space that is not encoded' : undefined
}
