/** What a plugin in a process of its own offers, as the service calls it. */

import { type Pace, withoutSecretValues } from '@claimcheck/core/hosting'
import type { ActionProfile, CheckLimits, Connection, ConnectionType } from '@claimcheck/core/plugin'
import type { JsonObject } from '@claimcheck/core/rules'
import { LRUCache } from 'lru-cache'
import { copyJson } from '../../base/json-copy.ts'
import { withinTime } from '../../base/time-limit.ts'
import type { Reach } from '../../outbound/outbound.ts'
import { createPace } from '../../outbound/pace.ts'
import { batched } from '../batches.ts'
import {
  type CheckCall,
  connectionData,
  type HostedConnectionType,
  type HostedParts,
  type HostedVerifier,
  PluginEndedError,
  type Tenant,
} from '../hosted.ts'
import { onlyAddress, withHandles } from '../in-process.ts'
import { createOpaqueNames, type OpaqueNames } from '../opaque-names.ts'
import type { PluginLogger } from '../plugin-logger.ts'
import type { Cell, Cells } from './cells.ts'
import { createHostCalls } from './host-calls.ts'
import {
  type CheckArguments,
  type DescribedPart,
  type DescribedParts,
  fromWireError,
  type PluginMethod,
} from './messages.ts'
import { createOffenders, type Offenders } from './offenders.ts'
import { ProcessEnded } from './plugin-process.ts'

/** A function of a plugin that needs nothing of the host answers within this. */
const QUICK_MS = 3000
/** So long its call waits for a place, and again for a process that starts: on a busy machine that takes many times as long. */
const START_MS = 10_000
/** A check has a time of its own, at whose end its signal aborts. */
const LONGEST_CHECK_MS = 120_000
const MAX_ADDRESSES = 1000
/** Of one answer, where the verifier declares nothing: all of it goes through the pipe. */
const USUAL_BODY_BYTES = 512 * 1024

const QUICK_TRIES = 3

interface RemoteOptions {
  readonly cells: Cells
  readonly manifest: HostedParts['manifest']
  readonly reach: Reach
  readonly logger: PluginLogger
  /** Of all plugins: one may read through the connections of another. */
  readonly types: (provider: string) => Pick<ConnectionType, 'options'> | undefined
}

interface Remote extends RemoteOptions {
  readonly pace: Pace
  readonly names: OpaqueNames
  readonly offenders: Offenders
}

/** @param described passed `partsProblems` */
export function remoteParts(described: DescribedParts, options: RemoteOptions): HostedParts {
  const remote: Remote = { ...options, pace: createPace(), names: createOpaqueNames(), offenders: createOffenders() }
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
  const { cells, reach, pace, types, names } = remote
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
    check: functions.includes('checkMany')
      ? batched(async (calls) => readMany(await check('checkMany', calls, index, { limits }, remote)), names)
      : (call) => check('check', [call], index, { limits }, remote),
  }
}

/** Calls that go down with another one's are made again. */
function quickCalls(cells: Cells, index: number) {
  return (tenant: Tenant, method: PluginMethod, ...args: unknown[]): Promise<unknown> =>
    cells.within(
      { ...tenant, urgency: 'brief' },
      () => AbortSignal.timeout(START_MS),
      async ({ process }) => {
        for (let tries = 1; ; tries++) {
          await withinTime(
            process.available(),
            START_MS,
            () => new Error(`no process of the plugin started in ${START_MS} ms`),
          )
          try {
            return await process.call(method, index, () => args, { timeoutMs: QUICK_MS })
          } catch (error) {
            if (!(error instanceof ProcessEnded)) throw error
            // Also a claim whose address ends the process is poison.
            if (error.blame === 'this') throw new PluginEndedError(error.message)
            if (tries === QUICK_TRIES) throw error
          }
        }
      },
    )
}

/** @returns what is no list as it is: the caller tells */
function readMany(returned: unknown): unknown {
  if (!Array.isArray(returned)) return returned
  return returned.map((one: Partial<{ readonly seen: unknown; readonly error: unknown }> | null) =>
    one?.error === undefined ? one?.seen : fromWireError(one.error),
  )
}

/** Makes checks again that went down with another one. @param calls the first one makes the requests */
async function check(
  method: 'check' | 'checkMany',
  calls: readonly CheckCall[],
  index: number,
  { limits = {} }: { readonly limits: CheckLimits | undefined },
  remote: Remote,
): Promise<unknown> {
  const { cells, offenders, logger } = remote
  const { requests, timer, tenant } = calls[0]!
  logger.conceal(requests.leaks())
  if (offenders.areHeld(tenant.workspaceId))
    throw new Error('other claims of this workspace ended the process of the plugin too often')
  const decides = calls.some((call) => call.tenant.urgency === 'deciding')
  return cells.within(
    decides ? { ...tenant, urgency: 'deciding' } : tenant,
    () => timer.signal,
    (cell) => checkIn(cell, method, calls, index, { limits }, remote),
  )
}

async function checkIn(
  { process, shared, quarantine }: Cell,
  method: 'check' | 'checkMany',
  calls: readonly CheckCall[],
  index: number,
  { limits }: { readonly limits: CheckLimits },
  { types, names, offenders }: Remote,
): Promise<unknown> {
  const { connection, requests, timer, tenant } = calls[0]!
  const { signal } = timer
  const key = names.cacheKey(connection)
  const share = names.share(tenant.workspaceId)

  function once(): Promise<unknown> {
    const args = (run: number): readonly [CheckArguments] => {
      shared.keep(run, key, requests)
      const shown = connection && withHandles(connection, types)
      const checks = calls.map(({ claim, previous }) => ({ claim, previous }))
      return [{ checks, connection: shown, share, cacheKey: key, limits }]
    }
    const hostCalls = createHostCalls({ requests, cacheKey: key, shared })
    return process.call(method, index, args, { timeoutMs: LONGEST_CHECK_MS, hostCalls, signal })
  }

  let isSuspect = false
  for (;;) {
    try {
      if (isSuspect) return await quarantine.alone(once)
      await quarantine.passed()
      return await once()
    } catch (error) {
      if (!(error instanceof ProcessEnded) || signal.aborted) throw error
      const isFound = error.blame === 'unsure' && isSuspect && error.wasAlone
      if (error.blame === 'this' || isFound) {
        offenders.note(tenant.workspaceId)
        throw new PluginEndedError(error.message)
      }
      if (error.blame === 'unsure') isSuspect = true
      // Its plugin knows nothing of what it asked before.
      requests.again()
    }
  }
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
      // Of the workspace: what another one's process makes of the same options leads nobody's credentials anywhere else.
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
        ({ process, shared }) => {
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
