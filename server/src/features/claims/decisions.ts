/** Counts the checks and decisions of this host, by action, and measures how long claims waited for their decision. */
import { type CheckRecord, type Instant, isRead } from '@claimcheck/core/rules'
import type { Meters } from '../../base/meters.ts'
import type { Registry } from '../../plugins/registry.ts'
import type { ClaimRow } from '../../storage/claim-row.ts'

interface DecisionsOptions {
  readonly meters: Meters
  readonly registry: Pick<Registry, 'verifierFor'>
  readonly now: () => Instant
}

/** Histogram buckets in seconds, from an immediate answer to the longest deadline. */
const BUCKETS = [0.1, 0.5, 2, 10, 60, 600, 3_600, 86_400]

export type Decisions = ReturnType<typeof createDecisions>

export function createDecisions({ meters, registry, now }: DecisionsOptions) {
  const decided = meters.counter('claims_decided_total', 'Claims that this host decided, by action and verdict', [
    'action',
    'verdict',
  ])
  const seconds = meters.histogram('claim_decision_seconds', 'How long claims waited from POST to their decision', {
    labels: ['action'],
    buckets: BUCKETS,
  })
  const checks = meters.counter(
    'checks_total',
    'Checks that this host made, by action and outcome: read, or a failure',
    ['action', 'outcome'],
  )

  /** Returns the label of a claim's action. Clients may name an action that no plugin checks in any way: those count as one. */
  const actionOf = ({ action, profileVersion }: ClaimRow) =>
    registry.verifierFor(action, profileVersion)?.verifier.profile.action ?? 'unsupported'

  let all = 0

  return {
    /** Returns how many claims this host has decided. */
    all: () => all,
    /** Counts a check that ended. */
    checked(claim: ClaimRow, record: CheckRecord): void {
      checks.inc({ action: actionOf(claim), outcome: isRead(record) ? 'read' : record.failure.code })
    },
    /** Counts the decision of a claim, if it is decided. Call it when the outcome is on disk. */
    stored(claim: ClaimRow): void {
      if (claim.verdict === null) return
      all++
      const action = actionOf(claim)
      decided.inc({ action, verdict: claim.verdict })
      seconds.observe({ action }, Math.max(0, now() - claim.submittedAt) / 1000)
    },
  }
}
