/** The claims of workspaces: submits them, checks them at once when possible, and reads their state. */
import type { CheckRecord, Instant, JsonObject } from '@claimcheck/core/rules'
import { visibleName } from '@claimcheck/core/words/plain-text'
import { type Batch, createBatch } from '../../base/batch.ts'
import { differenceOf } from '../../base/confusables.ts'
import { ServiceError } from '../../base/errors.ts'
import { pick } from '../../base/pick.ts'
import { settledWithin } from '../../base/time-limit.ts'
import type { Clock } from '../../clock/clock.ts'
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
import type { Reads, Storage } from '../../storage/storage.ts'
import type { LogGuard } from '../log/log-guard.ts'
import type { ConnectionService } from '../workspaces/connections.ts'
import type { Sources } from '../workspaces/sources.ts'
import type { Adjudication } from './adjudication.ts'
import type { AheadClocks } from './ahead-clocks.ts'
import { type ClaimChoice, isBounded, isIndexed, scopeOf } from './claim-choice.ts'
import type { ClaimsConfig } from './config.ts'
import { parseCursor, writeCursor } from './cursor.ts'
import { type ClaimInput, isBoundTo, type PlannedClaim, planClaim, type Submitter } from './intake.ts'
import type { ProfileSettings } from './profile-settings.ts'
import type { Quotas } from './quotas.ts'

export type ClaimState = ClaimRow['state']

/** The part of a claim's row that its submitters see. */
export type ClaimStatus = ShownClaim & {
  /** Of an erased claim. */
  readonly erasure?: ErasureRow
}

/** A claim in a list, with what it says. */
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

/** A claim with its params, its profile and its checks. */
export interface ClaimDetail {
  readonly claim: ClaimStatus
  readonly payer: string
  readonly params: JsonObject
  /** The profile that decides the claim: its own action name, also when the claim names an alias. */
  readonly profile: { readonly action: string; readonly version: string }
  /** How the destination is read. */
  readonly access: ClaimRow['access']
  readonly connectionId: string | null
  /** All checks, oldest first. */
  readonly history: readonly CheckRecord[]
}

export interface ClaimService {
  /**
   * Waits a limited time for the first check. The claim is durable when this returns.
   * @throws ServiceError `invalid` with the position of each mistake; `read_only`; `unavailable` while the time is in doubt; `too_many`
   * beyond a quota of the workspace; `forbidden` where the submitter may not claim for the agent
   */
  submit(submitter: Submitter, input: ClaimInput): Promise<{ readonly claim: ClaimStatus; readonly created: boolean }>
  get(workspaceId: string, claimId: string): Promise<ClaimStatus | undefined>
  detail(workspaceId: string, claimId: string): Promise<ClaimDetail | undefined>
  /** Newest first. @throws ServiceError `bad_request` for an invalid cursor */
  list(workspaceId: string, filter: ClaimFilter): Promise<ClaimPage>
  /**
   * The cursor of the page before the one of `filter.cursor`, of the same length; undefined: that is the first page.
   * @throws ServiceError `bad_request` for a cursor that is not one of ours
   */
  newerCursor(workspaceId: string, filter: ClaimFilter & { readonly cursor: string }): Promise<string | undefined>
  /** When each of these was decided, of those that are. */
  decidedAt(claimIds: readonly string[]): Promise<ReadonlyMap<string, Instant>>
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

const MAX_LOOKUPS = 500

/** What submitting a claim needs. */
interface Intake extends Omit<ClaimServiceOptions, 'config'> {
  readonly checks: ClaimsConfig['checks']
  /** Claims that arrive together share one lookup. */
  readonly lookups: Batch<ClaimIdentity, ClaimRow | undefined>
  /** Claims that this host is storing now, by identity: single-flight. */
  readonly storing: Map<string, Promise<ClaimRow | undefined>>
}

type Submitted = Awaited<ReturnType<ClaimService['submit']>>

export function createClaimService(options: ClaimServiceOptions): ClaimService {
  const { read } = options.storage
  const lookups = createBatch<ClaimIdentity, ClaimRow | undefined>(
    (identities) => read.claims.byClientIds(identities),
    { maxItems: MAX_LOOKUPS },
  )
  const parts = pick(
    options,
    'storage',
    'registry',
    'sources',
    'connections',
    'adjudication',
    'quotas',
    'aheadClocks',
    'profileSettings',
    'logGuard',
    'clock',
    'now',
  )
  const intake: Intake = { ...parts, checks: options.config.checks, lookups, storing: new Map() }
  return {
    submit: (submitter, input) => submit(intake, submitter, input),
    async get(workspaceId, claimId) {
      const row = await read.claims.byId(workspaceId, claimId)
      return row && statusOf(read, row)
    },
    detail: (workspaceId, claimId) => detail(read, workspaceId, claimId),
    list: (workspaceId, filter) => list(read, workspaceId, filter),
    newerCursor: (workspaceId, filter) => newerCursor(read, workspaceId, filter),
    decidedAt: (claimIds) => read.claims.decidedAt(claimIds),
  }
}

async function submit(intake: Intake, submitter: Submitter, input: ClaimInput): Promise<Submitted> {
  const {
    registry,
    sources,
    connections,
    quotas,
    aheadClocks,
    profileSettings,
    logGuard,
    clock,
    now,
    checks,
    lookups,
    storing,
  } = intake
  const { workspaceId } = submitter
  const problem = logGuard.problem()
  if (problem !== undefined) throw new ServiceError('read_only', problem)
  const doubt = clock.doubt()
  if (doubt !== undefined) throw new ServiceError('unavailable', `the time is in doubt: ${doubt}`)
  const identity = { workspaceId, clientClaimId: input.clientClaimId }
  const [planned, earlier, overQuota, silence] = await Promise.all([
    planClaim(submitter, input, now(), {
      registry,
      sources,
      connections: () => connections.open(workspaceId),
      aheadClocks,
      closing: checks,
    }),
    lookups.add(identity),
    quotas.refusal(submitter),
    speakingRefusal(intake, submitter, input.agentId),
  ])
  if (earlier) return resubmitted(intake, earlier)
  const concurrent = storing.get(identityOf(identity))
  // A claim that is being stored is answered beyond the quota too.
  const refusal = silence ?? (concurrent ? undefined : overQuota)
  if (refusal) {
    // It may have been stored since the look-up, by another request or host.
    const other = await lookups.add(identity)
    if (other) return resubmitted(intake, other)
    throw refusal
  }
  const profile = registry.verifierFor(input.action)?.verifier.profile
  // Once for each profile: before its first claim.
  const keeping = profile && profileSettings.keep(profile)
  if (keeping) await keeping
  const stored = await (concurrent ?? storeOnce(intake, planned))
  if (stored) return { claim: stored, created: !concurrent }
  const other = await lookups.add(identity)
  if (other) return resubmitted(intake, other)
  // The other request's key may have ended: this one stores the claim itself.
  if (concurrent) return submit(intake, submitter, input)
  throw await refusalOfStatement(intake, submitter, input.agentId)
}

/** Waits for a running check, as the first submission does. */
async function resubmitted({ adjudication, checks, storage }: Intake, stored: ClaimRow): Promise<Submitted> {
  const check = adjudication.runningCheck(stored.claimId)
  const row = (check && (await settledWithin(check, checks.firstAnswerMs))) ?? stored
  return { claim: await statusOf(storage.read, row), created: false }
}

function storeOnce(intake: Intake, planned: PlannedClaim): Promise<ClaimRow | undefined> {
  const { storing } = intake
  const identity = identityOf(planned.claim)
  const stored = storeAndCheck(intake, planned)
  storing.set(identity, stored)
  const done = () => storing.delete(identity)
  stored.then(done, done)
  return stored
}

/** Resolves with the stored claim when it is on disk; undefined when the database refuses it (`mayBeStored`). */
async function storeAndCheck(
  { adjudication, checks, now }: Intake,
  { claim, alike }: PlannedClaim,
): Promise<ClaimRow | undefined> {
  const { stored, checked } = (await adjudication.first(claim, alike)) ?? {}
  const later = checked && (await settledWithin(checked, claim.submittedAt + checks.firstAnswerMs - now()))
  return later ?? stored
}

/** Why the submitter may not claim for the agent. */
async function speakingRefusal(
  { storage }: Intake,
  { workspaceId, speaksFor }: Submitter,
  agentId: string,
): Promise<ServiceError | undefined> {
  if (speaksFor === 'any' || isBoundTo(speaksFor, agentId)) return undefined
  if (speaksFor !== 'unbound') {
    return new ServiceError('forbidden', 'this API key is bound to other agents, and may not claim for this agent_id')
  }
  const [bound] = await storage.read.keys.boundLike(workspaceId, agentId)
  if (bound === undefined) return undefined
  const which = bound === agentId ? 'this agent_id is' : likeWords(agentId, bound)
  const detail = `${which} bound to certain API keys of the workspace: submit the claim with one of them`
  return new ServiceError('forbidden', bound === agentId ? detail : `${detail}, or choose another agent_id`)
}

/** To go before "bound to". */
function likeWords(agentId: string, bound: string): string {
  return `this agent_id looks like ${visibleName(bound)} (${differenceOf(agentId, bound)}), which is`
}

/** Why the database did not store a claim that it does not have. */
async function refusalOfStatement(intake: Intake, submitter: Submitter, agentId: string): Promise<ServiceError> {
  // Its agent may have been bound, or its key revoked, since the request began.
  const speaksFor = submitter.speaksFor === 'any' ? 'unbound' : submitter.speaksFor
  const refused = await speakingRefusal(intake, { ...submitter, speaksFor }, agentId)
  return refused ?? new ServiceError('unavailable', 'another request stores this claim, or changed its key: try again')
}

/** Claims with when and why their content was erased, where it was. */
async function withErasures<C extends ClaimRow>(
  read: Reads,
  rows: readonly C[],
): Promise<(C & Pick<ClaimStatus, 'erasure'>)[]> {
  const erased = rows.filter(isErased).map(({ claimId }) => claimId)
  if (erased.length === 0) return [...rows]
  const erasures = new Map((await read.erasures.byClaimIds(erased)).map((row) => [row.claimId, row]))
  return rows.map((row) => {
    const erasure = erasures.get(row.claimId)
    return erasure ? { ...row, erasure } : row
  })
}

async function statusOf(read: Reads, row: ClaimRow): Promise<ClaimStatus> {
  return isErased(row) ? (await withErasures(read, [row]))[0]! : row
}

async function detail(read: Reads, workspaceId: string, claimId: string): Promise<ClaimDetail | undefined> {
  const row = await read.claims.byId(workspaceId, claimId)
  if (!row) return undefined
  const history = await read.claims.history(claimId)
  return {
    claim: await statusOf(read, row),
    payer: row.payer,
    params: row.params,
    profile: { action: row.profileAction, version: row.profileVersion },
    access: row.access,
    connectionId: row.connectionId,
    history,
  }
}

async function list(read: Reads, workspaceId: string, filter: ClaimFilter): Promise<ClaimPage> {
  const { cursor, limit, mostExamined, ...choice } = filter
  const before = cursor === undefined ? {} : { before: parseCursor(cursor) }
  const scope = { ...scopeOf(workspaceId, choice), ...before }
  const end =
    isBounded(choice, mostExamined) && !isIndexed(choice) ? await read.claims.position(scope, mostExamined) : undefined
  const bounds = { workspaceId, ...before, ...(end ? { from: end } : {}) }
  const rows = await read.claims.list({ ...choice, ...bounds, limit: limit + 1 })
  const page = rows.slice(0, limit)
  const isFull = rows.length > limit
  const last = isFull ? page.at(-1) : end
  const claims = await withErasures(read, page)
  return { claims, nextCursor: last ? writeCursor(last) : null, cutShort: !isFull && !!end }
}

async function newerCursor(
  { claims }: Reads,
  workspaceId: string,
  filter: ClaimFilter & { readonly cursor: string },
): Promise<string | undefined> {
  const { cursor, limit, mostExamined, ...choice } = filter
  // The page of a cursor begins after it: the claim of the cursor is the last of the page before.
  const from = parseCursor(cursor)
  const scope = { ...scopeOf(workspaceId, choice), from }
  const end =
    isBounded(choice, mostExamined) && !isIndexed(choice)
      ? await claims.positionFromOldest(scope, mostExamined + 1)
      : undefined
  const bounds = { workspaceId, from, ...(end ? { before: end } : {}) }
  const start = (await claims.positionFromOldest({ ...choice, ...bounds }, limit + 1)) ?? end
  return start && writeCursor(start)
}
