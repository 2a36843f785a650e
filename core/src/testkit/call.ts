/** One call of a plugin's code as a host makes it: guarded, limited in time, with everything that the plugin gives out collected. */
import { setMaxListeners } from 'node:events'
import { authHeader, type SecretValues } from '../contract/auth.ts'
import { DestinationError } from '../contract/destination-error.ts'
import { CEILING, type CheckLimits, type FetchInit } from '../contract/fetch.ts'
import { createHttp } from '../contract/http.ts'
import type { Manifest } from '../contract/plugin.ts'
import type { CheckContext, Connection, Logger } from '../contract/verifier.ts'
import { requireOrigin } from '../hosting/base-address.ts'
import { guardRequests } from '../hosting/check-requests.ts'
import { createCredentialMemories } from '../hosting/credential-memory.ts'
import { type Connected, certificateOf, unboundSecrets } from '../hosting/credentials.ts'
import { type BreachError, refusal } from '../hosting/failures.ts'
import type { Readings } from '../hosting/readings.ts'
import { type CacheStore, cacheOf, createCacheStore } from './check-cache.ts'
import type { KitClock } from './clock.ts'
import type { FaultProxy, Route, Strike } from './fault-proxy.ts'
import { afterOwn } from './pace.ts'
import type { SocketProxy, SocketStrike } from './socket-proxy.ts'
import { kitTransport, type OnSocket } from './transport.ts'
import { type Note, unwatched, watching } from './watch.ts'
import { type KitActivity, noteActivity } from './watchdog.ts'

export interface CallRequest {
  /** The values that earlier checks stored in the cache. Defaults to an empty store. */
  readonly store?: CacheStore
  readonly strike?: Strike
  readonly socketStrike?: SocketStrike
  /** Milliseconds between the strike and the end of the call's time. */
  readonly endAfterStrikeMs?: number
  /** Leaves the proxies as the call that runs beside this one has set them. */
  readonly joins?: boolean
  /** The text that the watchdog prints if the plugin holds the processor. */
  readonly doing: KitActivity
}

export interface CallResult<T> {
  /** The value that the plugin returned, unchecked. */
  readonly value?: T
  /** The value that the plugin threw. */
  readonly error?: unknown
  readonly readings: Readings
  /** Number of answers of the source: the call's own and those of the reads that it joined. */
  readonly answers: number
  readonly routes: readonly Route[]
  /** Keys of the answers on connections that are not HTTP. */
  readonly socketRoutes: readonly string[]
  readonly logs: readonly unknown[]
  readonly wasStruck: boolean
  /** Tells whether a body was larger than a check may read. */
  readonly readTooMuch: boolean
  /** Tells whether the call went on after its signal was aborted. */
  readonly ignoredAbort: boolean
  /** The secrets that the call could have given away. */
  readonly secrets: readonly string[]
}

/** The address that a call reads, and the credentials that it reads with. */
export interface ReadPlace {
  /** The connection without its secrets, as the plugin gets it. */
  readonly connection: Connection | null
  readonly secrets: SecretValues
  readonly baseUrl: string
  /** The connection as its owner typed it, with what its type declares; undefined without a type. */
  readonly connected: Omit<Connected, 'memory'> | undefined
}

export interface CallerOptions {
  /** The manifest, its hosts completed by the operator's options. */
  readonly manifest: Manifest
  readonly proxy: FaultProxy
  readonly sockets: SocketProxy | undefined
  readonly onSocket: OnSocket | undefined
  readonly clock: KitClock
  readonly note: Note
}

const USUAL_TIME_MS = 10_000
/** Digest limit below a host's, so that the kit's large bodies exceed it, too. */
const MAX_DIGEST_BYTES = 40 * 1024 * 1024
/** Time in which a call must end after its abort. */
const ABORT_MS = 100

export async function callPlugin<T>(
  { manifest, proxy, sockets, onSocket, clock: { now }, note }: CallerOptions,
  { connection, secrets, baseUrl, connected: typed }: ReadPlace,
  { store = createCacheStore(), strike, socketStrike, endAfterStrikeMs, joins = false, doing }: CallRequest,
  limits: CheckLimits,
  run: (context: Omit<CheckContext, 'previous'>) => Promise<T>,
): Promise<CallResult<T>> {
  const abort = new AbortController()
  const { signal } = abort
  // Each request of a check listens, and a check sends many at once. Node 20 refuses a signal whose limit is 0 in `getMaxListeners`.
  setMaxListeners(Infinity, signal)
  const logs: unknown[] = []
  const cancels: (() => void)[] = []
  let breach: BreachError | undefined
  const endAfter = (ms: number) => void cancels.push(afterOwn(ms, () => abort.abort()))
  endAfter(Math.min(limits.timeMs ?? USUAL_TIME_MS, USUAL_TIME_MS, CEILING.timeMs))
  const origin = requireOrigin(baseUrl)
  if (!joins) {
    const onStrike = () => endAfterStrikeMs !== undefined && endAfter(endAfterStrikeMs)
    proxy.begin({ baseOrigin: origin, clientCertificate: certificateOf(typed), strike, onStrike })
    sockets?.begin({ strike: socketStrike, onStrike })
  }
  const resumed = () => noteActivity(doing)
  const transport = kitTransport({ proxy, origin, socketPort: sockets?.port, onSocket, signal, note, resumed })
  // Each call begins with an empty credential memory: tokens of an earlier one would lead to other requests.
  const connected = typed && { ...typed, memory: createCredentialMemories(now)('') }
  const guarded = guardRequests(
    {
      timer: abort,
      now,
      origin,
      baseUrl,
      connected,
      manifest,
      secrets,
      limits,
      userAgent: 'claimcheck-testkit',
      maxDigestBytes: MAX_DIGEST_BYTES,
      refused(rule, problem, found) {
        breach ??= found
        note(`requests.${rule}`, found ? `is refused: ${problem}` : problem)
      },
    },
    transport,
  )

  async function fetch(url: string, init: FetchInit = {}): Promise<Response> {
    refuseHandles(url, init, secrets, note)
    return unwatched(() => guarded.fetch(url, init))
  }

  function requirePrograms(what: string): void {
    if ((manifest.programs ?? []).length > 0) return
    note('requests.reveal', `${what}, and its manifest names no programs`)
    throw new TypeError('the manifest of this plugin names no programs')
  }

  const context: Omit<CheckContext, 'previous'> = {
    connection: connection && structuredClone(connection),
    fetch,
    http: createHttp({ fetch, now, limits }),
    async digest(url, init) {
      refuseHandles(url, init, secrets, note)
      return unwatched(() => guarded.digest(url, init))
    },
    fingerprint: (key, text) => unwatched(() => guarded.fingerprint(key, text)),
    connect: (url, init) => unwatched(() => guarded.connect(url, init)),
    query: (url, query) => unwatched(() => guarded.query(url, query)),
    resolve: (url) => unwatched(() => guarded.resolve(url)),
    reveal(auth) {
      requirePrograms('asks for a credential in clear')
      return authHeader(auth, unboundSecrets(secrets, connected))
    },
    async ask(url, run) {
      requirePrograms('asks by a program')
      return guarded.ask(url, run)
    },
    signal,
    now,
    logger: loggerInto(logs),
    cache: cacheOf(store, guarded),
    share: 'ws_1',
  }
  noteActivity(doing)
  const settled = watching(note, async () => run(context)).then(
    (value) => ({ value, ignoredAbort: false }),
    (error: unknown) => ({ error, ignoredAbort: false }),
  )
  const ended = new Promise<{ error: unknown; ignoredAbort: true }>((resolve) => {
    const give = () =>
      cancels.push(afterOwn(ABORT_MS, () => resolve({ error: new DestinationError('timeout'), ignoredAbort: true })))
    signal.addEventListener('abort', give)
  })
  const result = await Promise.race([settled, ended])
  for (const cancel of cancels) cancel()
  const called = {
    // A breach of the host's rules stands, whatever the plugin makes of its refusal.
    ...(breach ? { error: breach, ignoredAbort: result.ignoredAbort } : result),
    readings: guarded.readings(),
    answers: guarded.answers(),
    routes: proxy.routes(),
    socketRoutes: sockets?.routes() ?? [],
    logs,
    wasStruck: proxy.struck() + (sockets?.struck() ?? 0) > 0,
    readTooMuch: transport.isTooLarge(),
    secrets: [...secrets.values()],
  }
  abort.abort()
  return called
}

function refuseHandles(url: string, { headers = {}, auth }: FetchInit, secrets: SecretValues, note: Note): void {
  const handles = [...secrets.keys()].flatMap((handle) => [handle, encodeURIComponent(handle)])
  // The scheme of a declared credential says where its handle belongs.
  const address = auth?.scheme === 'credential' ? '' : url
  if (![address, ...Object.values(headers)].some((value) => handles.some((one) => String(value).includes(one)))) return
  const problem = 'sends a handle of a secret: give it to `auth`, and the host puts the secret in'
  note('requests.handles', problem)
  throw refusal(problem)
}

export function loggerInto(logs: unknown[]): Logger {
  const at = (level: string) => (fields: unknown, message: unknown) => {
    logs.push([fields, message, level])
  }
  return { info: at('info'), warn: at('warn') }
}
