/** Receipts with their evidence: good ones for each verdict, and one for each way in which an issuer can cheat with it. */

import {
  type Case,
  canonicalize,
  claimDigest,
  DOMAINS,
  type EvidenceFinding,
  evidenceText,
  receiptBody,
  sha256Text,
  signedEvidence,
} from '@claimcheck/core/receipts'
import { type CheckRecord, CLOSING, decide, parseInstant, type Rules, type Source } from '@claimcheck/core/rules'
import { type Draft, sign, signerA, toText } from './world.ts'

/** A receipt, the file that is given as its evidence, and what a checker says of the two. */
export interface EvidenceVector {
  readonly name: string
  readonly rule: string
  readonly description: string
  readonly receipt: string
  readonly evidence: string
  readonly expected: EvidenceFinding
}

const ACTION = 'codehost.commit.push'
export const CLAIMED_AT = parseInstant('2026-09-25T14:01:58.000Z')!
export const MINUTE_MS = 60_000
export const L = 10 * MINUTE_MS
export const D = 15 * MINUTE_MS
const LISTED: Source = { provider: 'github', listed: true, baseUrl: 'https://api.github.com' }
const WITHHELD: Source = { provider: 'git', listed: false, sourceId: sha256Text('where') }

const RULES: Rules = {
  rulesVersion: 1,
  required: { repository: 'target', branch: 'target', sha: 'content' },
  toleranceMs: L,
  ageMs: 0,
  removedWithinMs: 24 * 60 * MINUTE_MS,
  freshMs: 10_000,
}

/** The version of the profile is that of its rules. */
const rulesOf = (version: Version): Rules => ({ ...RULES, rulesVersion: Number(version) })
type Version = '1' | '2'

/** The answer of `GET /v1/profiles`, with the members that checkers compare. */
export const PROFILES = {
  profiles: (['1', '2'] as const).map((version) => ({
    action: ACTION,
    version,
    rules_version: Number(version),
    required: RULES.required,
    tolerance_ms: RULES.toleranceMs,
    age_ms: RULES.ageMs,
    removed_within_ms: RULES.removedWithinMs,
    fresh_ms: RULES.freshMs,
    max_deadline_ms: 24 * 60 * MINUTE_MS,
    closing_ms: CLOSING.closingMs,
    grace_ms: CLOSING.graceMs,
    shows: { on_branch: true },
    words: { found: { sha: 'head' } },
  })),
}

interface Seen {
  readonly stays?: readonly { readonly appeared: { readonly notBefore: number; readonly notAfter: number } }[]
  readonly mark?: 'final' | 'never_before' | 'may_have_been' | 'unsettled'
  readonly source?: Source
}

// Times are milliseconds after the claim.
const times = (sentAt: number) => ({ sentAt: CLAIMED_AT + sentAt, answeredAt: CLAIMED_AT + sentAt + 200 })

function read(sentAt: number, observation: Draft, { source = LISTED, ...seen }: Seen = {}): CheckRecord {
  return {
    ...times(sentAt),
    observation: { ...observation, ...seen },
    clockOffsetMs: 1200,
    dated: true,
    ageMs: 0,
    source,
    answers: 3,
  }
}
export const absent = (sentAt: number, seen?: Seen) =>
  read(sentAt, { kind: 'absent', facts: { commit_found: false, read: sentAt } }, seen)
export const present = (sentAt: number, seen?: Seen) =>
  read(sentAt, { kind: 'present', facts: { on_branch: true, read: sentAt }, differs: [] }, seen)
export const elsewhere = (sentAt: number, seen?: Seen) =>
  read(sentAt, { kind: 'present', facts: { found_elsewhere: true, read: sentAt }, differs: ['branch'] }, seen)
export const failed = (sentAt: number): CheckRecord => ({
  ...times(sentAt),
  failure: { code: 'unavailable', status: 502, retryAt: CLAIMED_AT + sentAt + 1000 },
})
const odd = (sentAt: number): CheckRecord => ({
  ...times(sentAt),
  failure: { code: 'unexpected_response', status: 200 },
})
export const stay = (at: number) => ({ appeared: { notBefore: CLAIMED_AT + at, notAfter: CLAIMED_AT + at + 999 } })

const LATE = [absent(1000), absent(4000), absent(L + 1000), present(L + 30_000), present(L + 33_000)]
const GOOD: readonly GoodRow[] = [
  ['verified', 'Seen in time.', [absent(1000), present(5000)]],
  ['verified-by-the-log', "Placed in time by the destination's own log.", [present(L + 5000, { stays: [stay(2000)] })]],
  ['late', 'Absent when the tolerance ended, and there before the deadline.', LATE],
  ['mismatch', 'On another branch at the deadline.', [elsewhere(1000), elsewhere(D)]],
  ['failed', 'Not there just after the submission, nor at the deadline.', [absent(1000), absent(D)]],
  [
    'failed-never-before',
    'Never there, by the own record of the destination.',
    [absent(D, { mark: 'never_before' }), absent(D + 3000, { mark: 'never_before' })],
  ],
  ['unverifiable', 'A place that forgets.', [absent(1000, { mark: 'may_have_been' }), absent(D)]],
  [
    'unverifiable-unread',
    'Not to be read at the end: what was seen before is kept.',
    [absent(1000), failed(D), failed(D + CLOSING.graceMs)],
  ],
  ['withheld-source', 'Read at an address that is withheld.', [present(5000, { source: WITHHELD })]],
  ['failed-by-the-log', 'A whole log shows nothing.', [absent(L, { stays: [] }), absent(D, { stays: [] })]],
  ['unverifiable-without-a-log', 'First looked for too long after the submission.', [absent(9000), absent(D)]],
  [
    'unverifiable-cut-log',
    'The log could not be read back far enough.',
    [absent(1000, { mark: 'may_have_been' }), absent(D, { mark: 'may_have_been' })],
  ],
  [
    'unverifiable-odd-answers',
    'The place answered, and not so that it says anything: it is not called unavailable.',
    [odd(1000), odd(D), odd(D + CLOSING.graceMs)],
  ],
]

const BLAMED = [elsewhere(1000, { mark: 'final' }), elsewhere(4000, { mark: 'final' })]

/** The body of a receipt, and its evidence. */
interface Pair {
  readonly body: Draft
  readonly document: Draft
}

function honest(checks: readonly CheckRecord[], version: Version): Pair {
  const claim = {
    action: ACTION,
    target: 'acme/widgets',
    params: { sha: '0123456789abcdef0123456789abcdef01234567', branch: 'main' },
    claimedAt: CLAIMED_AT,
    clientClaimId: 'claim-1',
  }
  const digest = claimDigest(claim)
  const profile = { action: ACTION, version }
  const rules = rulesOf(version)
  const decidedAt = checks.at(-1)!.answeredAt
  const times = { claimedAt: CLAIMED_AT, deadlineAt: CLAIMED_AT + D, submittedAt: CLAIMED_AT + 500 }
  const decided: Case = {
    profile,
    rules,
    closing: CLOSING,
    claim: { ...times, claimDigest: digest },
    checks,
    decidedAt,
  }
  const decision = decide(rules, times, checks, decidedAt, CLOSING)
  if (!decision) throw new Error('the checks of a vector decide nothing')
  const { observedAt, facts, source } = signedEvidence(decision, checks)
  const body = receiptBody({
    receiptId: 'rcpt_01K5ZQ6T3V8XJ2M4N7P9R0S1T2',
    issuedAt: decidedAt + 5,
    issuer: { keyId: signerA.keyId, name: 'Claimcheck test vectors' },
    agentId: 'agent-1',
    claim: { ...claim, claimDigest: digest },
    observation: {
      verifier: { id: profile.action, version: profile.version },
      observedAt,
      deadlineAt: times.deadlineAt,
      attempts: checks.length,
      facts,
      ...(decision.appeared ? { appeared: decision.appeared } : {}),
      ...(decision.largestGapMs === undefined ? {} : { largestGapMs: decision.largestGapMs }),
      ...(source ? { source } : {}),
    },
    verdict: decision.verdict,
  })
  return { body: structuredClone(body), document: JSON.parse(evidenceText(decided, decision)) }
}

/** Values by their paths in body and document, where undefined removes, or a function that may return another text as evidence. */
type Cheat = Readonly<Record<string, unknown>> | ((pair: Pair) => unknown)

export async function signed(
  checks: readonly CheckRecord[],
  cheat: Cheat = {},
  version: Version = '1',
): Promise<{ receipt: string; evidence: string }> {
  const pair = honest(checks, version)
  const text = typeof cheat === 'function' ? cheat(pair) : edit(pair, cheat)
  const evidence = typeof text === 'string' ? text : canonicalize(pair.document)
  pair.body.observation.evidence_digest = sha256Text(evidence)
  return { receipt: toText(await sign(pair.body, { domain: DOMAINS.receipt })), evidence }
}

function edit(pair: Draft, values: Readonly<Record<string, unknown>>): void {
  for (const [path, value] of Object.entries(values)) {
    const names = path.split('.')
    const last = names.pop()!
    const owner = names.reduce((draft, name) => draft[name], pair)
    if (value === undefined) delete owner[last]
    else owner[last] = value
  }
}

export const follows = (rules: 'published' | 'unknown' | 'differs'): EvidenceFinding => ({ evidence: 'follows', rules })
export const cheated = (...differs: string[]): EvidenceFinding => ({ evidence: 'does_not_follow', differs })
const NOT_CHECKED: EvidenceFinding = { evidence: 'not_checked' }
export const FORM = cheated('form')

export type CheatRow = readonly [
  name: string,
  description: string,
  expected: EvidenceFinding,
  cheat: Cheat,
  checks?: readonly CheckRecord[],
]
export type GoodRow = readonly [name: string, description: string, checks: readonly CheckRecord[]]

/** Changes that the issuer makes to body and evidence before the receipt is signed, by default to those of the late outcome. */
const CHEATS: readonly CheatRow[] = [
  [
    'decided-otherwise-before',
    'Two checks decided otherwise, and the host went on until it liked the verdict.',
    cheated('checks'),
    {},
    [...BLAMED, present(9000)],
  ],
  [
    'blame-between-clocks',
    'Blame rests on reads between which a clock jumped by twenty minutes.',
    cheated('verdict.value', 'verdict.reason_code'),
    { 'document.checks.1.clock_offset_ms': 20 * MINUTE_MS },
    [absent(1000), absent(D)],
  ],
  [
    'blame-that-no-read-confirms',
    'Of the two reads that blame, one saw something else.',
    cheated('verdict'),
    { 'document.checks.0.kind': 'absent', 'document.checks.0.differs': undefined, 'document.checks.0.mark': undefined },
    BLAMED,
  ],
  [
    'fresh-for-longer',
    'A claim counts as fresh for longer than the profile says.',
    follows('differs'),
    { 'document.rules.fresh_ms': 60 * MINUTE_MS },
    [absent(1000), absent(D)],
  ],
  [
    'verdict',
    'Another verdict is signed.',
    cheated('verdict.value', 'verdict.reason_code'),
    { 'body.verdict': { value: 'verified' } },
  ],
  [
    'check-removed',
    'A check is left out of the evidence, and counted.',
    cheated('observation.attempts'),
    ({ document }) => document.checks.splice(1, 1),
  ],
  [
    'check-removed-before-tolerance',
    'The check that shows absence after the tolerance is left out, the number of checks with it.',
    cheated('verdict'),
    ({ body, document }) => {
      document.checks.splice(2, 1)
      body.observation.attempts = 4
    },
  ],
  [
    'check-invented',
    'A check that was not made is added.',
    cheated('observation.attempts'),
    ({ document }) => document.checks.splice(1, 0, document.checks[0]),
  ],
  [
    'check-swapped',
    'The checks are in another order: absence comes after presence.',
    cheated('verdict'),
    ({ document }) => document.checks.reverse(),
  ],
  [
    'time-of-the-basis',
    'The check on which the verdict rests is earlier.',
    cheated('observation.observed_at', 'order'),
    ({ document }) => {
      document.checks[4].answered_at = document.checks[4].sent_at
    },
  ],
  [
    'time-of-absence',
    'The read of absence is earlier, so that the interval is another.',
    cheated('observation.appeared'),
    { 'document.checks.2.sent_at': '2026-09-25T14:11:58.500Z' },
  ],
  [
    'interval',
    'Another interval is signed.',
    cheated('observation.appeared'),
    ({ body }) => {
      body.observation.appeared.not_after = body.observation.appeared.not_before
    },
  ],
  [
    'interval-left-out',
    'No interval is signed.',
    cheated('observation.appeared'),
    { 'body.observation.appeared': undefined },
  ],
  [
    'attempts',
    'Another number of checks is signed.',
    cheated('observation.attempts'),
    { 'body.observation.attempts': 9 },
  ],
  ['facts', 'Other facts are signed.', cheated('observation.facts'), { 'body.observation.facts.on_branch': false }],
  [
    'source',
    'The evidence was read at another address.',
    cheated('observation.source'),
    { 'document.checks.4.source.base_url': 'https://evil.example/api' },
  ],
  [
    'source-listed',
    'An address is signed as listed that is not.',
    cheated('observation.source'),
    { 'document.checks.4.source.listed': false },
  ],
  ['source-left-out', 'No source is signed.', cheated('observation.source'), { 'body.observation.source': undefined }],
  [
    'claimed-at',
    'The claim was made later than it says.',
    cheated('claim.claimed_at'),
    { 'document.claim.claimed_at': '2026-09-25T14:01:58.001Z' },
  ],
  [
    'deadline',
    'The deadline was another.',
    cheated('observation.deadline_at'),
    { 'document.claim.deadline_at': '2026-09-25T14:20:00.000Z' },
  ],
  [
    'claim',
    'The evidence is of another claim.',
    cheated('claim.claim_digest'),
    { 'document.claim.claim_digest': sha256Text('another') },
  ],
  [
    'action',
    'The evidence is of another action.',
    cheated('observation.verifier.id'),
    { 'document.profile.action': 'codehost.tag.push' },
  ],
  [
    'version',
    'The evidence is of another version of the profile.',
    cheated('observation.verifier.version'),
    { 'document.profile.version': '2' },
  ],
  [
    'answered-before-sent',
    'A check was answered before it was sent.',
    cheated('order'),
    { 'document.checks.0.answered_at': '2026-09-25T14:01:58.000Z' },
  ],
  [
    'decided-before-the-last-check',
    'It was decided before the last check was answered.',
    cheated('order'),
    { 'document.decided_at': '2026-09-25T14:02:00.000Z' },
  ],
  [
    'issued-before-it-was-decided',
    'The receipt was issued before it was decided.',
    cheated('order'),
    { 'body.issued_at': '2026-09-25T14:02:00.000Z' },
  ],
  [
    'present-without-differs',
    'A read shows something, and does not say what differs.',
    FORM,
    { 'document.checks.4.differs': undefined },
  ],
  [
    'absent-with-differs',
    'A read shows nothing, and says that nothing differs.',
    FORM,
    { 'document.checks.0.differs': [] },
  ],
  ['unknown-member', 'A check has a member that the form does not know.', FORM, { 'document.checks.0.note': 'x' }],
  ['unknown-mark', 'A mark that there is not.', FORM, { 'document.checks.0.mark': 'surely' }],
  ['no-checks', 'No check is told.', FORM, { 'document.checks': [] }],
  [
    'day-that-does-not-exist',
    'A time that there is not.',
    FORM,
    { 'document.checks.0.sent_at': '2026-02-30T00:00:00.000Z' },
  ],
  [
    'duplicate-member',
    'A member is there twice.',
    FORM,
    ({ document }) => `{"decided_at":"2026-09-25T14:02:00.000Z",${canonicalize(document).slice(1)}`,
  ],
  [
    'fraction',
    'A number is no integer.',
    FORM,
    ({ document }) => canonicalize(document).replace('"age_ms":0', '"age_ms":0.5'),
  ],
  ['no-json', 'The evidence is no JSON.', FORM, () => 'evidence'],
  [
    'rules-of-another-tolerance',
    'The tolerance is not the published one.',
    follows('differs'),
    ({ document }) => {
      document.rules.tolerance_ms -= 1000
    },
  ],
  [
    'rules-of-other-roles',
    'A field has another role than the published one.',
    follows('differs'),
    { 'document.rules.required.sha': 'target' },
  ],
  [
    'rules-of-an-unpublished-profile',
    'No rules of this version of the profile are published.',
    follows('unknown'),
    { 'document.profile.version': '9', 'body.observation.verifier.version': '9' },
  ],
  [
    'rules-of-another-closing',
    'Absence was looked for until an hour after the deadline.',
    follows('differs'),
    { 'document.rules.closing_ms': 60 * MINUTE_MS },
  ],
  [
    'deadline-past-the-largest',
    'The deadline is further off than a claim of this action may ask for.',
    cheated('observation.deadline_at'),
    {
      'document.claim.deadline_at': '2026-09-27T14:01:58.000Z',
      'body.observation.deadline_at': '2026-09-27T14:01:58.000Z',
    },
  ],
  [
    'age-below-the-profile',
    'Answers are taken for younger than the profile says.',
    cheated('observation.appeared', 'age_ms'),
    { 'document.rules.age_ms': 1000, 'document.checks.2.age_ms': 999 },
  ],
  [
    'sent-before-submitted',
    'A check was made before the claim was submitted.',
    cheated('order'),
    { 'document.claim.submitted_at': '2026-09-25T14:01:59.500Z' },
  ],
  [
    'facts-that-contradict',
    'What is signed as there is not, by the facts of the same read.',
    cheated('observation.facts'),
    { 'document.checks.4.facts.on_branch': false, 'body.observation.facts.on_branch': false },
  ],
  [
    'facts-of-another-commit',
    'The facts name another commit than the claim.',
    cheated('observation.facts'),
    { 'document.checks.4.facts.head': 'f'.repeat(40), 'body.observation.facts.head': 'f'.repeat(40) },
  ],
  [
    'rules-version-unknown',
    'Rules of a version that the checker does not know.',
    NOT_CHECKED,
    { 'document.rules_version': 999 },
  ],
  [
    'evidence-version-unknown',
    'A form of a version that the checker does not know.',
    NOT_CHECKED,
    { 'document.evidence_version': 999, 'document.new_member': 1 },
  ],
  [
    'reason',
    'Another reason is signed.',
    cheated('verdict.reason_code'),
    { 'body.verdict.reason_code': 'content_mismatch' },
    [elsewhere(1000), elsewhere(D)],
  ],
]

export async function evidenceVectors(): Promise<EvidenceVector[]> {
  const vectors: EvidenceVector[] = []
  for (const [name, description, checks] of GOOD) {
    const pair = await signed(checks)
    vectors.push({ name: `follows-${name}`, rule: 'follows', description, ...pair, expected: follows('published') })
  }
  for (const [name, description, expected, cheat, checks = LATE] of CHEATS) {
    const pair = await signed(checks, cheat)
    vectors.push({ name, rule: `${expected.evidence}/${name}`, description, ...pair, expected })
  }
  const { receipt, evidence } = await signed(LATE)
  const other = await signed([absent(1000), present(5000)])
  const unnamed = toText(await sign(honest(LATE, '1').body, { domain: DOMAINS.receipt }))
  vectors.push(
    {
      name: 'digest-of-another-file',
      rule: 'digest_differs/other',
      description: 'The evidence is that of another receipt.',
      receipt,
      evidence: other.evidence,
      expected: { evidence: 'digest_differs' },
    },
    {
      name: 'digest-of-other-bytes',
      rule: 'digest_differs/bytes',
      description: 'The evidence has the same values, and other bytes.',
      receipt,
      evidence: `${evidence}\n`,
      expected: { evidence: 'digest_differs' },
    },
    {
      name: 'absent',
      rule: 'absent',
      description: 'The receipt names no evidence.',
      receipt: unnamed,
      evidence,
      expected: { evidence: 'absent' },
    },
  )
  return vectors
}
