/** A small host: sets the plugin up behind fault proxies of its own, and makes checks as a host makes them. */
import { inspect } from 'node:util'
import { withoutSecretValues } from '../contract/auth.ts'
import type { ConnectionType, ProbeResult } from '../contract/connection.ts'
import { isDestinationError } from '../contract/destination-error.ts'
import type { Plugin, PluginParts } from '../contract/plugin.ts'
import type { Claim, PreviousRead, Verifier } from '../contract/verifier.ts'
import type { DestinationErrorCode, Observation } from '../evidence.ts'
import { declaredHosts } from '../hosting/grants.ts'
import type { Refreshes } from '../hosting/schemes/scheme.ts'
import type { JsonObject } from '../json.ts'
import { type CallAsked, type Called, type CallerOptions, callPlugin, loggerInto, type Place } from './call.ts'
import type { KitClock } from './clock.ts'
import { type FaultProxy, type ProxyOptions, startFaultProxy } from './fault-proxy.ts'
import type { GivenConnection, OrAt } from './options.ts'
import { type SocketProxy, startSocketProxy } from './socket-proxy.ts'
import type { OnSocket } from './transport.ts'
import { type Note, watching } from './watch.ts'
import { holds } from './watchdog.ts'

/** The plugin behind one proxy. Lanes work at the same time, and a lane makes one check at a time, unless its faults are none. */
export interface Lane {
  readonly parts: PluginParts
  verifierFor(action: string | undefined): Verifier | undefined
  check(asked: CheckAsked): Promise<Outcome>
  /** All claims in one call of `checkMany`. */
  checkMany(asked: ManyAsked): Promise<Called<readonly unknown[]>>
  probe(asked: ProbeAsked): Promise<Called<ProbeResult>>
  /** The connection as the lane's plugin is given it. */
  given(connection: OrAt<GivenConnection>): {
    readonly type: ConnectionType
    readonly options: JsonObject
    readonly target: string | undefined
  }
  /** Of the base address of the check that began last. */
  origin(): string
  close(): Promise<void>
}

/** A person waits for it. */
const PROBE_LIMITS = { timeMs: 5000 }

type GivenOrNone = OrAt<GivenConnection> | null

export interface CheckAsked extends CallAsked {
  readonly claim: Claim
  readonly connection: GivenOrNone
  readonly previous?: readonly PreviousRead[]
  /** By `check`, also where the verifier has `checkMany`. */
  readonly isSingle?: boolean
}

export interface ManyAsked extends CallAsked {
  readonly claims: readonly Claim[]
  readonly connection: GivenOrNone
}

export interface ProbeAsked extends CallAsked {
  readonly connection: OrAt<GivenConnection>
}

export interface Outcome extends Omit<Called<Observation>, 'value'> {
  /** What the check returned, which nobody has checked yet. */
  readonly observation?: Observation
}

export interface LaneOptions {
  readonly plugin: Plugin
  readonly options: OrAt<JsonObject>
  readonly proxy: ProxyOptions
  /** Where its sockets lead. */
  readonly socketUrl: string | undefined
  /** Has them lead to the places themselves. */
  readonly onSocket?: OnSocket
  readonly clock: KitClock
  /** Told of what the plugin does that the host refuses. */
  readonly note: Note
}

export async function openLane(options: LaneOptions): Promise<Lane> {
  const { plugin, socketUrl } = options
  const proxy = await startFaultProxy(options.proxy)
  const hasSockets = (plugin.manifest?.sockets ?? []).length > 0
  const sockets = hasSockets && socketUrl !== undefined ? await startSocketProxy(socketUrl) : undefined
  try {
    return await setUp(options, proxy, sockets)
  } catch (error) {
    await stop(proxy, sockets)
    throw error
  }
}

async function setUp(options: LaneOptions, proxy: FaultProxy, sockets: SocketProxy | undefined): Promise<Lane> {
  const { plugin, clock, note } = options
  const setupLogs: unknown[] = []
  // What it does before its checks and between them is its own, but for connections.
  const inSetup: Note = (name, problem) => name === 'clock.machine' || note(name, problem)
  const given = valueAt(options.options, proxy.url)
  const host = { logger: loggerInto(setupLogs), now: clock.now }
  holds({ check: 'plugin.setup' })
  const parts = await watching(inSetup, async () => plugin.setup(host, structuredClone(given) as never))
  const { hosts, tokenHosts = [] } = plugin.manifest
  const manifest = { ...plugin.manifest, hosts: declaredHosts(hosts, given) }
  const caller: CallerOptions = { manifest, proxy, sockets, onSocket: options.onSocket, clock, note }
  const connections = connectionsOf(parts, proxy.url, declaredHosts(tokenHosts, given))
  const verifierFor = (action: string | undefined) => newestVerifier(parts, action)

  return {
    parts,
    verifierFor,
    given: connections.given,
    origin: proxy.baseOrigin,
    async check(asked) {
      const { claim, previous = [], isSingle = false } = asked
      const verifier = verifierFor(claim.action)!
      holds(asked.doing)
      const place = connections.placeOf(verifier, claim, asked.connection)
      const { value, ...outcome } = await callPlugin(caller, place, asked, verifier.limits ?? {}, (context) => {
        const one = { claim: structuredClone(claim), previous: structuredClone(previous) }
        return isSingle || !verifier.checkMany
          ? (verifier.check(one.claim, { ...context, previous: one.previous }) as Promise<Observation>)
          : onlyOne(verifier.checkMany([one], context))
      })
      const logs = [...setupLogs, ...outcome.logs]
      return { ...outcome, logs, ...('error' in outcome ? {} : { observation: value as Observation }) }
    },
    async checkMany(asked) {
      const [first] = asked.claims
      const verifier = verifierFor(first!.action)!
      const place = connections.placeOf(verifier, first!, asked.connection)
      const claims = () => asked.claims.map((claim) => ({ claim: structuredClone(claim), previous: [] }))
      return callPlugin(caller, place, asked, verifier.limits ?? {}, (context) =>
        verifier.checkMany!(claims(), context),
      )
    },
    async probe(asked) {
      const { type, ...place } = connections.connected(asked.connection)
      const { target } = connections.given(asked.connection)
      return callPlugin(caller, place, asked, PROBE_LIMITS, ({ connection, cache: _, share: __, ...context }) =>
        type.probe(optionsOf({ connection: connection! }), target === undefined ? context : { ...context, target }),
      )
    },
    async close() {
      try {
        holds({ check: 'close.throws' })
        await watching(inSetup, async () => parts.close?.())
      } finally {
        await stop(proxy, sockets)
      }
    },
  }
}

/** Of those for an action, or of all, the one with the highest version. */
function newestVerifier({ verifiers = [] }: PluginParts, action: string | undefined): Verifier | undefined {
  const named = verifiers.filter(
    ({ profile }) => action === undefined || profile.action === action || Object.hasOwn(profile.aliases ?? {}, action),
  )
  return named.toSorted((one, other) => Number(other.profile.version) - Number(one.profile.version))[0]
}

/** The newest refresh token goes on from call to call. Each call refreshes it: access tokens of earlier ones would lead to other requests. */
function createKitRefreshes(): Refreshes {
  const newest = new Map<string, string>()
  return {
    async refresh({ typed, exchange }) {
      // Sent again after an answer that the kit's own faults made worthless.
      const refreshed = await exchange(newest.get(typed) ?? typed)
      if ('error' in refreshed) throw refreshed.error
      if (refreshed.refreshToken !== undefined) newest.set(typed, refreshed.refreshToken)
      return refreshed
    },
  }
}

/** Where the plugin's checks read through connections, and without one. */
function connectionsOf(parts: PluginParts, url: string, tokenHosts: readonly string[]) {
  const types = new Map((parts.connections ?? []).map((type) => [type.provider, type]))

  const refreshes = createKitRefreshes()

  function given(connection: OrAt<GivenConnection>) {
    const { provider, options, target } = valueAt(connection, url)
    const type = types.get(provider)
    if (!type) throw new TypeError(`the plugin has no connection type ${provider}`)
    return { type, options: structuredClone(options), target }
  }

  function connected(connection: OrAt<GivenConnection>) {
    const { type, options } = given(connection)
    const { options: shown, secrets } = withoutSecretValues(type, options)
    const own = { id: 'conn_1', provider: type.provider, options: shown }
    const connected = { options, credentials: type.credentials, tokenHosts, refreshes }
    return { type, connection: own, secrets, connected, baseUrl: type.baseUrl(structuredClone(shown) as never) }
  }

  function placeOf(verifier: Verifier, claim: Claim, connection: GivenOrNone): Place {
    if (connection === null) {
      const source = verifier.profile.access.anonymous ? verifier.anonymousSource?.(structuredClone(claim)) : undefined
      if (!source) throw new TypeError('the claim cannot be read without a connection')
      const credentials = types.get(source.provider)?.credentials
      const connected = { options: {}, credentials, tokenHosts }
      return { connection: null, secrets: new Map(), connected, baseUrl: source.baseUrl }
    }
    const { type, ...own } = connected(connection)
    if (type.fits(optionsOf(own), structuredClone(claim)) !== true) {
      throw new TypeError('the connection does not fit the claim')
    }
    const baseUrl = verifier.destination?.(structuredClone(claim), structuredClone(own.connection)) ?? own.baseUrl
    return { ...own, baseUrl }
  }

  return { given, connected, placeOf }
}

async function stop(proxy: FaultProxy, sockets: SocketProxy | undefined): Promise<void> {
  await Promise.all([proxy.stop(), sockets?.stop()])
}

function optionsOf({ connection }: { readonly connection: { readonly options: JsonObject } }) {
  return structuredClone(connection.options) as never
}

/** What `checkMany` says of a single claim. */
async function onlyOne(checking: Promise<readonly unknown[]>): Promise<Observation> {
  const answers = await checking
  const [answer] = answers
  if (answers.length !== 1) throw new TypeError(`checkMany returned ${answers.length} answers for one claim`)
  if (isDestinationError(answer)) throw answer
  return answer as Observation
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
