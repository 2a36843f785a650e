/**
 * Runs one check of a claim: calls its verifier within limits and records the result. A misbehaving verifier cannot affect anything
 * else.
 */

import {
  certificateOf,
  clockReading,
  heldToIdentity,
  requireOrigin,
  type SecretValues,
  UNHEARD,
  withoutSecretValues,
  withToldTime,
} from '@claimcheck/core/hosting'
import { type Claim, type Connection, DestinationError, showsClaimed } from '@claimcheck/core/plugin'
import {
  type CheckRecord,
  contradictionOf,
  expectedOf,
  type Failure,
  type Instant,
  isRead,
  MAX_AGE_MS,
  type Observation,
  type PluginName,
  type ReadRecord,
  type Source,
} from '@claimcheck/core/rules'
import type { FastifyBaseLogger } from 'fastify'
import { LazyAbortController, withinTime } from '../../base/time-limit.ts'
import type { Clock } from '../../clock/clock.ts'
import type { CheckRequests, GivenConnection, Outbound } from '../../outbound/outbound.ts'
import type { RateLimitBudgets } from '../../outbound/rate-limit-budget.ts'
import { connectedBy } from '../../plugins/connected.ts'
import { PluginEndedError, type Tenant } from '../../plugins/hosted.ts'
import { nameInReceipts } from '../../plugins/identity.ts'
import { type Reader, type RegisteredVerifier, type Registry, readerOf } from '../../plugins/registry.ts'
import type { ClaimRow } from '../../storage/claim-row.ts'
import type { CheckKind } from '../../storage/claims.ts'
import type { Activity } from '../workspaces/activity.ts'
import type { ConnectionService, OpenConnection } from '../workspaces/connections.ts'
import type { Sources } from '../workspaces/sources.ts'
import { readFailure } from './check-failure.ts'
import type { ClaimsConfig } from './config.ts'
import { destinationOf, judgeOf } from './destination.ts'
import { readObservation } from './observation.ts'

interface CheckRunnerOptions {
  readonly registry: Registry
  readonly connections: Pick<ConnectionService, 'openById' | 'refreshesOf'>
  readonly activity: Pick<Activity, 'connectionRead'>
  readonly outbound: Outbound
  readonly budgets: Pick<RateLimitBudgets, 'forCheck'>
  readonly now: () => Instant
  readonly sources: Sources
  readonly clock: Pick<Clock, 'heard' | 'turn' | 'setSince'>
  readonly config: Pick<ClaimsConfig, 'checks'>
  readonly logger: Pick<FastifyBaseLogger, 'warn'>
}

interface CheckedSource {
  readonly baseUrl: string
  readonly recorded: Source
  /** True if the address is listed now, whatever `recorded` says: its time is compared with our clock. */
  readonly hasVoice: boolean
  /** The connection that the check's requests use, with its credentials. */
  readonly connected: GivenConnection | undefined
  /** Holds a read to the identity of the connection. @throws DestinationError `ambiguous_claim` for a read of another destination */
  readonly hold: (seen: Observation) => Observation
}

/** The most that an address which a workspace chose can make its answers older: a greater age would put off its deadlines. */
const MAX_UNLISTED_AGE_MS = 60_000
/** The time before the next look of the schedule in which a look on a hint is over and stored, also by a host with another clock. */
export const HINT_MARGIN_MS = 3000

interface Checked {
  readonly record: CheckRecord
  /** The id of the connection that the check may have sent requests through. */
  readonly used: string | undefined
}

/** One check, from when it begins to read. */
interface Reading {
  readonly claim: ClaimRow
  readonly history: readonly CheckRecord[]
  readonly kind: CheckKind
  readonly sentAt: Instant
  readonly reader: Reader
  readonly source: CheckedSource
  readonly secrets: SecretValues
}

export type CheckRunner = ReturnType<typeof createCheckRunner>

export function createCheckRunner({
  registry,
  connections,
  activity,
  outbound,
  budgets,
  now,
  sources,
  clock,
  config,
  logger,
}: CheckRunnerOptions) {
  const { timeoutMs } = config.checks

  async function checkOnce(claim: ClaimRow, history: readonly CheckRecord[], kind: CheckKind): Promise<Checked> {
    // Checks of a claim are evidence by their order, and the clocks of hosts differ a little.
    const earliest = Math.max(claim.submittedAt, history.at(-1)?.sentAt ?? 0)
    const readAt = now()
    const sentAt = Math.max(readAt, earliest)
    let plugin: PluginName | undefined
    let used: string | undefined
    const failed = (failure: Failure): Checked => {
      const record = { sentAt, answeredAt: answerTime(sentAt), ...(plugin ? { plugin } : {}), failure }
      return { record, used }
    }
    const hindrance = hindranceOf(claim, earliest - readAt)
    if (hindrance !== undefined) return failed({ code: hindrance })
    let secrets = NO_SECRETS
    try {
      // Another connection is never tried: it could show another account's view, and its owner did not submit the claim through it.
      const connection = claim.connectionId === null ? null : await connections.openById(claim.connectionId)
      const registered = judgeOf(registry, claim)
      if (connection === undefined) return failed({ code: 'no_connection', ...removalOf(registered) })
      // The plugin that judges the claim may come back, so the claim waits until the end of its time.
      const reader = registered && readerOf(registered, connection?.provider ?? null)
      if (!reader) return failed({ code: 'verifier_error' })
      used = connection?.id
      secrets = secretsOf(connection)
      const source = await sourceOf(claim, { registered, reader }, connection, history)
      if (!source) return failed({ code: 'no_connection' })
      plugin = nameInReceipts(reader.plugin.identity)
      const reading = { claim, history, kind, sentAt, reader, source, secrets }
      return { record: { ...(await observe(reading, connection)), plugin }, used }
    } catch (error) {
      return failed(failureOf(error, claim, secrets))
    }
  }

  /** Makes the failure of what a check threw, and logs what is the fault of its plugin. */
  function failureOf(error: unknown, { action, claimId }: ClaimRow, secrets: SecretValues): Failure {
    if (error instanceof PluginEndedError) {
      logger.warn({ action, claimId }, 'the check ended the process of its plugin')
      return { code: 'verifier_error', endedProcess: true }
    }
    const { failure, problem } = readFailure(error, [...secrets.values()], now())
    if (problem !== undefined) logger.warn({ problem, action, claimId }, 'the verifier failed')
    return failure
  }

  async function observe(reading: Reading, connection: OpenConnection | null): Promise<CheckRecord> {
    const { claim, history, sentAt, reader, source } = reading
    const { verifier, plugin } = reader
    const { limits } = verifier
    const timer = new LazyAbortController()
    const turn = clock.turn()
    const requests = requestsOf(reading, timer)
    const checking = verifier.check({
      claim: toClaim(claim),
      connection: connection && toGiven(connection),
      previous: history.filter(isRead).map(({ sentAt, observation }) => ({ sentAt, observation })),
      requests,
      timer,
      tenant: { ...tenantOf(claim), ...(reading.kind === 'deciding' ? { urgency: 'deciding' } : {}) },
      origin: requireOrigin(source.baseUrl),
    })
    try {
      // A verifier that ignores its abort signal keeps running, but nothing waits for it.
      const mostMs = checkTime(claim, sentAt, limits.timeMs ?? timeoutMs)
      const limitMs =
        reading.kind === 'hinted' ? Math.min(mostMs, claim.nextCheckAt! - HINT_MARGIN_MS - sentAt) : mostMs
      const returned = await unbreached(
        requests,
        withinTime(checking, limitMs, () => tooLate(plugin, claim)),
      )
      return recordOf(reading, returned, requests, turn)
    } finally {
      timer.abort()
    }
  }

  function requestsOf(
    { claim, history, kind, reader, source, secrets }: Reading,
    timer: LazyAbortController,
  ): CheckRequests {
    const { limits, reach, pace } = reader.verifier
    return outbound.forCheck({
      timer,
      now,
      origin: requireOrigin(source.baseUrl),
      baseUrl: source.baseUrl,
      connected: source.connected,
      reach,
      pace,
      secrets,
      limits,
      payer: claim.payer,
      spending: budgets.forCheck(claim, {
        isDeciding: kind === 'deciding',
        isHinted: kind === 'hinted',
        isAgain: history.length > 0,
        hasCredentials: secrets.size > 0,
      }),
    })
  }

  /**
   * Makes the record of a check.
   * @param turn the turn of the clock when the check began
   */
  function recordOf(
    { claim, sentAt, reader, source }: Reading,
    returned: unknown,
    requests: CheckRequests,
    turn: ReturnType<Clock['turn']>,
  ): CheckRecord {
    const { profile } = reader.verifier
    const answeredAt = answerTime(sentAt)
    const { observation, problem } = readObservation(profile, returned, requests.leaks())
    const refuse = (problem: string | undefined, returned: string): CheckRecord => {
      logger.warn({ action: profile.action, claimId: claim.claimId, problem }, `the verifier returned ${returned}`)
      return { sentAt, answeredAt, failure: { code: 'verifier_error' } }
    }
    if (!observation) return refuse(problem, 'an invalid observation')
    const answers = requests.answers()
    if (answers === 0) return refuse(UNHEARD, 'an observation that was read nowhere')
    const readings = requests.readings()
    const { recorded, baseUrl, hasVoice } = source
    const held = source.hold(observation)
    const { ageMs: ownAgeMs = 0, identity: _, clock: told, ...observed } = held
    const age = ageOf(Math.max(profile.ageMs ?? 0, ownAgeMs), readings.ageMs, recorded)
    if (age.isTooOld && !outlastsAge(held)) return { sentAt, answeredAt, failure: { code: 'unexpected_response' } }
    // A cached answer has a `Date` as old as itself.
    if (hasVoice && readings.ageMs === 0) clock.heard(requireOrigin(baseUrl), readings, turn)
    const setMs = clock.setSince(claim.submittedAt)
    // A check that joined a shared read was made when that read was sent.
    const times = { sentAt: Math.max(sentAt, Math.min(readings.sentAt ?? sentAt, answeredAt)), answeredAt }
    const read: ReadRecord = {
      ...times,
      observation: observed,
      ...clockReading(withToldTime(readings, told, times)),
      ...(setMs > 0 && { clockSetMs: setMs }),
      ageMs: age.ageMs,
      answers,
      source: recorded,
    }
    const contradiction = contradictionOf(read, claim, expectedOf(profile), profile.rulesVersion, observation.facts)
    return contradiction ? refuse(contradiction.problem, 'what contradicts itself') : read
  }

  /**
   * Finds the address that the check may read, and what the receipt says of it. Both come from the host, not the verifier.
   * @throws DestinationError `misconfigured` where earlier checks read at another address
   */
  async function sourceOf(
    claim: ClaimRow,
    { registered, reader }: { readonly registered: RegisteredVerifier; readonly reader: Reader },
    connection: OpenConnection | null,
    history: readonly CheckRecord[],
  ): Promise<CheckedSource | undefined> {
    const destination = await destinationOf(toClaim(claim), registered, registry, connection, tenantOf(claim))
    if (!destination) return undefined
    const { provider, baseUrl } = destination
    // A claim has one source, also when the operator lists its address, or no longer does, while it waits.
    const earlierRead = history.find(isRead)
    const earlier = earlierRead?.source
    // A read at another address, where the configuration or the plugin changed, is no evidence of what happened at this one.
    if (earlier && !sources.isOf(earlier, provider, baseUrl, connection)) throw new DestinationError('misconfigured')
    const { identity } = reader.plugin
    const isListed = sources.isListedFor(identity, provider, baseUrl)
    // Another plugin than the one that read there so far does not inherit its listing.
    const isTaken = earlier?.listed && !isListed && !identity.isShipped
    if (isTaken && !isSamePlugin(earlierRead?.plugin, nameInReceipts(identity)))
      throw new DestinationError('misconfigured')
    const recorded = earlier ?? sources.sourceOf(provider, baseUrl, connection, identity)
    const type = registry.connectionType(provider)
    const refreshes = connection ? connections.refreshesOf(connection) : undefined
    const connected = type && connectedBy(type, connection, refreshes)
    if (isListed) refuseOwnAuthority(connected)
    const hold = (seen: Observation) => {
      const held = type?.identified
        ? heldToIdentity(seen, connection?.knownIdentity ?? undefined, claim.submittedAt, earlierRead?.sentAt)
        : seen
      if (!held) throw new DestinationError('ambiguous_claim')
      return held
    }
    return { baseUrl, recorded, hasVoice: isListed, connected, hold }
  }

  /** Returns the time of an answer: never before `sentAt`, also when the clock is set back during the check. */
  function answerTime(sentAt: Instant): Instant {
    return Math.max(now(), sentAt)
  }

  function secretsOf(connection: Connection | null): SecretValues {
    const type = connection && registry.connectionType(connection.provider)
    return type ? withoutSecretValues(type, connection.options).secrets : NO_SECRETS
  }

  return {
    /**
     * Checks a claim. Never throws: the record contains any failure.
     * @param kind the kind under which the check was admitted: one that decides may use the requests that are kept for such checks
     */
    async check(claim: ClaimRow, history: readonly CheckRecord[], kind: CheckKind): Promise<CheckRecord> {
      const { record, used } = await checkOnce(claim, history, kind)
      // A look on a hint has less time than others, so its failure says little of the connection.
      if (used && (kind !== 'hinted' || isRead(record))) activity.connectionRead(used, record)
      return record
    },
  }
}

/** Finds the reason for which a check reads nothing, by its failure's code. @param skewMs the time that the clock is behind that of an earlier check */
function hindranceOf({ access }: ClaimRow, skewMs: number): Failure['code'] | undefined {
  // Times by a wrong clock are no evidence.
  if (skewMs > LARGEST_SKEW_MS) return 'verifier_error'
  return access === 'connection' || access === 'anonymous' ? undefined : access
}

/** Adds the age of an answer to that of the place that gave it, up to the most that an address may say. */
function ageOf(placeAgeMs: number, answerAgeMs: number, { listed }: Source) {
  const mostMs = listed ? MAX_AGE_MS - placeAgeMs : MAX_UNLISTED_AGE_MS
  return {
    ageMs: Math.min(placeAgeMs + Math.min(answerAgeMs, mostMs), MAX_AGE_MS),
    isTooOld: answerAgeMs > mostMs,
  }
}

/**
 * Tells whether a copy of any age shows what was observed: an outcome that is there as claimed, or that nothing later can change. An outcome that is
 * missing in an old copy may have come since.
 */
function outlastsAge(observation: Observation): boolean {
  return observation.mark === 'final' || showsClaimed(observation)
}

function isSamePlugin(one: PluginName | undefined, other: PluginName): boolean {
  return one?.package === other.package && one.codeHash === other.codeHash
}

/** Says in a receipt that an owner removed the connection of a waiting claim. Evidence by the first rules has no member for it. */
function removalOf(registered: RegisteredVerifier | undefined): Pick<Failure, 'connectionRemoved'> {
  return registered && registered.verifier.profile.rulesVersion > 1 ? { connectionRemoved: true } : {}
}

/**
 * Returns how long a check may take, in milliseconds. One that begins before the deadline ends by it, so that a destination that hangs does not make the closing
 * read late: an answer after the deadline would show nothing of the time before it that the closing read does not show.
 */
export function checkTime({ deadlineAt }: Pick<ClaimRow, 'deadlineAt'>, startedAt: Instant, timeoutMs: number): number {
  if (startedAt >= deadlineAt) return timeoutMs
  return Math.min(timeoutMs, Math.max(deadlineAt - startedAt, SHORTEST_CHECK_MS))
}

const SHORTEST_CHECK_MS = 500
/** The largest difference between the clocks of two hosts. */
const LARGEST_SKEW_MS = 1000

/**
 * Waits for the work of a plugin.
 * @throws BreachError when the check asked for something forbidden, whatever the plugin made of the refusal
 */
async function unbreached(requests: CheckRequests, work: Promise<unknown>): Promise<unknown> {
  let returned: unknown
  try {
    returned = await work
  } catch (error) {
    throw requests.breach() ?? error
  }
  const breach = requests.breach()
  if (breach) throw breach
  return returned
}

/** Makes the error of a check that took too long. A check that waits for its plugin's process has not asked the destination. */
function tooLate({ parts }: Reader['plugin'], { workspaceId }: ClaimRow): Error {
  return parts.isRunningFor(workspaceId)
    ? new DestinationError('timeout')
    : new Error('its plugin had no process for this workspace in time')
}

function tenantOf({ workspaceId, payer }: ClaimRow): Tenant {
  return { workspaceId, payer }
}

const NO_SECRETS: SecretValues = new Map()

/** Picks the part of a connection that a verifier sees. */
function toGiven({ id, provider, options, knownIdentity }: OpenConnection): Connection {
  return { id, provider, options, identity: knownIdentity?.text }
}

/** Picks the part of a claim that a verifier sees. */
export function toClaim({ action, target, params, claimedAt, deadlineAt, submittedAt }: ClaimRow): Claim {
  return { action, target, params, claimedAt, deadlineAt, submittedAt }
}

/** Refuses an authority of the connection's own at a listed address: who chooses it can be that destination, for this connection alone. */
function refuseOwnAuthority(connected: Parameters<typeof certificateOf>[0]): void {
  if (certificateOf(connected)?.authority !== undefined) throw new DestinationError('misconfigured')
}
