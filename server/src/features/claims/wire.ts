/** Converts claims between the form of the API and the form of the service. */

import type * as wire from '@claimcheck/core/api'
import { claimRequest } from '@claimcheck/core/api'
import type { ActionProfile } from '@claimcheck/core/plugin'
import { type CheckRecord, formatInstant, type Instant, isRead, type JsonObject } from '@claimcheck/core/rules'
import { ServiceError } from '../../base/errors.ts'
import { readTimestamp } from '../../base/timestamp.ts'
import { type Validator, validator } from '../../base/validation.ts'
import { contentIssues, nestingIssues } from '../../http/text.ts'
import { toErasure } from '../receipts/erased-receipt.ts'
import type { ClaimFilter, ClaimStatus } from './claims.ts'
import type { ClaimInput } from './intake.ts'

/**
 * Reads a claim that did not arrive as the JSON of a request, by the same rules. The positions of issues begin with `body`.
 * @throws ServiceError `invalid` with all mistakes
 */
export function claimReader(profiles: readonly ActionProfile[]): (request: JsonObject) => ClaimInput {
  const schema = claimRequest(profiles)
  // Compiled on first use, because it would take most of the time in which the console's routes are declared.
  const check: Validator = (request, loc) => validator(schema)(request, loc)
  return (request) => {
    // The order matters: each step relies on the ones before it.
    for (const find of [nestingIssues, contentIssues, check]) {
      const issues = find(request, ['body'])
      if (issues.length > 0) throw new ServiceError('invalid', 'the claim is not valid', { issues })
    }
    return fromClaimRequest(request as wire.ClaimRequest)
  }
}

/** @param request is valid, so that its times can be read */
export function fromClaimRequest(request: wire.ClaimRequest): ClaimInput {
  return {
    clientClaimId: request.client_claim_id,
    agentId: request.agent_id,
    action: request.action,
    target: request.target,
    params: request.params ?? {},
    claimedAt: readTimestamp(request.claimed_at) as Instant,
    ...(request.deadline_at === undefined ? {} : { deadlineAt: readTimestamp(request.deadline_at) as Instant }),
  }
}

export function fromClaimQuery({ limit, cursor, agent_id, action, verdict, state }: wire.ClaimQuery): ClaimFilter {
  return {
    limit,
    ...(cursor === undefined ? {} : { cursor }),
    ...(agent_id === undefined ? {} : { agentId: agent_id }),
    ...(action === undefined ? {} : { action }),
    ...(verdict === undefined ? {} : { verdict }),
    ...(state === undefined ? {} : { state }),
  }
}

export function toClaimStatus(claim: ClaimStatus): wire.ClaimStatus {
  return {
    claim_id: claim.claimId,
    client_claim_id: claim.erasure ? '' : claim.clientClaimId,
    agent_id: claim.agentId,
    action: claim.action,
    target: claim.target,
    claimed_at: formatInstant(claim.claimedAt),
    deadline_at: formatInstant(claim.deadlineAt),
    submitted_at: formatInstant(claim.submittedAt),
    claim_digest: claim.claimDigest,
    state: claim.state,
    attempts: claim.attempts,
    next_check_at: claim.nextCheckAt === null ? null : formatInstant(claim.nextCheckAt),
    receipt_id: claim.receiptId,
    verdict: claim.verdict,
    reason_code: claim.reasonCode,
    last_check: claim.lastCheck && toLastCheck(claim.lastCheck),
    ...(claim.erasure ? { erased: toErasure(claim.erasure) } : {}),
  }
}

/** @param created false: the claim existed already */
export function toSubmittedClaim(claim: ClaimStatus, created: boolean): wire.SubmittedClaim {
  return { ...toClaimStatus(claim), created }
}

function toLastCheck(record: CheckRecord): wire.LastCheck {
  const at = formatInstant(record.answeredAt)
  if (!isRead(record)) {
    const { code, status } = record.failure
    return { at, result: 'failed', code, ...(status === undefined ? {} : { status }) }
  }
  const { observation } = record
  if (observation.kind === 'absent') return { at, result: 'absent', facts: observation.facts }
  const { facts, differs } = observation
  return differs.length > 0 ? { at, result: 'differs', differs: [...differs], facts } : { at, result: 'present', facts }
}
