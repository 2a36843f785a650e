/** One call of a plugin's code as a host makes it: with a context that is guarded, within its time, and with what it gave out noted. */
import { authHeader, type SecretValues } from '../contract/auth.ts'
import { DestinationError } from '../contract/destination-error.ts'
import { CEILING, type CheckLimits } from '../contract/fetch.ts'
import { createHttp } from '../contract/http.ts'
import type { Manifest } from '../contract/plugin.ts'
import type { CheckContext, Connection, Logger } from '../contract/verifier.ts'
import { requireOrigin, unbracketed } from '../hosting/base-address.ts'
import { BreachError } from '../hosting/breach.ts'
import { grantOf } from '../hosting/grants.ts'
import type { Readings } from '../hosting/readings.ts'
import { type CacheStore, cacheOf, createCacheStore } from './check-cache.ts'
import type { KitClock } from './clock.ts'
import type { FaultProxy, Route, Strike } from './fault-proxy.ts'
import { guardRequests } from './guarded-fetch.ts'
import { guardSockets } from './guarded-socket.ts'
import type { SocketProxy, SocketStrike } from './socket-proxy.ts'
import { type Note, unwatched, watching } from './watch.ts'
import { type Doing, holds } from './watchdog.ts'

export interface CallAsked {
  /** What earlier checks remembered; nothing, when left out. */
  readonly store?: CacheStore
  readonly strike?: Strike
  readonly socketStrike?: SocketStrike
  /** The call's time is over this long after the strike. Milliseconds. */
  readonly endAfterStrikeMs?: number
  /** The proxies go on as they are. */
  readonly joins?: boolean
  /** What the kit is at, should the plugin hold the processor. */
  readonly doing: Doing
}

/** What came of a call. */
export interface Called<T> {
  /** What it returned, which nobody has checked yet. */
  readonly value?: T
  /** What it threw. */
  readonly error?: unknown
  readonly readings: Readings
  readonly routes: readonly Route[]
  /** The answers on connections that are no HTTP. */
  readonly socketRoutes: readonly string[]
  readonly logs: readonly unknown[]
  readonly wasStruck: boolean
  /** A body was larger than a check may read. */
  readonly readTooMuch: boolean
  /** It went on after its signal was aborted. */
  readonly ignoredAbort: boolean
  /** The secrets that the call could have given away. */
  readonly secrets: readonly string[]
}

/** Where a call reads, and as whom. */
export interface Place {
  /** As the plugin gets it. */
  readonly connection: Connection | null
  readonly secrets: SecretValues
  readonly baseUrl: string
  /** It is the connection's own address, and not one that the plugin names for a claim. */
  readonly isOwn: boolean
}

export interface CallerOptions {
  /** Its hosts as the operator's options complete them. */
  readonly manifest: Manifest
  readonly proxy: FaultProxy
  readonly sockets: SocketProxy | undefined
  readonly clock: KitClock
  readonly note: Note
}

export type CallContext = Omit<CheckContext, 'previous'>

const USUAL_TIME_MS = 10_000
/** How fast a call heeds its abort. */
const ABORT_MS = 100

export async function callPlugin<T>(
  { manifest, proxy, sockets, clock, note }: CallerOptions,
  { connection, secrets, baseUrl, isOwn }: Place,
  { store = createCacheStore(), strike, socketStrike, endAfterStrikeMs, joins = false, doing }: CallAsked,
  limits: CheckLimits,
  run: (context: CallContext) => Promise<T>,
): Promise<Called<T>> {
  const { now } = clock
  const origin = requireOrigin(baseUrl)
  const abort = new AbortController()
  const { signal } = abort
  const logs: unknown[] = []
  const timers: NodeJS.Timeout[] = []
  let breach: BreachError | undefined
  const endAfter = (ms: number) => timers.push(setTimeout(() => abort.abort(), ms))
  endAfter(Math.min(limits.timeMs ?? USUAL_TIME_MS, USUAL_TIME_MS, CEILING.timeMs))
  if (!joins) {
    const onStrike = endAfterStrikeMs === undefined ? {} : { onStrike: () => void endAfter(endAfterStrikeMs) }
    proxy.begin({ baseOrigin: origin, ...(strike ? { strike } : {}), ...onStrike })
    sockets?.begin({ strike: socketStrike, ...onStrike })
  }
  const guard = {
    baseUrl,
    proxy: proxy.url,
    grant() {
      const granted = grantOf(manifest, { origin, throughConnection: isOwn, hasSecrets: secrets.size > 0 })
      if (granted === undefined) throw new BreachError(`manifest.hosts does not declare the host of ${origin}`)
      return granted
    },
    manifest,
    secrets,
    limits,
    signal,
    now,
    misused(name: string, problem: string, error?: BreachError) {
      breach ??= error
      note(name, problem)
    },
    resumed: () => holds(doing),
  }
  const guarded = guardRequests(guard)
  const fetch = (...args: Parameters<typeof guarded.fetch>) => unwatched(() => guarded.fetch(...args))
  const guardedConnect = guardSockets(guard, guarded, sockets?.port)
  const { hostname, port, protocol } = new URL(proxy.url === origin ? proxy.url : baseUrl)
  const context: CallContext = {
    connection: connection && structuredClone(connection),
    fetch,
    http: createHttp({ fetch, now, limits }),
    digest: (...args) => unwatched(() => guarded.digest(...args)),
    connect: (url) => unwatched(() => guardedConnect(url)),
    async resolve() {
      const usual = protocol === 'https:' ? 443 : 80
      return { hostname: unbracketed(hostname), port: Number(port) || usual, address: '127.0.0.1' }
    },
    reveal(auth) {
      if ((manifest.programs ?? []).length > 0) return authHeader(auth, secrets)
      note('requests.reveal', 'asks for a credential in clear, and its manifest names no programs')
      throw new TypeError('the manifest of this plugin names no programs')
    },
    signal,
    now,
    logger: loggerInto(logs),
    cache: cacheOf(store, guarded),
    share: 'ws_1',
  }
  holds(doing)
  const settled = watching(note, async () => run(context)).then(
    (value) => ({ value, ignoredAbort: false }),
    (error: unknown) => ({ error, ignoredAbort: false }),
  )
  const ended = new Promise<{ error: unknown; ignoredAbort: true }>((resolve) => {
    const give = () =>
      timers.push(setTimeout(() => resolve({ error: new DestinationError('timeout'), ignoredAbort: true }), ABORT_MS))
    signal.addEventListener('abort', give)
  })
  const result = await Promise.race([settled, ended])
  for (const timer of timers) clearTimeout(timer)
  const called = {
    // Whatever the plugin makes of what was refused.
    ...(breach ? { error: breach, ignoredAbort: result.ignoredAbort } : result),
    readings: guarded.readings(),
    routes: proxy.routes(),
    socketRoutes: sockets?.routes() ?? [],
    logs,
    wasStruck: proxy.struck() + (sockets?.struck() ?? 0) > 0,
    readTooMuch: guarded.isTooLarge(),
    secrets: [...secrets.values()],
  }
  abort.abort()
  return called
}

export function loggerInto(logs: unknown[]): Logger {
  const at = (level: string) => (fields: unknown, message: unknown) => {
    logs.push([fields, message, level])
  }
  return { debug: at('debug'), info: at('info'), warn: at('warn') }
}
