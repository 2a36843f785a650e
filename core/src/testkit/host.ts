/** A small host: sets the plugin up behind fault proxies of its own, and makes checks and probes as a service makes them. */
import { inspect } from 'node:util'
import { withoutSecretValues } from '../contract/auth.ts'
import type { ProbeResult } from '../contract/connection.ts'
import { isDestinationError } from '../contract/destination-error.ts'
import type { Plugin, PluginParts } from '../contract/plugin.ts'
import type { Claim, PreviousRead, Verifier } from '../contract/verifier.ts'
import type { DestinationErrorCode, Observation } from '../evidence.ts'
import { declaredHosts } from '../hosting/grants.ts'
import type { Refreshes } from '../hosting/schemes/scheme.ts'
import type { JsonObject } from '../json.ts'
import {
  type CallerOptions,
  type CallRequest,
  type CallResult,
  callPlugin,
  loggerInto,
  type ReadPlace,
} from './call.ts'
import type { KitClock } from './clock.ts'
import { type ProxyOptions, startFaultProxy } from './fault-proxy.ts'
import type { GivenConnection, OrAt } from './options.ts'
import { startSocketProxy } from './socket-proxy.ts'
import type { OnSocket } from './transport.ts'
import { TrialError } from './trial-error.ts'
import { type Note, watching } from './watch.ts'
import { noteActivity } from './watchdog.ts'

/** Limits of a probe, which a person waits for. */
const PROBE_LIMITS = { timeMs: 5000 }

type GivenOrNone = OrAt<GivenConnection> | null

export interface CheckRequest extends CallRequest {
  readonly claim: Claim
  readonly connection: GivenOrNone
  readonly previous?: readonly PreviousRead[]
  /** The identity that the host has for the connection. Defaults to the given connection's. */
  readonly identity?: string | undefined
}

export interface ProbeRequest extends CallRequest {
  readonly connection: OrAt<GivenConnection>
}

export interface Outcome extends Omit<CallResult<Observation>, 'value'> {
  /** The value that the check returned, not yet validated. */
  readonly observation?: Observation
  /** Tells whether the connection's type promises identities. */
  readonly isIdentified: boolean
  /** The identity that the connection had; undefined if the host knew none. */
  readonly identity: string | undefined
}

export interface LaneOptions {
  readonly plugin: Plugin
  readonly options: OrAt<JsonObject>
  readonly proxy: ProxyOptions
  /** Address that the plugin's sockets lead to. */
  readonly socketUrl: string | undefined
  /** Hears of each socket. Sockets then lead to their own addresses. */
  readonly onSocket?: OnSocket
  readonly clock: KitClock
  /** Hears of everything that the plugin does and the host refuses. */
  readonly note: Note
}

export type Lane = Awaited<ReturnType<typeof openLane>>

/** Sets the plugin up behind a proxy. Lanes work at the same time; each makes one check at a time, unless its faults are none. */
export async function openLane(options: LaneOptions) {
  const { plugin, clock, note } = options
  const proxy = await startFaultProxy(options.proxy)
  const hasSockets = (plugin.manifest?.sockets ?? []).length > 0
  const sockets = hasSockets && options.socketUrl !== undefined ? await startSocketProxy(options.socketUrl) : undefined
  const stop = async () => void (await Promise.all([proxy.stop(), sockets?.stop()]))
  const setupLogs: unknown[] = []
  // Before its checks and between them, a plugin may read the clock, and not open connections.
  const inSetup: Note = (name, problem) => name === 'clock.machine' || note(name, problem)

  async function setUp() {
    const given = valueAt(options.options, proxy.url)
    const host = { logger: loggerInto(setupLogs) }
    noteActivity({ check: 'plugin.setup' })
    const parts = await watching(inSetup, async () => plugin.setup(host, structuredClone(given) as never))
    const { hosts, tokenHosts = [] } = plugin.manifest
    const manifest = { ...plugin.manifest, hosts: declaredHosts(hosts, given) }
    const caller: CallerOptions = { manifest, proxy, sockets, onSocket: options.onSocket, clock, note }
    return { parts, caller, connections: connectionsOf(parts, proxy.url, declaredHosts(tokenHosts, given)) }
  }

  const { parts, caller, connections } = await setUp().catch(async (error: unknown) => {
    await stop()
    throw error
  })
  const verifierFor = (action: string | undefined) => newestVerifier(parts, action)

  return {
    parts,
    verifierFor,
    /** The connection as the lane's plugin is given it. */
    given: connections.given,
    /** The origin of the base address of the check that began last. */
    origin: proxy.baseOrigin,
    async check(asked: CheckRequest): Promise<Outcome> {
      const { claim, previous = [] } = asked
      const verifier = verifierFor(claim.action)!
      noteActivity(asked.doing)
      const { isIdentified, ...place } = connections.placeOf(verifier, claim, asked.connection, asked.identity)
      const { value, ...outcome } = await callPlugin(caller, place, asked, verifier.limits ?? {}, (context) =>
        verifier.check(structuredClone(claim), { ...context, previous: structuredClone(previous) }),
      )
      const logs = [...setupLogs, ...outcome.logs]
      return {
        ...outcome,
        logs,
        isIdentified,
        identity: place.connection?.identity,
        ...('error' in outcome ? {} : { observation: value as Observation }),
      }
    },
    async probe(asked: ProbeRequest): Promise<CallResult<ProbeResult>> {
      const { type, ...place } = connections.connected(asked.connection)
      const { target } = connections.given(asked.connection)
      return callPlugin(caller, place, asked, PROBE_LIMITS, ({ connection, cache: _, share: __, ...context }) =>
        type.probe(optionsOf(connection!), target === undefined ? context : { ...context, target }),
      )
    },
    async close(): Promise<void> {
      try {
        noteActivity({ check: 'close.throws' })
        await watching(inSetup, async () => parts.close?.())
      } finally {
        await stop()
      }
    },
  }
}

/** The verifier with the highest version, among those for an action or all. */
function newestVerifier({ verifiers = [] }: PluginParts, action: string | undefined): Verifier | undefined {
  const named = verifiers.filter(
    ({ profile }) => action === undefined || profile.action === action || Object.hasOwn(profile.aliases ?? {}, action),
  )
  return named.toSorted((one, other) => Number(other.profile.version) - Number(one.profile.version))[0]
}

/** Finds the connections and the places that the plugin's checks read through them, or without one. */
function connectionsOf(parts: PluginParts, url: string, tokenHosts: readonly string[]) {
  const types = new Map((parts.connections ?? []).map((type) => [type.provider, type]))
  const newest = new Map<string, string>()
  // Each call refreshes its tokens, because access tokens of an earlier call would lead to other requests. Refresh tokens go on.
  const refreshes: Refreshes = {
    async refresh({ typed, exchange }) {
      // The newest refresh token is sent again after an answer that the kit's own faults made worthless.
      const refreshed = await exchange(newest.get(typed) ?? typed)
      if ('error' in refreshed) throw refreshed.error
      if (refreshed.refreshToken !== undefined) newest.set(typed, refreshed.refreshToken)
      return refreshed
    },
  }

  function given(connection: OrAt<GivenConnection>) {
    const { provider, options, target, identity } = valueAt(connection, url)
    const type = types.get(provider)
    if (!type) throw new TypeError(`the plugin has no connection type ${provider}`)
    return { type, options: structuredClone(options), target, identity }
  }

  function connected(connection: OrAt<GivenConnection>, known?: string) {
    const { type, options, identity = known } = given(connection)
    const { options: shown, secrets } = withoutSecretValues(type, options)
    const own = { id: 'conn_1', provider: type.provider, options: shown, identity }
    const connected = { options, credentials: type.credentials, tokenHosts, refreshes }
    return { type, connection: own, secrets, connected, baseUrl: type.baseUrl(structuredClone(shown) as never) }
  }

  function placeOf(
    verifier: Verifier,
    claim: Claim,
    connection: GivenOrNone,
    identity?: string,
  ): ReadPlace & Pick<Outcome, 'isIdentified'> {
    if (connection === null) {
      const source = verifier.profile.access.anonymous ? verifier.anonymousSource?.(structuredClone(claim)) : undefined
      if (!source) throw new TypeError('the claim cannot be read without a connection')
      const credentials = types.get(source.provider)?.credentials
      const connected = { options: {}, credentials, tokenHosts }
      return { connection: null, secrets: new Map(), connected, baseUrl: source.baseUrl, isIdentified: false }
    }
    const { type, ...own } = connected(connection, identity)
    if (type.fits(optionsOf(own.connection), structuredClone(claim)) !== true) {
      throw new TrialError('no_connection', 'the connection does not fit the claim')
    }
    const baseUrl = verifier.destination?.(structuredClone(claim), structuredClone(own.connection)) ?? own.baseUrl
    return { ...own, baseUrl, isIdentified: type.identified === true }
  }

  return { given, connected, placeOf }
}

function optionsOf({ options }: { readonly options: JsonObject }) {
  return structuredClone(options) as never
}

export function valueAt<T>(value: T | ((url: string) => T), url: string): T {
  return typeof value === 'function' ? (value as (url: string) => T)(url) : value
}

/** The code of a DestinationError; undefined for anything else that was thrown. */
export function errorCode(error: unknown): DestinationErrorCode | undefined {
  return isDestinationError(error) ? error.code : undefined
}

export function thrownText(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : inspect(error)
}
