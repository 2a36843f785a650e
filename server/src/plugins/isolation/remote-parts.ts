/** The parts of a plugin that runs in processes of its own, as the service calls them. */

import { type CheckLimits, type Pace, withoutSecretValues } from '@claimcheck/core/hosting'
import type { ActionProfile, Connection, ConnectionType } from '@claimcheck/core/plugin'
import type { JsonObject } from '@claimcheck/core/rules'
import { LRUCache } from 'lru-cache'
import { copyJson } from '../../base/json-copy.ts'
import { withinTime } from '../../base/time-limit.ts'
import type { Reach } from '../../outbound/outbound.ts'
import { createPace } from '../../outbound/pace.ts'
import {
  type CheckCall,
  connectionData,
  type HostedConnectionType,
  type HostedParts,
  type HostedVerifier,
  type Tenant,
} from '../hosted.ts'
import { type ConnectionTypes, onlyAddress, withHandles } from '../in-process.ts'
import { createOpaqueNames, type OpaqueNames } from '../opaque-names.ts'
import type { PluginLogger } from '../plugin-logger.ts'
import type { Cell, Cells } from './cells.ts'
import { createHostCalls } from './host-calls.ts'
import type { CheckArguments, DescribedPart, DescribedParts, PluginMethod } from './messages.ts'

/** The time limit of a plugin's function that needs nothing of the host. */
const QUICK_MS = 3000
/** The limit of a call's wait for a place, and again for a process that starts: on a busy machine a start takes many times as long. */
const START_MS = 10_000
/** The longest time of a check, whose own signal aborts earlier. */
const LONGEST_CHECK_MS = 120_000
const MAX_ADDRESSES = 1000
/** The limit of one answer's body unless the verifier declares one: all of it goes through the pipe. */
const USUAL_BODY_BYTES = 512 * 1024

interface RemoteOptions {
  readonly cells: Cells
  readonly manifest: HostedParts['manifest']
  readonly reach: Reach
  readonly logger: PluginLogger
  /** Finds connection types of all plugins: one may read through the connections of another. */
  readonly types: ConnectionTypes
}

interface Remote extends RemoteOptions {
  readonly pace: Pace
  readonly names: OpaqueNames
}

/**
 * Makes the parts of an isolated plugin.
 * @param described a description that passed `partsProblems`
 */
export function remoteParts(described: DescribedParts, options: RemoteOptions): HostedParts {
  const remote: Remote = { ...options, pace: createPace(), names: createOpaqueNames() }
  return {
    manifest: options.manifest,
    verifiers: described.verifiers.map((part, index) => remoteVerifier(part, index, remote)),
    connections: described.connections.map((part, index) => remoteConnectionType(part, index, remote)),
    state: () => options.cells.state(),
    isRunningFor: (workspaceId) => options.cells.isRunning(workspaceId),
    close: () => options.cells.close(),
  }
}

function remoteVerifier({ data, functions }: DescribedPart, index: number, remote: Remote): HostedVerifier {
  const { profile, providers, limits } = data as unknown as {
    readonly profile: ActionProfile
    readonly providers: readonly string[]
    readonly limits?: CheckLimits
  }
  const { cells, reach, pace, types } = remote
  const quick = quickCalls(cells, index)
  const shown = (connection: Connection) => withHandles(connection, types)
  return {
    profile,
    providers,
    limits: { bodyBytes: USUAL_BODY_BYTES, ...limits },
    reach,
    pace,
    ...(functions.includes('anonymousSource') && {
      anonymousSource: async (claim, tenant) => readSource(await quick(tenant, 'anonymousSource', claim)),
    }),
    ...(functions.includes('destination') && {
      destination: async (claim, connection, tenant) =>
        readText(await quick(tenant, 'destination', claim, shown(connection))),
    }),
    ...(functions.includes('normalize') && { normalize: (claim, tenant) => quick(tenant, 'normalize', claim) }),
    check: (call) => check(call, index, limits, remote),
  }
}

function quickCalls(cells: Cells, index: number) {
  return (tenant: Tenant, method: PluginMethod, ...args: unknown[]): Promise<unknown> =>
    cells.within(
      { ...tenant, urgency: 'brief' },
      () => AbortSignal.timeout(START_MS),
      async ({ process }) => {
        const tooSlow = () => new Error(`no process of the plugin started in ${START_MS} ms`)
        await withinTime(process.available(), START_MS, tooSlow)
        return process.call(method, index, () => args, { timeoutMs: QUICK_MS })
      },
    )
}

async function check(
  { claim, previous, connection, requests, timer, tenant }: CheckCall,
  index: number,
  limits: CheckLimits = {},
  { cells, logger, names, types }: Remote,
): Promise<unknown> {
  logger.conceal(requests.leaks())
  const cacheKey = names.cacheKey(connection)
  const share = names.share(tenant.workspaceId)
  const payload = (): CheckArguments => ({
    claim,
    previous,
    connection: connection && withHandles(connection, types),
    share,
    cacheKey,
    limits,
  })

  function make({ process, shared }: Cell, isAgain: boolean): Promise<unknown> {
    // The new process of the plugin knows nothing of earlier requests.
    if (isAgain) requests.again()
    const args = (run: number) => {
      shared.keep(run, cacheKey, requests)
      return [payload()]
    }
    const hostCalls = createHostCalls({ requests, cacheKey, shared })
    return process.call('check', index, args, { timeoutMs: LONGEST_CHECK_MS, hostCalls, signal: timer.signal })
  }

  return cells.within(tenant, () => timer.signal, make)
}

function remoteConnectionType(
  { data, functions, address }: DescribedPart,
  index: number,
  remote: Remote,
): HostedConnectionType {
  const type = connectionData(data as unknown as ConnectionType)
  const { cells, reach, pace } = remote
  const quick = quickCalls(cells, index)
  const addresses = new LRUCache<string, string>({ max: MAX_ADDRESSES })
  const shown = (values: JsonObject) => withoutSecretValues(type, copyJson(values)).options
  return {
    ...type,
    reach,
    pace,
    onlyAddress: functions.includes('baseUrl') ? onlyAddress({ ...type, baseUrl: () => address ?? '' }) : undefined,
    async baseUrl(values, tenant) {
      const given = shown(values)
      // The key has the workspace: another workspace's process may make an address of the same options, which must not lead these credentials
      // elsewhere.
      const key = JSON.stringify([tenant.workspaceId, given])
      const known = addresses.get(key)
      if (known !== undefined) return known
      const address = readText(await quick(tenant, 'baseUrl', given))
      addresses.set(key, address)
      return address
    },
    fits: async (values, claim, tenant) => (await quick(tenant, 'fits', shown(values), claim)) === true,
    async probe(values, { requests, timer, target, tenant }) {
      remote.logger.conceal(requests.leaks())
      return cells.within(
        tenant,
        () => timer.signal,
        ({ process, shared }, isAgain) => {
          if (isAgain) requests.again()
          const { signal } = timer
          const hostCalls = createHostCalls({ requests, cacheKey: '', shared })
          const args = () => (target === undefined ? [shown(values)] : [shown(values), target])
          return process.call('probe', index, args, { timeoutMs: LONGEST_CHECK_MS, hostCalls, signal })
        },
      )
    },
  }
}

function readText(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('the plugin returned no text')
  return value
}

function readSource(value: unknown) {
  if (value === null || value === undefined) return undefined
  const { provider, baseUrl } = value as Record<string, unknown>
  return { provider: readText(provider), baseUrl: readText(baseUrl) }
}
