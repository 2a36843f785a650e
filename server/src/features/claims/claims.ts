/** The claims of workspaces: submits them, checks them at once when possible, and reads their state. */
import { type CheckRecord, expectedBy, type Instant } from '@claimcheck/core/rules'
import { visibleName } from '@claimcheck/core/words/plain-text'
import { LRUCache } from 'lru-cache'
import { createBatch } from '../../base/batch.ts'
import { ServiceError } from '../../base/errors.ts'
import { settledWithin } from '../../base/time-limit.ts'
import type { Clock } from '../../clock/clock.ts'
import { differenceOf } from '../../names/confusables.ts'
import type { Registry } from '../../plugins/registry.ts'
import {
  type ClaimIdentity,
  type ClaimRow,
  type ExportedClaim,
  isErased,
  type ShownClaim,
} from '../../storage/claim-row.ts'
import { identityOf } from '../../storage/claims.ts'
import type { ErasureRow } from '../../storage/erasures.ts'
import type { ShownRevisit } from '../../storage/revisits.ts'
import type { Storage } from '../../storage/storage.ts'
import type { LogGuard } from '../log/log-guard.ts'
import type { ConnectionService } from '../workspaces/connections.ts'
import type { Sources } from '../workspaces/sources.ts'
import type { Adjudication } from './adjudication.ts'
import type { AheadClocks } from './ahead-clocks.ts'
import { type ClaimChoice, isBoundedPage, parseCursor, scopeOf, writeCursor } from './claim-choice.ts'
import type { ClaimsConfig } from './config.ts'
import { type ClaimInput, isBoundTo, type PlannedClaim, planClaim, type Submitter } from './intake.ts'
import type { ProfileSettings } from './profile-settings.ts'
import type { Quotas } from './quotas.ts'

export type ClaimState = ClaimRow['state']

/** The part of a claim's row that its submitters see. */
export type ClaimStatus = ShownClaim & {
  /** The erasure of the claim, if its content was erased. */
  readonly erasure?: ErasureRow
  /** The time by which the verdict of a claim that waits is to be expected. */
  readonly expectedBy?: Instant
  /** The looks at the claim since it was decided, oldest first, where one claim is read and has some. */
  readonly revisits?: readonly ShownRevisit[]
}

/** A claim in a list, with its content. */
export type ListedClaim = ClaimStatus & ExportedClaim & Pick<ClaimRow, 'profileAction' | 'profileVersion'>

export interface ClaimFilter extends ClaimChoice {
  readonly limit: number
  /** The `nextCursor` of the previous page. */
  readonly cursor?: string
  /** Reads at most this many claims, for a filter that may match few; the next page continues there. */
  readonly mostExamined?: number
}

export interface ClaimPage {
  readonly claims: readonly ListedClaim[]
  readonly nextCursor: string | null
  /** True when the page ends because of `mostExamined`, and not because it is full. */
  readonly cutShort: boolean
}

interface ClaimServiceOptions {
  readonly storage: Storage
  readonly registry: Registry
  readonly sources: Sources
  readonly connections: Pick<ConnectionService, 'open'>
  readonly adjudication: Adjudication
  readonly quotas: Pick<Quotas, 'refusal'>
  readonly aheadClocks: Pick<AheadClocks, 'has'>
  readonly profileSettings: Pick<ProfileSettings, 'keep'>
  readonly logGuard: Pick<LogGuard, 'problem'>
  readonly clock: Pick<Clock, 'doubt'>
  readonly now: () => Instant
  readonly config: Pick<ClaimsConfig, 'checks'>
}

export interface SubmittedClaim {
  readonly claim: ClaimStatus
  readonly created: boolean
}

const MAX_LOOKUPS = 500
const MOST_RECENT = 20_000
/**
 * The number of submissions that look for an earlier claim first after a resubmission that this host did not expect: clients seem to repeat what they
 * sent to another host, or long ago.
 */
const LOOKUPS_AFTER_SURPRISE = 500

export type ClaimService = ReturnType<typeof createClaimService>

/** A claim with its params, its profile and its checks. */
export type ClaimDetail = NonNullable<Awaited<ReturnType<ClaimService['detail']>>>

export function createClaimService({
  storage: { read },
  registry,
  sources,
  connections,
  adjudication,
  quotas,
  aheadClocks,
  profileSettings,
  logGuard,
  clock,
  now,
  config: { checks: settings },
}: ClaimServiceOptions) {
  /** Single-flight: the claims that this host is storing now, by identity. */
  const storing = new Map<string, Promise<ClaimRow | undefined>>()
  /** Identities of the claims that this host stored or found last. */
  const recent = new LRUCache<string, true>({ max: MOST_RECENT })
  /**
   * The number of further submissions that look for an earlier claim first. Others are stored at once, and the database refuses those that it has:
   * that costs a repeated claim a check in vain, and a new one no read.
   */
  let lookupsFirst = 0
  /** Claims that arrive together share one lookup. */
  const lookups = createBatch<ClaimIdentity, ClaimRow | undefined>(
    (identities) => read.claims.byClientIds(identities),
    { maxItems: MAX_LOOKUPS },
  )

  /** Looks for an earlier claim where a resubmission is likely. */
  function likelyEarlierClaim(identity: ClaimIdentity): Promise<ClaimRow | undefined> | undefined {
    if (recent.has(identityOf(identity))) return earlierClaim(identity)
    if (lookupsFirst === 0) return undefined
    lookupsFirst--
    return earlierClaim(identity)
  }

  async function earlierClaim(identity: ClaimIdentity): Promise<ClaimRow | undefined> {
    const earlier = await lookups.add(identity)
    if (earlier) recent.set(identityOf(identity), true)
    return earlier
  }

  /** Adds to erased claims the time and the reason of their erasure, and to those that wait by when to expect their verdict. */
  async function shown(rows: readonly ClaimRow[]): Promise<(ClaimRow & Pick<ClaimStatus, 'erasure' | 'expectedBy'>)[]> {
    const erased = rows.filter(isErased).map(({ claimId }) => claimId)
    if (erased.length === 0) return rows.map(withExpectation)
    const erasures = new Map((await read.erasures.byClaimIds(erased)).map((row) => [row.claimId, row]))
    return rows.map((row) => ({ ...withExpectation(row), erasure: erasures.get(row.claimId) }))
  }

  function withExpectation(row: ClaimRow): ClaimRow & Pick<ClaimStatus, 'expectedBy'> {
    if (row.state === 'decided') return row
    const rules = registry.verifierFor(row.profileAction, row.profileVersion)?.verifier.profile ?? {}
    return { ...row, expectedBy: expectedBy(rules, row, row.lastCheck, settings) }
  }

  async function statusOf(row: ClaimRow): Promise<ClaimStatus> {
    return (await shown([row]))[0]!
  }

  async function revisitsOf({ claimId, verdict }: ClaimRow): Promise<readonly ShownRevisit[]> {
    return verdict === 'verified' || verdict === 'late' ? read.revisits.ofClaim(claimId) : []
  }

  /** Answers a resubmission: waits for a running check, as the first submission does. */
  async function resubmitted(stored: ClaimRow): Promise<SubmittedClaim> {
    const check = adjudication.runningCheck(stored.claimId)
    const row = (check && (await settledWithin(check, settings.firstAnswerMs))) ?? stored
    return { claim: await statusOf(row), created: false }
  }

  /** Answers a submission that is refused: a claim that was stored before has its answer all the same. @throws the refusal */
  async function answerRefused(clientId: ClaimIdentity, refusal: ServiceError): Promise<SubmittedClaim> {
    const earlier = await earlierClaim(clientId)
    if (earlier) return resubmitted(earlier)
    throw refusal
  }

  /** Resolves with the stored claim when it is on disk; undefined when the database refuses it (`mayBeStored`). */
  async function store(identity: string, { claim, alike }: PlannedClaim): Promise<ClaimRow | undefined> {
    const profile = registry.verifierFor(claim.action)?.verifier.profile
    // The settings of a profile are stored once, before its first claim.
    const keeping = profile && profileSettings.keep(profile)
    if (keeping) await keeping
    const first = await adjudication.first(claim, alike)
    if (!first) return undefined
    recent.set(identity, true)
    const { stored, checked } = first
    return (checked && (await settledWithin(checked, claim.submittedAt + settings.firstAnswerMs - now()))) ?? stored
  }

  function storeOnce(identity: string, planned: PlannedClaim): Promise<ClaimRow | undefined> {
    const stored = store(identity, planned)
    storing.set(identity, stored)
    const done = () => storing.delete(identity)
    stored.then(done, done)
    return stored
  }

  /** Returns the reason that the submitter may not claim for the agent, if there is one. */
  async function speakingRefusal(
    { workspaceId, speaksFor }: Submitter,
    agentId: string,
  ): Promise<ServiceError | undefined> {
    if (speaksFor === 'any' || isBoundTo(speaksFor, agentId)) return undefined
    if (speaksFor !== 'unbound')
      return new ServiceError('forbidden', 'this API key is bound to other agents, and may not claim for this agent_id')
    const [bound] = await read.keys.boundLike(workspaceId, agentId)
    if (bound === undefined) return undefined
    const [which, otherwise] =
      bound === agentId
        ? ['is', '']
        : [
            `looks like ${visibleName(bound)} (${differenceOf(agentId, bound)}), which is`,
            ', or choose another agent_id',
          ]
    const detail = `this agent_id ${which} bound to certain API keys of the workspace: submit the claim with one of them`
    return new ServiceError('forbidden', detail + otherwise)
  }

  /** Finds out why the database refused a claim that nobody else stored: its agent may have been bound, or the key revoked, since the request began. */
  async function storingRefusal(submitter: Submitter, agentId: string): Promise<ServiceError> {
    const speaksFor = submitter.speaksFor === 'any' ? 'unbound' : submitter.speaksFor
    const refusal = await speakingRefusal({ ...submitter, speaksFor }, agentId)
    return (
      refusal ?? new ServiceError('unavailable', 'another request stores this claim, or changed its key: try again')
    )
  }

  /** @throws ServiceError `read_only` while nothing may be signed; `unavailable` while the time is in doubt */
  function requireOpen(): void {
    const problem = logGuard.problem()
    if (problem !== undefined) throw new ServiceError('read_only', problem)
    const doubt = clock.doubt()
    if (doubt !== undefined) throw new ServiceError('unavailable', `the time is in doubt: ${doubt}`)
  }

  /**
   * Submits a claim, and waits a limited time for the first check. The claim is durable when this returns.
   * @throws ServiceError `invalid` with the position of each mistake; `read_only`; `unavailable` while the time is in doubt; `too_many` beyond a
   * quota of the workspace; `forbidden` where the submitter may not claim for the agent
   */
  async function submit(submitter: Submitter, input: ClaimInput): Promise<SubmittedClaim> {
    requireOpen()
    const { workspaceId } = submitter
    const clientId = { workspaceId, clientClaimId: input.clientClaimId }
    const identity = identityOf(clientId)
    const [planned, earlier, overQuota, silence] = await Promise.all([
      planClaim(submitter, input, now(), {
        registry,
        sources,
        connections: () => connections.open(workspaceId),
        aheadClocks,
        closing: settings,
      }),
      likelyEarlierClaim(clientId),
      quotas.refusal(submitter),
      speakingRefusal(submitter, input.agentId),
    ])
    if (earlier) return resubmitted(earlier)
    const concurrent = storing.get(identity)
    // A submission of a claim that is being stored gets an answer beyond the quota, too.
    const refusal = silence ?? (concurrent ? undefined : overQuota)
    if (refusal) return answerRefused(clientId, refusal)
    const stored = await (concurrent ?? storeOnce(identity, planned))
    if (stored) return { claim: withExpectation(stored), created: !concurrent }
    const unexpected = await earlierClaim(clientId)
    if (unexpected) {
      lookupsFirst = LOOKUPS_AFTER_SURPRISE
      return resubmitted(unexpected)
    }
    // The other request's key may have ended, so this one stores the claim itself.
    if (concurrent) return submit(submitter, input)
    throw await storingRefusal(submitter, input.agentId)
  }

  return {
    submit,
    async get(workspaceId: string, claimId: string): Promise<ClaimStatus | undefined> {
      const row = await read.claims.byId(workspaceId, claimId)
      if (!row) return undefined
      const [status, revisits] = await Promise.all([statusOf(row), revisitsOf(row)])
      return { ...status, revisits }
    },
    /** Reads these claims of any workspace, by their ids. */
    async statuses(claimIds: readonly string[]): Promise<ReadonlyMap<string, ClaimStatus>> {
      const rows = await shown(await read.claims.byIds(claimIds))
      return new Map(rows.map((row) => [row.claimId, row]))
    },
    async detail(workspaceId: string, claimId: string) {
      const row = await read.claims.byId(workspaceId, claimId)
      if (!row) return undefined
      const { payer, params, profileAction, profileVersion, access, connectionId } = row
      const history: readonly CheckRecord[] = await read.claims.history(claimId)
      return {
        claim: await statusOf(row),
        payer,
        params,
        /** The profile that decides the claim: its own action name, also when the claim names an alias. */
        profile: { action: profileAction, version: profileVersion },
        /** The way in which the destination is read. */
        access,
        connectionId,
        /** All checks, oldest first. */
        history,
      }
    },
    /**
     * Lists claims, newest first.
     * @throws ServiceError `bad_request` for an invalid cursor
     */
    async list(workspaceId: string, filter: ClaimFilter): Promise<ClaimPage> {
      const { cursor, limit, mostExamined, ...choice } = filter
      const before = cursor === undefined ? undefined : parseCursor(cursor)
      const from = isBoundedPage(choice, mostExamined)
        ? await read.claims.position({ ...scopeOf(workspaceId, choice), before }, mostExamined)
        : undefined
      const rows = await read.claims.list({ ...choice, workspaceId, before, from, limit: limit + 1 })
      const page = rows.slice(0, limit)
      const isFull = rows.length > limit
      const last = isFull ? page.at(-1) : from
      const claims = await shown(page)
      return { claims, nextCursor: last ? writeCursor(last) : null, cutShort: !isFull && !!from }
    },
    /**
     * Finds the cursor of the page before the one of `filter.cursor`, of the same length; undefined if that is the first page.
     * @throws ServiceError `bad_request` for a cursor that is not one of ours
     */
    async newerCursor(
      workspaceId: string,
      filter: ClaimFilter & { readonly cursor: string },
    ): Promise<string | undefined> {
      const { cursor, limit, mostExamined, ...choice } = filter
      // The page of a cursor begins after it: the claim of the cursor is the last of the page before.
      const from = parseCursor(cursor)
      const before = isBoundedPage(choice, mostExamined)
        ? await read.claims.positionFromOldest({ ...scopeOf(workspaceId, choice), from }, mostExamined + 1)
        : undefined
      const newer = { ...choice, workspaceId, from, before }
      const start = (await read.claims.positionFromOldest(newer, limit + 1)) ?? before
      return start && writeCursor(start)
    },
    /** Finds the times when these claims were decided; undecided claims have none. */
    decidedAt: (claimIds: readonly string[]) => read.claims.decidedAt(claimIds),
  }
}
