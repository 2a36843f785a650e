/** Moves a claim forward by one check: read, decide by the recorded history, and hand the outcome to the sequencer. */
import { type CheckRecord, decide, type Instant, nextCheckAt } from '@claimcheck/core'
import type { Config } from '../config.ts'
import type { Registry } from '../plugins.ts'
import type { ClaimRow } from '../storage/claims.ts'
import type { Storage } from '../storage/storage.ts'
import type { CheckRunner } from './check.ts'
import { UNSUPPORTED_RULES } from './intake.ts'
import type { Sequencer } from './sequencer.ts'

export interface Adjudication {
  /** Checks the claim once and records the outcome. Rejects when it could not be recorded: the claim's lease runs out then. */
  advance(claim: ClaimRow, history: readonly CheckRecord[]): Promise<ClaimRow>
  /** There is room for another check; without, a claim is left to the worker. */
  hasRoom(): boolean
  /** The check of this claim that this host is making right now, if any. */
  underWay(claimId: string): Promise<ClaimRow> | undefined
  /** Until when a claim that is handed out at `now` is hidden from other workers. */
  leaseEnd(now: Instant): Instant
  /** Resolves when no check is under way. */
  idle(): Promise<void>
}

interface AdjudicationOptions {
  readonly storage: Storage
  readonly registry: Registry
  readonly checkRunner: CheckRunner
  readonly sequencer: Sequencer
  readonly config: Pick<Config, 'checks'>
}

// What recording an outcome may take on a slow disk, on top of the check itself. Short, so that a closing check whose host died
// is made again by another while it still counts.
const RECORDING_MS = 5_000
/** How many claims may be checked for each of the worker's places, those of submissions included. */
const CHECKS_PER_PLACE = 4

export function createAdjudication(options: AdjudicationOptions): Adjudication {
  const { storage, registry, checkRunner, sequencer } = options
  const { timeoutMs, concurrency, ...closing } = options.config.checks
  const checks = new Map<string, Promise<ClaimRow>>()

  async function checkOnce(claim: ClaimRow, history: readonly CheckRecord[]): Promise<ClaimRow> {
    const record = await checkRunner.check(claim, history)
    const rules = registry.verifierFor(claim.action)?.verifier.profile ?? UNSUPPORTED_RULES
    const seen = [...history, record]
    const decision = decide(rules, claim, seen, record.answeredAt, closing)
    const next = decision ? null : nextCheckAt(rules, claim, seen, closing)
    const recorded = await sequencer.add({ claim, record, decision, nextCheckAt: next })
    // Another host was faster, or the claim was decided meanwhile: what it recorded stands.
    return recorded ?? (await storage.read.claims.byId(claim.workspaceId, claim.claimId)) ?? claim
  }

  return {
    advance(claim, history) {
      const check = checkOnce(claim, history).finally(() => checks.delete(claim.claimId))
      checks.set(claim.claimId, check)
      return check
    },
    hasRoom: () => checks.size < CHECKS_PER_PLACE * concurrency,
    underWay: (claimId) => checks.get(claimId),
    leaseEnd: (now) => now + timeoutMs + RECORDING_MS,
    idle: async () => {
      await Promise.allSettled(checks.values())
    },
  }
}
