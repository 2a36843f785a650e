/** Moves a claim forward by one check: read, decide by the recorded history, and hand the outcome to the sequencer. */
import {
  type CheckRecord,
  type Decision,
  decide,
  evidenceText,
  type Instant,
  LARGEST_EVIDENCE_BYTES,
  nextCheckAt,
  type Rules,
  signedEvidence,
} from '@claimcheck/core'
import type { FastifyBaseLogger } from 'fastify'
import { settledWithin } from '../base/time-limit.ts'
import type { Config } from '../config/config.ts'
import type { Decided } from '../log/receipt-content.ts'
import type { Outcome, Sequencer } from '../log/sequencer.ts'
import type { Registry } from '../plugins/plugins.ts'
import type { ClaimRow } from '../storage/claim-row.ts'
import { laneOf } from '../storage/claims.ts'
import type { Storage } from '../storage/storage.ts'
import type { CheckRunner } from './check.ts'
import { UNSUPPORTED_RULES } from './intake.ts'
import { createSlots, type Release, type Slots } from './slots.ts'

export interface Adjudication {
  /**
   * Checks a new claim for the first time and stores it: with the outcome when that comes soon, else before, and the outcome
   * later. Where there is no room for another check, it is stored alone. Undefined, and nothing stored: there is a claim of its client_claim_id already.
   */
  first(claim: ClaimRow): Promise<FirstCheck | undefined>
  /** Checks the claim once and records the outcome. Rejects when it could not be recorded: the claim's lease runs out then. */
  advance(claim: ClaimRow, history: readonly CheckRecord[]): Promise<ClaimRow>
  /** Where checks run. */
  readonly slots: Slots
  /** The check of this claim that this host is making right now, if any. */
  underWay(claimId: string): Promise<ClaimRow | undefined> | undefined
  /** Until when a claim that is handed out at `now` is hidden from other workers. */
  leaseEnd(now: Instant): Instant
  /** Resolves when no check is under way. */
  idle(): Promise<void>
}

export interface FirstCheck {
  /** On disk. */
  readonly stored: ClaimRow
  /** As the first check leaves it; rejects when that could not be recorded. */
  readonly checked: Promise<ClaimRow>
}

interface AdjudicationOptions {
  readonly storage: Storage
  readonly registry: Registry
  readonly checkRunner: CheckRunner
  readonly sequencer: Sequencer
  readonly config: Pick<Config, 'checks'>
  readonly logger: Pick<FastifyBaseLogger, 'warn'>
}

// What recording an outcome may take on a slow disk, on top of the check itself. Short, so that a closing check whose host died
// is made again by another while it still counts.
const RECORDING_MS = 5_000
/** How long a new claim waits to be stored together with its first outcome. Until it is stored, nobody was told that it is. */
const STORE_AFTER_MS = 1_000
/** How long a claim that was handed out may wait for its slot: there was one when it was chosen. */
const SLOT_WAIT_MS = 2_000

export function createAdjudication(options: AdjudicationOptions): Adjudication {
  const { storage, registry, checkRunner, sequencer, logger } = options
  const { timeoutMs, concurrency, firstAnswerMs, ...closing } = options.config.checks
  const slots = createSlots(concurrency)
  const underWay = new Map<string, Promise<ClaimRow | undefined>>()

  const leaseEnd = (at: Instant) => at + timeoutMs + RECORDING_MS

  async function check(claim: ClaimRow, history: readonly CheckRecord[], release: Release): Promise<Outcome> {
    const record = await checkRunner.check(claim, history).finally(release)
    const rules = registry.verifierFor(claim.action, claim.profileVersion)?.verifier.profile ?? UNSUPPORTED_RULES
    const checks = [...history, record]
    const decision = decide(rules, claim, checks, record.answeredAt, closing)
    if (!decision) return { claim, record, decided: undefined, nextCheckAt: nextCheckAt(rules, claim, checks, closing) }
    return { claim, record, decided: conclude(claim, rules, checks, decision), nextCheckAt: null }
  }

  /** The decision with what it follows from, as receipts tell both. */
  function conclude(claim: ClaimRow, rules: Rules, checks: readonly CheckRecord[], decision: Decision): Decided {
    const profile = { action: claim.profileAction, version: claim.profileVersion }
    const decidedAt = checks.at(-1)!.answeredAt
    const evidence = evidenceText({ profile, rules, closing, claim, checks, decidedAt }, decision)
    const { facts, source } = signedEvidence(decision, checks)
    const isPublished = Buffer.byteLength(evidence) <= LARGEST_EVIDENCE_BYTES
    if (!isPublished) logger.warn({ claimId: claim.claimId }, 'the evidence is too large to be published')
    return { ...decision, facts, source, evidence: isPublished ? evidence : undefined }
  }

  async function record(outcome: Outcome): Promise<ClaimRow> {
    const { claim } = outcome
    // Another host was faster, or the claim was decided meanwhile: what it recorded stands.
    return (
      (await sequencer.advance(outcome)) ?? (await storage.read.claims.byId(claim.workspaceId, claim.claimId)) ?? claim
    )
  }

  async function checkFirst(claim: ClaimRow): Promise<FirstCheck | undefined> {
    const waitMs = Math.min(STORE_AFTER_MS, firstAnswerMs)
    const release = await slots.take(laneOf(claim), waitMs)
    // Its destination has no room: the worker checks it in its turn.
    if (!release) return (await sequencer.store(claim)) ? { stored: claim, checked: Promise.resolve(claim) } : undefined
    const checking = check(claim, [], release)
    const early = await settledWithin(checking, waitMs)
    if (early) {
      const stored = await sequencer.storeChecked(early)
      return stored && { stored, checked: Promise.resolve(stored) }
    }
    // Leased from the start: the queue takes it up only if this check is not finished.
    if (!(await sequencer.store({ ...claim, dueAt: leaseEnd(claim.submittedAt) }))) return undefined
    return { stored: claim, checked: checking.then(record) }
  }

  function track<T extends ClaimRow | undefined>(claimId: string, work: Promise<T>): Promise<T> {
    underWay.set(claimId, work)
    const done = () => underWay.delete(claimId)
    work.then(done, done)
    return work
  }

  return {
    first(claim) {
      const first = checkFirst(claim)
      track(
        claim.claimId,
        first.then((outcome) => outcome?.checked),
      )
      return first
    },
    async advance(claim, history) {
      const release = await slots.take(laneOf(claim), SLOT_WAIT_MS)
      // Left for the next lease.
      if (!release) return claim
      return track(claim.claimId, check(claim, history, release).then(record))
    },
    slots,
    underWay: (claimId) => underWay.get(claimId),
    leaseEnd,
    idle: async () => {
      await Promise.allSettled(underWay.values())
    },
  }
}
