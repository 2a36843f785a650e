/**
 * Probes a destination once, before the service stores a connection to it. A trial takes a slot and a request budget as a check does that
 * only looks: a person may start any number of them, at a destination that hangs.
 */

import { isIdentity, originOf, type Refreshes, withoutSecretValues } from '@claimcheck/core/hosting'
import { DestinationError, isDestinationError, type Proven } from '@claimcheck/core/plugin'
import { DESTINATION_ERROR_CODES, type Instant, type JsonObject } from '@claimcheck/core/rules'
import { ServiceError } from '../../base/errors.ts'
import { LazyAbortController, withinTime } from '../../base/time-limit.ts'
import { newToken } from '../../base/tokens.ts'
import { validator } from '../../base/validation.ts'
import type { ConcurrencyLimit } from '../../outbound/concurrency-limit.ts'
import type { Destinations } from '../../outbound/destinations.ts'
import { withLastRequest } from '../../outbound/last-request.ts'
import type { LeakFinder } from '../../outbound/leaks.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import type { RateLimitBudgets, Spender } from '../../outbound/rate-limit-budget.ts'
import { connectedBy } from '../../plugins/connected.ts'
import type { HostedConnectionType } from '../../plugins/hosted.ts'
import type { Registry } from '../../plugins/registry.ts'
import type { Storage } from '../../storage/storage.ts'
import { REFUSALS } from '../../storage/workspaces.ts'

/** The failure of a probe, after which the service stores neither the connection nor the secrets. */
export interface NotConnected {
  /** The code of the probe's failure. */
  readonly failure: string
  /** True when the destination refused the credentials; false when it could not be read. */
  readonly isRefused: boolean
  /** The reason for the failure, for the operator alone. */
  readonly reason?: string | undefined
}

export interface Probe {
  readonly scopes: readonly string[]
  readonly notes: readonly string[]
  /** The code of the failure; null when the probe succeeded. */
  readonly failure: string | null
  /** The state that the probe proved; null when it failed. */
  readonly proves: Proven | null
  /** The end of the credentials, if the destination says it. */
  readonly expiresAt: Instant | null
  /** The identity of the destination, for a type that is `identified`; null where the probe told none. */
  readonly identity: string | null
  /** The reason for the failure, for the operator alone: it says what is in the network. */
  readonly reason?: string | undefined
}

/** The result of a trial, with the options and the target that were tried. */
export interface Tried extends Probe {
  readonly type: HostedConnectionType
  readonly options: JsonObject
  readonly target: string | null
}

/** The connection for which a trial is made. */
export interface Trying {
  readonly workspaceId: string
  /** The id of the stored connection; null if it is not stored yet. */
  readonly connectionId: string | null
  readonly refreshes: Refreshes
}

export interface TrialOptions {
  readonly storage: Pick<Storage, 'read'>
  readonly slots: Pick<ConcurrencyLimit, 'take'>
  readonly budgets: RateLimitBudgets
  readonly destinations: Pick<Destinations, 'of'>
  readonly registry: Pick<Registry, 'connectionType'>
  readonly outbound: Outbound
  readonly now: () => Instant
  readonly config: { readonly checks: { readonly timeoutMs: number } }
}

/**
 * Tries the options of a connection.
 * @param target the target to read, where the provider's type has a `trial`; blank, or null, for none
 * @throws ServiceError `not_found` for an unknown provider; `invalid` for options that do not match its schema, and for an invalid target; `too_many`
 * while the payer of the workspace has its part of what destinations are asked
 */
export type Trial = (trying: Trying, provider: string, options: JsonObject, target: string | null) => Promise<Tried>

export function createTrial(parts: TrialOptions): Trial {
  const { registry, outbound, now, config, storage } = parts
  const { timeoutMs } = config.checks

  async function probe(
    trying: Trying,
    type: HostedConnectionType,
    options: JsonObject,
    target: string | undefined,
  ): Promise<Probe> {
    const timer = new LazyAbortController()
    let end = () => {}
    let reasonOf: ((error: unknown) => string) | undefined
    // New credentials have a separate budget until the trial ends.
    const newBudget = `trial ${newToken()}`
    const probing = async () => {
      const { workspaceId, connectionId } = trying
      const payer = (await storage.read.workspaces.payer(workspaceId)) ?? workspaceId
      const tenant = { workspaceId, payer }
      const baseUrl = await type.baseUrl(options, tenant)
      const { secrets } = withoutSecretValues(type, options)
      const origin = originOf(baseUrl)
      if (origin === undefined) throw new DestinationError('misconfigured')
      const { reach, pace } = type
      const hasCredentials = secrets.size > 0
      const spender = {
        payer,
        connectionId: connectionId ?? (hasCredentials ? newBudget : null),
        origin,
      }
      // The time may be over, and then nothing would end what the trial takes now.
      timer.signal.throwIfAborted()
      end = admit(parts, spender)
      const spending = parts.budgets.forCheck(spender, { isDeciding: false, isAgain: false, hasCredentials })
      const connected = connectedBy(type, { id: `trial ${workspaceId}`, options }, trying.refreshes)
      const guard = { timer, now, origin, baseUrl, secrets, reach, pace, connected, payer, spending }
      const { requests, ...last } = withLastRequest(outbound.forCheck(guard))
      reasonOf = last.reasonOf
      const probed = await type.probe(options, { requests, timer, target, tenant })
      const breach = requests.breach()
      if (breach) throw breach
      return readProbe(type, probed, requests.leaks())
    }
    try {
      return await withinTime(probing(), timeoutMs, () => new DestinationError('timeout'))
    } catch (error) {
      if (error instanceof ServiceError) throw error
      return { ...NOTHING_FOUND, failure: codeOf(error) ?? 'unexpected_error', reason: reasonOf?.(error) }
    } finally {
      timer.abort()
      end()
      // A trial's budget is forgotten: else trials would push the budgets of connections out.
      parts.budgets.forget(newBudget)
    }
  }

  return async (trying, provider, options, target) => {
    const type = connectionTypeOf(registry, provider)
    const issues = validator(type.options)(options, ['options'])
    if (issues.length > 0) throw new ServiceError('invalid', `the options are not valid for ${provider}`, { issues })
    const given = target?.trim() || undefined
    if (given !== undefined && (!type.trial || given.length > LONGEST_TARGET)) throw noTarget(type)
    const probed = await probe(trying, type, options, given)
    if (given !== undefined && probed.failure === 'unsupported_target') throw noTarget(type)
    return { ...probed, type, options, target: given ?? null }
  }
}

/**
 * Takes a slot and requests for a trial that begins now. Returns the function that ends it.
 * @throws ServiceError `too_many`
 */
function admit(
  { slots, budgets, destinations }: TrialOptions,
  spender: Spender & { readonly origin: string },
): () => void {
  if (!budgets.mayBegin(spender)) {
    const why = `so many requests to ${spender.origin} are left to others until it permits more. Try again in some minutes`
    throw new ServiceError('too_many', `nothing was tried: ${why}.`, { retryAfterMs: 60_000 })
  }
  const release = slots.take({ payer: spender.payer, destinations: destinations.of(spender.origin) }, 'looking')
  if (typeof release === 'string') {
    const why = 'too many connections and claims of yours are being checked. Try again in a moment'
    throw new ServiceError('too_many', `nothing was tried: ${why}.`, { retryAfterMs: 5000 })
  }
  const endReading = budgets.begin(spender, false)
  return () => {
    endReading()
    release()
  }
}

const LONGEST_TARGET = 1024

/** The result of a failed probe. */
export const NOTHING_FOUND = { scopes: [], notes: [], proves: null, expiresAt: null, identity: null } as const

function noTarget({ title, trial }: HostedConnectionType): ServiceError {
  const msg = trial
    ? `write it another way. ${trial.description}`
    : `there is nothing to try at ${title} but the credentials`
  const example = trial?.example === undefined ? '' : ` For example: ${trial.example}`
  const issues = [{ loc: ['target'], msg: `Value error, ${msg}${example}`, type: 'value_error' }]
  return new ServiceError('invalid', `this cannot be tried at ${title}: ${msg}${example}`, { issues })
}

/**
 * Finds the connection type of a provider.
 * @throws ServiceError `not_found`
 */
export function connectionTypeOf(registry: Pick<Registry, 'connectionType'>, provider: string): HostedConnectionType {
  const type = registry.connectionType(provider)
  if (!type) throw new ServiceError('not_found', `no configured plugin offers the provider ${provider}`)
  return type
}

/**
 * Returns the failure for which the service does not store the connection; undefined when it stores it.
 * @param insists stores it also when the destination could not be read; refused credentials are never stored
 */
export function notConnected({ failure, reason }: Probe, insists: boolean): NotConnected | undefined {
  if (failure === null) return undefined
  const isRefused = REFUSALS.has(failure)
  return isRefused || !insists ? { failure, isRefused, reason } : undefined
}

/**
 * Reads the result of the plugin's probe, for owners to see.
 * @throws TypeError
 */
function readProbe(
  { identified }: HostedConnectionType,
  probed: unknown,
  leaks: Pick<LeakFinder, 'isIn' | 'redact'>,
): Probe {
  const { proves, scopes, warnings, expiresAt, identity } = (probed ?? {}) as Record<string, unknown>
  if (!isTexts(scopes) || !isTexts(warnings)) throw new TypeError('the probe must return lists of texts')
  if (proves !== 'works' && proves !== 'reached') throw new TypeError('the probe must say what it proved')
  if (expiresAt !== undefined && !isMoment(expiresAt)) throw new TypeError('the probe must return a time as expiresAt')
  if (identity !== undefined && (!isIdentity(identity) || leaks.isIn(identity)))
    throw new TypeError('the probe must return 1 to 200 printable characters, without a credential, as identity')
  const shown = (texts: readonly string[]) =>
    texts
      .slice(0, MAX_TEXTS)
      .map((text) => (text.length > TOO_LONG ? `[a text of ${text.length} characters]` : leaks.redact(text)))
  const told = { expiresAt: expiresAt ?? null, identity: identified ? (identity ?? null) : null }
  return { proves, scopes: shown(scopes), notes: shown(warnings), ...told, failure: null }
}

const MAX_TEXTS = 100
const TOO_LONG = 2048
const CODES: ReadonlySet<unknown> = new Set(DESTINATION_ERROR_CODES)

/** Returns the code of a destination's failure; undefined for a code that is not in the contract: a plugin could put anything in its place. */
function codeOf(error: unknown): string | undefined {
  return isDestinationError(error) && CODES.has(error.code) ? error.code : undefined
}

function isMoment(value: unknown): value is Instant {
  return Number.isSafeInteger(value) && Math.abs(value as number) <= LATEST
}

/** The latest instant that a Date can hold. */
const LATEST = 8_640_000_000_000_000

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}
