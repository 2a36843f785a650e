/** Claims between their wire form and the service's. */
import {
  type ActionProfile,
  type CheckRecord,
  formatInstant,
  type Instant,
  isRead,
  type JsonObject,
} from '@claimcheck/core'
import type * as wire from '@claimcheck/core/api'
import { claimRequest } from '@claimcheck/core/api'
import { ServiceError } from '../../base/errors.ts'
import { readTimestamp } from '../../base/timestamp.ts'
import { type Validator, validator } from '../../base/validation.ts'
import type { ClaimFilter, ClaimStatus } from '../../claims/claims.ts'
import type { ClaimInput } from '../../claims/intake.ts'
import { contentIssues, nestingIssues } from '../text.ts'

/**
 * Reads a claim that came otherwise than as a request's JSON, and holds it against the same rules. The issues' places begin with `body`.
 * @throws ServiceError `invalid`, naming every mistake
 */
export function claimReader(profiles: readonly ActionProfile[]): (request: JsonObject) => ClaimInput {
  const schema = claimRequest(profiles)
  // Compiled when it is first needed, which takes longer than anything else that the pages' routes do as they are declared.
  const check: Validator = (request, loc) => validator(schema)(request, loc)
  return (request) => {
    // In this order: each relies on what the ones before it have found good.
    for (const find of [nestingIssues, contentIssues, check]) {
      const issues = find(request, ['body'])
      if (issues.length > 0) throw new ServiceError('invalid', 'the claim is not valid', { issues })
    }
    return fromClaimRequest(request as wire.ClaimRequest)
  }
}

/** The request is valid: its times are times. */
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
    client_claim_id: claim.clientClaimId,
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
  }
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
