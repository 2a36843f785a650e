/** Converts claims between the form of the API and the form of the service. */

import type * as wire from '@claimcheck/core/api'
import { ClaimStatus, claimRequest } from '@claimcheck/core/api'
import type { ActionProfile } from '@claimcheck/core/plugin'
import { type CheckRecord, formatInstant, type Instant, isRead, type JsonObject } from '@claimcheck/core/rules'
import { ServiceError } from '../../base/errors.ts'
import { defined } from '../../base/pick.ts'
import { readTimestamp } from '../../base/timestamp.ts'
import { type Validator, validator } from '../../base/validation.ts'
import { contentIssues, nestingIssues } from '../../http/text.ts'
import { claims } from '../../storage/claim-row.ts'
import type { ShownRevisit } from '../../storage/revisits.ts'
import { toErasure } from '../receipts/erased-receipt.ts'
import { MOST_EXAMINED } from './claim-choice.ts'
import type { ClaimStatus as Claim, ClaimFilter } from './claims.ts'
import type { ClaimInput } from './intake.ts'

/**
 * Makes a reader of claims that did not arrive as the JSON of a request, by the same rules. The positions of issues begin with `body`. It throws
 * ServiceError `invalid` with all mistakes.
 */
export function claimReader(profiles: readonly ActionProfile[]): (request: JsonObject) => ClaimInput {
  const schema = claimRequest(profiles)
  // A schema is compiled on first use, because it would take most of the time in which the console's routes are declared.
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

/**
 * Converts a claim from a request.
 * @param request a valid request, so that its times can be read
 */
export function fromClaimRequest(request: wire.ClaimRequest): ClaimInput {
  return {
    clientClaimId: request.client_claim_id,
    agentId: request.agent_id,
    action: request.action,
    target: request.target,
    params: request.params ?? {},
    claimedAt: readTimestamp(request.claimed_at) as Instant,
    claimedAgoMs: request.claimed_ago_ms,
    ...(request.deadline_at === undefined ? {} : { deadlineAt: readTimestamp(request.deadline_at) as Instant }),
  }
}

export function fromClaimQuery({ limit, cursor, agent_id, action, verdict, state }: wire.ClaimQuery): ClaimFilter {
  // Claims with a verdict are decided, so that the state adds nothing.
  const also = verdict !== undefined && state === 'decided' ? {} : { state }
  return { limit, mostExamined: MOST_EXAMINED, ...defined({ cursor, agentId: agent_id, action, verdict, ...also }) }
}

/** The members of the answer that are columns of a claim, in the order of the schema. */
const MEMBERS = Object.keys(ClaimStatus.properties).flatMap((name) => claims.columns.filter((one) => one.name === name))

export function toClaimStatus(claim: Claim): wire.ClaimStatus {
  const members: Record<string, unknown> = {}
  for (const { name, field, type } of MEMBERS) {
    const value = claim[field as keyof Claim]
    members[name] = type === 'bigint' && typeof value === 'number' ? formatInstant(value) : value
  }
  if (claim.lastCheck) members.last_check = toLastCheck(claim.lastCheck)
  if (claim.expectedBy !== undefined) members.expected_by = formatInstant(claim.expectedBy)
  if (claim.revisits && claim.revisits.length > 0) members.revisits = claim.revisits.map(toRevisit)
  if (claim.erasure) Object.assign(members, { client_claim_id: '', erased: toErasure(claim.erasure) })
  return members as wire.ClaimStatus
}

export function toRevisit({
  revisitId,
  askedAt,
  askedBy,
  result,
  endedAt,
  seenAt,
  change,
  findingId,
}: ShownRevisit): wire.Revisit {
  return {
    revisit_id: revisitId,
    asked_at: formatInstant(askedAt),
    asked_by: askedBy,
    result,
    ended_at: endedAt === null ? null : formatInstant(endedAt),
    seen_at: seenAt === null ? null : formatInstant(seenAt),
    ...(change !== null && { found: change }),
    ...(findingId !== null && { finding_id: findingId }),
  }
}

/**
 * Converts a submitted claim for the answer.
 * @param created false for a claim that existed already
 */
export function toSubmittedClaim(claim: Claim, created: boolean): wire.SubmittedClaim {
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
