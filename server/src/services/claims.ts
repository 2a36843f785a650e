/** Claims: taking them in, checking them at once where that is possible, and telling how they stand. */
import type { CheckRecord, Instant, JsonObject, ReasonCode, VerdictValue } from '@claimcheck/core'

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
