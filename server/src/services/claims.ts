/** Claims: taking them in, checking them at once where that is possible, and telling how they stand. */
import type { CheckRecord, Instant, JsonObject, ReasonCode, VerdictValue } from '@claimcheck/core'
import { createBatch } from '../batch.ts'
import type { Config } from '../config.ts'
import type { Registry } from '../plugins.ts'
import type { ClaimPosition, ClaimRow } from '../storage/claims.ts'
import type { Storage } from '../storage/storage.ts'
import type { Adjudication } from './adjudication.ts'
import type { ConnectionService } from './connections.ts'
import { ServiceError } from './errors.ts'
import { planClaim } from './intake.ts'

/** A submitted claim whose shape is already validated; what its profile asks for is not. */
export interface ClaimInput {
  readonly clientClaimId: string
  readonly agentId: string
  readonly action: string
  readonly target: string
  readonly params: JsonObject
  readonly claimedAt: Instant
  readonly deadlineAt?: Instant
}

export type ClaimState = 'queued' | 'decided'

export interface ClaimStatus {
  readonly claimId: string
  readonly clientClaimId: string
  readonly agentId: string
  readonly action: string
  readonly target: string
  readonly claimedAt: Instant
  readonly deadlineAt: Instant
  readonly submittedAt: Instant
  readonly claimDigest: string
  readonly state: ClaimState
  readonly attempts: number
  /** null once decided. */
  readonly nextCheckAt: Instant | null
  readonly receiptId: string | null
  readonly verdict: VerdictValue | null
  readonly reasonCode: ReasonCode | null
  readonly lastCheck: CheckRecord | null
}

export interface ClaimFilter {
  readonly limit: number
  /** From the `nextCursor` of the page before. */
  readonly cursor?: string
  readonly agentId?: string
  readonly action?: string
  readonly verdict?: VerdictValue
  readonly state?: ClaimState
}

export interface ClaimService {
  /**
   * Durable when it returns. Waits a bounded time for the first check.
   * @throws ServiceError `invalid` with the place of each mistake
   */
  submit(workspaceId: string, input: ClaimInput): Promise<{ readonly claim: ClaimStatus; readonly created: boolean }>
  get(workspaceId: string, claimId: string): Promise<ClaimStatus | undefined>
  /** Newest first. @throws ServiceError `bad_request` for a cursor that is not one of ours */
  list(
    workspaceId: string,
    filter: ClaimFilter,
  ): Promise<{ readonly claims: readonly ClaimStatus[]; readonly nextCursor: string | null }>
}

interface ClaimServiceOptions {
  readonly storage: Storage
  readonly registry: Registry
  readonly connections: Pick<ConnectionService, 'open'>
  readonly adjudication: Adjudication
  readonly now: () => Instant
  readonly config: Pick<Config, 'checks'>
}

const LARGEST_BATCH = 500

export function createClaimService(options: ClaimServiceOptions): ClaimService {
  const { storage, registry, connections, adjudication, now } = options
  const { firstAnswerMs } = options.config.checks

  const intake = createBatch<ClaimRow, boolean>(
    async (rows) => {
      const inserted = await storage.write((tx) => tx.claims.insertNew(rows))
      return rows.map((row) => inserted.has(row.claimId))
    },
    { most: LARGEST_BATCH },
  )

  return {
    async submit(workspaceId, input) {
      const row = await planClaim(workspaceId, input, now(), {
        registry,
        connections: () => connections.open(workspaceId),
      })
      // Leased from the start, when this host checks it at once: the queue takes it up only if that is not finished.
      const atOnce = adjudication.hasRoom()
      const created = await intake.add(atOnce ? { ...row, dueAt: adjudication.leaseEnd(row.submittedAt) } : row)
      const stored = created ? row : await storage.read.claims.byClientId(workspaceId, input.clientClaimId)
      if (!stored) throw new ServiceError('unavailable', 'the claim is being stored by another request: try again')
      const checked = created && atOnce ? adjudication.advance(row, []) : adjudication.underWay(stored.claimId)
      const settled = checked && (await within(firstAnswerMs, checked))
      return { claim: toStatus(settled ?? stored), created }
    },
    async get(workspaceId, claimId) {
      const row = await storage.read.claims.byId(workspaceId, claimId)
      return row && toStatus(row)
    },
    async list(workspaceId, { cursor, limit, ...filter }) {
      const before = cursor === undefined ? {} : { before: parseCursor(cursor) }
      const rows = await storage.read.claims.list({ workspaceId, ...filter, ...before, limit: limit + 1 })
      const page = rows.slice(0, limit)
      const last = page.at(-1)
      return { claims: page.map(toStatus), nextCursor: last && rows.length > limit ? writeCursor(last) : null }
    },
  }
}

/** The promise's value, or undefined when it takes longer or fails: the claim is stored, and is looked at again. */
async function within<T>(limitMs: number, promise: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const expiry = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), limitMs)
  })
  try {
    return await Promise.race([promise.catch(() => undefined), expiry])
  } finally {
    clearTimeout(timer)
  }
}

function toStatus(row: ClaimRow): ClaimStatus {
  const { claimId, clientClaimId, agentId, action, target, claimedAt, deadlineAt, submittedAt, claimDigest } = row
  const { state, attempts, nextCheckAt, receiptId, verdict, reasonCode, lastCheck } = row
  return {
    claimId,
    clientClaimId,
    agentId,
    action,
    target,
    claimedAt,
    deadlineAt,
    submittedAt,
    claimDigest,
    state,
    attempts,
    nextCheckAt,
    receiptId,
    verdict,
    reasonCode,
    lastCheck,
  }
}

// A cursor is opaque to clients: where the last page ended.
function writeCursor({ submittedAt, claimId }: ClaimPosition): string {
  return Buffer.from(JSON.stringify([submittedAt, claimId])).toString('base64url')
}

function parseCursor(cursor: string): ClaimPosition {
  try {
    const [submittedAt, claimId] = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    if (Number.isSafeInteger(submittedAt) && typeof claimId === 'string') return { submittedAt, claimId }
  } catch {
    // Not ours, as below.
  }
  throw new ServiceError('bad_request', 'cursor is not one that this service gave')
}
