/** Makes claims as rows, without any check. */

import { claimDigest } from '@claimcheck/core/receipts'
import type { Instant } from '@claimcheck/core/rules'
import { newId } from '@claimcheck/server/base/ids'
import type { Claimcheck } from '@claimcheck/server/claimcheck'
import type { ClaimRow } from '@claimcheck/server/storage/claim-row'
import { claimNumber } from '../../../server/test/support/claim-row.ts'

const MINUTE_MS = 60_000
const BATCH = 5_000

export function queuedClaim(workspaceId: string, clientClaimId: string, submittedAt: Instant): ClaimRow {
  const action = 'test.outcome.reach'
  const claim = { action, target: 'somewhere', params: { see: 'present' }, claimedAt: submittedAt, clientClaimId }
  return claimNumber(0, {
    ...claim,
    claimId: newId('clm_', submittedAt),
    workspaceId,
    agentId: 'bench',
    deadlineAt: submittedAt + 15 * MINUTE_MS,
    submittedAt,
    claimDigest: claimDigest(claim),
    origin: null,
    payer: workspaceId,
    submittedBy: 'bench',
    dueAt: submittedAt,
    nextCheckAt: submittedAt,
    momentAt: submittedAt + 10 * MINUTE_MS,
  })
}

/** @param dueAt when each is due, by its number */
export async function seedQueued(
  { storage, now }: Claimcheck,
  workspaceId: string,
  count: number,
  dueAt: (number: number) => Instant,
): Promise<void> {
  const begin = now()
  for (let start = 0, batch = 0; start < count; start += BATCH, batch++) {
    // Claims are submitted one after the other, as they would have come.
    const submittedAt = begin + batch
    const template = queuedClaim(workspaceId, 'queued', submittedAt)
    const rows = Array.from({ length: Math.min(BATCH, count - start) }, (_, index): ClaimRow => {
      const number = start + index
      const due = dueAt(number)
      const clientClaimId = `queued-${String(number).padStart(9, '0')}`
      return { ...template, claimId: newId('clm_', submittedAt), clientClaimId, dueAt: due, nextCheckAt: due }
    })
    await storage.write((tx) => tx.claims.insertNew(rows))
  }
}
