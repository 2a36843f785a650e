/** A claim as it is stored, of a number that tells it from others. */
import type { ClaimRow } from '@claimcheck/server/storage/claim-row'

const NOON = Date.UTC(2026, 8, 25, 12)

export function claimNumber(number: number, over: Partial<ClaimRow> = {}): ClaimRow {
  return {
    claimId: `clm_${number}`,
    workspaceId: 'ws_1',
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
    connectionId: null,
    origin: 'https://example.com',
    submittedBy: 'key_1',
    traceparent: null,
    profileAction: 'test.outcome.reach',
    profileVersion: '1',
    state: 'queued',
    attempts: 0,
    dueAt: NOON,
    nextCheckAt: NOON,
    momentAt: NOON + 600_000,
    lastCheck: null,
    receiptId: null,
    logId: null,
    verdict: null,
    reasonCode: null,
    ...over,
  }
}
