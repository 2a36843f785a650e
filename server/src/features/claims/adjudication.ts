/** Advances a claim by one check: runs the check, decides by all recorded checks, and passes the outcome to the sequencer. */

import { evidenceText, LARGEST_EVIDENCE_BYTES, signedEvidence } from '@claimcheck/core/receipts'
import {
  type CheckRecord,
  type Decision,
  decide,
  hintedRecord,
  type Instant,
  isRead,
  nextCheck,
  type Rules,
  toleranceEnd,
} from '@claimcheck/core/rules'
import type { FastifyBaseLogger } from 'fastify'
import { settledWithin } from '../../base/time-limit.ts'
import type { Attributes, Tracing } from '../../base/tracing.ts'
import type { Clock } from '../../clock/clock.ts'
import type { Registry } from '../../plugins/registry.ts'
import type { ClaimRow, NewClaim } from '../../storage/claim-row.ts'
import { laneOf } from '../../storage/claims.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Decided } from '../log/receipt-content.ts'
import type { Outcome, Sequencer } from '../log/sequencer.ts'
import type { Holders } from '../workspaces/holders.ts'
import type { Admission, Entry } from './admission.ts'
import { type CheckRunner, checkTime, HINT_MARGIN_MS } from './check.ts'
import type { ClaimsConfig } from './config.ts'
import type { Decisions } from './decisions.ts'
import { judgeOf } from './destination.ts'
import { UNSUPPORTED_RULES } from './intake.ts'
import type { Lateness } from './lateness.ts'
import type { ProfileSettings } from './profile-settings.ts'
import type { Watches } from './watches.ts'

export interface FirstCheck {
  /** The claim as it is on disk. */
  readonly stored: ClaimRow
  /** The claim after the first check, if that still runs; rejects when the outcome cannot be stored. */
  readonly checked?: Promise<ClaimRow>
}

interface FirstReading {
  readonly claim: NewClaim
  readonly record: Promise<CheckRecord | undefined>
}

/** A claim with the rules by which it is judged. */
interface Judged {
  readonly claim: NewClaim
  /** The rules that judge the claim; undefined where its plugin is away, and none are stored. */
  readonly rules: Rules | undefined
}

/** The outcome of a look on a hint. */
export interface HintedLook {
  /** The claim as it was stored; undefined where nothing was. */
  readonly stored?: ClaimRow | undefined
  /** The time until which a destination that refused the read asked to be left alone. */
  readonly retryAt?: Instant | undefined
}

interface AdjudicationOptions {
  readonly storage: Storage
  readonly registry: Registry
  readonly profileSettings: Pick<ProfileSettings, 'keep' | 'rulesOf'>
  readonly checkRunner: CheckRunner
  readonly sequencer: Sequencer
  readonly admission: Admission
  readonly watches: Watches
  readonly holders: Pick<Holders, 'namesOf'>
  readonly lateness: Pick<Lateness, 'note'>
  readonly decisions: Decisions
  readonly tracing: Tracing
  readonly clock: Pick<Clock, 'doubt' | 'turn'>
  readonly now: () => Instant
  readonly config: Pick<ClaimsConfig, 'checks'>
  readonly logger: Pick<FastifyBaseLogger, 'warn'>
}

// The time for storing an outcome on a slow disk, after the check itself. It is short, so that after the death of a host another host
// repeats a settings check while it still counts.
const STORING_MS = 5_000
/** The time for which a new claim waits to be stored together with its first outcome. Its submission is not answered before it is stored. */
const STORE_AFTER_MS = 1_000

/** The time for which a new claim waits, in all, for connections that read the same place and refuse it, or fail. */
const CHOOSING_MS = 3_000
/** The most connections that are tried for one claim, each of which asks the destination. */
const MOST_CHOICES = 4

export type Adjudication = ReturnType<typeof createAdjudication>

export function createAdjudication({
  storage,
  registry,
  profileSettings,
  checkRunner,
  sequencer,
  admission,
  watches,
  holders,
  lateness,
  decisions,
  tracing,
  clock,
  now,
  config: { checks: settings },
  logger,
}: AdjudicationOptions) {
  /** The checks that this host is running, by claim. */
  const running = new Map<string, Promise<ClaimRow | undefined>>()
  /** The looks on hints that this host is making. */
  const hinted = new Set<Promise<unknown>>()

  function leaseEnd(at: Instant): Instant {
    return at + settings.timeoutMs + STORING_MS
  }

  async function checkFirst(planned: NewClaim, alike: readonly string[]): Promise<FirstCheck | undefined> {
    const reading = await readFirst(planned, alike)
    if (!reading) return (await sequencer.store(planned)) ? { stored: planned } : undefined
    const { claim } = reading
    const checking = reading.record.then(
      async (record) => record && judge({ claim, rules: await rulesFor(claim) }, [], record),
    )
    const early = await settledWithin(checking, Math.min(STORE_AFTER_MS, settings.firstAnswerMs))
    if (early) {
      const stored = await sequencer.storeChecked(early)
      if (!stored) return undefined
      decisions.stored(stored)
      return { stored }
    }
    // A lease is stored with the claim, so that the recheck worker takes it only when this check does not finish.
    if (!(await sequencer.store({ ...claim, dueAt: leaseEnd(claim.submittedAt) }))) return undefined
    return { stored: claim, checked: checking.then((outcome) => (outcome ? store(outcome) : claim)) }
  }

  /** Begins the first read; undefined without a free slot. A refusal by other connections than the claim's is no check of it. */
  async function readFirst(planned: NewClaim, alike: readonly string[]): Promise<FirstReading | undefined> {
    const { claimId, target, deadlineAt } = planned
    const until = now() + Math.min(CHOOSING_MS, settings.firstAnswerMs)
    let own: FirstReading | undefined
    for (const connectionId of [planned.connectionId, ...alike].slice(0, MOST_CHOICES)) {
      const claim = { ...planned, connectionId }
      const entry = admission.enter({ claimId, target, lane: laneOf(claim), deadlineAt }, 'first')
      if (!entry) continue
      const reading = { claim, record: read(claim, [], entry) }
      own ??= reading
      if (alike.length === 0) break
      const record = await settledWithin(reading.record, Math.max(until - now(), 0))
      if (record && isRead(record)) return reading
      if (now() >= until) break
    }
    return own
  }

  async function advance(claim: ClaimRow, history: readonly CheckRecord[], entry: Entry) {
    if (claim.unsigned === 1) {
      const recorded = await recordedOutcome(claim, history).catch((error: unknown) => {
        entry.end(undefined)
        throw error
      })
      if (recorded) {
        entry.end(undefined)
        // Nothing is signed while the time is in doubt; and a decided claim is not read again.
        return clock.doubt() === undefined ? store(recorded) : undefined
      }
    }
    const { shared } = entry
    const record = await (shared ? timed(() => share(claim, shared, entry)) : read(claim, history, entry))
    if (!record) return undefined
    const judged = { claim, rules: await rulesFor(claim) }
    const outcome = await judge(judged, history, record)
    return outcome && store(await watch(judged, [...history, record], outcome))
  }

  /** Watches a claim if that brings the next look forward, and ends the watch when the tolerance is over. */
  async function watch({ claim, rules }: Judged, checks: readonly CheckRecord[], outcome: Outcome): Promise<Outcome> {
    const { at, next } = outcome
    if (!rules || !next) return outcome
    if (claim.watched === 1)
      return at < toleranceEnd(rules, claim) ? outcome : { ...outcome, claim: { ...claim, watched: 0 } }
    const close = nextCheck(rules, claim, checks, settings, true)
    if (close.at >= next.at || !(await watches.take(claim))) return outcome
    return { ...outcome, claim: { ...claim, watched: 1 }, next: close }
  }

  /** Looks at a claim beside its schedule. */
  async function lookOnHint(claim: ClaimRow, history: readonly CheckRecord[], entry: Entry): Promise<HintedLook> {
    const { nextCheckAt, momentAt } = claim
    const seen = await read(claim, history, entry)
    const rules = await rulesFor(claim)
    if (seen && !isRead(seen)) return { retryAt: seen.failure.retryAt }
    const record = seen && rules && hintedRecord(claim, seen)
    // A check of the schedule that is due by now must not find that the claim has changed.
    if (!record || now() >= nextCheckAt! - HINT_MARGIN_MS) return {}
    const outcome = await judge({ claim, rules }, history, record)
    const isOpen = outcome && !outcome.decided
    if (!outcome) return {}
    return { stored: await store(isOpen ? { ...outcome, next: { at: nextCheckAt!, momentAt: momentAt! } } : outcome) }
  }

  async function read(
    claim: ClaimRow,
    history: readonly CheckRecord[],
    entry: Entry,
  ): Promise<CheckRecord | undefined> {
    const span = tracing.begin('check', { parent: claim.traceparent })
    let record: CheckRecord | undefined
    try {
      record = await timed(() => checkRunner.check(claim, history, entry.kind))
      return record
    } finally {
      entry.end(record)
      if (tracing.isOn) span.end(...endOfCheck(claim, history, record))
    }
  }

  /** Records a check by the outcome of another one; undefined when that one was answered, so that this claim has to be read. */
  async function share(claim: ClaimRow, shared: Promise<boolean>, entry: Entry): Promise<CheckRecord | undefined> {
    const sentAt = now()
    // A try that still goes on has not answered when this check's time is over.
    const hung = (await settledWithin(shared, checkTime(claim, sentAt, settings.timeoutMs))) ?? true
    entry.end(undefined)
    return hung ? { sentAt, answeredAt: Math.max(sentAt, now()), failure: { code: 'timeout' } } : undefined
  }

  /** Makes a check; undefined when the clock changed meanwhile: its times are no evidence. */
  async function timed(check: () => Promise<CheckRecord | undefined>): Promise<CheckRecord | undefined> {
    const turn = clock.turn()
    const record = await check()
    return clock.turn() === turn ? record : undefined
  }

  /** Finds the rules that a claim was submitted under, also while the plugin that brought them is away. */
  async function rulesFor(claim: NewClaim): Promise<Rules | undefined> {
    const profile = judgeOf(registry, claim)?.verifier.profile
    if (!profile) return claim.access === 'unsupported_action' ? UNSUPPORTED_RULES : profileSettings.rulesOf(claim)
    // Another host may have taken the claim, under settings that are not this host's.
    await profileSettings.keep(profile)
    return profile
  }

  /** Decides by all checks; undefined while the time is in doubt, when the times of the check are no evidence. */
  async function judge(
    { claim, rules }: Judged,
    history: readonly CheckRecord[],
    record: CheckRecord,
  ): Promise<Outcome | undefined> {
    if (clock.doubt() !== undefined) return undefined
    lateness.note(claim, history, record)
    decisions.checked(claim, record)
    const checks = [...history, record]
    const at = record.answeredAt
    // Only its plugin's rules judge a read. Without them the claim waits, and ends as one for which nothing was read.
    const judged = rules ? checks : checks.filter((check) => !isRead(check))
    const decision = decide(rules ?? UNSUPPORTED_RULES, claim, judged, at, settings)
    const next = decision ? null : nextCheck(rules ?? UNSUPPORTED_RULES, claim, judged, settings, claim.watched === 1)
    const decided = decision && (await conclude({ claim, rules }, checks, decision))
    return { claim, record, at, decided, next }
  }

  /**
   * Repeats the decision that the last recorded check led to, and that could not be signed: another read could lead to another one, where the
   * destination changed meanwhile. A decision that other settings would make of the same checks does not count: the claim is read first.
   */
  async function recordedOutcome(claim: ClaimRow, history: readonly CheckRecord[]): Promise<Outcome | undefined> {
    const rules = await rulesFor(claim)
    const last = history.at(-1)
    const decision = rules && last && decide(rules, claim, history, last.answeredAt, settings)
    if (!decision) return undefined
    const decided = await conclude({ claim, rules }, history, decision)
    return { claim, record: undefined, at: Math.max(now(), last.answeredAt), decided, next: null }
  }

  /** Adds to a decision what its receipt says of the checks behind it. */
  async function conclude(
    { claim, rules: known }: Judged,
    checks: readonly CheckRecord[],
    decision: Decision,
  ): Promise<Decided> {
    const profile = { action: claim.profileAction, version: claim.profileVersion }
    const rules = known ?? UNSUPPORTED_RULES
    const decidedAt = checks.at(-1)!.answeredAt
    const evidence = evidenceText({ profile, rules, closing: settings, claim, checks, decidedAt }, decision)
    const { facts, source } = signedEvidence(decision, checks)
    const isSmall = Buffer.byteLength(evidence) <= LARGEST_EVIDENCE_BYTES
    if (!isSmall) logger.warn({ claimId: claim.claimId }, 'the evidence is too large to be published')
    // Without rules that judged them, published reads would be evidence for another verdict.
    const isPublished = isSmall && (known !== undefined || !checks.some(isRead))
    const agentNames = claim.agentBound === 1 ? await holders.namesOf(claim.workspaceId, claim.agentId) : undefined
    return { ...decision, facts, source, evidence: isPublished ? evidence : undefined, agentNames }
  }

  async function store(outcome: Outcome): Promise<ClaimRow> {
    const { claim } = outcome
    const stored = await sequencer.advance(outcome)
    if (stored) {
      decisions.stored(stored)
      return stored
    }
    // Another host stored an outcome first: that one counts.
    return (await storage.read.claims.byId(claim.workspaceId, claim.claimId)) ?? claim
  }

  function track<T extends ClaimRow | undefined>(claimId: string, work: Promise<T>): Promise<T> {
    running.set(claimId, work)
    const done = () => running.get(claimId) === work && running.delete(claimId)
    work.then(done, done)
    return work
  }

  return {
    /**
     * Stores a new claim and checks it for the first time. Stores both together when the check is fast; else stores the claim first and the outcome
     * later. Without a free slot it stores the claim as due, and the recheck worker checks it. Returns undefined, and stores nothing, when the
     * database refuses it (`mayBeStored`).
     * @param alike other connections that read the same place, oldest first: the claim is stored with the first one that reads its target, and keeps
     * it. If none does, or there is no slot or answer, it is stored with its own
     */
    first(claim: NewClaim, alike: readonly string[]): Promise<FirstCheck | undefined> {
      const first = checkFirst(claim, alike)
      track(
        claim.claimId,
        first.then((outcome) => outcome?.checked ?? outcome?.stored),
      )
      return first
    },
    /**
     * Checks the claim once, as it was admitted, and stores the outcome. A claim that its recorded checks decide, because that could not be signed
     * before, is not checked again. Undefined when no check was made, or the time came in doubt meanwhile: the claim is due as before. Rejects when
     * it cannot store the outcome; the claim is then due again when its lease ends.
     */
    advance: (claim: ClaimRow, history: readonly CheckRecord[], entry: Entry) =>
      track(claim.claimId, advance(claim, history, entry)),
    /**
     * Looks once at a claim whose next check is not due yet, as it was admitted, and stores what the look saw, if that counts. The schedule of the
     * claim stays.
     */
    lookOnHint(claim: ClaimRow, history: readonly CheckRecord[], entry: Entry): Promise<HintedLook> {
      const look = lookOnHint(claim, history, entry)
      hinted.add(look)
      const done = () => hinted.delete(look)
      look.then(done, done)
      return look
    },
    /** Returns the check of this claim that this host is running now, if any. */
    runningCheck: (claimId: string) => running.get(claimId),
    /** Returns the end of the lease of a claim that a worker takes at `at`. */
    leaseEnd,
    /** Resolves when no check is running. */
    idle: async (): Promise<void> => {
      await Promise.allSettled([...running.values(), ...hinted])
    },
  }
}

/** Describes a check in its span, without target and params: readers of traces may not be readers of claims. */
function endOfCheck(
  { claimId, profileAction }: ClaimRow,
  { length }: readonly CheckRecord[],
  record: CheckRecord | undefined,
): [Attributes, boolean] {
  const isAnswered = record !== undefined && isRead(record)
  const outcome = isAnswered ? 'read' : (record?.failure.code ?? 'discarded')
  const names = { 'claimcheck.claim_id': claimId, 'claimcheck.action': profileAction }
  return [{ ...names, 'claimcheck.attempt': length + 1, 'claimcheck.outcome': outcome }, !isAnswered]
}
