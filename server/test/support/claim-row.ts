/** A claim as it is stored, of a number that tells it from others. */
import { type ClaimRow, claims } from '@claimcheck/server/storage/claim-row'

/** Filters of lists, each with the index that has what fits. */
export const LIST_INDEXES = [
  [{ agentId: 'a' }, 'claims_agent'],
  [{ verdict: 'failed' }, 'claims_verdict'],
  [{ action: 'a.b.c' }, 'claims_action'],
  [{ state: 'queued' }, 'claims_queued'],
] as const

const NOON = Date.UTC(2026, 8, 25, 12)

const NULLS = Object.fromEntries(
  claims.columns.flatMap(({ field, isNullable }) => (isNullable ? [[field, null]] : [])),
) as { [Name in keyof ClaimRow as null extends ClaimRow[Name] ? Name : never]: null }

export function claimNumber(number: number, over: Partial<ClaimRow> = {}): ClaimRow {
  return {
    ...NULLS,
    claimId: `clm_${number}`,
    workspaceId: 'ws_1',
    payer: 'ws_1',
    clientClaimId: `client-${number}`,
    agentId: 'agent',
    agentBound: 0,
    action: 'test.outcome.reach',
    target: 'somewhere',
    params: { n: number },
    claimedAt: NOON,
    deadlineAt: NOON + 900_000,
    submittedAt: NOON + number,
    claimDigest: `digest-${number}`,
    access: 'anonymous',
    origin: 'https://example.com',
    submittedBy: 'key_1',
    profileAction: 'test.outcome.reach',
    profileVersion: '1',
    watched: 0,
    unsigned: 0,
    connectionRemoved: 0,
    state: 'queued',
    attempts: 0,
    dueAt: NOON,
    nextCheckAt: NOON,
    momentAt: NOON + 600_000,
    ...over,
  }
}
