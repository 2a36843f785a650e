/** How versions of the verdict rules live side by side, by a version that this test brings. Threat O4 of `security.md`. */

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

/** Runs with a version 3, kinder than version 1: what was not seen was there. */
function withVersion3<T>(run: () => T): T {
  const versions = RULE_VERSIONS as Versions
  versions[3] = (_rules, _claim, checks) => ({ verdict: { value: 'verified' }, basis: checks.at(-1)! })
  try {
    return run()
  } finally {
    delete versions[3]
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
const BY_3 = withVersion3(() => decided(rulesOf(3), [absent(NOON + 1000)]))

t.test('each claim is judged by the version that its profile names', async (t) => {
  t.strictSame([BY_1.verdict, BY_3.verdict], ['failed', 'verified'])
  t.strictSame([knowsRules(1), knowsRules(3), withVersion3(() => knowsRules(3))], [true, false, true])
  t.throws(() => decide(rulesOf(3), TIMES, [absent(NOON)], NOON), /^there are no rules of version 3$/)
})

t.test('a checker that knows both versions recomputes receipts of both', async (t) => {
  for (const { body, evidence } of [BY_1, BY_3]) {
    const finding = withVersion3(() => checkEvidence(body, evidence))
    t.strictSame(finding, { evidence: 'follows', rules: 'unknown' })
  }
})

t.test('a checker that does not know the version says so, and still recomputes the one that it knows', async (t) => {
  t.strictSame(checkEvidence(BY_3.body, BY_3.evidence), { evidence: 'not_checked' })
  t.strictSame(checkEvidence(BY_1.body, BY_1.evidence), { evidence: 'follows', rules: 'unknown' })
})

t.test('an issuer cannot choose the version: rules of another than its profile publishes differ', async (t) => {
  const published = () => ({ ...rulesOf(1), maxDeadlineMs: D - NOON, closing: CLOSING })
  const finding = withVersion3(() => checkEvidence(BY_3.body, BY_3.evidence, published))
  t.match(finding, { evidence: 'follows', rules: 'differs' })
  const relabel = (evidence: string) => {
    const observation = { ...(BY_1.body.observation as JsonObject), evidence_digest: sha256Text(evidence) }
    return withVersion3(() => checkEvidence({ ...BY_1.body, observation }, evidence))
  }
  const relabelled = BY_1.evidence.replace('"rules_version":1', '"rules_version":3')
  t.strictSame(relabel(relabelled), { evidence: 'does_not_follow', differs: ['form'] }, 'in the form of version 1')
  const inForm2 = relabelled
    .replace('"evidence_version":1', '"evidence_version":2')
    .replace('"submitted_at"', '"fresh":true,"fresh_by":"claimed_at","submitted_at"')
  t.match(relabel(inForm2), { evidence: 'does_not_follow', differs: ['verdict.value', 'verdict.reason_code'] })
})

t.test(
  'evidence of version 2 says that the connection of a claim was removed, and what is signed of it follows',
  async (t) => {
    const removed: CheckRecord = {
      sentAt: NOON + 2000,
      answeredAt: NOON + 2000,
      failure: { code: 'no_connection', connectionRemoved: true },
    }
    const { body, evidence, verdict } = decided(rulesOf(2), [absent(NOON + 1000), removed])
    t.equal(verdict, 'unverifiable')
    t.match(body, { observation: { facts: { connection_removed: true, error: 'no_connection' } } })
    t.strictSame(checkEvidence(body, evidence), { evidence: 'follows', rules: 'unknown' })

    const signedOf = (text: string) => ({
      ...body,
      observation: { ...(body.observation as JsonObject), evidence_digest: sha256Text(text) },
    })
    const without = evidence.replace(',"connection_removed":true', '')
    t.match(checkEvidence(signedOf(without), without), { evidence: 'does_not_follow', differs: ['observation.facts'] })
    const other = evidence.replace('"code":"no_connection"', '"code":"ambiguous_claim"')
    t.match(checkEvidence(signedOf(other), other), { evidence: 'does_not_follow', differs: ['form'] })
  },
)
