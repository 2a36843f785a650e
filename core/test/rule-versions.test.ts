/** How versions of the verdict rules live side by side, by a second version that this test brings. Threat O4 of `security.md`. */

import { checkEvidence } from '@claimcheck/core/checker'
import { claimDigest, evidenceText, receiptBody, sha256Text, signedEvidence } from '@claimcheck/core/receipts'
import {
  type CheckRecord,
  CLOSING,
  decide,
  type JsonObject,
  knowsRules,
  RULE_VERSIONS,
  type Rules,
} from '@claimcheck/core/rules'
import t from 'tap'

type Versions = Record<number, (typeof RULE_VERSIONS)[number]>

/** Runs with a version 2, kinder than version 1: what was not seen was there. */
function withVersion2<T>(run: () => T): T {
  const versions = RULE_VERSIONS as Versions
  versions[2] = (_rules, _claim, checks) => ({ verdict: { value: 'verified' }, basis: checks.at(-1)! })
  try {
    return run()
  } finally {
    delete versions[2]
  }
}

const NOON = Date.UTC(2026, 8, 25, 12)
const D = NOON + 900_000
const TIMES = { claimedAt: NOON, deadlineAt: D, submittedAt: NOON }
const rulesOf = (rulesVersion: number): Rules => ({ rulesVersion, required: {}, toleranceMs: 600_000 })
const absent = (sentAt: number): CheckRecord => ({
  ...{ sentAt, answeredAt: sentAt + 50, clockOffsetMs: 0 },
  observation: { kind: 'absent', facts: {} },
})

/** What an issuer signs of a claim that its profile has judged by these rules. */
function decided(rules: Rules, checks: readonly CheckRecord[]) {
  const decidedAt = checks.at(-1)!.answeredAt
  const profile = { action: 'test.thing.do', version: '1' }
  const submitted = { action: profile.action, target: 'somewhere', params: {}, claimedAt: NOON, clientClaimId: '1' }
  const claim = { ...submitted, claimDigest: claimDigest(submitted) }
  const decision = decide(rules, TIMES, checks, decidedAt, CLOSING)!
  const told = {
    profile,
    rules,
    closing: CLOSING,
    claim: { ...TIMES, claimDigest: claim.claimDigest },
    checks,
    decidedAt,
  }
  const evidence = evidenceText(told, decision)
  const { observedAt, facts } = signedEvidence(decision, checks)
  const body = receiptBody({
    ...{ receiptId: 'rcpt_1', issuedAt: decidedAt, issuer: { keyId: 'ed25519:x' }, agentId: 'agent', claim },
    observation: {
      ...{ verifier: { id: profile.action, version: profile.version }, observedAt, deadlineAt: D, facts },
      ...{ attempts: checks.length, evidenceDigest: sha256Text(evidence) },
    },
    verdict: decision.verdict,
  })
  return { body: body as unknown as JsonObject, evidence, verdict: decision.verdict.value }
}

const BY_1 = decided(rulesOf(1), [absent(NOON + 1000), absent(D)])
const BY_2 = withVersion2(() => decided(rulesOf(2), [absent(NOON + 1000)]))

t.test('each claim is judged by the version that its profile names', async (t) => {
  t.strictSame([BY_1.verdict, BY_2.verdict], ['failed', 'verified'])
  t.strictSame([knowsRules(1), knowsRules(2), withVersion2(() => knowsRules(2))], [true, false, true])
  t.throws(() => decide(rulesOf(2), TIMES, [absent(NOON)], NOON), /^there are no rules of version 2$/)
})

t.test('a checker that knows both versions recomputes receipts of both', async (t) => {
  for (const { body, evidence } of [BY_1, BY_2]) {
    const finding = withVersion2(() => checkEvidence(body, evidence))
    t.strictSame(finding, { evidence: 'follows', rules: 'unknown' })
  }
})

t.test('a checker that does not know the version says so, and still recomputes the one that it knows', async (t) => {
  t.strictSame(checkEvidence(BY_2.body, BY_2.evidence), { evidence: 'not_checked' })
  t.strictSame(checkEvidence(BY_1.body, BY_1.evidence), { evidence: 'follows', rules: 'unknown' })
})

t.test('an issuer cannot choose the version: rules of another than its profile publishes differ', async (t) => {
  const published = () => ({ ...rulesOf(1), maxDeadlineMs: D - NOON, closing: CLOSING })
  const finding = withVersion2(() => checkEvidence(BY_2.body, BY_2.evidence, published))
  t.match(finding, { evidence: 'follows', rules: 'differs' })
  const relabelled = BY_1.evidence.replace('"rules_version":1', '"rules_version":2')
  const observation = { ...(BY_1.body.observation as JsonObject), evidence_digest: sha256Text(relabelled) }
  t.match(
    withVersion2(() => checkEvidence({ ...BY_1.body, observation }, relabelled)),
    { evidence: 'does_not_follow', differs: ['verdict.value', 'verdict.reason_code'] },
  )
})
