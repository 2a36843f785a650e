/** What a plugin in a process of its own offers, as the service calls it. */

import { withoutSecretValues } from '@claimcheck/core/hosting'
import type { ActionProfile, CheckLimits, Connection, ConnectionType } from '@claimcheck/core/plugin'
import type { JsonObject } from '@claimcheck/core/rules'
import { LRUCache } from 'lru-cache'
import { copyJson } from '../../base/json-copy.ts'
import type { Reach } from '../../outbound/outbound.ts'
import { batched } from '../batches.ts'
import { cacheKey } from '../cache-key.ts'
import {
  type CheckCall,
  type HostedConnectionType,
  type HostedParts,
  type HostedVerifier,
  PluginEndedError,
} from '../hosted.ts'
import { onlyAddress, withHandles } from '../in-process.ts'
import type { PluginLogger } from '../plugin-logger.ts'
import { createHostCalls, createSharedReadings, type SharedReadings } from './host-calls.ts'
import {
  type CheckArguments,
  type DescribedPart,
  type DescribedParts,
  fromWireError,
  type PluginMethod,
} from './messages.ts'
import { createOffenders, type Offenders } from './offenders.ts'
import { type PluginProcess, ProcessEnded } from './plugin-process.ts'
import { createQuarantine, type Quarantine } from './quarantine.ts'

/** A function of a plugin that needs nothing of the host answers within this, also while its process is started again. */
const QUICK_MS = 3000
/** A check has a time of its own, at whose end its signal aborts. */
const LONGEST_CHECK_MS = 120_000
/** An address follows from a connection's options alone. */
const MAX_ADDRESSES = 1000
/** Of one answer, where the verifier declares nothing: all of it goes through the pipe. */
const USUAL_BODY_BYTES = 512 * 1024

const QUICK_TRIES = 3

interface RemoteOptions {
  readonly process: PluginProcess
  readonly manifest: HostedParts['manifest']
  readonly reach: Reach
  readonly logger: PluginLogger
  /** Of all plugins: one may read through the connections of another. */
  readonly types: (provider: string) => Pick<ConnectionType, 'options'> | undefined
}

interface Remote extends RemoteOptions {
  readonly shared: SharedReadings
  readonly suspects: Quarantine
  readonly offenders: Offenders
}

/** @param described passed `partsProblems` */
export function remoteParts(described: DescribedParts, options: RemoteOptions): HostedParts {
  const remote: Remote = {
    ...options,
    shared: createSharedReadings(),
    suspects: createQuarantine(() => options.process.lagMs()),
    offenders: createOffenders(),
  }
  return {
    manifest: options.manifest,
    verifiers: described.verifiers.map((part, index) => remoteVerifier(part, index, remote)),
    connections: described.connections.map((part, index) => remoteConnectionType(part, index, remote)),
    state: () => options.process.state(),
    close: () => options.process.close(),
  }
}

function remoteVerifier({ data, functions }: DescribedPart, index: number, remote: Remote): HostedVerifier {
  const { profile, providers, limits } = data as unknown as {
    readonly profile: ActionProfile
    readonly providers: readonly string[]
    readonly limits?: CheckLimits
  }
  const { process, reach, types } = remote
  const quick = quickCalls(process, index)
  const shown = (connection: Connection) => withHandles(connection, types)
  return {
    profile,
    providers,
    limits: { bodyBytes: USUAL_BODY_BYTES, ...limits },
    reach,
    ...(functions.includes('anonymousSource') && {
      anonymousSource: async (claim) => readSource(await quick('anonymousSource', claim)),
    }),
    ...(functions.includes('destination') && {
      destination: async (claim, connection) => readText(await quick('destination', claim, shown(connection))),
    }),
    ...(functions.includes('normalize') && { normalize: (claim) => quick('normalize', claim) }),
    check: functions.includes('checkMany')
      ? batched(async (calls) => readMany(await check('checkMany', calls, index, { limits }, remote)))
      : (call) => check('check', [call], index, { limits }, remote),
  }
}

/** Calls that go down with another one's are made again. */
function quickCalls(process: PluginProcess, index: number) {
  return async (method: PluginMethod, ...args: unknown[]): Promise<unknown> => {
    for (let tries = 1; ; tries++) {
      try {
        return await process.call(method, index, () => args, { timeoutMs: QUICK_MS })
      } catch (error) {
        if (!(error instanceof ProcessEnded)) throw error
        // Also a claim whose address ends the process is poison.
        if (error.blame === 'this') throw new PluginEndedError(error.message)
        if (tries === QUICK_TRIES) throw error
      }
    }
  }
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
  { process, shared, types, suspects, offenders, logger }: Remote,
): Promise<unknown> {
  const { connection, requests, timer, share } = calls[0]!
  const key = cacheKey(connection)
  logger.conceal(requests.leaks())
  const { signal } = timer

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

  if (offenders.areHeld(share))
    throw new Error('other claims of this workspace ended the process of the plugin too often')
  let isSuspect = false
  for (;;) {
    try {
      if (isSuspect) return await suspects.alone(once)
      await suspects.passed()
      return await once()
    } catch (error) {
      if (!(error instanceof ProcessEnded) || signal.aborted) throw error
      const isFound = error.blame === 'unsure' && isSuspect && error.wasAlone
      if (error.blame === 'this' || isFound) {
        offenders.note(share)
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
  const type = data as unknown as Pick<ConnectionType, 'provider' | 'title' | 'options' | 'help' | 'trial'>
  const { provider, title, options, help, trial } = type
  const { process, reach } = remote
  const quick = quickCalls(process, index)
  const addresses = new LRUCache<string, string>({ max: MAX_ADDRESSES })
  const shown = (values: JsonObject) => withoutSecretValues(type, copyJson(values)).options
  return {
    provider,
    title,
    options,
    help,
    ...(trial ? { trial } : {}),
    reach,
    onlyAddress: functions.includes('baseUrl') ? onlyAddress({ options, baseUrl: () => address ?? '' }) : undefined,
    async baseUrl(values) {
      const given = shown(values)
      const key = JSON.stringify(given)
      const known = addresses.get(key)
      if (known !== undefined) return known
      const address = readText(await quick('baseUrl', given))
      addresses.set(key, address)
      return address
    },
    fits: async (values, claim) => (await quick('fits', shown(values), claim)) === true,
    async probe(values, { requests, timer, target }) {
      remote.logger.conceal(requests.leaks())
      const hostCalls = createHostCalls({ requests, cacheKey: '', shared: remote.shared })
      const args = () => (target === undefined ? [shown(values)] : [shown(values), target])
      return process.call('probe', index, args, { timeoutMs: LONGEST_CHECK_MS, hostCalls, signal: timer.signal })
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
