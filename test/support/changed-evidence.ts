/** Evidence of random lives, as a host would write it or with something changed, and the bodies of receipts that sign it. */

import {
  type Case,
  claimDigest,
  evidenceText,
  receiptBody,
  sha256Text,
  signedEvidence,
} from '@claimcheck/core/receipts'
import {
  type CheckRecord,
  CLOSING,
  decide,
  FAILURE_CODES,
  FRESH_REASONS,
  freshnessOf,
  type JsonObject,
  MARKS,
  parseInstant,
  type Rules,
  type Stay,
} from '@claimcheck/core/rules'
import type { Draft } from '../../scripts/vectors/world.ts'
import type { Random } from '../crash/random.ts'

export interface GivenEvidence {
  readonly body: JsonObject
  readonly evidence: string
}

const ACTION = 'codehost.commit.push'
const CLAIMED_AT = parseInstant('2026-09-25T14:01:58.000Z')!
const SECOND = 1000
const MINUTE = 60 * SECOND
const TOLERANCE = 10 * MINUTE
const DEADLINE = 15 * MINUTE
/** After the claim: where rules draw their lines. */
const LINES = [
  0,
  SECOND,
  6 * SECOND,
  TOLERANCE,
  12 * MINUTE,
  DEADLINE,
  DEADLINE + CLOSING.closingMs,
  DEADLINE + CLOSING.graceMs,
]
const NEAR = [-MINUTE, -3000, -1, 0, 1, 500, 2000, 4000, 40 * SECOND]
const LENGTHS = [0, 0, 0, 1, 500, 2000, MINUTE, 20 * MINUTE, 25 * 60 * MINUTE, Number.MAX_SAFE_INTEGER]

const VALUES: readonly unknown[] = [
  ...[null, true, false, 0, 1, -1, 3, 0.5, 2 ** 53, 60_001, '', 'x', 'target', 'content', [], {}, [''], ['sha'], [{}]],
  ...[
    'present',
    'absent',
    'final',
    'never_before',
    'may_have_been',
    'unsettled',
    'timeout',
    'toString',
    ACTION,
    'é',
    '\u0000',
  ],
  ...['2026-09-25T14:01:58.000Z', '2026-09-25T14:16:58.000Z', '2026-09-25T24:00:00.000Z', '0000-01-01T00:00:00.000Z'],
  ...['9999-12-31T23:59:59.999Z', '2026-02-29T00:00:00.000Z', '2000-02-29T23:59:59.999Z', '2026-09-25T14:01:58Z'],
]
const NAMES = [
  'mark',
  'stays',
  'removed',
  'not_before',
  'facts',
  'source',
  'differs',
  'failure',
  'fresh_ms',
  'fresh',
  'fresh_by',
  'answers',
  'never_late',
  'note',
]

/** @returns so many, of which each is as honest as chance has it */
export function changedEvidence(random: Random, count: number): GivenEvidence[] {
  return Array.from({ length: count }, () => given(random))
}

function given(random: Random): GivenEvidence {
  const { body, document } = told(random)
  if (random.chance(0.3)) change(random, document)
  if (random.chance(0.1)) change(random, document)
  if (random.chance(0.03)) document[random.pick(['rules_version', 'evidence_version'])] = 9
  // What a schema leaves open: the body of a receipt is checked before its evidence is.
  if (random.chance(0.05)) body.observation[random.pick(['source', 'appeared', 'largest_gap_ms'])] = random.pick(VALUES)
  if (random.chance(0.05)) body.observation.facts.read = random.pick(VALUES)
  const text = random.chance(0.03) ? JSON.stringify(document).replace(/:(\d+)/, ':$1.0') : JSON.stringify(document)
  body.observation.evidence_digest = sha256Text(text)
  return { body, evidence: text }
}

function told(random: Random): { body: Draft; document: Draft } {
  const rules: Rules = {
    rulesVersion: random.pick([1, 2, 2]),
    required: { repository: 'target', branch: 'target', sha: 'content' },
    toleranceMs: TOLERANCE,
    ageMs: random.pick([0, 0, 0, 3000]),
    removedWithinMs: random.pick([0, MINUTE, 24 * 60 * MINUTE]),
    freshMs: random.pick([10_000, 10_000, 60_000]),
    ...(random.pick([true, false, false]) ? { neverLate: true as const } : {}),
  }
  const submittedAt = CLAIMED_AT + random.pick([0, 500, 500, 500, -MINUTE, 9000, 20_000, DEADLINE + MINUTE])
  const claimedAt = CLAIMED_AT
  const freshBy = random.chance(0.7) ? freshnessOf(rules, { claimedAt, submittedAt }) : random.pick(FRESH_REASONS)
  const times = { claimedAt, deadlineAt: CLAIMED_AT + DEADLINE, submittedAt, freshBy }
  const all = checksOf(random, rules.ageMs!, submittedAt)
  const first = all.findIndex((check, index) => decide(rules, times, all.slice(0, index + 1), check.answeredAt))
  const checks = first === -1 || random.chance(0.05) ? all : all.slice(0, first + 1)
  const last = checks.at(-1)!
  const decidedAt = last.answeredAt
  const decision = decide(rules, times, checks, decidedAt) ?? { verdict: { value: 'verified' as const }, basis: last }
  const params = { sha: 'f'.repeat(40), branch: 'main' }
  const claim = { action: ACTION, target: 'acme/api', params, claimedAt: CLAIMED_AT, clientClaimId: 'one' }
  const digest = claimDigest(claim)
  const profile = { action: ACTION, version: random.pick([String(rules.rulesVersion), '1', '9']) }
  const decided: Case = {
    profile,
    rules,
    closing: CLOSING,
    claim: { ...times, claimDigest: digest },
    checks,
    decidedAt,
  }
  const { observedAt, facts, source } = signedEvidence(decision, checks)
  const body = receiptBody({
    receiptId: 'rcpt_01K5ZQ6T3V8XJ2M4N7P9R0S1T2',
    issuedAt: decidedAt + 5,
    issuer: { keyId: 'ed25519:x' },
    agentId: 'agent-1',
    claim: { ...claim, claimDigest: digest },
    observation: {
      ...{ verifier: { id: ACTION, version: profile.version }, observedAt, facts, attempts: checks.length },
      ...{ deadlineAt: times.deadlineAt, ...(source ? { source } : {}) },
      ...(decision.appeared ? { appeared: decision.appeared } : {}),
      ...(decision.largestGapMs === undefined ? {} : { largestGapMs: decision.largestGapMs }),
    },
    verdict: decision.verdict,
  })
  return { body: structuredClone(body), document: JSON.parse(evidenceText(decided, decision)) }
}

function checksOf(random: Random, ageMs: number, submittedAt: number): CheckRecord[] {
  const count = random.between(1, 7)
  const near = Array.from({ length: count }, () => Math.max(submittedAt, timeNear(random)))
  const close = random.chance(0.3) ? closeLooks(random, submittedAt) : []
  const sent = [...near, ...close].sort((a, b) => a - b)
  const isRare = close.length > 0 && random.chance(0.7)
  const kinds = random.pick([
    ['absent'],
    ['differing'],
    ['absent', 'present'],
    ['absent', 'differing', 'present', 'failed'],
  ])
  const hasLog = random.chance(isRare ? 0.1 : 0.4)
  const hasMarks = random.chance(isRare ? 0.1 : 0.4)
  const appears = random.chance(0.3)
  const from = random.below(count)
  return sent.map((sentAt, index): CheckRecord => {
    const answeredAt = sentAt + random.pick([0, 100, 3000])
    const drawn = appears ? appearing(index, from) : random.pick(kinds)
    const kind = random.chance(isRare ? 0.01 : 0.1) ? 'failed' : drawn
    if (kind === 'failed') {
      const retry = random.chance(0.3) ? { retryAt: sentAt + random.pick(LENGTHS.slice(0, -1)) } : {}
      const code = random.pick(random.chance(0.9) ? ['unavailable', 'timeout', 'rate_limited'] : FAILURE_CODES)
      return {
        sentAt,
        answeredAt,
        failure: { code, ...retry, ...(random.chance(0.5) ? { status: 503 } : {}) },
      } as CheckRecord
    }
    const seen = {
      facts: {
        read: sentAt - CLAIMED_AT,
        ...(random.chance(0.05) ? { on_branch: false } : {}),
        ...(random.chance(0.05) ? { head: random.pick(['f', 'e']).repeat(40) } : {}),
      },
      ...(hasLog && random.chance(0.9) ? { stays: staysOf(random) } : {}),
      ...(hasMarks && random.chance(0.7) ? { mark: random.pick(MARKS) } : {}),
    }
    const differs = kind === 'differing' ? random.pick([['branch'], ['sha'], ['sha', 'branch'], ['branch', 'sha']]) : []
    const baseUrl = random.chance(0.01) ? 'https://other.example' : 'https://api.github.com'
    return {
      ...{
        sentAt,
        answeredAt,
        ageMs: ageMs + (random.chance(isRare ? 0.01 : 0.1) ? random.pick([1, 2000, MINUTE]) : 0),
      },
      observation: kind === 'absent' ? { kind, ...seen } : { kind: 'present', differs, ...seen },
      clockOffsetMs: random.chance(isRare ? 0.01 : 0.1) ? random.pick(LENGTHS) : 1000,
      dated: random.chance(0.9),
      ...(random.chance(0.98) ? { answers: random.pick([1, 1, 3, 100]) } : {}),
      ...(random.chance(0.95) ? { source: { provider: 'github', listed: true, baseUrl } } : {}),
    }
  })
}

/** Such as leave a gap of about 30 s at most. */
function closeLooks(random: Random, submittedAt: number): number[] {
  const gapMs = random.pick([15, 15, 27, 30]) * SECOND
  const end = CLAIMED_AT + TOLERANCE
  const count = Math.max(0, Math.ceil((end - submittedAt) / gapMs))
  return Array.from({ length: count + 1 }, (_, index) => submittedAt + index * gapMs)
}

function appearing(index: number, from: number): string {
  return index < from ? 'absent' : 'present'
}

function staysOf(random: Random): Stay[] {
  return Array.from({ length: random.pick([0, 0, 1, 1, 2]) }, () => ({
    appeared: logTime(random),
    ...(random.chance(0.5) ? { removed: logTime(random) } : {}),
    ...(random.chance(0.5) ? { removedWhole: random.chance(0.6) } : {}),
  }))
}

function logTime(random: Random) {
  const notAfter = timeNear(random)
  return { notAfter, ...(random.chance(0.8) ? { notBefore: notAfter - random.pick([0, 999, 5000]) } : {}) }
}

function timeNear(random: Random): number {
  return CLAIMED_AT + random.pick(LINES) + random.pick(NEAR)
}

/** Another value, a member fewer, one more, or a part of it in another place. */
function change(random: Random, document: Draft): void {
  const parts = partsOf(document)
  const { holder, name } = random.pick(parts)
  const how = random.below(5)
  const other = random.pick(parts)
  if (how === 0) holder[name] = structuredClone(random.pick(VALUES))
  else if (how === 1 && Array.isArray(holder)) holder.splice(Number(name), 1)
  else if (how === 1) delete holder[name]
  else if (how === 2 && !Array.isArray(holder)) holder[random.pick(NAMES)] = structuredClone(random.pick(VALUES))
  else if (how === 3 && typeof holder[name] === 'number') holder[name] = random.pick(LENGTHS)
  else holder[name] = structuredClone(other.holder[other.name])
}

function partsOf(holder: Draft): { readonly holder: Draft; readonly name: string }[] {
  if (typeof holder !== 'object' || holder === null) return []
  return Object.keys(holder).flatMap((name) => [{ holder, name }, ...partsOf(holder[name])])
}
