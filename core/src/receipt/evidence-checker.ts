/** Checks that a receipt's verdict follows from its evidence. It cannot show that no check was left out. */
import { utf8 } from '../encoding.ts'
import { type CheckRecord, FAILURE_CODES, isRead, MARKS, type ReadRecord } from '../evidence.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts'
import { ACTION_PATTERN, FRESH_MS, type Rules } from '../profile.ts'
import { type Contradiction, contradictionOf, type Expected, type Said } from '../rules/consistency.ts'
import { decide, knowsRules } from '../rules/decide.ts'
import { CLOCK_SKEW_MS, canBeFreshBy, isFreshBy } from '../rules/freshness.ts'
import { toleranceEnd } from '../rules/moments.ts'
import { formatInstant, parseInstant } from '../time.ts'
import { type Closing, type Decision, FRESH_REASONS } from '../verdict.ts'
import { toWireInterval, toWireSource } from './body.ts'
import { sha256Text } from './digest.ts'
import {
  type Case,
  caseOf,
  EVIDENCE_VERSIONS,
  type EvidenceDocument,
  type EvidenceVersion,
  evidenceVersionOf,
  LARGEST_EVIDENCE_BYTES,
  signedEvidence,
} from './evidence.ts'
import { canonicalize } from './jcs.ts'
import { array, closedObject, either, integer, matching, object, oneOf, type Shape, text } from './shape.ts'
import { integerJson } from './strict-json.ts'

export type EvidenceFinding =
  /** `absent`: the receipt names no evidence. */
  | { readonly evidence: 'absent' }
  /** `not_checked`: no evidence was given, or its rules are of a version that this library does not know. */
  | { readonly evidence: 'not_checked' }
  /** `digest_differs`: the file is not the one that the receipt names. */
  | { readonly evidence: 'digest_differs' }
  | {
      readonly evidence: 'does_not_follow'
      /** Parts that do not agree with the signed body: `form`, or a member's name. */
      readonly differs: readonly string[]
    }
  | { readonly evidence: 'follows'; readonly rules: 'published' | 'unknown' | 'differs' }

/** The rules of a profile as the service publishes them. */
export interface PublishedProfile extends Rules, Expected {
  readonly maxDeadlineMs: number
  readonly closing: Closing
  /** Other rules by which the service judged claims of this profile. */
  readonly others?: readonly PublishedProfile[]
}

/** Finds the rules of a profile; `undefined` if the reader knows none. */
export type PublishedRules = (action: string, version: string) => PublishedProfile | undefined

/**
 * Checks a verdict against its evidence.
 *
 * @param body a receipt's body, checked already
 * @param evidence the text of the file; undefined if there is none
 */
export function checkEvidence(
  body: JsonObject,
  evidence: string | undefined,
  publishedRules: PublishedRules = () => undefined,
): EvidenceFinding {
  const { observation } = body
  const digest = observation !== undefined && isJsonObject(observation) ? observation.evidence_digest : undefined
  if (digest === undefined) return { evidence: 'absent' }
  if (evidence === undefined) return { evidence: 'not_checked' }
  if (digest !== sha256Text(evidence)) return { evidence: 'digest_differs' }
  const isSmall = utf8(evidence).length <= LARGEST_EVIDENCE_BYTES
  const value = isSmall ? integerJson(evidence) : undefined
  if (isOfUnknownVersion(value)) return { evidence: 'not_checked' }
  if (!isDocument(value)) return { evidence: 'does_not_follow', differs: ['form'] }
  const document = value as unknown as EvidenceDocument
  const published = rulesNamedBy(document, publishedRules(document.profile.action, document.profile.version))
  const differs = tryDifferences(body, document, published)
  if (differs.length > 0) return { evidence: 'does_not_follow', differs }
  return { evidence: 'follows', rules: compareRules(document, published) }
}

/** Tells whether a version is unknown. It is asked before the form, which another version may change. */
function isOfUnknownVersion(value: JsonValue | undefined): boolean {
  if (!isVersioned(value)) return false
  const { evidence_version, rules_version } = value as EvidenceDocument
  return !EVIDENCE_VERSIONS.includes(evidence_version) || !knowsRules(rules_version)
}

/** Compares as `differences`. Times in a hostile document can lead to moments that no timestamp expresses. */
function tryDifferences(
  body: JsonObject,
  document: EvidenceDocument,
  published: PublishedProfile | undefined,
): string[] {
  try {
    return differences(body, document, published)
  } catch (error) {
    if (error instanceof RangeError) return ['form']
    throw error
  }
}

/** Names the members of the signed body that the evidence contradicts. */
function differences(body: JsonObject, document: EvidenceDocument, published: PublishedProfile | undefined): string[] {
  const decided = caseOf(document)
  const decision = decide(decided.rules, decided.claim, decided.checks, decided.decidedAt, decided.closing)
  if (!decision) return ['verdict']
  const { observedAt, facts, source } = signedEvidence(decision, decided.checks)
  const { value, reasonCode } = decision.verdict
  const last = decided.checks.at(-1)!
  const claim = body.claim as JsonObject
  const observation = body.observation as JsonObject
  const said: Readonly<Record<string, readonly [JsonValue | undefined, JsonValue | undefined]>> = {
    'claim.claim_digest': [claim.claim_digest, document.claim.claim_digest],
    'claim.claimed_at': [claim.claimed_at, document.claim.claimed_at],
    'observation.deadline_at': [observation.deadline_at, document.claim.deadline_at],
    'observation.verifier.id': [(observation.verifier as JsonObject).id, document.profile.action],
    'observation.verifier.version': [(observation.verifier as JsonObject).version, document.profile.version],
    'observation.attempts': [observation.attempts, decided.checks.length],
    'observation.observed_at': [observation.observed_at, formatInstant(observedAt)],
    'observation.facts': [observation.facts, facts],
    'observation.source': [observation.source, source && toWireSource(source)],
    'observation.appeared': [observation.appeared, decision.appeared && toWireInterval(decision.appeared)],
    'verdict.value': [(body.verdict as JsonObject).value, value],
    'verdict.reason_code': [(body.verdict as JsonObject).reason_code, reasonCode],
    ...(decided.rules.rulesVersion === 1
      ? {}
      : { 'observation.largest_gap_ms': [observation.largest_gap_ms, decision.largestGapMs] as const }),
  }
  const isOnePlace = isOfOnePlace(decided.checks)
  const differing = Object.entries(said).filter(
    ([name, [signed, shown]]) => !isSame(signed, shown) || (name === 'observation.source' && !isOnePlace),
  )
  const isInOrder =
    isOrdered(decided) &&
    // A decision follows the last check at once: waiting until the time is over would be another decision.
    last.answeredAt === decided.decidedAt &&
    decided.decidedAt <= parseInstant(String(body.issued_at))!
  return [
    ...differing.map(([name]) => name),
    ...(isInOrder ? [] : ['order']),
    ...(goesOn(decided, decision) ? ['checks'] : []),
    ...(isAsOldAsPublished(decided) ? [] : ['age_ms']),
    ...timeDifferences(decided),
    ...(published ? publishedDifferences(decided, published) : []),
    ...contradictions(claim, decided, decision, document, published),
  ]
}

function isOrdered({ claim, checks }: Case): boolean {
  return checks.every(
    ({ sentAt, answeredAt }, index) =>
      sentAt <= answeredAt && sentAt >= (index === 0 ? claim.submittedAt : checks[index - 1]!.sentAt),
  )
}

/**
 * Tells whether an earlier check decided, as in the evidence of a host that goes on until it likes the verdict. Up to version 1 of the rules, a
 * host looked again if it could not sign. A time to wait that is configured shorter later may have ended before a look that was made.
 */
function goesOn({ rules, claim, checks, closing }: Case, { verdict }: Decision): boolean {
  const isStrict = rules.rulesVersion > 1
  const waiting = isStrict ? { ...closing, graceMs: Number.MAX_SAFE_INTEGER } : closing
  return checks.slice(0, -1).some(({ answeredAt }, index) => {
    const earlier = decide(rules, claim, checks.slice(0, index + 1), answeredAt, waiting)?.verdict
    if (earlier === undefined) return false
    return isStrict || earlier.value !== verdict.value || earlier.reasonCode !== verdict.reasonCode
  })
}

/** Tells whether no read is younger than the profile says, because no host takes an answer for younger. */
function isAsOldAsPublished({ rules: { ageMs: least = 0 }, checks }: Case): boolean {
  return checks.every((check) => !isRead(check) || (check.ageMs ?? 0) >= least)
}

/** Names the times of a claim that no intake takes, or of which it says otherwise. */
function timeDifferences({ rules, claim }: Case): string[] {
  const { claimedAt, submittedAt, deadlineAt, freshBy } = claim
  if (rules.rulesVersion === 1) return []
  return [
    ...(claimedAt > submittedAt + CLOCK_SKEW_MS ? ['claim.claimed_at'] : []),
    ...(deadlineAt <= toleranceEnd(rules, claim) ? ['observation.deadline_at'] : []),
    ...(freshBy && !canBeFreshBy(rules, claim, freshBy) ? ['claim.fresh'] : []),
  ]
}

function publishedDifferences({ claim, rules }: Case, published: PublishedProfile): string[] {
  const { maxDeadlineMs, required, neverLate = false } = published
  const isTooLate = claim.deadlineAt - claim.claimedAt > maxDeadlineMs
  // Settings change lengths of time, and neither the compared fields nor whether an outcome can be late.
  const isOfAction = isSame(required, rules.required) && neverLate === (rules.neverLate ?? false)
  return [
    ...(isTooLate ? ['observation.deadline_at'] : []),
    ...(rules.rulesVersion === 1 || isOfAction ? [] : ['rules']),
  ]
}

/** Finds contradictions of reads: of each that has its facts in the evidence, and always of the last read and the one that the verdict rests on. */
function contradictions(
  { target = '', params = {} }: Partial<Said>,
  { rules, checks }: Case,
  { basis }: Decision,
  document: EvidenceDocument,
  published: PublishedProfile | undefined,
): Contradiction['of'][] {
  const lastRead = checks.findLast(isRead)
  const found = checks.flatMap((check, index) => {
    if (!isRead(check)) return []
    const hasFacts = check === basis || check === lastRead || 'facts' in document.checks[index]!
    const facts = hasFacts ? check.observation.facts : undefined
    const of = contradictionOf(check, { target, params }, published, rules.rulesVersion, facts)?.of
    const isNamed = rules.rulesVersion === 1 || differsOf(check).every((field) => Object.hasOwn(rules.required, field))
    return [...(of === undefined ? [] : [of]), ...(isNamed ? [] : ['differs' as const])]
  })
  return [...new Set(found)]
}

function differsOf({ observation }: ReadRecord): readonly string[] {
  return observation.kind === 'present' ? observation.differs : []
}

/**
 * Tells whether all reads are of one place: a read at another must not carry the verdict of one that is signed as read here. Answers are
 * counted of a source, so that a read with some names it.
 */
function isOfOnePlace(checks: readonly CheckRecord[]): boolean {
  const reads = checks.filter(isRead)
  const places = reads.flatMap(({ source }) => (source ? [canonicalize(toWireSource(source))] : []))
  return (
    new Set(places).size <= 1 && reads.every(({ answers, source }) => answers === undefined || source !== undefined)
  )
}

function isSame(one: JsonValue | undefined, other: JsonValue | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  return canonicalize(one) === canonicalize(other)
}

/** Selects from the published rules those that the evidence names. */
function rulesNamedBy(
  document: EvidenceDocument,
  published: PublishedProfile | undefined,
): PublishedProfile | undefined {
  const named = published?.others?.find((one) => compareRules(document, one) === 'published')
  return published && compareRules(document, published) !== 'published' ? (named ?? published) : published
}

function compareRules(
  { rules, rules_version }: EvidenceDocument,
  published: PublishedProfile | undefined,
): 'published' | 'unknown' | 'differs' {
  if (!published) return 'unknown'
  const {
    required,
    toleranceMs,
    ageMs = 0,
    removedWithinMs = 0,
    freshMs = FRESH_MS,
    neverLate = false,
    rulesVersion,
    closing,
  } = published
  const isPublished =
    isSame(required, rules.required) &&
    toleranceMs === rules.tolerance_ms &&
    ageMs === rules.age_ms &&
    removedWithinMs === rules.removed_within_ms &&
    freshMs === rules.fresh_ms &&
    neverLate === (rules.never_late ?? false) &&
    closing.closingMs === rules.closing_ms &&
    closing.graceMs === rules.grace_ms &&
    rulesVersion === rules_version
  return isPublished ? 'published' : 'differs'
}

const timestamp: Shape = (value) => typeof value === 'string' && parseInstant(value) !== undefined
const boolean: Shape = (value) => typeof value === 'boolean'
const anyObject: Shape = isJsonObject
const hash = matching(/^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/)
const name = text(1, 128)
const lengthMs = integer(0)

const logTime = closedObject({ not_after: timestamp }, { not_before: timestamp })
const stay = closedObject({ appeared: logTime }, { removed: logTime, removed_whole: boolean })
const listedSource = closedObject({ provider: name, listed: boolean, base_url: text(1, 16_384) })
const hiddenSource = closedObject({ provider: name, listed: oneOf(false), source_id: hash })
const source: Shape = (value) => listedSource(value) || hiddenSource(value)
const required: Shape = (value) => isJsonObject(value) && Object.values(value).every(oneOf('target', 'content'))

const readRequired = {
  sent_at: timestamp,
  answered_at: timestamp,
  clock_offset_ms: lengthMs,
  dated: boolean,
  age_ms: lengthMs,
}
const readOptional1 = { source, mark: oneOf(...MARKS), stays: array(stay), facts: anyObject }
const readOptional2 = {
  ...readOptional1,
  answers: integer(1),
  clock_ahead_ms: integer(Number.MIN_SAFE_INTEGER),
  clock_set_ms: integer(1),
}
// Without `differs`, a read would count as one that shows the outcome as claimed.
const read = (optional: Readonly<Record<string, Shape>>) =>
  either(
    closedObject({ ...readRequired, kind: oneOf('present'), differs: array(name) }, optional),
    closedObject({ ...readRequired, kind: oneOf('absent') }, optional),
  )
const failed = (failure: Shape) => closedObject({ sent_at: timestamp, answered_at: timestamp, failure })
const failure1 = closedObject({ code: oneOf(...FAILURE_CODES) }, { status: integer(0), retry_at: timestamp })
const failure2 = either(
  failure1,
  closedObject(
    { code: oneOf('no_connection'), connection_removed: oneOf(true) },
    { status: integer(0), retry_at: timestamp },
  ),
)
const checkOf =
  (read: Shape, failure: Shape): Shape =>
  (value) =>
    isJsonObject(value) && 'failure' in value ? failed(failure)(value) : read(value)

const isVersioned = object({ evidence_version: integer(1), rules_version: integer(1) })
const claim1 = { claim_digest: hash, claimed_at: timestamp, deadline_at: timestamp, submitted_at: timestamp }
const claim2: Shape = (value) =>
  closedObject({ ...claim1, fresh: boolean, fresh_by: oneOf(...FRESH_REASONS) })(value) &&
  isFreshBy((value as EvidenceDocument['claim']).fresh_by!) === (value as EvidenceDocument['claim']).fresh

/** The forms of evidence, by version. A published version stays readable as it is: a stricter form belongs to the next version. */
const DOCUMENTS: Readonly<Record<EvidenceVersion, Shape>> = {
  1: documentOf(1, { claim: closedObject(claim1), check: checkOf(read(readOptional1), failure1) }),
  2: documentOf(2, { claim: claim2, check: checkOf(read(readOptional2), failure2) }),
}

function documentOf(
  version: EvidenceVersion,
  { claim, check }: { readonly claim: Shape; readonly check: Shape },
): Shape {
  return closedObject({
    evidence_version: oneOf(version),
    rules_version: (value) => integer(1)(value) && evidenceVersionOf(value as number) === version,
    profile: closedObject({ action: matching(new RegExp(ACTION_PATTERN)), version: matching(/^\d+$/) }),
    rules: closedObject(
      {
        required,
        tolerance_ms: lengthMs,
        age_ms: lengthMs,
        removed_within_ms: lengthMs,
        fresh_ms: lengthMs,
        closing_ms: lengthMs,
        grace_ms: lengthMs,
      },
      { never_late: oneOf(true) },
    ),
    claim,
    decided_at: timestamp,
    checks: (value) => Array.isArray(value) && value.length > 0 && value.every(check),
  })
}

const isDocument: Shape = (value) => EVIDENCE_VERSIONS.some((version) => DOCUMENTS[version](value))
