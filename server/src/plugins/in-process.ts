/** Calls a plugin that the operator trusts, in this process. It gets copies, so that its changes to them affect nothing else. */

import { createHttp, normalAddress, secretNames, withoutSecretValues } from '@claimcheck/core/hosting'
import type {
  CheckCache,
  CheckContext,
  Connection,
  ConnectionType,
  Manifest,
  PluginParts,
  Verifier,
} from '@claimcheck/core/plugin'
import type { Instant } from '@claimcheck/core/rules'
import { copyJson } from '../base/json-copy.ts'
import type { Reach } from '../outbound/outbound.ts'
import { batched } from './batches.ts'
import { cacheFor, createCheckCache } from './check-cache.ts'
import {
  type CheckCall,
  connectionData,
  type HostedConnectionType,
  type HostedParts,
  type HostedVerifier,
} from './hosted.ts'
import { createOpaqueNames, type OpaqueNames } from './opaque-names.ts'
import type { PluginLogger } from './plugin-logger.ts'

/**
 * Makes the parts of a trusted plugin.
 * @param types the connection types of all plugins: a plugin may read through the connections of another one
 */
export function inProcess(
  parts: PluginParts,
  types: (provider: string) => Pick<ConnectionType, 'options'> | undefined,
  {
    manifest,
    reach,
    logger,
    now,
  }: {
    readonly manifest: Manifest
    readonly reach: Reach
    readonly logger: PluginLogger
    readonly now: () => Instant
  },
): HostedParts {
  const cache = createCheckCache()
  const names = createOpaqueNames()
  const host = { reach, logger, now, cache, names, shown: (connection: Connection) => withHandles(connection, types) }
  return {
    manifest,
    verifiers: (parts.verifiers ?? []).map((verifier) => hostVerifier(verifier, host)),
    connections: (parts.connections ?? []).map((type) => hostConnectionType(type, host)),
    state: () => ({ status: 'running', restarts: 0 }),
    isRunningFor: () => true,
    async close() {
      await parts.close?.()
    },
  }
}

interface Host {
  readonly reach: Reach
  readonly logger: PluginLogger
  readonly now: () => Instant
  readonly cache: CheckCache
  readonly names: OpaqueNames
  shown(connection: Connection): Connection
}

function hostVerifier(verifier: Verifier, { reach, logger, now, cache, names, shown }: Host): HostedVerifier {
  const { profile, providers, limits = {} } = verifier
  return {
    profile,
    providers,
    limits,
    reach,
    ...(verifier.anonymousSource && { anonymousSource: async (claim) => verifier.anonymousSource!(copyJson(claim)) }),
    ...(verifier.destination && {
      destination: async (claim, connection) => verifier.destination!(copyJson(claim), copyJson(shown(connection))),
    }),
    ...(verifier.normalize && { normalize: async (claim) => verifier.normalize!(copyJson(claim) as never) }),
    check: verifier.checkMany
      ? batched(async (calls) => verifier.checkMany!(calls.map(copied), contextOf(calls[0]!)), names)
      : async (call) => {
          const { claim, previous } = copied(call)
          return verifier.check(claim, Object.assign(contextOf(call), { previous }))
        },
  }

  function contextOf({ connection, requests, timer, tenant }: CheckCall): Omit<CheckContext, 'previous'> {
    const { fetch, digest, resolve, connect, query, reveal, ask } = requests
    logger.conceal(requests.leaks())
    return {
      connection: connection && copyJson(shown(connection)),
      fetch,
      http: createHttp({ fetch, now, limits }),
      digest,
      resolve,
      connect,
      query,
      reveal,
      ask,
      get signal() {
        return timer.signal
      },
      now,
      logger,
      cache: cacheFor(names.cacheKey(connection), cache, requests),
      // Hashing costs, so a name is made only where the plugin reads it.
      get share() {
        return names.share(tenant.workspaceId)
      },
    }
  }
}

function copied({ claim, previous }: CheckCall) {
  return {
    claim: copyJson(claim),
    previous: previous.map(({ sentAt, observation }) => ({ sentAt, observation: copyJson(observation) })),
  }
}

function hostConnectionType(type: ConnectionType, { reach, logger, now }: Host): HostedConnectionType {
  const shown = (values: object) =>
    withoutSecretValues(type, copyJson(values as never)).options as Record<string, unknown>
  return {
    ...connectionData(type),
    reach,
    onlyAddress: onlyAddress(type),
    baseUrl: async (values) => type.baseUrl(shown(values)),
    fits: async (values, claim) => type.fits(shown(values), copyJson(claim)),
    probe: async (values, { requests, timer, target }) => {
      const { fetch, resolve, connect, query, reveal } = requests
      const http = createHttp({ fetch, now })
      logger.conceal(requests.leaks())
      const { signal } = timer
      const context = { fetch, http, resolve, connect, query, reveal, signal, now, logger }
      return type.probe(shown(values), target === undefined ? context : { ...context, target })
    },
  }
}

/** Returns the only base address of a type whose options are all secrets; undefined for other types. */
export function onlyAddress(type: Pick<ConnectionType, 'options' | 'baseUrl'>): string | undefined {
  if (Object.keys(type.options.properties).length > secretNames(type).length) return undefined
  try {
    return normalAddress(type.baseUrl({}))
  } catch {
    return undefined
  }
}

/** Makes a connection as its plugin gets it: without options where nobody knows which of them are secrets. */
export function withHandles(
  connection: Connection,
  types: (provider: string) => Pick<ConnectionType, 'options'> | undefined,
): Connection {
  const { id, provider, options } = connection
  const type = types(provider)
  return { id, provider, options: type ? withoutSecretValues(type, options).options : {} }
}
