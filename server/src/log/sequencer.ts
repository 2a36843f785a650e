/**
 * The one way into storage for claims: new ones, checks that become history, decisions that become receipts. Everything that is
 * ready goes into ONE transaction: the claims with their checks, the leaves with their signed receipts, the tiles, the signed head.
 *
 * Most of them are one statement, planned on the log as this host left it, which fails where anything has moved on since. What
 * fails so is planned again under the log's lock, on what is read there.
 */
import type { CheckRecord, Instant } from '@claimcheck/core'
import { createBatch } from '../base/batch.ts'
import { ServiceError } from '../base/errors.ts'
import type { ClaimRow } from '../storage/claim-row.ts'
import { type Storage, StorageError, type Writes } from '../storage/storage.ts'
import type { Draft, Growth, LogWriter } from './log-writer.ts'
import { type Decided, receiptContent } from './receipt-content.ts'

/** One check of a claim, and what follows from it. */
export interface Outcome {
  /** As it was when it was handed out, or as it was submitted. */
  readonly claim: ClaimRow
  readonly record: CheckRecord
  /** Undefined while it cannot be decided. */
  readonly decided: Decided | undefined
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
export function claimAfter({ claim, record, decided, nextCheckAt }: Outcome, receiptId: string | null): ClaimRow {
  return {
    ...claim,
    state: decided ? 'decided' : 'queued',
    attempts: claim.attempts + 1,
    dueAt: nextCheckAt,
    nextCheckAt,
    lastCheck: record,
    receiptId,
    verdict: decided?.verdict.value ?? null,
    reasonCode: decided?.verdict.reasonCode ?? null,
  }
}

/** What one claim asks of a transaction. */
interface Step {
  readonly isNew: boolean
  /** How many checks it must have had until now: a decision counts only while the history that it rests on is what was recorded. */
  readonly attempts: number
  /** As it will be. */
  readonly claim: ClaimRow
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
/** Where others append too, what this host knows is seldom the newest. */
const LOCKED_FLUSHES = 16

interface SequencerOptions {
  readonly storage: Storage
  readonly logWriter: LogWriter
}

export function createSequencer({ storage, logWriter }: SequencerOptions): Sequencer {
  const batch = createBatch(flush, { maxItems: LARGEST_BATCH })

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
    const { made, growth } = (await flushAsLeft(steps)) ?? (await storage.write((tx) => commit(tx, logWriter, steps)))
    logWriter.grown(growth)
    const kept = new Set(made)
    return steps.map((step) => kept.has(step))
  }

  /** How many flushes go under the lock before the log is taken to be as this host left it again. */
  let lockedFlushes = 0

  /** Undefined, and nothing happened: something is otherwise than this host knows. */
  async function flushAsLeft(steps: readonly Step[]): Promise<Flushed | undefined> {
    if (lockedFlushes-- > 0) return undefined
    const made = onceEach(steps)
    const growth = await logWriter.planAsLeft(draftsOf(made))
    if (!growth) return undefined
    try {
      await storage.apply({ ...growth, progress: progressOf(made), newClaims: made.filter(isNew).map(claimOf) })
    } catch (error) {
      if (error instanceof StorageError) throw error
      lockedFlushes = LOCKED_FLUSHES
      return undefined
    }
    lockedFlushes = 0
    return { made, growth }
  }

  async function add(step: Step): Promise<boolean> {
    const result = await batch.add(step)
    if (result instanceof Failed) throw result.error
    return result
  }

  async function addChecked(outcome: Outcome, isNew: boolean): Promise<ClaimRow | undefined> {
    const { claim, decided } = outcome
    const draft = decided && (await logWriter.draft(claim.claimId, receiptContent(claim, decided), decided.evidence))
    const next = claimAfter(outcome, draft?.receiptId ?? null)
    const kept = await add({ isNew, attempts: claim.attempts, claim: next, draft })
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

interface Flushed {
  /** Of the steps those that were made; the others' claims stand otherwise by now. */
  readonly made: readonly Step[]
  readonly growth: Growth
}

async function commit(tx: Writes, logWriter: LogWriter, steps: readonly Step[]): Promise<Flushed> {
  const [log, inserted, attempts] = await Promise.all([
    // Before anything else is read: whoever else moves claims on waits until we are done.
    tx.log.lock(),
    tx.claims.insertNew(steps.filter(isNew).map(claimOf)),
    tx.claims.queuedAttempts(steps.flatMap(({ isNew, claim }) => (isNew ? [] : claim.claimId))),
  ])
  const isCurrent = ({ isNew, claim: { claimId }, attempts: expected }: Step) =>
    isNew ? inserted.has(claimId) : attempts.get(claimId) === expected
  const made = onceEach(steps.filter(isCurrent))
  const growth = await logWriter.plan(tx.log, log!, draftsOf(made))
  await tx.apply({ ...growth, progress: progressOf(made) })
  return { made, growth }
}

/** Of the steps that move one claim on, the first. */
function onceEach(steps: readonly Step[]): Step[] {
  const taken = new Set<string>()
  return steps.filter(({ isNew, claim: { claimId } }) => isNew || (!taken.has(claimId) && taken.add(claimId)))
}

function draftsOf(steps: readonly Step[]): Draft[] {
  return steps.flatMap(({ draft }) => draft ?? [])
}

/** The claims that were stored before. */
function progressOf(steps: readonly Step[]): ClaimRow[] {
  return steps.filter((step) => !isNew(step)).map(claimOf)
}

function isNew(step: Step): boolean {
  return step.isNew
}

function claimOf({ claim }: Step): ClaimRow {
  return claim
}

/** It would be the same for each step alone. */
function isOfAll(error: unknown): boolean {
  return error instanceof StorageError || error instanceof ServiceError
}
