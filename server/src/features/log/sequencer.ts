/**
 * Writes all changes of claims: new claims, checks, and decisions with their receipts. Everything that is ready goes into ONE
 * transaction: the claims with their checks, the leaves with their signed receipts, the tiles, the signed head, the events.
 *
 * Most transactions are one statement without a lock. It is planned on the state in which this host last wrote the log, and it fails
 * when a claim or the log changed since. Then the sequencer locks the log, reads it, and plans the changes again.
 */
import { type CheckRecord, type Instant, isRead, type NextCheck } from '@claimcheck/core/rules'
import { type Batch, createBatch, Failed } from '../../base/batch.ts'
import { ServiceError } from '../../base/errors.ts'
import type { Tracing } from '../../base/tracing.ts'
import type { ClaimRow, NewClaim } from '../../storage/claim-row.ts'
import type { NewEvent } from '../../storage/events.ts'
import { type Storage, StorageError, type Writes } from '../../storage/storage.ts'
import type { Append, Draft, LogPlanner } from './log-planner.ts'
import { type Decided, receiptContent } from './receipt-content.ts'
import { SigningError } from './signing/key-store.ts'

/** A check of a claim, with the decision or the time of the next check. */
export interface Outcome {
  /** The claim before this check. */
  readonly claim: NewClaim
  /** Undefined where no check was made: the recorded ones decide. */
  readonly record: CheckRecord | undefined
  /** When the check was answered, or when they decided: with a decision, the receipt's time. */
  readonly at: Instant
  /** Undefined while it cannot be decided. */
  readonly decided: Decided | undefined
  /** null with a decision. */
  readonly next: NextCheck | null
  /** The recorded checks decide the claim, and their decision could not be signed. */
  readonly isUnsigned?: true
}

/** Each method resolves when its changes are on disk; a decision is then in the log with its receipt. */
export interface Sequencer {
  /** Stores a new claim. Returns false, and stores nothing, when the database refuses it (`mayBeStored`). */
  store(claim: NewClaim): Promise<boolean>
  /** The same with its first check. Returns undefined where it stores nothing. */
  storeChecked(outcome: Outcome): Promise<ClaimRow | undefined>
  /**
   * Adds a check to a stored claim. Returns undefined, and stores nothing, when the claim changed in the meantime: it was decided, or
   * another host checked it. A decision that cannot be signed now is made later, here and above: the claim waits.
   */
  advance(outcome: Outcome): Promise<ClaimRow | undefined>
  /** Resolves when nothing waits to be written. */
  idle(): Promise<void>
}

/** The claim after the outcome, without its receipt. */
function claimAfter({ claim, record, decided, next, isUnsigned }: Outcome): NewClaim {
  return {
    ...claim,
    state: decided ? 'decided' : 'queued',
    attempts: claim.attempts + (record ? 1 : 0),
    dueAt: next?.at ?? null,
    nextCheckAt: next?.at ?? null,
    momentAt: next?.momentAt ?? null,
    unsigned: isUnsigned ? 1 : 0,
    connectionRemoved: record && !isRead(record) && record.failure.connectionRemoved ? 1 : 0,
    lastCheck: record ?? claim.lastCheck,
    verdict: decided?.verdict.value ?? null,
    reasonCode: decided?.verdict.reasonCode ?? null,
  }
}

/** The change of one claim. */
interface Step {
  readonly isNew: boolean
  /** The number of checks that the stored claim must have: a decision is valid only for the recorded checks that it is based on. */
  readonly attempts: number
  /** The claim after the change. */
  readonly claim: NewClaim
  readonly draft?: Draft | undefined
}

const MAX_BATCH = 500
/** After a decision that could not be signed. */
const UNSIGNED_RETRY_MS = 30_000
/** So long such a claim lets all checks that decide go first: those can come too late, and thousands of claims may wait for a signer. */
const UNSIGNED_YIELDS_MS = 60 * 60_000
/**
 * After an optimistic flush failed, this many flushes use the lock: other hosts append, so the state that this host knows is rarely
 * current.
 */
const LOCKED_FLUSHES = 16

interface SequencerOptions {
  readonly storage: Storage
  readonly logPlanner: LogPlanner
  readonly tracing: Tracing
}

interface Writing extends Pick<SequencerOptions, 'logPlanner' | 'tracing'> {
  readonly batch: Batch<Step, boolean>
}

/** What flushes need and keep. */
interface Flushing extends Omit<SequencerOptions, 'tracing'> {
  /** The number of flushes that use the lock before the next optimistic one. */
  lockedFlushes: number
}

export function createSequencer({ storage, logPlanner, tracing }: SequencerOptions): Sequencer {
  const flushing: Flushing = { storage, logPlanner, lockedFlushes: 0 }
  const batch = createBatch<Step, boolean>((steps) => flush(flushing, steps), { maxItems: MAX_BATCH })
  const writing: Writing = { logPlanner, tracing, batch }
  return {
    store: (claim) => batch.add({ isNew: true, attempts: 0, claim }),
    storeChecked: (outcome) => addChecked(writing, outcome, true),
    advance: (outcome) => addChecked(writing, outcome, false),
    idle: () => batch.idle(),
  }
}

async function addChecked(writing: Writing, outcome: Outcome, isNew: boolean): Promise<ClaimRow | undefined> {
  const { claim, decided } = outcome
  const span = writing.tracing.begin(decided ? 'append' : 'store', { parent: claim.traceparent })
  let hasFailed = true
  try {
    const stored = await signAndAdd(writing, outcome, isNew)
    hasFailed = false
    return stored
  } finally {
    span.end({ 'claimcheck.claim_id': claim.claimId }, hasFailed)
  }
}

async function signAndAdd(writing: Writing, outcome: Outcome, isNew: boolean): Promise<ClaimRow | undefined> {
  const { batch, logPlanner } = writing
  const { claim, decided, at } = outcome
  try {
    const after = claimAfter(outcome)
    const draft =
      decided && (await logPlanner.draft(claim.claimId, receiptContent(after, decided), decided.evidence, at))
    const next = draft ? { ...after, receiptId: draft.receiptId } : after
    const isApplied = await batch.add({ isNew, attempts: claim.attempts, claim: next, draft })
    return isApplied ? next : undefined
  } catch (error) {
    if (!decided || !isSignerAway(error)) throw error
    return signAndAdd(writing, undecided(outcome), isNew)
  }
}

async function flush(flushing: Flushing, steps: readonly Step[]): Promise<readonly (boolean | Failed)[]> {
  try {
    return await flushTogether(flushing, steps)
  } catch (error) {
    if (steps.length === 1 || failsAllSteps(error)) throw error
    // One step may have failed the whole transaction: the others must not fail with it.
    const results: (boolean | Failed)[] = []
    for (const step of steps) {
      results.push(...(await flushTogether(flushing, [step]).catch((error: unknown) => [new Failed(error)])))
    }
    return results
  }
}

async function flushTogether(flushing: Flushing, steps: readonly Step[]): Promise<readonly boolean[]> {
  const { storage, logPlanner } = flushing
  const { applied, append } =
    (await flushOptimistically(flushing, steps)) ?? (await storage.write((tx) => flushLocked(tx, logPlanner, steps)))
  logPlanner.committed(append)
  const appliedSteps = new Set(applied)
  return steps.map((step) => appliedSteps.has(step))
}

/** Returns undefined, and changes nothing, when the database is in another state than this host knows. */
async function flushOptimistically(flushing: Flushing, steps: readonly Step[]): Promise<Flushed | undefined> {
  const { storage, logPlanner } = flushing
  if (flushing.lockedFlushes-- > 0) return undefined
  flushing.lockedFlushes = 0
  const all = firstPerClaim(steps)
  const append = await logPlanner.planOptimistically(draftsOf(all))
  if (!append) return undefined
  if (await isApplied(storage, append, all)) return { applied: all, append }
  // New claims that are stored already are no reason to lock: a client that submits old claims again would slow down all others.
  const unknown = await withoutStored(storage, all)
  const appendUnknown = unknown.length < all.length && (await logPlanner.planOptimistically(draftsOf(unknown)))
  if (appendUnknown && (await isApplied(storage, appendUnknown, unknown)))
    return { applied: unknown, append: appendUnknown }
  flushing.lockedFlushes = LOCKED_FLUSHES
  return undefined
}

/** False when the database refuses them. */
async function isApplied(storage: Storage, append: Append, steps: readonly Step[]): Promise<boolean> {
  try {
    const newClaims = steps.filter(isNew).map(claimOf)
    await storage.apply({ ...append, progress: progressOf(steps), newClaims, events: eventsOf(append, steps) })
    return true
  } catch (error) {
    if (error instanceof StorageError) throw error
    return false
  }
}

async function withoutStored(storage: Storage, steps: readonly Step[]): Promise<readonly Step[]> {
  const fresh = steps.filter(isNew)
  // A claim whose content was erased is found, too, and no longer says by which id.
  const found = await storage.read.claims.byClientIds(fresh.map(claimOf))
  const stored = new Set<Step>(fresh.filter((_, index) => found[index]))
  return steps.filter((step) => !stored.has(step))
}

interface Flushed {
  /** The steps that were applied; the claims of the others changed in the meantime. */
  readonly applied: readonly Step[]
  readonly append: Append
}

async function flushLocked(tx: Writes, logPlanner: LogPlanner, steps: readonly Step[]): Promise<Flushed> {
  const [log, inserted, attempts] = await Promise.all([
    // Locks before it reads anything else: other hosts wait with their changes of claims until this transaction ends.
    tx.log.lock(),
    tx.claims.insertNew(steps.filter(isNew).map(claimOf)),
    tx.claims.queuedAttempts(steps.flatMap(({ isNew, claim }) => (isNew ? [] : claim.claimId))),
  ])
  const isCurrent = ({ isNew, claim: { claimId }, attempts: expected }: Step) =>
    isNew ? inserted.has(claimId) : attempts.get(claimId) === expected
  const applied = firstPerClaim(steps.filter(isCurrent))
  const append = await logPlanner.plan(tx.log, log!, draftsOf(applied))
  await tx.apply({ ...append, progress: progressOf(applied) })
  for (const event of eventsOf(append, applied)) tx.events.record(event)
  return { applied, append }
}

/** Of several steps that add a check to the same claim, keeps the first. */
function firstPerClaim(steps: readonly Step[]): Step[] {
  const seen = new Set<string>()
  return steps.filter(({ isNew, claim: { claimId } }) => isNew || (!seen.has(claimId) && seen.add(claimId)))
}

function draftsOf(steps: readonly Step[]): Draft[] {
  return steps.flatMap(({ draft }) => draft ?? [])
}

/** The changed claims that are not new; where no check was made, without a last check. */
function progressOf(steps: readonly Step[]): ClaimRow[] {
  return steps
    .filter((step) => !isNew(step))
    .map(({ attempts, claim }) => (claim.attempts > attempts ? claim : { ...claim, lastCheck: null }))
}

/** The decisions as events, in the order of the log. */
function eventsOf({ receipts = [] }: Append, steps: readonly Step[]): NewEvent[] {
  const workspaces = new Map(steps.map(({ claim }) => [claim.claimId, claim.workspaceId]))
  return receipts.map(({ claimId, issuedAt }) => {
    return {
      workspaceId: workspaces.get(claimId)!,
      type: 'claim.decided',
      at: issuedAt,
      subject: claimId,
      detail: null,
    }
  })
}

function isNew(step: Step): boolean {
  return step.isNew
}

function claimOf({ claim }: Step): NewClaim {
  return claim
}

function isSignerAway(error: unknown): boolean {
  return error instanceof SigningError && error.code === 'unavailable'
}

/** The check counts, and decides when it can be signed. */
function undecided(outcome: Outcome): Outcome {
  const at = outcome.at + UNSIGNED_RETRY_MS
  return { ...outcome, decided: undefined, next: { at, momentAt: at + UNSIGNED_YIELDS_MS }, isUnsigned: true }
}

/** True for an error that each step would have by itself, too. */
function failsAllSteps(error: unknown): boolean {
  return error instanceof StorageError || error instanceof ServiceError
}
