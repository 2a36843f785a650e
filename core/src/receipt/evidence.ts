/** The evidence of a receipt as a document, with everything that its verdict follows from, so that anyone can recompute the verdict. */
import type { DeepReadonly } from '../api/primitives.ts'
import type { Evidence } from '../api/receipt.ts'
import {
  type CheckRecord,
  type Failure,
  type Instant,
  isRead,
  type LogTime,
  type ReadRecord,
  type Source,
  type Stay,
} from '../evidence.ts'
import type { JsonObject } from '../json.ts'
import { FRESH_MS, type Rules } from '../profile.ts'
import { freshnessOf, isFreshBy } from '../rules/freshness.ts'
import { formatInstant, parseInstant } from '../time.ts'
import type { ClaimTimes, Closing, Decision } from '../verdict.ts'
import { toWireSource, type WireSource } from './body.ts'
import { canonicalize } from './jcs.ts'

/** Bytes of the largest evidence that is published. */
export const LARGEST_EVIDENCE_BYTES = 256 * 1024

export type EvidenceDocument = DeepReadonly<Evidence>
type WireCheck = EvidenceDocument['checks'][number]
type WireFailure = Extract<WireCheck, { readonly failure: unknown }>['failure']
type EvidenceRead = Exclude<WireCheck, { readonly failure: unknown }>
type WireStay = NonNullable<EvidenceRead['stays']>[number]
type WireLogTime = WireStay['appeared']

/** The versions of the form, chosen by the rules: those of version 2 need to know whether the claim was fresh. */
export const EVIDENCE_VERSIONS = [1, 2] as const
export type EvidenceVersion = (typeof EVIDENCE_VERSIONS)[number]

export function evidenceVersionOf(rulesVersion: number): EvidenceVersion {
  return rulesVersion === 1 ? 1 : 2
}

/** The input of a verdict. */
export interface Case {
  readonly profile: { readonly action: string; readonly version: string }
  readonly rules: Rules
  readonly closing: Closing
  readonly claim: ClaimTimes & { readonly claimDigest: string }
  readonly checks: readonly CheckRecord[]
  readonly decidedAt: Instant
}

/** The part of the checks that a receipt signs. */
interface SignedEvidence {
  readonly observedAt: Instant
  readonly facts: JsonObject
  readonly source: Source | undefined
}

/** The facts and the source of the check that the verdict rests on; if it failed, those of the last read, with the failure. */
export function signedEvidence({ basis }: Pick<Decision, 'basis'>, checks: readonly CheckRecord[]): SignedEvidence {
  const observedAt = basis.answeredAt
  if (isRead(basis)) return { observedAt, facts: basis.observation.facts, source: basis.source }
  const { code, status, connectionRemoved } = basis.failure
  const seen = checks.findLast(isRead)
  const removed = connectionRemoved ? { connection_removed: true } : {}
  const facts = { ...seen?.observation.facts, ...removed, error: code, ...(status === undefined ? {} : { status }) }
  return { observedAt, facts, source: seen?.source }
}

/** The evidence in canonical JSON, whose SHA-256 the receipt signs. */
export function evidenceText(decided: Case, decision: Pick<Decision, 'basis'>): string {
  return canonicalize(evidenceDocument(decided, decision))
}

function evidenceDocument(
  { profile, rules, closing, claim, checks, decidedAt }: Case,
  { basis }: Pick<Decision, 'basis'>,
): EvidenceDocument {
  const lastRead = checks.findLast(isRead)
  const version = evidenceVersionOf(rules.rulesVersion)
  // The members here and below are in canonical order, so that nothing has to be sorted.
  return {
    checks: checks.map((check) => toWireCheck(check, version, check === basis || check === lastRead)),
    claim: {
      claim_digest: claim.claimDigest,
      claimed_at: formatInstant(claim.claimedAt),
      deadline_at: formatInstant(claim.deadlineAt),
      ...(version === 1 ? {} : toWireFreshness(rules, claim)),
      submitted_at: formatInstant(claim.submittedAt),
    },
    decided_at: formatInstant(decidedAt),
    evidence_version: version,
    profile: { action: profile.action, version: profile.version },
    rules: {
      age_ms: rules.ageMs ?? 0,
      closing_ms: closing.closingMs,
      fresh_ms: rules.freshMs ?? FRESH_MS,
      grace_ms: closing.graceMs,
      ...(rules.neverLate ? { never_late: true as const } : {}),
      removed_within_ms: rules.removedWithinMs ?? 0,
      required: rules.required,
      tolerance_ms: rules.toleranceMs,
    },
    rules_version: rules.rulesVersion,
  }
}

function toWireFreshness(rules: Rules, claim: ClaimTimes) {
  const freshBy = claim.freshBy ?? freshnessOf(rules, claim)
  return { fresh: isFreshBy(freshBy), fresh_by: freshBy }
}

function toWireCheck(check: CheckRecord, version: EvidenceVersion, withFacts: boolean): WireCheck {
  const sentAt = formatInstant(check.sentAt)
  const answeredAt = formatInstant(check.answeredAt)
  if (!isRead(check))
    return { answered_at: answeredAt, failure: toWireFailure(check.failure, version), sent_at: sentAt }
  const { observation, clockOffsetMs, dated = false, ageMs = 0, source, answers, clockAheadMs, clockSetMs } = check
  const { kind, facts, mark, stays } = observation
  return {
    age_ms: ageMs,
    answered_at: answeredAt,
    ...(version === 1 || answers === undefined ? {} : { answers }),
    ...(version === 1 || clockAheadMs === undefined ? {} : { clock_ahead_ms: clockAheadMs }),
    clock_offset_ms: clockOffsetMs,
    ...(version === 1 || clockSetMs === undefined ? {} : { clock_set_ms: clockSetMs }),
    dated,
    ...(observation.kind === 'present' ? { differs: observation.differs } : {}),
    ...(withFacts ? { facts } : {}),
    kind,
    ...(mark === undefined ? {} : { mark }),
    sent_at: sentAt,
    ...(source ? { source: toWireSource(source) } : {}),
    ...(stays === undefined ? {} : { stays: stays.map(toWireStay) }),
  }
}

function toWireFailure({ code, status, retryAt, connectionRemoved }: Failure, version: EvidenceVersion): WireFailure {
  return {
    code,
    ...(version === 1 || connectionRemoved === undefined ? {} : { connection_removed: true as const }),
    ...(retryAt === undefined ? {} : { retry_at: formatInstant(retryAt) }),
    ...(status === undefined ? {} : { status }),
  }
}

function toWireStay({ appeared, removed, removedWhole }: Stay): WireStay {
  return {
    appeared: toWireLogTime(appeared),
    ...(removed ? { removed: toWireLogTime(removed) } : {}),
    ...(removedWhole === undefined ? {} : { removed_whole: removedWhole }),
  }
}

function toWireLogTime({ notBefore, notAfter }: LogTime): WireLogTime {
  return {
    not_after: formatInstant(notAfter),
    ...(notBefore === undefined ? {} : { not_before: formatInstant(notBefore) }),
  }
}

/** Reads the input of a verdict from its evidence. @param document a document of valid form, its times included */
export function caseOf(document: EvidenceDocument): Case {
  const { profile, rules, claim } = document
  return {
    profile,
    rules: {
      rulesVersion: document.rules_version,
      required: rules.required,
      toleranceMs: rules.tolerance_ms,
      ageMs: rules.age_ms,
      removedWithinMs: rules.removed_within_ms,
      freshMs: rules.fresh_ms,
      ...(rules.never_late ? { neverLate: true as const } : {}),
    },
    closing: { closingMs: rules.closing_ms, graceMs: rules.grace_ms },
    claim: {
      claimDigest: claim.claim_digest,
      claimedAt: instant(claim.claimed_at),
      deadlineAt: instant(claim.deadline_at),
      submittedAt: instant(claim.submitted_at),
      ...(claim.fresh_by === undefined ? {} : { freshBy: claim.fresh_by }),
    },
    checks: document.checks.map(fromWireCheck),
    decidedAt: instant(document.decided_at),
  }
}

function fromWireCheck(check: WireCheck): CheckRecord {
  const sentAt = instant(check.sent_at)
  const answeredAt = instant(check.answered_at)
  if ('failure' in check) return { sentAt, answeredAt, failure: fromWireFailure(check.failure) }
  const { clock_offset_ms, dated, age_ms, source, kind, differs, mark, stays, facts = {} } = check
  const { answers, clock_ahead_ms, clock_set_ms } = check
  const observed = {
    facts,
    ...(mark === undefined ? {} : { mark }),
    ...(stays === undefined ? {} : { stays: stays.map(fromWireStay) }),
  }
  const observation: ReadRecord['observation'] =
    kind === 'absent' ? { kind, ...observed } : { kind, differs: differs ?? [], ...observed }
  return {
    sentAt,
    answeredAt,
    observation,
    clockOffsetMs: clock_offset_ms,
    dated,
    ageMs: age_ms,
    ...(source ? { source: fromWireSource(source as WireSource) } : {}),
    ...(answers === undefined ? {} : { answers }),
    ...(clock_ahead_ms === undefined ? {} : { clockAheadMs: clock_ahead_ms }),
    ...(clock_set_ms === undefined ? {} : { clockSetMs: clock_set_ms }),
  }
}

function fromWireFailure({ code, status, retry_at, connection_removed }: WireFailure): Failure {
  return {
    code,
    ...(connection_removed === undefined ? {} : { connectionRemoved: true as const }),
    ...(status === undefined ? {} : { status }),
    ...(retry_at === undefined ? {} : { retryAt: instant(retry_at) }),
  }
}

function fromWireStay({ appeared, removed, removed_whole }: WireStay): Stay {
  return {
    appeared: fromWireLogTime(appeared),
    ...(removed ? { removed: fromWireLogTime(removed) } : {}),
    ...(removed_whole === undefined ? {} : { removedWhole: removed_whole }),
  }
}

function fromWireLogTime({ not_before, not_after }: WireLogTime): LogTime {
  return { notAfter: instant(not_after), ...(not_before === undefined ? {} : { notBefore: instant(not_before) }) }
}

function fromWireSource(source: WireSource): Source {
  return 'base_url' in source
    ? { provider: source.provider, listed: source.listed, baseUrl: source.base_url }
    : { provider: source.provider, listed: false, sourceId: source.source_id }
}

/** Reads a time of a document whose form was checked. */
function instant(text: string): Instant {
  return parseInstant(text)!
}
