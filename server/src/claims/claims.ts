/** Claims: taking them in, checking them at once where that is possible, and telling how they stand. */
import type { CheckRecord, Instant, JsonObject, VerdictValue } from '@claimcheck/core'
import { createBatch } from '../base/batch.ts'
import { ServiceError } from '../base/errors.ts'
import { instantOf } from '../base/ids.ts'
import { settledWithin } from '../base/time-limit.ts'
import type { Config } from '../config/config.ts'
import type { LogGuard } from '../log/log-guard.ts'
import type { Registry } from '../plugins/plugins.ts'
import type { ClaimRow } from '../storage/claim-row.ts'
import type { ClaimIdentity, ClaimPosition } from '../storage/claims.ts'
import type { Storage } from '../storage/storage.ts'
import type { ConnectionService } from '../workspaces/connections.ts'
import type { Adjudication } from './adjudication.ts'
import { type ClaimInput, planClaim } from './intake.ts'

export type ClaimState = ClaimRow['state']

/** How a claim stands: of its row, what its submitters see. */
export type ClaimStatus = Omit<
  ClaimRow,
  'workspaceId' | 'params' | 'access' | 'connectionId' | 'profileAction' | 'profileVersion' | 'dueAt'
>

export interface ClaimFilter {
  readonly limit: number
  /** From the `nextCursor` of the page before. */
  readonly cursor?: string
  readonly agentId?: string
  readonly action?: string
  readonly target?: string
  readonly verdict?: VerdictValue
  readonly state?: ClaimState
  /** With a filter that few claims fit: no more than so many are looked at, and the next page goes on from there. */
  readonly mostExamined?: number
}

export interface ClaimPage {
  readonly claims: readonly ClaimStatus[]
  readonly nextCursor: string | null
  /** It ends where the examination did, and not because it is full. */
  readonly cutShort: boolean
}

/** A claim with all that is known of it. */
export interface ClaimDetail {
  readonly claim: ClaimStatus
  readonly params: JsonObject
  /** What judges it; its own name, whatever alias was claimed. */
  readonly profile: { readonly action: string; readonly version: string }
  readonly connectionId: string | null
  /** Every check, oldest first. */
  readonly history: readonly CheckRecord[]
}

export interface ClaimService {
  /**
   * Durable when it returns. Waits a bounded time for the first check.
   * @throws ServiceError `invalid` with the place of each mistake; `read_only`
   */
  submit(workspaceId: string, input: ClaimInput): Promise<{ readonly claim: ClaimStatus; readonly created: boolean }>
  get(workspaceId: string, claimId: string): Promise<ClaimStatus | undefined>
  detail(workspaceId: string, claimId: string): Promise<ClaimDetail | undefined>
  /** Newest first. @throws ServiceError `bad_request` for a cursor that is not one of ours */
  list(workspaceId: string, filter: ClaimFilter): Promise<ClaimPage>
  /**
   * The cursor of the page before the one of `filter.cursor`, of the same length; undefined: that is the first page.
   * @throws ServiceError `bad_request` for a cursor that is not one of ours
   */
  newerCursor(workspaceId: string, filter: ClaimFilter & { readonly cursor: string }): Promise<string | undefined>
}

interface ClaimServiceOptions {
  readonly storage: Storage
  readonly registry: Registry
  readonly connections: Pick<ConnectionService, 'open'>
  readonly adjudication: Adjudication
  readonly logGuard: Pick<LogGuard, 'problem'>
  readonly now: () => Instant
  readonly config: Pick<Config, 'checks'>
}

const MOST_LOOKUPS = 500

export function createClaimService(options: ClaimServiceOptions): ClaimService {
  const { storage, registry, connections, adjudication, logGuard, now } = options
  const { firstAnswerMs } = options.config.checks
  /** Claims that are being stored, by what makes them the same claim. */
  const storing = new Map<string, Promise<ClaimRow | undefined>>()

  // Claims that arrive together are looked up together.
  const lookups = createBatch<ClaimIdentity, ClaimRow | undefined>(
    async (asked) => {
      const stored = new Map((await storage.read.claims.byClientIds(asked)).map((row) => [identityOf(row), row]))
      return asked.map((identity) => stored.get(identityOf(identity)))
    },
    { most: MOST_LOOKUPS },
  )

  /** Resolves when it is on disk, with how it stands then; undefined when there is such a claim already. */
  async function take(row: ClaimRow): Promise<ClaimRow | undefined> {
    const first = await adjudication.first(row)
    return first && ((await settledWithin(first.checked, row.submittedAt + firstAnswerMs - now())) ?? first.stored)
  }

  function storeOnce(row: ClaimRow): Promise<ClaimRow | undefined> {
    const identity = identityOf(row)
    const first = take(row).finally(() => storing.delete(identity))
    storing.set(identity, first)
    return first
  }

  /** A claim that was submitted before, waited for as the first submission waits. */
  async function again(stored: ClaimRow): Promise<ClaimRow> {
    const check = adjudication.underWay(stored.claimId)
    return (check && (await settledWithin(check, firstAnswerMs))) ?? stored
  }

  return {
    async submit(workspaceId, input) {
      const problem = logGuard.problem()
      if (problem !== undefined) throw new ServiceError('read_only', problem)
      const identity = { workspaceId, clientClaimId: input.clientClaimId }
      const [row, known] = await Promise.all([
        planClaim(workspaceId, input, now(), { registry, connections: () => connections.open(workspaceId) }),
        lookups.add(identity),
      ])
      if (known) return { claim: await again(known), created: false }
      const same = storing.get(identityOf(identity))
      const stored = await (same ?? storeOnce(row))
      if (stored) return { claim: stored, created: !same }
      const earlier = await lookups.add(identity)
      if (!earlier) throw new ServiceError('unavailable', 'the claim is being stored by another request: try again')
      return { claim: await again(earlier), created: false }
    },
    async get(workspaceId, claimId) {
      return storage.read.claims.byId(workspaceId, claimId)
    },
    async detail(workspaceId, claimId) {
      const row = await storage.read.claims.byId(workspaceId, claimId)
      if (!row) return undefined
      const history = await storage.read.claims.history(claimId)
      return {
        claim: row,
        params: row.params,
        profile: { action: row.profileAction, version: row.profileVersion },
        connectionId: row.connectionId,
        history,
      }
    },
    async list(workspaceId, { cursor, limit, mostExamined, ...filter }) {
      const place = { workspaceId, ...(cursor === undefined ? {} : { before: parseCursor(cursor) }) }
      const end = mostExamined === undefined ? undefined : await storage.read.claims.position(place, mostExamined)
      const bounds = { ...place, ...(end ? { from: end } : {}) }
      const rows = await storage.read.claims.list({ ...filter, ...bounds, limit: limit + 1 })
      const page = rows.slice(0, limit)
      const isFull = rows.length > limit
      const last = isFull ? page.at(-1) : end
      return { claims: page, nextCursor: last ? writeCursor(last) : null, cutShort: !isFull && !!end }
    },
    async newerCursor(workspaceId, { cursor, limit, mostExamined, ...filter }) {
      const { claims } = storage.read
      // The page of a cursor begins after it: the claim of the cursor is the last of the page before.
      const place = { workspaceId, from: parseCursor(cursor) }
      const end = mostExamined === undefined ? undefined : await claims.positionFromOldest(place, mostExamined + 1)
      const bounds = { ...place, ...(end ? { before: end } : {}) }
      const start = (await claims.positionFromOldest({ ...filter, ...bounds }, limit + 1)) ?? end
      return start && writeCursor(start)
    },
  }
}

function identityOf({ workspaceId, clientClaimId }: ClaimIdentity): string {
  return `${workspaceId} ${clientClaimId}`
}

// A cursor is opaque to clients: where the last page ended.
function writeCursor({ submittedAt, claimId }: ClaimPosition): string {
  return Buffer.from(JSON.stringify([submittedAt, claimId])).toString('base64url')
}

function parseCursor(cursor: string): ClaimPosition {
  try {
    const [submittedAt, claimId] = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    if (Number.isSafeInteger(submittedAt) && instantOf(claimId) !== undefined) return { submittedAt, claimId }
  } catch {
    // Not ours, as below.
  }
  throw new ServiceError('bad_request', 'cursor is not one that this service gave')
}
