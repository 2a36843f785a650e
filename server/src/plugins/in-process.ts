/** Calls a plugin that the operator trusts, in this process. It gets copies, so that its changes to them affect nothing else. */

import {
  type CheckLimits,
  createHttp,
  type Manifest,
  normalAddress,
  type PluginParts,
  secretNames,
  withoutSecretValues,
} from '@claimcheck/core/hosting'
import type { Connection, ConnectionType, Verifier } from '@claimcheck/core/plugin'
import type { Instant } from '@claimcheck/core/rules'
import { copyJson } from '../base/json-copy.ts'
import { defined } from '../base/pick.ts'
import type { Reach } from '../outbound/outbound.ts'
import { cacheFor, createCheckCache } from './check-cache.ts'
import {
  type CheckCall,
  connectionData,
  type HostedConnectionType,
  type HostedParts,
  type HostedVerifier,
} from './hosted.ts'
import { createOpaqueNames } from './opaque-names.ts'
import type { PluginLogger } from './plugin-logger.ts'

/**
 * Makes the parts of a trusted plugin.
 * @param types the connection types of all plugins: a plugin may read through the connections of another one
 */
export function inProcess(
  parts: PluginParts,
  types: ConnectionTypes,
  { manifest, reach, logger, now }: { manifest: Manifest; reach: Reach; logger: PluginLogger; now: () => Instant },
): HostedParts {
  const cache = createCheckCache()
  const names = createOpaqueNames()
  const handed = (connection: Connection) => copyJson(withHandles(connection, types))

  function contextOf({ connection, requests, timer, tenant }: CheckCall, limits: CheckLimits) {
    const { fetch, digest, fingerprint, resolve, connect, query, reveal, ask } = requests
    logger.conceal(requests.leaks())
    return {
      connection: connection && handed(connection),
      fetch,
      http: createHttp({ fetch, now, limits }),
      digest,
      fingerprint,
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

  function hostVerifier(verifier: Verifier): HostedVerifier {
    const { profile, providers, limits = {} } = verifier
    return {
      profile,
      providers,
      limits,
      reach,
      anonymousSource: verifier.anonymousSource && (async (claim) => verifier.anonymousSource!(copyJson(claim))),
      destination:
        verifier.destination &&
        (async (claim, connection) => verifier.destination!(copyJson(claim), handed(connection))),
      normalize: verifier.normalize && (async (claim) => verifier.normalize!(copyJson(claim) as never)),
      check: async (call) => {
        const { claim, previous } = copied(call)
        return verifier.check(claim, Object.assign(contextOf(call, limits), { previous }))
      },
    }
  }

  function hostConnectionType(type: ConnectionType): HostedConnectionType {
    const shown = (values: object) => withoutSecretValues(type, copyJson(values)).options as never
    return {
      ...connectionData(type),
      reach,
      onlyAddress: onlyAddress(type),
      baseUrl: async (values) => type.baseUrl(shown(values)),
      fits: async (values, claim) => type.fits(shown(values), copyJson(claim)),
      probe: async (values, { requests, timer: { signal }, target }) => {
        const { fetch, fingerprint, resolve, connect, query, reveal } = requests
        const http = createHttp({ fetch, now })
        logger.conceal(requests.leaks())
        return type.probe(shown(values), {
          fetch,
          http,
          fingerprint,
          resolve,
          connect,
          query,
          reveal,
          signal,
          now,
          logger,
          target,
        })
      },
    }
  }

  return {
    manifest,
    verifiers: (parts.verifiers ?? []).map(hostVerifier),
    connections: (parts.connections ?? []).map(hostConnectionType),
    state: () => ({ status: 'running', restarts: 0 }),
    isRunningFor: () => true,
    async close() {
      await parts.close?.()
    },
  }
}

function copied({ claim, previous }: CheckCall) {
  return {
    claim: copyJson(claim),
    previous: previous.map(({ sentAt, observation }) => ({ sentAt, observation: copyJson(observation) })),
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

export type ConnectionTypes = (provider: string) => Pick<ConnectionType, 'options'> | undefined

/** Makes a connection as its plugin gets it: without options where nobody knows which of them are secrets. */
export function withHandles({ id, provider, options, identity }: Connection, types: ConnectionTypes): Connection {
  const type = types(provider)
  return { id, provider, options: type ? withoutSecretValues(type, options).options : {}, ...defined({ identity }) }
}
