/** Trying a destination, once and within bounds, before a connection to it is kept. */
import { type ConnectionType, DestinationError, type Instant, type JsonObject, type Logger } from '@claimcheck/core'
import { ServiceError } from '../base/errors.ts'
import { withinTime } from '../base/time-limit.ts'
import { validator } from '../base/validation.ts'
import type { Config } from '../config/config.ts'
import type { Outbound } from '../outbound/outbound.ts'
import type { Registry } from '../plugins/plugins.ts'

/** The destination was tried, and what was given is not kept. */
export interface NotConnected {
  /** Why it could not be read: a code. */
  readonly failure: string
  /** It answered, and takes these credentials for nothing. */
  readonly isRefused: boolean
}

/** What came of trying a destination. */
interface Probe {
  readonly scopes: readonly string[]
  readonly notes: readonly string[]
  /** Why it could not be read: a code; null when it could. */
  readonly failure: string | null
}

export interface Tried extends Probe {
  readonly type: ConnectionType
  readonly options: JsonObject
}

export interface TrialOptions {
  readonly registry: Pick<Registry, 'connectionType'>
  readonly outbound: Outbound
  readonly logger: Logger
  readonly now: () => Instant
  readonly config: Pick<Config, 'checks'>
}

const REFUSALS: ReadonlySet<string> = new Set(['unauthorized', 'forbidden'])

/** @throws ServiceError `not_found` for an unknown provider, `invalid` for options that its type refuses */
export type Trial = (provider: string, options: JsonObject) => Promise<Tried>

export function createTrial({ registry, outbound, logger, now, config }: TrialOptions): Trial {
  const { timeoutMs } = config.checks

  async function probe(type: ConnectionType, options: JsonObject): Promise<Probe> {
    const timer = new AbortController()
    const { signal } = timer
    const { fetch, resolve } = outbound.forCheck(timer, now)
    // A copy of the options: what is kept is what the owner gave.
    const given: Record<string, unknown> = structuredClone(options)
    const probing = async () => type.probe(given, { fetch, resolve, signal, logger })
    try {
      const { scopes, warnings } = await withinTime(probing(), timeoutMs, () => new DestinationError('timeout'))
      if (!isTexts(scopes) || !isTexts(warnings)) throw new TypeError('the probe returned nonsense')
      return { scopes, notes: warnings, failure: null }
    } catch (error) {
      // The code alone: a message may repeat a credential.
      const failure = error instanceof Error && 'code' in error ? String(error.code) : 'unexpected_error'
      return { scopes: [], notes: [], failure }
    } finally {
      timer.abort()
    }
  }

  return async (provider, options) => {
    const type = typeOf(registry, provider)
    const issues = validator(type.options)(options, ['options'])
    if (issues.length > 0) throw new ServiceError('invalid', `these options do not fit ${provider}`, { issues })
    return { ...(await probe(type, options)), type, options }
  }
}

/** @throws ServiceError `not_found` */
export function typeOf(registry: Pick<Registry, 'connectionType'>, provider: string): ConnectionType {
  const type = registry.connectionType(provider)
  if (!type) throw new ServiceError('not_found', `no plugin here offers a connection to ${provider}`)
  return type
}

/** Why what was tried is not kept. */
export function withheld({ failure }: Probe, insists: boolean): NotConnected | undefined {
  if (failure === null) return undefined
  const isRefused = REFUSALS.has(failure)
  return isRefused || !insists ? { failure, isRefused } : undefined
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}
