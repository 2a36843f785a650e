/** One check of one claim: hands it to its verifier within bounds, and records what came of it. Nothing a verifier does gets past here. */
import {
  type CheckContext,
  type CheckRecord,
  type Claim,
  type Connection,
  DESTINATION_ERROR_CODES,
  DestinationError,
  type Failure,
  type Instant,
  isRead,
  type Source,
  secretNames,
  type Verifier,
} from '@claimcheck/core'
import type { FastifyBaseLogger } from 'fastify'
import { copyJson } from '../base/json-copy.ts'
import { lazyAbortController, withinTime } from '../base/time-limit.ts'
import type { Config } from '../config/config.ts'
import type { ClockDoubt } from '../hosts/clock-doubt.ts'
import type { Outbound } from '../outbound/outbound.ts'
import { clockOffset } from '../outbound/readings.ts'
import { cacheFor } from '../plugins/check-cache.ts'
import type { RegisteredVerifier, Registry } from '../plugins/plugins.ts'
import type { ClaimRow } from '../storage/claim-row.ts'
import type { Activity } from '../workspaces/activity.ts'
import type { ConnectionService, OpenConnection } from '../workspaces/connections.ts'
import type { Sources } from '../workspaces/sources.ts'
import { LARGEST_AGE_MS, LATEST_INSTANT, readObservation } from './observation.ts'

export interface CheckRunner {
  /** Never throws: what goes wrong is in the record. */
  check(claim: ClaimRow, history: readonly CheckRecord[]): Promise<CheckRecord>
}

interface CheckRunnerOptions {
  readonly registry: Registry
  readonly connections: Pick<ConnectionService, 'openById'>
  readonly activity: Pick<Activity, 'connectionRead'>
  readonly outbound: Outbound
  readonly now: () => Instant
  readonly sources: Sources
  readonly clockDoubt: ClockDoubt
  readonly config: Pick<Config, 'checks'>
  readonly logger: Pick<FastifyBaseLogger, 'warn'>
}

/** An address that a workspace chose cannot make its answers older than this. */
const LARGEST_UNLISTED_AGE_MS = 60_000

export function createCheckRunner(options: CheckRunnerOptions): CheckRunner {
  const { registry, connections, activity, outbound, sources, clockDoubt, now, logger } = options
  const { timeoutMs } = options.config.checks

  async function observe(
    claim: ClaimRow,
    { verifier, tools }: RegisteredVerifier,
    connection: OpenConnection | null,
    history: readonly CheckRecord[],
    startedAt: Instant,
  ): Promise<CheckRecord> {
    const source = sourceOf(claim, verifier, connection)
    const timer = lazyAbortController()
    const requests = outbound.forCheck(timer, now, new URL(source.baseUrl).origin)
    // Copies: what a verifier changes in them, now or later, is changed nowhere else.
    const given = connection && toGiven(connection)
    const context: CheckContext = {
      connection: copyJson(given),
      fetch: requests.fetch,
      resolve: requests.resolve,
      get signal() {
        return timer.signal
      },
      now,
      logger: tools.logger,
      cache: cacheFor(given, tools.cache, requests),
      previous: history
        .filter(isRead)
        .map(({ sentAt, observation }) => ({ sentAt, observation: copyJson(observation) })),
    }
    const checking = async () => verifier.check(copyJson(toClaim(claim)), context)
    try {
      // One that does not heed its signal is left behind when its time is over.
      const returned = await withinTime(checking(), timeoutMs, () => new DestinationError('timeout'))
      const answeredAt = answerTime(startedAt)
      const { observation, problem } = readObservation(verifier.profile, returned, secretsOf(connection))
      if (!observation) {
        logger.warn({ action: verifier.profile.action, claimId: claim.claimId, problem }, 'verifier returned nonsense')
        return { sentAt: startedAt, answeredAt, failure: { code: 'verifier_error' } }
      }
      const readings = requests.readings()
      const { recorded } = source
      if (recorded.listed) clockDoubt.heard(source.baseUrl, readings)
      // Times by a clock that is wrong would be evidence of nothing.
      if (clockDoubt.isDoubted()) return { sentAt: startedAt, answeredAt, failure: { code: 'verifier_error' } }
      const clockOffsetMs = clockOffset(readings)
      const headerAgeMs = Math.min(readings.ageMs, recorded.listed ? LARGEST_AGE_MS : LARGEST_UNLISTED_AGE_MS)
      const { ageMs: ownAgeMs = 0, ...observed } = observation
      return {
        // A check that waited for a shared read was made when that was sent.
        sentAt: Math.max(startedAt, Math.min(readings.sentAt ?? startedAt, answeredAt)),
        answeredAt,
        observation: observed,
        clockOffsetMs: clockOffsetMs ?? 0,
        dated: clockOffsetMs !== undefined,
        ageMs: Math.max(verifier.profile.ageMs ?? 0, ownAgeMs) + headerAgeMs,
        source: recorded,
      }
    } finally {
      timer.abort()
    }
  }

  /** By the host's own account: the address that requests are held to, and what the receipt says of it. */
  function sourceOf(
    claim: ClaimRow,
    verifier: Verifier,
    connection: OpenConnection | null,
  ): { readonly baseUrl: string; readonly recorded: Source } {
    const { provider, baseUrl } = connection
      ? {
          provider: connection.provider,
          baseUrl: registry.connectionType(connection.provider)!.baseUrl(copyJson(connection.options) as never),
        }
      : verifier.anonymousSource!(toClaim(claim))
    return { baseUrl, recorded: sources.sourceOf(provider, baseUrl, connection) }
  }

  /** Now; and by a clock that is set back during the check, not before it was sent. */
  function answerTime(sentAt: Instant): Instant {
    return Math.max(now(), sentAt)
  }

  function secretsOf(connection: Connection | null): string[] {
    const type = connection && registry.connectionType(connection.provider)
    if (!type) return []
    return secretNames(type)
      .map((name) => connection.options[name])
      .filter((value) => typeof value === 'string')
  }

  async function check(claim: ClaimRow, history: readonly CheckRecord[]): Promise<CheckRecord> {
    const sentAt = now()
    const failed = (failure: Failure): CheckRecord => ({ sentAt, answeredAt: answerTime(sentAt), failure })
    if (claim.access !== 'connection' && claim.access !== 'anonymous') return failed({ code: claim.access })
    let secrets: readonly string[] = []
    try {
      // A claim is judged by the rules it was submitted under, or not at all.
      const registered = registry.verifierFor(claim.action, claim.profileVersion)
      if (!registered) return failed({ code: 'unsupported_action' })
      const connection = claim.connectionId === null ? null : await connections.openById(claim.connectionId)
      if (connection === undefined) return failed({ code: 'no_connection' })
      secrets = secretsOf(connection)
      return await observe(claim, registered, connection, history, sentAt)
    } catch (error) {
      if (isDestinationError(error)) return failed(toFailure(error, now()))
      const problem = withoutSecrets(error, secrets)
      logger.warn({ problem, action: claim.action, claimId: claim.claimId }, 'verifier failed')
      return failed({ code: 'verifier_error' })
    }
  }

  return {
    async check(claim, history) {
      const record = await check(claim, history)
      if (claim.connectionId !== null && wasTried(record)) activity.connectionRead(claim.connectionId, record)
      return record
    },
  }
}

/** Where nothing here judges the claim any more, nothing was asked through its connection. */
function wasTried(record: CheckRecord): boolean {
  return isRead(record) || record.failure.code !== 'unsupported_action'
}

/** What a verifier sees of a connection. */
function toGiven({ id, provider, options }: OpenConnection): Connection {
  return { id, provider, options }
}

/** What a verifier sees of a claim. */
export function toClaim({ action, target, params, claimedAt, deadlineAt }: ClaimRow): Claim {
  return { action, target, params, claimedAt, deadlineAt }
}

/** The text alone: the members of an error may hold a whole request, its credentials included. */
function withoutSecrets(error: unknown, secrets: readonly string[]): string {
  const text = error instanceof Error ? (error.stack ?? error.message) : `a ${typeof error} was thrown`
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text)
}

const DESTINATION_CODES: ReadonlySet<unknown> = new Set(DESTINATION_ERROR_CODES)

// By name and code: a plugin may carry a copy of core of its own, so that instanceof would not know its errors.
function isDestinationError(error: unknown): error is DestinationError {
  return (
    error instanceof Error &&
    error.name === 'DestinationError' &&
    DESTINATION_CODES.has((error as { code?: unknown }).code)
  )
}

function toFailure({ code, retryAfterMs, status }: DestinationError, now: Instant): Failure {
  return {
    code,
    // A wait that is no whole number, or longer than times can say, is a wait all the same.
    ...(typeof retryAfterMs === 'number' && retryAfterMs > 0
      ? { retryAt: Math.min(Math.ceil(now + retryAfterMs), LATEST_INSTANT) }
      : {}),
    ...(Number.isSafeInteger(status) ? { status: status! } : {}),
  }
}
