/**
 * The one way a check becomes history and a decision becomes a receipt. Everything that is ready goes into ONE transaction:
 * the checks, the leaves with their signed receipts, the tiles, the signed head, and each claim's new state.
 */
import type { CheckRecord, Decision, Instant } from '@claimcheck/core'
import { type Batch, createBatch } from '../batch.ts'
import type { ClaimRow } from '../storage/claims.ts'
import type { Storage, Writes } from '../storage/storage.ts'
import type { LogWriter } from './log-writer.ts'
import { receiptContent } from './receipt-content.ts'

/** One check of a claim, and what follows from it. */
export interface Outcome {
  /** As it was when it was handed out. */
  readonly claim: ClaimRow
  readonly record: CheckRecord
  readonly decision: Decision | undefined
  /** null with a decision. */
  readonly nextCheckAt: Instant | null
}

/**
 * Adding an outcome resolves when it is on disk, a decision with its receipt in the log. Undefined: the claim had moved on
 * meanwhile (decided, or checked by another host), and nothing of this outcome was kept.
 */
export type Sequencer = Batch<Outcome, ClaimRow | undefined>

const LARGEST_BATCH = 500

export function createSequencer({ storage, logWriter }: { storage: Storage; logWriter: LogWriter }): Sequencer {
  return createBatch((outcomes) => storage.write((tx) => commit(tx, logWriter, outcomes)), { most: LARGEST_BATCH })
}

async function commit(
  tx: Writes,
  logWriter: LogWriter,
  outcomes: readonly Outcome[],
): Promise<(ClaimRow | undefined)[]> {
  const attempts = await tx.claims.queuedAttempts(outcomes.map(({ claim }) => claim.claimId))
  const taken = new Set<string>()
  const isCurrent = ({ claim }: Outcome) => {
    // A decision rests on the whole history: it counts only while that is what was recorded.
    const current = attempts.get(claim.claimId) === claim.attempts && !taken.has(claim.claimId)
    return current && taken.add(claim.claimId)
  }
  const current = outcomes.filter(isCurrent)

  const receiptIds = await logWriter.append(
    tx,
    current.flatMap(({ claim, decision }) =>
      decision ? [{ claimId: claim.claimId, content: receiptContent(claim, decision) }] : [],
    ),
  )
  const advanced = new Map(
    current.map((outcome) => [outcome, advance(outcome, receiptIds.get(outcome.claim.claimId) ?? null)]),
  )
  await tx.claims.insertChecks(
    current.map(({ claim, record }) => ({ claimId: claim.claimId, attempt: claim.attempts + 1, record })),
  )
  await tx.claims.advance([...advanced.values()])
  return outcomes.map((outcome) => advanced.get(outcome))
}

function advance({ claim, record, decision, nextCheckAt }: Outcome, receiptId: string | null): ClaimRow {
  return {
    ...claim,
    state: decision ? 'decided' : 'queued',
    attempts: claim.attempts + 1,
    dueAt: nextCheckAt,
    nextCheckAt,
    lastCheck: record,
    receiptId,
    verdict: decision?.verdict.value ?? null,
    reasonCode: decision?.verdict.reasonCode ?? null,
  }
}
