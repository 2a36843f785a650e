/** What the tests of this plugin share: times, claims, and what a host gives a verifier. */
import { createHash } from 'node:crypto'
import {
  authHeader,
  createHttp,
  digestAnswer,
  type GuardedFetch,
  type SecretValues,
  withoutSecretValues,
} from '@claimcheck/core/hosting'
import {
  CEILING,
  type CheckCache,
  type CheckContext,
  type Claim,
  DestinationError,
  type JsonObject,
  type Observation,
  type PreviousRead,
} from '@claimcheck/core/plugin'
import registry from '@claimcheck/plugin-registry'

export const MINUTE = 60_000
export const NOON = Date.parse('2026-09-25T12:00:00Z')
/** As the verifier declares. */
const LIMIT_BYTES = CEILING.bodyBytes

const logger = { info() {}, warn() {} }

export async function setUp(options: Parameters<typeof registry.setup>[1] = {}) {
  const { verifiers, connections } = await registry.setup({ logger }, options)
  return { verifier: verifiers![0]!, connections: new Map(connections!.map((type) => [type.provider, type])) }
}

export interface Asked {
  /** `npm:tool` */
  readonly target: string
  readonly params?: JsonObject
  /** Of the plugin. */
  readonly options?: Parameters<typeof registry.setup>[1]
  /** With its secrets; none, when left out. */
  readonly connection?: { readonly provider: string; readonly options: JsonObject }
  /** When the check is made. */
  readonly now?: number
  readonly previous?: readonly PreviousRead[]
  readonly cache?: CheckCache
}

export function claimOf({ target, params = {} }: Pick<Asked, 'target' | 'params'>): Claim {
  return {
    action: 'registry.package.publish',
    target,
    params: { version: '1.0.0', ...params },
    claimedAt: NOON,
    deadlineAt: NOON + 30 * MINUTE,
    submittedAt: NOON,
  }
}

/** Makes a check of a normalized claim as a host does. */
export async function look(asked: Asked): Promise<Observation> {
  const { verifier, connections } = await setUp(asked.options)
  const { target, params } = claimOf(asked)
  const claim = { ...claimOf(asked), ...verifier.normalize!({ target, params }) }
  const type = asked.connection && connections.get(asked.connection.provider)!
  const given = type && withoutSecretValues(type, asked.connection!.options)
  const connection = given ? { id: 'con_1', provider: asked.connection!.provider, options: given.options } : null
  return verifier.check(claim, {
    ...contextOf(given?.secrets ?? new Map(), asked.now ?? NOON + MINUTE, asked.cache),
    connection,
    previous: asked.previous ?? [],
  }) as Promise<Observation>
}

export async function probe(provider: string, options: JsonObject, target?: string) {
  const type = (await setUp()).connections.get(provider)!
  const { options: given, secrets } = withoutSecretValues(type, options)
  const context = contextOf(secrets, NOON)
  return type.probe(given as Record<string, unknown>, target === undefined ? context : { ...context, target })
}

function contextOf(
  secrets: SecretValues,
  now: number,
  cache = createCache(),
): Omit<CheckContext, 'connection' | 'previous'> {
  const signal = AbortSignal.timeout(20_000)
  const fetch = fetchWithin(signal, secrets)
  const fetchWhole = fetchWithin(signal, secrets, Number.POSITIVE_INFINITY)
  return {
    cache,
    share: 'ws_1',
    now: () => now,
    signal,
    logger,
    fetch,
    http: createHttp({ fetch, now: () => now }),
    digest: async (url, { algorithms, ...init }) =>
      digestAnswer(await fetchWhole(url, init), { algorithms, createHash, maxDecodedBytes: LIMIT_BYTES }),
    fingerprint: notHere,
    connect: notHere,
    query: notHere,
    resolve: notHere,
    reveal: () => {
      throw new TypeError('this plugin names no programs')
    },
    ask: notHere,
  }
}

async function notHere(): Promise<never> {
  throw new DestinationError('unavailable')
}

/** Each read is a new one: what is kept of it is what the plugin keeps. */
export function createCache(): CheckCache {
  const entries = new Map<string, unknown>()
  return {
    get: (key) => entries.get(key),
    set: (key, value) => void entries.set(key, value),
    share: (_, read) => read(),
  }
}

/** Bodies end with an error beyond the limit, as a host makes them. */
function fetchWithin(signal: AbortSignal, secrets: SecretValues, limitBytes = LIMIT_BYTES): GuardedFetch {
  return async (url, { method = 'GET', headers = {}, auth } = {}) => {
    const credential = auth && authHeader(auth, secrets)
    const all = { ...headers, ...(credential && { [credential.name]: credential.value }) }
    const response = await fetch(url, { method, headers: all, redirect: 'manual', signal })
    // No test has one within the registry.
    if (response.headers.has('location')) throw new DestinationError('unexpected_response', { status: response.status })
    let size = 0
    const limit = new TransformStream<Uint8Array, Uint8Array>({
      transform(part, controller) {
        size += part.length
        if (size > limitBytes) controller.error(new DestinationError('too_large', { status: response.status }))
        else controller.enqueue(part)
      },
    })
    const { status } = response
    const body = status === 304 ? null : response.body?.pipeThrough(limit)
    return new Response(body ?? null, { status, headers: response.headers })
  }
}

/** A check's result as a short text: `as claimed`, `differs`, `absent`, each with its mark, or the code of a failure. */
export async function outcome(checking: Promise<Observation>): Promise<string> {
  try {
    const observation = await checking
    const mark = observation.mark === undefined ? '' : ` (${observation.mark})`
    if (observation.kind === 'absent') return `absent${mark}`
    return (observation.differs.length > 0 ? 'differs' : 'as claimed') + mark
  } catch (error) {
    if (error instanceof DestinationError) return error.code
    throw error
  }
}
