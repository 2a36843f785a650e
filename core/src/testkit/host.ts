/** A small host: sets the plugin up behind a fault proxy of its own, and makes checks as a host makes them. */
import { inspect } from 'node:util'
import { authHeader, type SecretValues, withoutSecretValues } from '../contract/auth.ts'
import type { ConnectionType } from '../contract/connection.ts'
import { DestinationError, isDestinationError } from '../contract/destination-error.ts'
import { createHttp } from '../contract/http.ts'
import type { Plugin, PluginParts } from '../contract/plugin.ts'
import {
  CEILING,
  type CheckContext,
  type Claim,
  type Connection,
  type Logger,
  type PreviousRead,
  type Verifier,
} from '../contract/verifier.ts'
import type { DestinationErrorCode, Observation } from '../evidence.ts'
import type { Readings } from '../hosting/readings.ts'
import type { JsonObject } from '../json.ts'
import { type CacheStore, cacheOf, createCacheStore } from './check-cache.ts'
import type { KitClock } from './clock.ts'
import { type FaultProxy, type ProxyOptions, type Route, type Strike, startFaultProxy } from './fault-proxy.ts'
import { guardRequests } from './guarded-fetch.ts'
import type { GivenConnection, OrAt } from './options.ts'
import { type Note, unwatched, watching } from './watch.ts'

/** The plugin behind one proxy. Lanes work at the same time, and a lane makes one check at a time, unless its faults are none. */
export interface Lane {
  readonly proxy: FaultProxy
  readonly parts: PluginParts
  verifierFor(action: string | undefined): Verifier | undefined
  check(asked: CheckAsked): Promise<Outcome>
  close(): Promise<void>
}

export interface CheckAsked {
  readonly claim: Claim
  readonly connection: OrAt<GivenConnection> | null
  readonly previous?: readonly PreviousRead[]
  /** What earlier checks remembered; nothing, when left out. */
  readonly store?: CacheStore
  readonly strike?: Strike
  /** The check's time is over this long after the strike. Milliseconds. */
  readonly endAfterStrikeMs?: number
  /** The proxy goes on as it is. */
  readonly joins?: boolean
}

export interface Outcome {
  /** What the check returned, which nobody has checked yet. */
  readonly observation?: Observation
  /** What it threw. */
  readonly error?: unknown
  readonly readings: Readings
  readonly routes: readonly Route[]
  readonly logs: readonly unknown[]
  readonly wasStruck: boolean
  /** A body was larger than a check may read. */
  readonly readTooMuch: boolean
  /** It went on after its signal was aborted. */
  readonly ignoredAbort: boolean
  /** The secrets that the check could have given away. */
  readonly secrets: readonly string[]
}

export interface LaneOptions {
  readonly plugin: Plugin
  readonly options: OrAt<JsonObject>
  readonly proxy: ProxyOptions
  readonly clock: KitClock
  /** Told of what the plugin does that the host refuses. */
  readonly note: Note
}

const USUAL_TIME_MS = 10_000
/** How fast a check heeds its abort. */
const ABORT_MS = 100

export async function openLane({ plugin, options, proxy: proxyOptions, clock, note }: LaneOptions): Promise<Lane> {
  const proxy = await startFaultProxy(proxyOptions)
  const { now } = clock
  const setupLogs: unknown[] = []
  // What it does before its checks and between them is its own, but for connections.
  const inSetup: Note = (name, problem) => name === 'clock.machine' || note(name, problem)
  const given = valueAt(options, proxy.url)
  const host = { logger: loggerInto(setupLogs), now }
  const parts = await watching(inSetup, async () => plugin.setup(host, structuredClone(given) as never)).catch(
    async (error: unknown) => {
      await proxy.stop()
      throw error
    },
  )
  const types = new Map((parts.connections ?? []).map((type) => [type.provider, type]))

  function opened(connection: CheckAsked['connection']): Opened {
    if (connection === null) return { connection: null, type: undefined, secrets: new Map() }
    const { provider, options } = valueAt(connection, proxy.url)
    const type = types.get(provider)
    if (!type) throw new TypeError(`the plugin has no connection type ${provider}`)
    const { options: shown, secrets } = withoutSecretValues(type, structuredClone(options))
    return { connection: { id: 'conn_1', provider, options: shown }, type, secrets }
  }

  function verifierFor(action: string | undefined): Verifier | undefined {
    const named = (parts.verifiers ?? []).filter(
      ({ profile }) =>
        action === undefined || profile.action === action || Object.hasOwn(profile.aliases ?? {}, action),
    )
    return named.toSorted((one, other) => Number(other.profile.version) - Number(one.profile.version))[0]
  }

  async function check(asked: CheckAsked): Promise<Outcome> {
    const { claim, previous = [], store = createCacheStore(), strike, endAfterStrikeMs, joins = false } = asked
    const verifier = verifierFor(claim.action)!
    const { connection, type, secrets } = opened(asked.connection)
    const baseUrl = baseUrlOf(verifier, claim, connection, type)
    const limits = verifier.limits ?? {}
    const abort = new AbortController()
    const { signal } = abort
    const logs: unknown[] = []
    const origin = new URL(baseUrl).origin
    const timers: NodeJS.Timeout[] = []
    const endAfter = (ms: number) => timers.push(setTimeout(() => abort.abort(), ms))
    endAfter(Math.min(limits.timeMs ?? USUAL_TIME_MS, USUAL_TIME_MS, CEILING.timeMs))
    if (!joins) {
      proxy.begin({
        baseOrigin: origin,
        ...(strike ? { strike } : {}),
        ...(endAfterStrikeMs === undefined ? {} : { onStrike: () => void endAfter(endAfterStrikeMs) }),
      })
    }
    const guarded = guardRequests({
      origin,
      proxy: proxy.url,
      manifest: plugin.manifest,
      secrets,
      limits,
      signal,
      now,
      misused: note,
    })
    const fetch = (...args: Parameters<typeof guarded.fetch>) => unwatched(() => guarded.fetch(...args))
    const { hostname, port, protocol } = new URL(proxy.url === origin ? proxy.url : baseUrl)
    const context: CheckContext = {
      connection: connection && structuredClone(connection),
      fetch,
      http: createHttp({ fetch, now, limits }),
      async connect() {
        throw new DestinationError('unavailable', { cause: new Error('the kit has no sockets') })
      },
      async resolve() {
        return { hostname, port: Number(port) || (protocol === 'https:' ? 443 : 80), address: '127.0.0.1' }
      },
      reveal(auth) {
        if ((plugin.manifest.programs ?? []).length > 0) return authHeader(auth, secrets)
        note('requests.reveal', 'asks for a credential in clear, and its manifest names no programs')
        throw new TypeError('the manifest of this plugin names no programs')
      },
      signal,
      now,
      logger: loggerInto(logs),
      cache: cacheOf(store, guarded),
      share: 'ws_1',
      previous: structuredClone(previous),
    }
    const returned = watching(note, () => called(verifier, structuredClone(claim), context))
    const settled = returned.then(
      (observation) => ({ observation, ignoredAbort: false }),
      (error: unknown) => ({ error, ignoredAbort: false }),
    )
    const ended = new Promise<{ error: unknown; ignoredAbort: true }>((resolve) => {
      const give = () =>
        timers.push(setTimeout(() => resolve({ error: new DestinationError('timeout'), ignoredAbort: true }), ABORT_MS))
      signal.addEventListener('abort', give)
    })
    const result = await Promise.race([settled, ended])
    for (const timer of timers) clearTimeout(timer)
    const routes = proxy.routes()
    const wasStruck = proxy.struck() > 0
    abort.abort()
    return {
      ...(result as Pick<Outcome, 'observation' | 'error' | 'ignoredAbort'>),
      readings: guarded.readings(),
      routes,
      logs: [...setupLogs, ...logs],
      wasStruck,
      readTooMuch: guarded.isTooLarge(),
      secrets: [...secrets.values()],
    }
  }

  return {
    proxy,
    parts,
    verifierFor,
    check,
    async close() {
      try {
        await watching(inSetup, async () => parts.close?.())
      } finally {
        await proxy.stop()
      }
    },
  }
}

interface Opened {
  /** As the plugin gets it. */
  readonly connection: Connection | null
  readonly type: ConnectionType | undefined
  readonly secrets: SecretValues
}

/** @throws TypeError where the claim cannot be read so */
function baseUrlOf(
  verifier: Verifier,
  claim: Claim,
  connection: Connection | null,
  type: ConnectionType | undefined,
): string {
  if (!connection || !type) {
    const source = verifier.profile.access.anonymous ? verifier.anonymousSource?.(structuredClone(claim)) : undefined
    if (!source) throw new TypeError('the claim cannot be read without a connection')
    return source.baseUrl
  }
  if (type.fits(structuredClone(connection.options) as never, structuredClone(claim)) !== true) {
    throw new TypeError('the connection does not fit the claim')
  }
  return (
    verifier.destination?.(structuredClone(claim), structuredClone(connection)) ??
    type.baseUrl(structuredClone(connection.options) as never)
  )
}

/** A host calls `checkMany` in place of `check`, where there is one. */
async function called(verifier: Verifier, claim: Claim, context: CheckContext): Promise<Observation> {
  if (!verifier.checkMany) return (await verifier.check(claim, context)) as Observation
  const { previous, ...common } = context
  const answers = await verifier.checkMany([{ claim, previous }], common)
  const [answer] = answers
  if (answers.length !== 1) throw new TypeError(`checkMany returned ${answers.length} answers for one claim`)
  if (isDestinationError(answer)) throw answer
  return answer as Observation
}

function loggerInto(logs: unknown[]): Logger {
  const write = (fields: unknown, message: unknown) => {
    logs.push([fields, message])
  }
  return { debug: write, info: write, warn: write }
}

export function valueAt<T>(value: T | ((url: string) => T), url: string): T {
  return typeof value === 'function' ? (value as (url: string) => T)(url) : value
}

/** `timeout`, or what was thrown in place of a DestinationError. */
export function errorCode(error: unknown): DestinationErrorCode | undefined {
  return isDestinationError(error) ? error.code : undefined
}

export function thrownText(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : inspect(error)
}
