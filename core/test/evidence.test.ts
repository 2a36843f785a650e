/**
 * Whether a receipt follows from its evidence. The vectors have the ways to cheat; here is what no file can show.
 * Threats D1 and O4 of `security.md`.
 */

import { checkEvidence } from '@claimcheck/core/checker'
import {
  type Case,
  canonicalize,
  caseOf,
  type EvidenceDocument,
  evidenceText,
  LARGEST_EVIDENCE_BYTES,
  type PublishedProfile,
  type PublishedRules,
  publishedRules,
  receiptBody,
  sha256Text,
  signedEvidence,
} from '@claimcheck/core/receipts'
import {
  type CheckRecord,
  CLOSING,
  decide,
  FAILURE_CODES,
  isRead,
  type JsonObject,
  type Rules,
} from '@claimcheck/core/rules'
import fc from 'fast-check'
import t from 'tap'
import { runs } from '../../test/support/extent.ts'

const NOON = Date.UTC(2026, 8, 25, 12)
const MINUTE_MS = 60_000
const L = NOON + 10 * MINUTE_MS
const D = NOON + 15 * MINUTE_MS
const TIMES = { claimedAt: NOON, deadlineAt: D, submittedAt: NOON }
const RULES: Rules = {
  rulesVersion: 1,
  required: { branch: 'target', sha: 'content' },
  toleranceMs: 10 * MINUTE_MS,
  ageMs: 1000,
  removedWithinMs: MINUTE_MS,
}
const PUBLISHED: PublishedProfile = { ...RULES, maxDeadlineMs: 60 * MINUTE_MS, closing: CLOSING }
const SOURCE = { provider: 'git', listed: false, baseUrl: 'https://git.example' } as const

function read(sentAt: number, observation: JsonObject): CheckRecord {
  const observed = { facts: { at: sentAt - NOON }, ...observation } as never
  return {
    sentAt,
    answeredAt: sentAt + 50,
    observation: observed,
    clockOffsetMs: 7,
    dated: true,
    ageMs: 1000,
    source: SOURCE,
  }
}
const absent = (sentAt: number, over: JsonObject = {}) => read(sentAt, { kind: 'absent', ...over })
const present = (sentAt: number, over: JsonObject = {}) => read(sentAt, { kind: 'present', differs: [], ...over })
const failed = (sentAt: number): CheckRecord => ({
  sentAt,
  answeredAt: sentAt + 50,
  failure: { code: 'rate_limited', status: 429, retryAt: sentAt + 60_000 },
})

function told(checks: readonly CheckRecord[], rules = RULES, over: Partial<Case> = {}) {
  const decidedAt = checks.at(-1)!.answeredAt
  const claim = { ...TIMES, claimDigest: sha256Text('claim') }
  const profile = { action: 'test.thing.do', version: '7' }
  const decided: Case = { profile, rules, closing: CLOSING, claim, checks, decidedAt, ...over }
  const decision = decide(decided.rules, decided.claim, checks, decided.decidedAt, decided.closing)!
  const evidence = evidenceText(decided, decision)
  const { observedAt, facts, source } = signedEvidence(decision, checks)
  const body = receiptBody({
    receiptId: 'rcpt_1',
    issuedAt: decided.decidedAt,
    issuer: { keyId: 'ed25519:x' },
    agentId: 'agent',
    claim: {
      action: 'test.thing.do',
      target: 'somewhere',
      params: {},
      claimedAt: NOON,
      clientClaimId: '1',
      claimDigest: claim.claimDigest,
    },
    observation: {
      verifier: { id: profile.action, version: profile.version },
      observedAt,
      deadlineAt: D,
      attempts: checks.length,
      facts,
      ...(decision.appeared ? { appeared: decision.appeared } : {}),
      ...(decision.largestGapMs === undefined ? {} : { largestGapMs: decision.largestGapMs }),
      ...(source ? { source } : {}),
      evidenceDigest: sha256Text(evidence),
    },
    verdict: decision.verdict,
  })
  return { decided, decision, evidence, body: body as unknown as JsonObject }
}

/** The body, as if the issuer had signed this text as its evidence. */
function signing(body: JsonObject, evidence: string): JsonObject {
  return { ...body, observation: { ...(body.observation as JsonObject), evidence_digest: sha256Text(evidence) } }
}

const stays = [
  { appeared: { notBefore: NOON + 1000, notAfter: NOON + 1999 } },
  {
    appeared: { notAfter: NOON - 9000 },
    removed: { notBefore: NOON - 5000, notAfter: NOON - 4001 },
    removedWhole: true,
  },
]
const histories: [name: string, verdict: string, checks: CheckRecord[]][] = [
  ['seen in time', 'verified', [absent(NOON), present(NOON + 5000)]],
  ['placed in time by the log', 'verified', [present(L + 5000, { stays, ageMs: 5 })]],
  [
    'seen late',
    'late',
    [absent(NOON + 1000), failed(NOON + 2000), absent(L + 2000), present(L + 60_000), present(L + 62_000)],
  ],
  ['elsewhere', 'mismatch', [NOON + 1000, D + 1000].map((at) => read(at, { kind: 'present', differs: ['branch'] }))],
  ['final', 'mismatch', [1, 4000].map((at) => read(NOON + at, { kind: 'present', differs: ['sha'], mark: 'final' }))],
  ['never there', 'failed', [absent(NOON), absent(D + 1000, { mark: 'never_before' })]],
  ['forgotten', 'unverifiable', [absent(NOON, { mark: 'may_have_been' }), absent(D + 1000)]],
  ['unread at the end', 'unverifiable', [absent(NOON), failed(D), failed(D + 10 * MINUTE_MS)]],
  ['never read', 'unverifiable', [{ sentAt: NOON, answeredAt: NOON, failure: { code: 'no_connection' } }]],
]
for (const [name, verdict, checks] of histories) {
  t.test(`an outcome that was ${name} is ${verdict}, and follows from its evidence`, async (t) => {
    const { decided, decision, evidence, body } = told(checks)
    t.equal(decision.verdict.value, verdict)
    t.strictSame(checkEvidence(body, evidence), { evidence: 'follows', rules: 'unknown' })
    const again = caseOf(JSON.parse(evidence) as EvidenceDocument)
    const back = decide(again.rules, again.claim, again.checks, again.decidedAt, again.closing)!
    t.strictSame([back.verdict, back.appeared], [decision.verdict, decision.appeared], 'the way back decides the same')
    t.equal(evidenceText(again, back), evidence, 'and tells the same')
    t.equal(again.decidedAt, decided.decidedAt)
  })
}

t.test('facts are told of the check that the verdict rests on, and of the last that read', async (t) => {
  const { evidence } = told([absent(NOON), absent(NOON + 9000), absent(D + 1000), failed(D + 2000), absent(D + 4000)])
  const { checks } = JSON.parse(evidence) as EvidenceDocument
  t.strictSame(
    checks.map((check) => 'facts' in check),
    [false, false, true, false, true],
  )
})

t.test('a verdict that could not be read to the end keeps the facts seen before, and the failure', async (t) => {
  const { body } = told([absent(NOON), failed(D), failed(D + 10 * MINUTE_MS)])
  const { facts, source } = body.observation as JsonObject
  t.strictSame(facts, { at: 0, error: 'rate_limited', status: 429 })
  t.strictSame(source, { provider: 'git', listed: false, base_url: 'https://git.example' })
})

t.test('evidence of a check that could not read follows, whatever its code', async (t) => {
  for (const code of FAILURE_CODES) {
    const { evidence, body } = told([absent(NOON), { sentAt: D, answeredAt: D + 150_000, failure: { code } }])
    t.strictSame(checkEvidence(body, evidence), { evidence: 'follows', rules: 'unknown' }, code)
  }
  const { evidence, body } = told([
    absent(NOON),
    { sentAt: D, answeredAt: D + 150_000, failure: { code: 'too_large' } },
  ])
  const other = evidence.replace('too_large', 'too_small')
  t.match(checkEvidence(signing(body, other), other), { evidence: /^(?!follows)/ }, 'a code that there is not')
})

t.test('a receipt that names no evidence has none, whatever file is given', async (t) => {
  const { body, evidence } = told([present(NOON)])
  const { evidence_digest: _, ...observation } = body.observation as JsonObject
  for (const text of [evidence, '', undefined]) {
    t.strictSame(checkEvidence({ ...body, observation }, text), { evidence: 'absent' })
  }
  t.strictSame(checkEvidence({ entry_kind: 'change' }, evidence), { evidence: 'absent' }, 'nor has a change entry')
})

t.test('without the file nothing is checked, and another file is told', async (t) => {
  const { body, evidence } = told([present(NOON)])
  t.strictSame(checkEvidence(body, undefined), { evidence: 'not_checked' })
  t.strictSame(checkEvidence(body, `${evidence} `), { evidence: 'digest_differs' })
  const odd = { ...body, observation: { ...(body.observation as JsonObject), evidence_digest: 1 } }
  t.strictSame(checkEvidence(odd, evidence), { evidence: 'digest_differs' })
})

t.test('the rules are published, unknown, or differ in any of their members', async (t) => {
  const { body, evidence } = told([absent(NOON), present(NOON + 5000)])
  const by = (profile: PublishedProfile | undefined): PublishedRules => {
    return (action, version) => (action === 'test.thing.do' && version === '7' ? profile : undefined)
  }
  const rulesOf = (published: PublishedProfile | undefined) => checkEvidence(body, evidence, by(published))
  t.strictSame(rulesOf(PUBLISHED), { evidence: 'follows', rules: 'published' })
  t.strictSame(rulesOf(undefined), { evidence: 'follows', rules: 'unknown' })
  const others: Partial<PublishedProfile>[] = [
    { rulesVersion: 2 },
    { required: { branch: 'target' } },
    { required: { branch: 'content', sha: 'content' } },
    { toleranceMs: 1 },
    { ageMs: 0 },
    { removedWithinMs: 0 },
    { freshMs: 1 },
    { neverLate: true },
    { closing: { ...CLOSING, closingMs: 1 } },
    { closing: { ...CLOSING, graceMs: 1 } },
  ]
  for (const other of others) {
    t.strictSame(rulesOf({ ...PUBLISHED, ...other }), { evidence: 'follows', rules: 'differs' }, JSON.stringify(other))
  }
})

t.test('published profiles that two readers could understand differently are none', async (t) => {
  const { body, evidence } = told([absent(NOON), present(NOON + 5000)])
  const profile: JsonObject = {
    action: 'test.thing.do',
    version: '7',
    rules_version: 1,
    required: RULES.required,
    tolerance_ms: RULES.toleranceMs,
    age_ms: 1000,
    removed_within_ms: MINUTE_MS,
    fresh_ms: 10_000,
    max_deadline_ms: 60 * MINUTE_MS,
    closing_ms: CLOSING.closingMs,
    grace_ms: CLOSING.graceMs,
  }
  const text = JSON.stringify({ profiles: [profile] })
  const rulesOf = (profiles: string) => checkEvidence(body, evidence, publishedRules(profiles))
  t.strictSame(rulesOf(text), { evidence: 'follows', rules: 'published' })
  const twice = text.replace('"age_ms":1000', '"age_ms":1000,"age_ms":1000')
  const endless = text.replace('"age_ms":1000', '"age_ms":1000,"more":1e999')
  for (const unreadable of [twice, endless, text.replace('test', '\\ud800'), `${text}x`]) {
    t.strictSame(rulesOf(unreadable), { evidence: 'follows', rules: 'unknown' }, unreadable.slice(0, 60))
  }
  // Names that every object inherits are no members of it.
  const names = ['constructor', '__proto__', 'hasOwnProperty']
  for (const name of names) {
    const wrong = JSON.stringify({ ...profile, words: {} }).replace('"words":{}', `"words":{"found":{"${name}":"at"}}`)
    t.strictSame(rulesOf(`{"profiles":[${wrong}]}`), { evidence: 'follows', rules: 'published' }, name)
    const shown = JSON.stringify({ ...profile, shows: {} }).replace('"shows":{}', `"shows":{"${name}":1}`)
    t.strictSame(rulesOf(`{"profiles":[${shown}]}`), { evidence: 'follows', rules: 'published' }, name)
  }
})

t.test('what a profile leaves out is 0, and 10 seconds for what is fresh', async (t) => {
  const { ageMs: _, removedWithinMs: __, ...plain } = RULES
  const { maxDeadlineMs, closing } = PUBLISHED
  const { body, evidence } = told([present(NOON)], plain)
  t.strictSame(
    checkEvidence(body, evidence, () => ({ ...plain, maxDeadlineMs, closing })),
    { evidence: 'follows', rules: 'published' },
  )
  const zeros = { ...PUBLISHED, ageMs: 0, removedWithinMs: 0, freshMs: 10_000 }
  t.strictSame(
    checkEvidence(body, evidence, () => zeros),
    { evidence: 'follows', rules: 'published' },
  )
})

t.test('evidence beyond its largest size is refused, also where it would follow', async (t) => {
  const many = Array.from({ length: 3000 }, (_, index) => absent(NOON + index))
  const { body, evidence } = told([...many, present(NOON + 5000)])
  t.ok(Buffer.byteLength(evidence) > LARGEST_EVIDENCE_BYTES)
  t.strictSame(checkEvidence(body, evidence), { evidence: 'does_not_follow', differs: ['form'] })
})

t.test('a source that withholds its address cannot be listed', async (t) => {
  const { body, evidence } = told([present(NOON)])
  const document = JSON.parse(evidence)
  document.checks[0].source = { provider: 'git', listed: true, source_id: sha256Text('x') }
  const text = canonicalize(document)
  t.strictSame(checkEvidence(signing(body, text), text), { evidence: 'does_not_follow', differs: ['form'] })
})

t.test('no change of one value in the evidence goes with a verdict that is better for the agent', async (t) => {
  const { body, evidence } = told([absent(NOON), absent(D + 1000)])
  const claimed = { ...body, verdict: { value: 'verified' } }
  const names = 'kind mark age_ms dated clock_offset_ms differs stays sent_at answered_at'.split(' ')
  const values = fc.oneof(
    fc.constantFrom('present', 'absent', 'final', 'never_before', 'may_have_been', true, false, null),
    fc.integer(),
    fc.date({ min: new Date(0), max: new Date(D), noInvalidDate: true }).map((date) => date.toISOString()),
  )
  const changes = fc.tuple(fc.constantFrom(0, 1), fc.constantFrom(...names), values)
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(changes, ([index, name, value]) => {
        const document = JSON.parse(evidence)
        document.checks[index][name] = value
        const text = canonicalize(document)
        return checkEvidence(signing(claimed, text), text).evidence !== 'follows'
      }),
      runs(2000),
    ),
  )
})

t.test('whatever an issuer signs as evidence, the checker answers', async (t) => {
  const { body, evidence } = told([absent(NOON, { stays }), failed(L), present(L + 5000, { stays })])
  const cut = fc.tuple(fc.nat(evidence.length), fc.nat(40), fc.string()).map(([from, length, by]) => {
    return evidence.slice(0, from) + by + evidence.slice(from + length)
  })
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json(), cut), (text) => {
        return ['does_not_follow', 'not_checked', 'follows'].includes(checkEvidence(signing(body, text), text).evidence)
      }),
      runs(2000),
    ),
  )
})

t.test('of a read nothing but times, codes and what it showed is told', async (t) => {
  const checks = [absent(NOON), present(NOON + 5000)]
  const { evidence } = told(checks.map((check) => (isRead(check) ? { ...check, note: 'internal' } : check)))
  t.notMatch(evidence, /internal/)
})
