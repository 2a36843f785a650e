/** One call of a plugin's code as a host makes it: with a context that is guarded, within its time, and with what it gave out noted. */
import { authHeader, type SecretValues } from '../contract/auth.ts'
import { DestinationError } from '../contract/destination-error.ts'
import { CEILING, type CheckLimits, type FetchInit } from '../contract/fetch.ts'
import { createHttp } from '../contract/http.ts'
import type { Manifest } from '../contract/plugin.ts'
import type { CheckContext, Connection, Logger } from '../contract/verifier.ts'
import type { Instant } from '../evidence.ts'
import { requireOrigin } from '../hosting/base-address.ts'
import type { BreachError } from '../hosting/breach.ts'
import { guardRequests } from '../hosting/check-requests.ts'
import { createCredentialMemories } from '../hosting/credential-memory.ts'
import { type Connected, certificateOf, unboundSecrets } from '../hosting/credentials.ts'
import { refusal } from '../hosting/failures.ts'
import type { Readings } from '../hosting/readings.ts'
import { type CacheStore, cacheOf, createCacheStore } from './check-cache.ts'
import type { KitClock } from './clock.ts'
import type { FaultProxy, Route, Strike } from './fault-proxy.ts'
import { afterOwn } from './pace.ts'
import type { SocketProxy, SocketStrike } from './socket-proxy.ts'
import { kitTransport, type OnSocket } from './transport.ts'
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
  /** How many answers of its source it has, its own and those of the reads that it joined. */
  readonly answers: number
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
  /** The connection as its owner typed it, and what its type declares; undefined without a type. */
  readonly connected: Omit<Connected, 'memory'> | undefined
}

export interface CallerOptions {
  /** Its hosts as the operator's options complete them. */
  readonly manifest: Manifest
  readonly proxy: FaultProxy
  readonly sockets: SocketProxy | undefined
  readonly onSocket?: OnSocket | undefined
  readonly clock: KitClock
  readonly note: Note
}

type CallContext = Omit<CheckContext, 'previous'>

const USUAL_TIME_MS = 10_000
/** Less than a host's, so that the kit's large bodies are too large for a digest, too. */
const MAX_DIGEST_BYTES = 40 * 1024 * 1024
/** How fast a call heeds its abort. */
const ABORT_MS = 100

export async function callPlugin<T>(
  { manifest, proxy, sockets, onSocket, clock, note }: CallerOptions,
  place: Place,
  { store = createCacheStore(), strike, socketStrike, endAfterStrikeMs, joins = false, doing }: CallAsked,
  limits: CheckLimits,
  run: (context: CallContext) => Promise<T>,
): Promise<Called<T>> {
  const { now } = clock
  const abort = new AbortController()
  const { signal } = abort
  const logs: unknown[] = []
  const cancels: (() => void)[] = []
  let breach: BreachError | undefined
  const endAfter = (ms: number) => cancels.push(afterOwn(ms, () => abort.abort()))
  endAfter(Math.min(limits.timeMs ?? USUAL_TIME_MS, USUAL_TIME_MS, CEILING.timeMs))
  if (!joins) {
    const onStrike = endAfterStrikeMs === undefined ? {} : { onStrike: () => void endAfter(endAfterStrikeMs) }
    const clientCertificate = certificateOf(place.connected)
    proxy.begin({
      baseOrigin: requireOrigin(place.baseUrl),
      clientCertificate,
      ...(strike ? { strike } : {}),
      ...onStrike,
    })
    sockets?.begin({ strike: socketStrike, ...onStrike })
  }
  const { context, readings, answers, isTooLarge } = contextOf({
    manifest,
    proxy,
    sockets,
    onSocket,
    now,
    note,
    place,
    limits,
    store,
    abort,
    logs,
    resumed: () => holds(doing),
    breached(found) {
      breach ??= found
    },
  })
  holds(doing)
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
    // Whatever the plugin makes of what was refused.
    ...(breach ? { error: breach, ignoredAbort: result.ignoredAbort } : result),
    readings: readings(),
    answers: answers(),
    routes: proxy.routes(),
    socketRoutes: sockets?.routes() ?? [],
    logs,
    wasStruck: proxy.struck() + (sockets?.struck() ?? 0) > 0,
    readTooMuch: isTooLarge(),
    secrets: [...place.secrets.values()],
  }
  abort.abort()
  return called
}

interface ContextOptions extends Omit<CallerOptions, 'clock'> {
  readonly now: () => Instant
  readonly place: Place
  readonly limits: CheckLimits
  readonly store: CacheStore
  readonly abort: AbortController
  readonly logs: unknown[]
  /** Code of the plugin goes on. */
  readonly resumed: () => void
  /** @param breach undefined for what a host only refuses to send */
  readonly breached: (breach: BreachError | undefined) => void
}

/** What the plugin is given, and what comes of it. */
function contextOf({
  place,
  manifest,
  proxy,
  sockets,
  onSocket,
  now,
  note,
  limits,
  store,
  abort,
  logs,
  ...on
}: ContextOptions) {
  const { connection, secrets, baseUrl } = place
  // Each call begins anew: what an earlier one has exchanged would lead to other requests.
  const connected = place.connected && { ...place.connected, memory: createCredentialMemories(now)('') }
  const origin = requireOrigin(baseUrl)
  const { signal } = abort
  const { resumed } = on
  const transport = kitTransport({ proxy, origin, socketPort: sockets?.port, onSocket, signal, note, resumed })
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
        on.breached(found)
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

  const context: CallContext = {
    connection: connection && structuredClone(connection),
    fetch,
    http: createHttp({ fetch, now, limits }),
    async digest(url, init) {
      refuseHandles(url, init, secrets, note)
      return unwatched(() => guarded.digest(url, init))
    },
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
  return { context, readings: guarded.readings, answers: guarded.answers, isTooLarge: transport.isTooLarge }
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
  return { debug: at('debug'), info: at('info'), warn: at('warn') }
}
