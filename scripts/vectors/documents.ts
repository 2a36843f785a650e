/**
 * Receipts' bodies with evidence of the actions that come with Claimcheck: honest ones for each verdict, and ones whose reads contradict
 * themselves, their claims or their profiles, as an issuer writes them that decides by the rules and invents what it saw.
 */

import type { Shown } from '@claimcheck/core/hosting'
import type { ActionProfile } from '@claimcheck/core/plugin'
import {
  type Case,
  claimDigest,
  type EvidenceFinding,
  evidenceText,
  receiptBody,
  sha256Text,
  signedEvidence,
} from '@claimcheck/core/receipts'
import {
  type CheckRecord,
  CLOSING,
  decide,
  type FreshReason,
  type JsonObject,
  parseInstant,
  type ReadRecord,
  type Rules,
  type Source,
  type Stay,
} from '@claimcheck/core/rules'
import { COUNTS, OPENED, OTHER_SHA, REPOSITORY, SAMPLES, type Sample, SHA } from './samples.ts'

/** A body, checked already, its evidence, and what a checker says of the two. */
export interface EvidenceDocumentVector {
  readonly name: string
  readonly body: JsonObject
  readonly evidence: string
  readonly expected: EvidenceFinding
}

const CLAIMED_AT = parseInstant('2026-12-01T14:01:58.000Z')!
const SECOND_MS = 1000
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const SOURCE: Source = { provider: 'github', listed: true, baseUrl: 'https://api.github.com' }

type Over = Partial<Pick<ReadRecord, 'ageMs' | 'dated' | 'clockOffsetMs' | 'answeredAt'>> & {
  readonly stays?: readonly Stay[]
  readonly mark?: 'final' | 'never_before' | 'may_have_been' | 'unsettled'
}

/** @param at milliseconds after the claim */
function read(
  at: number,
  seen: { kind: 'absent' } | { kind: 'present'; differs: readonly string[] },
  facts: JsonObject,
  over: Over = {},
): ReadRecord {
  const { stays, mark, ...own } = over
  const observed = { ...seen, facts, ...(stays ? { stays } : {}), ...(mark ? { mark } : {}) }
  const sentAt = CLAIMED_AT + at
  return {
    sentAt,
    answeredAt: sentAt + 200,
    observation: observed,
    clockOffsetMs: 900,
    dated: true,
    ageMs: 0,
    source: SOURCE,
    answers: 2,
    ...own,
  }
}

const unplaced = ({ source, ...read }: ReadRecord): ReadRecord => read
const uncounted = ({ answers, ...read }: ReadRecord): ReadRecord => read

const failed = (at: number): CheckRecord => ({
  sentAt: CLAIMED_AT + at,
  answeredAt: CLAIMED_AT + at + 200,
  failure: { code: 'unavailable', status: 502 },
})
const second = (at: number) => ({ notBefore: CLAIMED_AT + at, notAfter: CLAIMED_AT + at + 999 })

interface Row {
  readonly name: string
  readonly checks: readonly CheckRecord[]
  /** The rules in place of the profile's. */
  readonly rules?: Partial<Rules>
  readonly params?: JsonObject
  /** Milliseconds after the claim. */
  readonly deadline?: number
  readonly submitted?: number
  readonly freshBy?: FreshReason
  readonly expected?: EvidenceFinding
}

const FOLLOWS: EvidenceFinding = { evidence: 'follows', rules: 'published' }
const against = (...differs: string[]): EvidenceFinding => ({ evidence: 'does_not_follow', differs })
const FACTS = against('observation.facts')

/** Makes reads of one action: `shown`, `absent` and `differing` have its facts, which `facts` replaces. */
function readsOf(sample: Sample) {
  const shown = (at: number, over?: Over, facts = sample.shown) =>
    read(at, { kind: 'present', differs: [] }, facts, over)
  const absent = (at: number, over?: Over, facts = sample.absent) => read(at, { kind: 'absent' }, facts, over)
  const differing = (at: number, differs: readonly string[], facts: JsonObject, over?: Over) =>
    read(at, { kind: 'present', differs }, facts, over)
  return { shown, absent, differing }
}

function honestRows(profile: ActionProfile, sample: Sample): Row[] {
  const { toleranceMs: L, deadlineMs: D, neverLate } = profile
  const { shown, absent, differing } = readsOf(sample)
  const came = [{ appeared: second(2000) }]
  const cameLate = [{ appeared: second(L + 10_000) }]
  const wentAgain = [{ appeared: second(2000), removed: second(60_000) }]
  return [
    { name: 'seen in time', checks: [absent(1000), shown(5000)] },
    { name: 'placed in time by a log', checks: [shown(L + 5000, { stays: came })] },
    {
      name: 'placed in time by a log without a beginning',
      checks: [shown(L + 5000, { stays: [{ appeared: { notAfter: CLAIMED_AT + 5999 } }] })],
    },
    { name: 'gone again, by a log', checks: [absent(L + 5000, { stays: wentAgain })] },
    {
      name: 'seen by a log that tells the second of the answer',
      checks: [shown(5000, { stays: [{ appeared: second(5100) }] })],
    },
    {
      name: 'seen where nothing tells the time',
      checks: [shown(5000, { dated: false, stays: [{ appeared: second(5 * HOUR_MS) }] })],
    },
    { name: 'read for as long as a check may take', checks: [shown(5000, { answeredAt: CLAIMED_AT + 65_000 })] },
    { name: 'read after a day in a cache', checks: [shown(5000, { ageMs: 24 * HOUR_MS })] },
    { name: 'never there, by a whole log', checks: [absent(L, { stays: [] }), absent(D, { stays: [] })] },
    { name: 'never there, by the record', checks: [D, D + 3000].map((at) => absent(at, { mark: 'never_before' })) },
    {
      name: 'forgotten, though its facts show it',
      checks: [absent(1000, { mark: 'may_have_been' }), absent(D, { mark: 'may_have_been' }, sample.shown)],
    },
    { name: 'not read', checks: [absent(1000), failed(D), failed(D + CLOSING.graceMs)] },
    ...(neverLate
      ? []
      : [
          {
            name: 'late by a log',
            checks: [absent(1000, { stays: [] }), ...[30_000, 33_000].map((at) => shown(L + at, { stays: cameLate }))],
          },
        ]),
    ...Object.entries(sample.differing).flatMap(([field, facts]) => [
      {
        name: `another ${field}, for good`,
        checks: [1000, 4000].map((at) => differing(at, [field], facts, { mark: 'final' })),
      },
      {
        name: `another ${field}, by a whole log`,
        checks: [L, D].map((at) => differing(at, [field], facts, { stays: [] })),
      },
    ]),
  ]
}

function contradictoryRows(profile: ActionProfile, sample: Sample): Row[] {
  const { deadlineMs: D, shows = {}, compared = {}, past = [] } = profile
  const { shown, absent, differing } = readsOf(sample)
  const seen = (facts: JsonObject) => [absent(1000), shown(5000, {}, facts)]
  const without = (name: string) => Object.fromEntries(Object.entries(sample.shown).filter(([one]) => one !== name))
  const blamed = Object.keys(sample.differing)[0]!
  const facts = sample.differing[blamed]!
  const final = (differs: readonly string[], own: JsonObject) =>
    [1000, 4000].map((at) => differing(at, differs, own, { mark: 'final' }))
  return [
    { name: 'verified without facts', checks: seen({}) },
    ...Object.entries(shows).flatMap(([fact, value]) => {
      return { name: `verified with another ${fact}`, checks: seen({ ...sample.shown, [fact]: otherThan(value) }) }
    }),
    ...Object.entries(sample.differing).flatMap(([field, other]) => [
      { name: `verified with the facts of another ${field}`, checks: seen(other) },
      { name: `blamed for ${field} with the facts of what was claimed`, checks: final([field], sample.shown) },
    ]),
    ...Object.values(compared).flatMap((comparison) =>
      typeof comparison === 'object' && 'fact' in comparison && comparison.tells === undefined
        ? [{ name: `verified without ${comparison.fact}`, checks: seen(without(comparison.fact)) }]
        : [],
    ),
    ...past.flatMap((fact) => [
      {
        name: `verified with ${fact} an hour after the answer`,
        checks: seen({ ...sample.shown, [fact]: '2026-12-01T15:02:04.000Z' }),
      },
      { name: `verified with ${fact} that is no time`, checks: seen({ ...sample.shown, [fact]: 'yesterday' }) },
    ]),
    {
      name: 'failed with the facts of what was claimed',
      checks: [D, D + 3000].map((at) => absent(at, { mark: 'never_before' }, sample.shown)),
    },
    {
      name: 'failed by a log with the facts of what was claimed',
      checks: [60_000, D].map((at) => absent(at, { stays: [] }, sample.shown)),
    },
    ...(Object.keys(sample.differing).length > 1
      ? [
          {
            name: 'blamed for two fields of which one is as claimed',
            checks: final(Object.keys(sample.differing).slice(0, 2), facts),
          },
        ]
      : []),
  ].map((row) => ({ expected: FACTS, ...row }))
}

function otherThan(shown: Shown): string | number | boolean {
  if (typeof shown === 'boolean') return !shown
  if (typeof shown === 'number') return shown + 1
  if (typeof shown === 'string' || Array.isArray(shown)) return 'strange'
  return 'atLeast' in shown ? 0 : (shown as { readonly not: boolean }).not
}

/** Observations that contradict themselves whatever the action is. */
function limitRows(profile: ActionProfile, sample: Sample): Row[] {
  const { toleranceMs: L, required } = profile
  const { shown, absent, differing } = readsOf(sample)
  const stays = (...all: Stay[]): Row['checks'] => [shown(L + 5000, { stays: [{ appeared: second(2000) }, ...all] })]
  const late = { appeared: second(L + HOUR_MS) }
  const came = [{ appeared: second(2000) }]
  const [blamed, facts] = Object.entries(sample.differing)[0]!
  const final = (differs: readonly string[]) =>
    [1000, 4000].map((at) => differing(at, differs, facts, { mark: 'final' }))
  return [
    { name: 'a log entry after the answer', checks: stays(late), expected: against('stays') },
    {
      name: 'a removal after the answer',
      checks: stays({ appeared: second(3000), removed: second(L + HOUR_MS) }),
      expected: against('stays'),
    },
    {
      name: 'a time that begins after it ends',
      checks: stays({ appeared: { notBefore: CLAIMED_AT + 9000, notAfter: CLAIMED_AT + 3000 } }),
      expected: against('stays'),
    },
    {
      name: 'a stay that ends before it begins',
      checks: stays({ appeared: second(60_000), removed: second(3000) }),
      expected: against('stays'),
    },
    {
      name: 'nine stays',
      checks: stays(...Array.from({ length: 8 }, (_, index) => ({ appeared: second(3000 + index) }))),
      expected: against('stays'),
    },
    { name: 'a mark on what is there as claimed', checks: [shown(5000, { mark: 'final' })], expected: against('mark') },
    {
      name: 'an answer that is 30 days old',
      checks: [shown(5000, { ageMs: 30 * 24 * HOUR_MS })],
      expected: against('age_ms'),
    },
    {
      name: 'a read without a count of answers',
      checks: [absent(1000), uncounted(shown(5000))],
      expected: against('answers'),
    },
    {
      name: 'an earlier read without a count of answers',
      checks: [uncounted(absent(1000)), shown(5000)],
      expected: against('answers'),
    },
    {
      name: 'a read without a source, of which answers are counted',
      checks: [absent(1000), unplaced(shown(5000))],
      expected: against('observation.source'),
    },
    {
      name: 'dated ten minutes after its submission',
      checks: [shown(5000)],
      submitted: -10 * MINUTE_MS,
      freshBy: 'claimed_ahead',
      expected: against('claim.claimed_at'),
    },
    {
      name: 'dated five minutes after its submission',
      checks: [shown(5000)],
      submitted: -5 * MINUTE_MS,
    },
    {
      name: 'due within the tolerance',
      checks: [shown(5000)],
      deadline: L,
      expected: against('observation.deadline_at'),
    },
    { name: 'due just after the tolerance', checks: [shown(5000)], deadline: L + 1 },
    {
      name: 'fresh, and submitted a minute later',
      checks: [shown(MINUTE_MS + 5000)],
      submitted: MINUTE_MS,
      freshBy: 'claimed_at',
      expected: against('claim.fresh'),
    },
    { name: 'submitted a minute later', checks: [shown(MINUTE_MS + 5000)], submitted: MINUTE_MS },
    { name: 'submitted after its deadline', checks: [shown(HOUR_MS, { stays: came })], submitted: HOUR_MS - SECOND_MS },
    { name: 'a field that differs twice', checks: final([blamed, blamed]), expected: against('differs') },
    {
      name: 'a check of five hours',
      checks: [shown(5000, { answeredAt: CLAIMED_AT + 5 * HOUR_MS, stays: [{ appeared: second(2000) }] })],
      expected: against('order'),
    },
    { name: 'a field that the profile does not have', checks: final([blamed, 'colour']), expected: against('differs') },
    {
      name: 'a field that every object inherits',
      checks: final([blamed, 'constructor']),
      expected: against('differs'),
    },
    {
      name: 'checks after the one that decided',
      checks: [absent(1000), shown(5000), shown(9000)],
      expected: against('checks'),
    },
    {
      name: 'rules of another action',
      checks: [absent(1000), shown(5000)],
      rules: { required: { colour: 'content' } },
      expected: against('rules'),
    },
    {
      name: 'rules without a field',
      checks: [absent(1000), shown(5000)],
      rules: { required: Object.fromEntries(Object.entries(required).slice(1)) },
      expected: against('rules'),
    },
    {
      name: 'a tolerance that another setting had',
      checks: [absent(1000), shown(5000)],
      rules: { toleranceMs: L + SECOND_MS },
      expected: { evidence: 'follows', rules: 'differs' },
    },
  ]
}

type Reads = ReturnType<typeof readsOf>

/** Cases that only one action has. */
const FURTHER: Readonly<Record<string, (reads: Reads, profile: ActionProfile) => readonly Row[]>> = {
  'http.url.status': ({ shown, absent, differing }, { toleranceMs: L }) => {
    const stays = [{ appeared: second(L + 10_000) }]
    const answered = (status: number) => ({ answered_status: status, redirected: false })
    return [
      {
        name: 'late, which it never is',
        rules: { neverLate: undefined as never },
        checks: [absent(1000, { stays: [] }), ...[30_000, 33_000].map((at) => shown(L + at, { stays }))],
        expected: against('rules'),
      },
      { name: 'a status that the claim leaves out is 200', params: {}, checks: [shown(5000, {}, answered(200))] },
      {
        name: 'another status than the usual one',
        params: {},
        checks: [shown(5000, {}, answered(503))],
        expected: FACTS,
      },
      {
        name: 'blamed for the status that the claim leaves out',
        params: {},
        checks: [1000, 4000].map((at) => differing(at, ['status'], answered(503), { mark: 'final' })),
      },
    ]
  },
  'codehost.commit.push': ({ shown }) => [
    {
      name: 'verified while the branch went on',
      checks: [shown(5000, {}, { branch_listed: true, head: OTHER_SHA })],
    },
    {
      name: 'verified with another branch as the place',
      checks: [shown(5000, {}, { branch_listed: true, head: SHA, found_on: 'dev' })],
      expected: FACTS,
    },
  ],
  'codehost.pull_request.open': ({ differing }) => [
    {
      name: 'blamed for a field that the claim does not have',
      params: { number: 7, base: 'main' },
      checks: [1000, 4000].map((at) =>
        differing(at, ['head_sha'], { ...OPENED, head_sha: OTHER_SHA }, { mark: 'final' }),
      ),
      expected: against('differs'),
    },
    {
      name: 'blamed for a head that the host has forgotten',
      checks: [1000, 4000].map((at) =>
        differing(at, ['head_sha'], { ...REPOSITORY, state: 'closed', base: 'main' }, { mark: 'final' }),
      ),
    },
  ],
  'codehost.checks.pass': ({ shown, absent, differing }) => {
    const skipped = { ...COUNTS, passed: 1, skipped: 1 }
    return [
      {
        name: 'all that the host shows, one of it skipped',
        params: { sha: SHA },
        checks: [shown(5000, {}, skipped)],
      },
      { name: 'a named check that was skipped', checks: [shown(5000, {}, skipped)], expected: FACTS },
      {
        name: 'blamed for a named check that was skipped',
        checks: [1000, 4000].map((at) => differing(at, ['checks'], skipped, { mark: 'final' })),
      },
      {
        name: 'blamed for all while none is red',
        params: { sha: SHA },
        checks: [1000, 4000].map((at) => differing(at, ['sha'], COUNTS, { mark: 'final' })),
        expected: FACTS,
      },
      {
        name: 'not settled yet, while all is green',
        params: { sha: SHA },
        checks: [absent(1000, { mark: 'unsettled' }, { ...COUNTS, settling: true }), shown(65_000)],
      },
    ]
  },
}

/** @param profiles in their newest version, by action */
export function evidenceDocuments(profiles: ReadonlyMap<string, ActionProfile>): EvidenceDocumentVector[] {
  return Object.entries(SAMPLES).flatMap(([action, sample]) => {
    const profile = profiles.get(action)!
    const further = FURTHER[action]?.(readsOf(sample), profile) ?? []
    const rows = [...honestRows(profile, sample), ...contradictoryRows(profile, sample), ...further]
    const limits = ['codehost.commit.push', 'registry.package.publish'].includes(action)
      ? limitRows(profile, sample)
      : []
    const first = { ...profile, version: '1', rulesVersion: 1 as const }
    const loose = contradictoryRows(profile, sample)[0]!
    return [
      ...[...rows, ...limits].map((row) => vectorOf(profile, sample, row)),
      vectorOf(first, sample, {
        ...loose,
        name: `version 1, ${loose.name}`,
        expected: { evidence: 'follows', rules: 'unknown' },
      }),
    ]
  })
}

function vectorOf(profile: ActionProfile, sample: Sample, row: Row): EvidenceDocumentVector {
  const { action, version, deadlineMs } = profile
  const { checks, params = sample.params, deadline = deadlineMs, submitted = 500, freshBy, expected = FOLLOWS } = row
  const rules: Rules = { ...profile, ...row.rules }
  const claim = { action, target: sample.target, params, claimedAt: CLAIMED_AT, clientClaimId: 'claim-1' }
  const digest = claimDigest(claim)
  const times = {
    claimedAt: CLAIMED_AT,
    deadlineAt: CLAIMED_AT + deadline,
    submittedAt: CLAIMED_AT + submitted,
    ...(freshBy ? { freshBy } : {}),
  }
  const decidedAt = checks.at(-1)!.answeredAt
  const decided: Case = {
    profile: { action, version },
    rules,
    closing: CLOSING,
    claim: { ...times, claimDigest: digest },
    checks,
    decidedAt,
  }
  const decision = decide(rules, times, checks, decidedAt, CLOSING)
  if (!decision) throw new Error(`the checks of "${action} ${row.name}" decide nothing`)
  const evidence = evidenceText(decided, decision)
  const { observedAt, facts, source } = signedEvidence(decision, checks)
  const body = receiptBody({
    receiptId: 'rcpt_01K5ZQ6T3V8XJ2M4N7P9R0S1T2',
    issuedAt: decidedAt + 5,
    issuer: { keyId: 'ed25519:x' },
    agentId: 'agent-1',
    claim: { ...claim, claimDigest: digest },
    observation: {
      verifier: { id: action, version },
      observedAt,
      deadlineAt: times.deadlineAt,
      attempts: checks.length,
      facts,
      ...(decision.appeared ? { appeared: decision.appeared } : {}),
      ...(source ? { source } : {}),
      evidenceDigest: sha256Text(evidence),
    },
    verdict: decision.verdict,
  })
  return { name: `${action}: ${row.name}`, body: JSON.parse(JSON.stringify(body)), evidence, expected }
}
