/** What one check may ask of its destination, within its manifest and its limits: one set of rules for every host of plugins. */
import { DestinationError } from '../contract/destination-error.ts'
import type { FetchInit } from '../contract/fetch.ts'
import type { CheckContext, DigestAnswer, DigestInit, ResolvedAddress } from '../contract/verifier.ts'
import { parseUrl } from '../url.ts'
import { isOwnWww, unbracketed } from './base-address.ts'
import { BreachError } from './breach.ts'
import { type CallRequest, callRequest } from './calls.ts'
import type { RequestGuard, SendInit, Transport } from './check-guard.ts'
import { CheckSockets } from './check-sockets.ts'
import { CheckUsage, type Use } from './check-usage.ts'
import { certificateOf, declaredSpend, type Spend, unboundSecrets } from './credentials.ts'
import { digestAnswer, digestHeaders } from './digest.ts'
import { toDestinationError } from './failures.ts'
import { requestHeaders } from './headers.ts'
import { NO_READINGS, type Readings } from './readings.ts'
import { schemeHost } from './scheme-host.ts'
import type { Outgoing } from './schemes/scheme.ts'
import { lostInAddress } from './written-address.ts'

export interface GuardedRequests extends Pick<CheckContext, 'fetch' | 'digest' | 'connect' | 'query' | 'ask'> {
  resolve(url: string): Promise<ResolvedAddress>
  readings(): Readings
  /** How many answers of its source the check has: its own, and those of the reads that it joined. 0: what it says was read nowhere. */
  answers(): number
  /** Takes over the readings of a check that read for this one as well. */
  inherit(readings: Readings): void
  /** Counts requests anew, because the check is made again. The readings and the count of bytes stay. */
  again(): void
}

const MAX_REDIRECTS = 3
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

export function guardRequests<A>(guard: RequestGuard, transport: Transport<A>): GuardedRequests {
  const usage = new CheckUsage(guard)
  const requests = new Requests(guard, transport, usage)
  const sockets = new CheckSockets(guard, transport, usage)
  return {
    fetch: (text, init) => requests.fetch(text, init),
    digest: (text, init) => requests.digest(text, init),
    connect: (text, init) => sockets.connect(text, init),
    query: (text, query) => sockets.query(text, query),
    resolve: (text) => requests.resolve(text),
    ask: (text, run) => requests.ask(text, run),
    readings: () => usage.readings,
    answers: () => usage.answers,
    inherit: (others) => usage.read(others),
    again: () => usage.again(),
  }
}

type AdmittedUrl<A> = A & { readonly url: URL }

class Requests<A> {
  readonly #guard: RequestGuard
  readonly #transport: Transport<A>
  readonly #usage: CheckUsage

  constructor(guard: RequestGuard, transport: Transport<A>, usage: CheckUsage) {
    this.#guard = guard
    this.#transport = transport
    this.#usage = usage
  }

  async fetch(text: string, init: FetchInit = {}, use: Use = 'body'): Promise<Response> {
    const { secrets, userAgent, connected } = this.#guard
    const spend = this.#usage.under('credentials', () => declaredSpend(init.auth, connected))
    const auth = spend ? undefined : init.auth
    const headerSecrets = unboundSecrets(secrets, connected)
    const headers = this.#usage.under('headers', () => requestHeaders({ ...init, auth, userAgent }, headerSecrets))
    if (spend && headers.has('authorization'))
      throw this.#usage.refused(
        'headers',
        new BreachError('the header authorization is set twice, by headers and by auth'),
      )
    let admitted = this.#admit(text)
    const call = this.#usage.under('methods', () => this.#callOf(admitted.url, init))
    const isCall = call !== undefined
    for (const [name, value] of Object.entries(call?.headers ?? {})) headers.set(name, value)
    const { method, body } = call ?? { method: init.method ?? 'GET', body: undefined }
    for (let redirects = 0; ; redirects++) {
      const used = isCall ? 'body' : use
      const response = await this.#sendWith(spend, admitted, { method, headers, body }, used).catch(
        (error: unknown) => {
          // Where the destination leads is not what the plugin asked for.
          if (redirects > 0 && error instanceof BreachError) throw new DestinationError('unexpected_response')
          throw this.#usage.refused('credentials', error)
        },
      )
      const location = REDIRECTS.has(response.status) ? response.headers.get('location') : null
      if (location === null || (init.redirect === 'manual' && !isCall)) return response
      await response.body?.cancel()
      const { url } = admitted
      const next = parseUrl(location, url.href)
      const isLast = redirects === MAX_REDIRECTS || !this.#usage.hasRequestsLeft
      // Another origin would receive the credentials of this one, another path a body that was not declared for it.
      if (next?.origin !== url.origin || isLast || isCall)
        throw new DestinationError('unexpected_response', { status: response.status })
      // A fragment is for browsers.
      next.hash = ''
      admitted = this.#admit(next.href)
    }
  }

  async digest(text: string, { algorithms, headers, ...init }: DigestInit): Promise<DigestAnswer> {
    const asked = { ...init, headers: this.#usage.under('headers', () => digestHeaders(headers, algorithms)) }
    const { limitDigests = (read) => read() } = this.#guard
    return limitDigests(async () => {
      const response = await this.fetch(text, asked, 'digest')
      const { createHash } = this.#transport
      return digestAnswer(response, { algorithms, createHash, maxDecodedBytes: this.#usage.most.bodyBytes })
    })
  }

  async resolve(text: string): Promise<ResolvedAddress> {
    const admitted = this.#admit(text)
    const { requests: most } = this.#usage.most
    // Each may ask a name server.
    if (this.#usage.count('names') > most)
      throw this.#usage.refuse('limits', `resolves more than ${most} names in a check`)
    const { hostname, port, protocol } = admitted.url
    const address = await this.#transport.lookUp(hostname, admitted)
    const usual = protocol === 'https:' ? 443 : 80
    return { hostname: unbracketed(hostname), port: Number(port) || usual, address }
  }

  async ask<T>(text: string, run: () => Promise<T>): Promise<T> {
    this.#admit(text)
    const asked = this.#usage.begin()
    const sentAt = this.#guard.now()
    const result = await run()
    this.#usage.read({ ...NO_READINGS, sentAt })
    this.#usage.answered(asked)
    return result
  }

  /** The receipt says that the check read this origin; one that a claim names may have `www.` before its name. */
  #admit(text: string): AdmittedUrl<A> {
    const { origin } = this.#guard
    const isTarget = this.#usage.under('hosts', () => this.#usage.grant(origin)) === 'target'
    const admitted = this.#transport.admitUrl(text, isTarget)
    const asked = admitted.url.origin
    if (asked !== origin && !(isTarget && isOwnWww(asked, origin)))
      throw this.#usage.refuse('origin', `asks ${asked}, and its base address is ${origin}`)
    const lost = lostInAddress(text)
    // A name that the claim chose: the plugin is not to blame for more than letting it through.
    if (lost !== undefined)
      throw this.#usage.refuse('address', `asks an address with ${lost}, which leads elsewhere`, 'ambiguous_claim')
    return admitted
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
    const received = (bytes: number) => this.#usage.received(bytes, 'body')
    const host = schemeHost({
      connected,
      now,
      send: ({ url, ...request }) => {
        this.#usage.carries(request)
        return send(request, url)
      },
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
    const maxBytes = use === 'digest' ? this.#guard.maxDigestBytes : this.#usage.most.bodyBytes
    const received = (bytes: number) => this.#usage.received(bytes, use)
    return this.#usage.counted(async (sentAgain) => {
      const response = await this.#transport.send(admitted, { ...init, signal, sentAgain, received }, maxBytes)
      return { result: response, headers: response.headers }
    })
  }
}

/** @throws DestinationError once it is aborted */
function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = () => reject(toDestinationError(signal.reason, signal))
    if (signal.aborted) end()
    signal.addEventListener('abort', end, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', end))
  })
}

function pathOf({ pathname, search }: URL): string {
  return pathname + search
}
