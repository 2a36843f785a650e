/**
 * The one way into storage for claims: new ones, checks that become history, decisions that become receipts. Everything that is
 * ready goes into ONE transaction: the claims with their checks, the leaves with their signed receipts, the tiles, the signed head.
 */
import type { CheckRecord, Decision, Instant } from '@claimcheck/core'
import { createBatch } from '../batch.ts'
import type { ClaimRow } from '../storage/claims.ts'
import type { LogState } from '../storage/log.ts'
import { type Storage, StorageError, type Writes } from '../storage/storage.ts'
import { ServiceError } from './errors.ts'
import type { LogGuard } from './log-guard.ts'
import { type Draft, LogConflict, type LogWriter } from './log-writer.ts'
import { receiptContent } from './receipt-content.ts'

/** One check of a claim, and what follows from it. */
export interface Outcome {
  /** As it was when it was handed out, or as it was submitted. */
  readonly claim: ClaimRow
  readonly record: CheckRecord
  readonly decision: Decision | undefined
  /** null with a decision. */
  readonly nextCheckAt: Instant | null
}

/** Each resolves when what it was given is on disk, a decision with its receipt in the log. */
export interface Sequencer {
  /** Stores a new claim. False when there is one of its client_claim_id already, and nothing was kept. */
  store(claim: ClaimRow): Promise<boolean>
  /** Stores a new claim together with its first check. Undefined when there is one of its client_claim_id already, and nothing was kept. */
  storeChecked(outcome: Outcome): Promise<ClaimRow | undefined>
  /**
   * Moves a stored claim on by a check. Undefined: it had moved on meanwhile (decided, or checked by another host), and nothing of
   * this outcome was kept.
   */
  advance(outcome: Outcome): Promise<ClaimRow | undefined>
  /** Resolves when it is there to be asked. */
  ready(): Promise<void>
  /** Resolves when nothing is waiting or under way. */
  idle(): Promise<void>
}

/** The claim as an outcome leaves it; with the id of its receipt where it is decided. */
export function claimAfter({ claim, record, decision, nextCheckAt }: Outcome, receiptId: string | null): ClaimRow {
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

/** What one claim asks of a transaction. */
interface Step {
  readonly isNew: boolean
  /** How many checks it must have had until now: a decision counts only while the history that it rests on is what was recorded. */
  readonly attempts: number
  /** As it will be. */
  readonly claim: ClaimRow
  readonly record?: CheckRecord
  readonly draft?: Draft | undefined
}

/** What came of a step that failed alone. */
class Failed {
  readonly error: unknown

  constructor(error: unknown) {
    this.error = error
  }
}

const LARGEST_BATCH = 500

interface SequencerOptions {
  readonly storage: Storage
  readonly logWriter: LogWriter
  readonly logGuard: LogGuard
}

export function createSequencer({ storage, logWriter, logGuard }: SequencerOptions): Sequencer {
  const batch = createBatch(flush, { most: LARGEST_BATCH })

  async function flush(steps: readonly Step[]): Promise<readonly (boolean | Failed)[]> {
    try {
      return await flushTogether(steps)
    } catch (error) {
      if (steps.length === 1 || isOfAll(error)) throw error
      // What is wrong with one claim is not the others' fault.
      const results: (boolean | Failed)[] = []
      for (const step of steps) {
        results.push(...(await flushTogether([step]).catch((error: unknown) => [new Failed(error)])))
      }
      return results
    }
  }

  async function flushTogether(steps: readonly Step[]): Promise<readonly boolean[]> {
    const { made, head } = await storage.write((tx) => commit(tx, logWriter, steps))
    if (head) logGuard.remember(head)
    return made
  }

  async function add(step: Step): Promise<boolean> {
    const result = await batch.add(step)
    if (result instanceof Failed) throw result.error
    return result
  }

  async function addChecked(outcome: Outcome, isNew: boolean): Promise<ClaimRow | undefined> {
    const { claim, record, decision } = outcome
    const draft = decision && (await logWriter.draft(claim.claimId, receiptContent(claim, decision)))
    const next = claimAfter(outcome, draft?.receiptId ?? null)
    const kept = await add({ isNew, attempts: claim.attempts, claim: next, record, draft })
    return kept ? next : undefined
  }

  return {
    store: (claim) => add({ isNew: true, attempts: 0, claim }),
    storeChecked: (outcome) => addChecked(outcome, true),
    advance: (outcome) => addChecked(outcome, false),
    ready: async () => {},
    idle: () => batch.idle(),
  }
}

interface Commit {
  /** Which of the steps were made; the others' claims stand otherwise by now. */
  readonly made: readonly boolean[]
  readonly head: LogState | undefined
}

async function commit(tx: Writes, logWriter: LogWriter, steps: readonly Step[]): Promise<Commit> {
  const [created, checked] = partition(steps, ({ isNew }) => isNew)
  const [log, inserted, attempts] = await Promise.all([
    // Before anything else is read: whoever else moves claims on waits until we are done.
    tx.log.lock(),
    tx.claims.insertNew(created.map(({ claim }) => claim)),
    tx.claims.queuedAttempts(checked.map(({ claim }) => claim.claimId)),
  ])
  const taken = new Set<string>()
  const isCurrent = ({ isNew, claim: { claimId }, attempts: expected }: Step) => {
    if (isNew) return inserted.has(claimId)
    return attempts.get(claimId) === expected && !taken.has(claimId) && taken.add(claimId) !== undefined
  }
  const current = new Set(steps.filter(isCurrent))

  const made = [...current]
  const drafts = made.flatMap(({ draft }) => draft ?? [])
  const [head] = await Promise.all([
    logWriter.append(tx, log!, drafts),
    tx.claims.insertChecks(
      made.flatMap(({ claim, record }) =>
        record ? [{ claimId: claim.claimId, attempt: claim.attempts, record }] : [],
      ),
    ),
    tx.claims.advance(made.flatMap(({ isNew, claim }) => (isNew ? [] : claim))),
  ])
  return { made: steps.map((step) => current.has(step)), head }
}

/** It would be the same for each step alone. */
function isOfAll(error: unknown): boolean {
  return error instanceof StorageError || error instanceof ServiceError || error instanceof LogConflict
}

function partition<T>(items: readonly T[], test: (item: T) => boolean): [T[], T[]] {
  const passing: T[] = []
  const failing: T[] = []
  for (const item of items) (test(item) ? passing : failing).push(item)
  return [passing, failing]
}
