/** What a host gives a verifier, for tests without a host: a real fetch that follows redirects only on the same origin, and a cache. */
import { lookup } from 'node:dns/promises'
import {
  authHeader,
  createHttp,
  type GuardedFetch,
  type SecretValues,
  withoutSecretValues,
} from '@claimcheck/core/hosting'
import {
  type CheckCache,
  type CheckContext,
  type Claim,
  type Connection,
  DestinationError,
  type JsonObject,
  type Observation,
  type PreviousRead,
  type ProbeResult,
  type Verifier,
} from '@claimcheck/core/plugin'
import codehost from '@claimcheck/plugin-codehost'
import type { Test } from 'tap'
import { type Fault, type Faults, html, status } from '../../../test/destinations/faults.ts'

const MAX_REDIRECTS = 5

export const logger = { info() {}, warn() {} }

const { connections: types = [] } = await codehost.setup({ logger }, {})

export async function setUp(options: Parameters<typeof codehost.setup>[1] = {}) {
  const parts = await codehost.setup({ logger }, options)
  const verifier = parts.verifiers!.find(({ profile }) => profile.action === 'codehost.commit.push')
  const connections = new Map(parts.connections!.map((type) => [type.provider, type]))
  return { verifier: verifier!, connections, close: async () => parts.close?.() }
}

export interface ContextOptions {
  /** With its secrets, as a host has it. */
  readonly connection?: Connection | null
  readonly secrets?: SecretValues
  readonly previous?: readonly PreviousRead[]
  readonly cache?: CheckCache
  readonly now?: () => number
  readonly timeoutMs?: number
  /** In place of a time limit. */
  readonly signal?: AbortSignal
  readonly share?: string
}

export function createContext(options: ContextOptions = {}): CheckContext {
  const { previous = [], cache = createCache(), now = Date.now } = options
  const { timeoutMs = 20_000, share = 'ws_1' } = options
  const given = options.connection && withHandles(options.connection.provider, options.connection.options)
  const secrets = given?.secrets ?? options.secrets ?? new Map()
  const { signal = AbortSignal.timeout(timeoutMs) } = options
  const fetch = fetchWithin(signal, secrets)
  return {
    connection: given ? { ...options.connection!, options: given.options } : null,
    previous,
    cache,
    share,
    now,
    signal,
    logger,
    fetch,
    http: createHttp({ fetch, now }),
    resolve,
    digest: async () => {
      throw new TypeError('no code host is read for digests')
    },
    reveal: (auth) => authHeader(auth, secrets),
    ask: (_, run) => run(),
    fingerprint: noSockets,
    connect: noSockets,
    query: noSockets,
  }
}

async function noSockets(): Promise<never> {
  throw new DestinationError('unavailable', { cause: new Error('the manifest declares no sockets') })
}

/** As a host: a plugin gets handles in place of secrets. */
function withHandles(provider: string, options: JsonObject) {
  const type = types.find((one) => one.provider === provider)!
  return { type, ...withoutSecretValues(type, options) }
}

/** Probes with options that have their secrets, as a host has them. */
export function probe(provider: string, given: JsonObject, target?: string): Promise<ProbeResult> {
  const { type, options, secrets } = withHandles(provider, given)
  const context = createContext({ secrets })
  return type.probe(options as Record<string, unknown>, target === undefined ? context : { ...context, target })
}

export function check(verifier: Verifier, claim: Claim, context: CheckContext): Promise<Observation> {
  return verifier.check(claim, context) as Promise<Observation>
}

/** Whatever fails on the way, that is what is reported, and nothing else. */
export async function failsAlike(
  t: Test,
  faults: Faults,
  requests: readonly (readonly [on: RegExp, looking: () => Promise<Observation>])[],
  more: readonly (readonly [fault: Fault, code: string])[] = [],
): Promise<void> {
  for (const [on, looking] of requests) {
    for (const [fault, code] of [...FAILING, ...more]) {
      faults.inject({ fault, on, times: 1 })
      t.equal(await outcome(looking()), code, `${on}`)
      faults.clear()
    }
  }
}

const FAILING: readonly (readonly [fault: Fault, code: string])[] = [
  [status(401), 'unauthorized'],
  [status(500), 'unavailable'],
  [status(429), 'rate_limited'],
  [html(), 'unexpected_response'],
]

/** A check's result as a short text: `as claimed`, `differs: branch`, `absent`, or the code of a failure. */
export async function outcome(checking: Promise<Observation>): Promise<string> {
  try {
    const observation = await checking
    if (observation.kind === 'absent') return 'absent'
    return observation.differs.length > 0 ? `differs: ${observation.differs.join()}` : 'as claimed'
  } catch (error) {
    if (error instanceof DestinationError) return error.code
    throw error
  }
}

export function createCache(): CheckCache {
  const entries = new Map<string, unknown>()
  const running = new Map<string, Promise<unknown>>()
  const waiting = new Map<string, Promise<unknown>>()

  function start<T>(key: string, read: () => Promise<T>): Promise<T> {
    const reading = read().finally(() => running.delete(key))
    running.set(key, reading)
    return reading
  }

  return {
    get: (key) => entries.get(key),
    set: (key, value) => void entries.set(key, value),
    share<T>(key: string, read: () => Promise<T>): Promise<T> {
      const joined = waiting.get(key)
      if (joined) return joined as Promise<T>
      const current = running.get(key)
      if (!current) return start(key, read)
      const next = current
        .catch(() => {})
        .then(() => {
          waiting.delete(key)
          return start(key, read)
        })
      waiting.set(key, next)
      return next
    },
  }
}

function fetchWithin(signal: AbortSignal, secrets: SecretValues): GuardedFetch {
  return async (url, { method = 'GET', headers: plain = {}, auth } = {}) => {
    const credential = auth && authHeader(auth, secrets)
    const headers = credential ? { ...plain, [credential.name]: credential.value } : plain
    let target = url
    for (let redirects = 0; ; redirects++) {
      const response = await fetch(target, { method, headers, redirect: 'manual', signal }).catch((cause) => {
        throw new DestinationError(signal.aborted ? 'timeout' : 'unavailable', { cause })
      })
      const location = response.headers.get('location')
      const next = location === null ? undefined : new URL(location, target)
      const stays = next?.origin === new URL(url).origin && redirects < MAX_REDIRECTS
      if (response.status < 300 || response.status >= 400 || !stays) return response
      await response.body?.cancel()
      target = next.href
    }
  }
}

async function resolve(url: string) {
  const { hostname, port, protocol } = new URL(url)
  const { address } = await lookup(hostname.replace(/^\[|\]$/g, ''))
  return { hostname, port: Number(port) || (protocol === 'https:' ? 443 : 80), address }
}
