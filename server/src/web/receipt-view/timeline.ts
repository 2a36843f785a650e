/** The times in a receipt and its evidence. */

import { caseOf, type EvidenceDocument, type Receipt } from '@claimcheck/core/receipts'
import { type CheckRecord, type Instant, isRead, parseInstant } from '@claimcheck/core/rules'

export type Seen = 'as_claimed' | 'different' | 'absent' | 'unreadable'

/** Checks in a row that saw the same. */
export interface Reads {
  readonly seen: Seen
  /** The times at which the checks were answered. */
  readonly at: readonly Instant[]
}

export interface Timeline {
  readonly claimedAt: Instant
  /** The end of the tolerance; undefined without evidence. */
  readonly toleranceEnd: Instant | undefined
  readonly deadlineAt: Instant
  readonly issuedAt: Instant
  /** The interval in which the outcome appeared: at the latest at `notAfter`. */
  readonly appeared: { readonly notBefore: Instant | undefined; readonly notAfter: Instant } | undefined
  /** The reads of the destination; without evidence, only the one that decided. */
  readonly reads: readonly Reads[]
}

/**
 * Lists the times of a receipt.
 * @param evidence valid evidence of this receipt; undefined if there is none
 */
export function timelineOf({ body }: Receipt, evidence: EvidenceDocument | undefined): Timeline {
  const { claim, observation, verdict } = body
  const claimedAt = parseInstant(claim.claimed_at)!
  const { appeared } = observation
  const checks = evidence ? caseOf(evidence).checks : []
  return {
    claimedAt,
    toleranceEnd: evidence && claimedAt + evidence.rules.tolerance_ms,
    deadlineAt: parseInstant(observation.deadline_at)!,
    issuedAt: parseInstant(body.issued_at)!,
    appeared: appeared && {
      notBefore: appeared.not_before === undefined ? undefined : parseInstant(appeared.not_before),
      notAfter: parseInstant(appeared.not_after)!,
    },
    reads: evidence
      ? joined(checks)
      : [{ seen: SEEN_BY_VERDICT[verdict.value], at: [parseInstant(observation.observed_at)!] }],
  }
}

const SEEN_BY_VERDICT = {
  verified: 'as_claimed',
  late: 'as_claimed',
  mismatch: 'different',
  failed: 'absent',
  unverifiable: 'unreadable',
} as const

function joined(checks: readonly CheckRecord[]): Reads[] {
  const reads: Reads[] = []
  for (const check of checks) {
    const seen = seenBy(check)
    const last = reads.at(-1)
    if (last?.seen === seen) reads[reads.length - 1] = { seen, at: [...last.at, check.answeredAt] }
    else reads.push({ seen, at: [check.answeredAt] })
  }
  return reads
}

function seenBy(check: CheckRecord): Seen {
  if (!isRead(check)) return 'unreadable'
  const { observation } = check
  if (observation.kind === 'absent') return 'absent'
  return observation.differs.length === 0 ? 'as_claimed' : 'different'
}
