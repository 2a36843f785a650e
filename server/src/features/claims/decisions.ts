/** Counts what this host checks and decides, by action, and how long claims waited for their decision. */
import { type CheckRecord, type Instant, isRead } from '@claimcheck/core/rules'
import type { Meters } from '../../base/meters.ts'
import type { Registry } from '../../plugins/registry.ts'
import type { ClaimRow } from '../../storage/claim-row.ts'

export interface Decisions {
  /** A check ended. */
  checked(claim: ClaimRow, record: CheckRecord): void
  /** Call it when the outcome is on disk. Counts what is decided. */
  stored(claim: ClaimRow): void
}

interface DecisionsOptions {
  readonly meters: Meters
  readonly registry: Pick<Registry, 'verifierFor'>
  readonly now: () => Instant
}

/** In seconds: from an answer at once to the longest deadlines. */
const BUCKETS = [0.1, 0.5, 2, 10, 60, 600, 3_600, 86_400]

export function createDecisions({ meters, registry, now }: DecisionsOptions): Decisions {
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

  /** What clients call an action that no plugin checks is theirs, and unbounded. */
  const actionOf = ({ action, profileVersion }: ClaimRow) =>
    registry.verifierFor(action, profileVersion)?.verifier.profile.action ?? 'unsupported'

  return {
    checked(claim, record) {
      checks.inc({ action: actionOf(claim), outcome: isRead(record) ? 'read' : record.failure.code })
    },
    stored(claim) {
      if (claim.verdict === null) return
      const action = actionOf(claim)
      decided.inc({ action, verdict: claim.verdict })
      seconds.observe({ action }, Math.max(0, now() - claim.submittedAt) / 1000)
    },
  }
}
