/** The verdict rules, one row for each case: what it takes to blame, with a log of the place and without one. Threat A1 of `security.md`. */
import { absent, type Case, D, differs, failure, GRACE_END, L, present, stay, testCases } from './rules-cases.ts'

const AMBIGUOUS = 'unverifiable/claim_ambiguous'

const withoutLog: readonly Case[] = [
  {
    name: 'not shown just after the submission, nor at the deadline',
    checks: [absent(1000), absent(D)],
    expected: 'failed/not_found',
  },
  { name: 'not decided before the deadline', checks: [absent(1000), absent(D - 1)], expected: undefined },
  {
    name: 'another state all along',
    checks: [differs(1000, ['sha']), differs(D, ['sha'])],
    expected: 'mismatch/content_mismatch',
  },
  { name: 'a first look at the end of five seconds', checks: [absent(5000), absent(D)], expected: 'failed/not_found' },
  { name: 'a first look after five seconds leaves a gap', checks: [absent(5001), absent(D)], expected: AMBIGUOUS },
  {
    name: 'a first look that failed, and one that did not within five seconds',
    checks: [failure(500, 'timeout'), absent(4000), absent(D)],
    expected: 'failed/not_found',
  },
  {
    name: 'a claim of ten seconds before the submission is fresh',
    checks: [absent(11_000), absent(D)],
    claim: { submittedAt: 10_000 },
    expected: 'failed/not_found',
  },
  {
    name: 'an older one is not',
    checks: [absent(11_000), absent(D)],
    claim: { submittedAt: 10_001 },
    expected: AMBIGUOUS,
  },
  {
    name: 'unless its profile says so',
    checks: [absent(11_000), absent(D)],
    claim: { submittedAt: 10_001 },
    rules: { freshMs: 10_001 },
    expected: 'failed/not_found',
  },
  {
    name: 'a client that is ahead is judged from the submission',
    checks: [absent(-298_000), absent(D)],
    claim: { submittedAt: -300_000 },
    expected: 'failed/not_found',
  },
  {
    name: 'a client that is ahead, and a first look long after the submission',
    checks: [absent(-200_000), absent(D)],
    claim: { submittedAt: -300_000 },
    expected: AMBIGUOUS,
  },
  {
    name: 'answers that are older than the submission show nothing of it',
    checks: [absent(1000, { ageMs: 1001 }), absent(D + 2000, { ageMs: 1001 })],
    expected: AMBIGUOUS,
  },
  {
    name: 'late after a look just after the submission',
    checks: [absent(1000), absent(L + 1000), present(L + 60_000), present(D)],
    expected: 'late/observed_after_tolerance',
  },
  {
    name: 'not late where it may have come and gone before the first look',
    checks: [absent(6000), absent(L + 1000), present(L + 60_000), present(D)],
    expected: AMBIGUOUS,
  },
  {
    name: 'but late where the place says that it never was',
    checks: [absent(L + 1000, { mark: 'never_before' }), present(L + 60_000), present(D)],
    expected: 'late/observed_after_tolerance',
  },
  { name: 'shown at any later look', checks: [absent(1000), present(5000)], expected: 'verified' },
]

const withLog: readonly Case[] = [
  {
    name: 'a whole log blames whenever it was read',
    checks: [absent(L, { stays: [] }), absent(D, { stays: [] })],
    claim: { submittedAt: 300_000 },
    expected: 'failed/not_found',
  },
  {
    name: 'a log that shows a stay in time blames nobody',
    checks: [absent(1000, { stays: [stay(200, 700)] }), absent(D, { stays: [stay(200, 700)] })],
    expected: 'verified',
  },
  {
    name: 'a client that is ahead: a stay after the submission is after the claim',
    checks: [absent(-290_000, { stays: [stay(-299_000, -295_000)] })],
    claim: { submittedAt: -300_000 },
    expected: 'verified',
  },
  {
    name: 'a log that is cut blames nobody',
    checks: [absent(1000, { mark: 'may_have_been' }), absent(D, { mark: 'may_have_been' })],
    expected: AMBIGUOUS,
  },
  {
    name: 'a veto at one look stays',
    checks: [absent(1000, { stays: [] }), absent(5000, { mark: 'may_have_been' }), absent(D, { stays: [] })],
    expected: AMBIGUOUS,
  },
  {
    name: 'the record of the place outweighs it',
    checks: [
      absent(1000, { mark: 'may_have_been' }),
      ...[0, 3000].map((at) => absent(D + at, { mark: 'never_before' })),
    ],
    expected: 'failed/not_found',
  },
]

const confirming: readonly Case[] = [
  { name: 'one final read blames nobody', checks: [differs(1000, ['sha'], { mark: 'final' })], expected: undefined },
  {
    name: 'two final reads do',
    checks: [1000, 3000].map((at) => differs(at, ['branch'], { mark: 'final' })),
    expected: 'mismatch/target_mismatch',
  },
  {
    name: 'absence does not confirm a final read',
    checks: [absent(1000), differs(4000, ['sha'], { mark: 'final' })],
    expected: undefined,
  },
  {
    name: 'a final read of other fields does not either',
    checks: [differs(1000, ['branch']), differs(4000, ['sha'], { mark: 'final' })],
    expected: undefined,
  },
  {
    name: 'no agreement by the end',
    checks: [absent(1000), failure(D, 'timeout'), differs(D + 20_000, ['sha'])],
    now: GRACE_END,
    expected: AMBIGUOUS,
  },
  {
    name: 'at the deadline another state, then the same again',
    checks: [absent(1000), differs(D, ['sha']), differs(D + 3000, ['sha'])],
    expected: 'mismatch/content_mismatch',
  },
]

const unsettled: readonly Case[] = [
  {
    name: 'what is not settled bounds nothing: settled after the tolerance, it is not late',
    checks: [absent(1000), absent(L + 1000, { mark: 'unsettled' }), present(L + 60_000), present(D)],
    expected: AMBIGUOUS,
  },
  {
    name: 'nor does it keep what comes after it from blame',
    checks: [absent(1000, { mark: 'unsettled' }), differs(D - 5000, ['sha']), differs(D, ['sha'])],
    expected: 'mismatch/content_mismatch',
  },
  {
    name: 'at the deadline it blames nobody',
    checks: [absent(1000), absent(D, { mark: 'unsettled' })],
    expected: AMBIGUOUS,
  },
  {
    name: 'an outcome without a time is never late',
    checks: [absent(1000), absent(L + 1000), present(L + 60_000), present(D)],
    rules: { neverLate: true },
    expected: AMBIGUOUS,
  },
]

const clocks: readonly Case[] = [
  {
    name: 'reads between which a clock jumped are worthless for absence',
    checks: [absent(1000, { offset: 1000 }), absent(D, { offset: 1_200_000 })],
    expected: AMBIGUOUS,
  },
  {
    name: 'and for lateness',
    checks: [
      absent(1000),
      absent(L + 1000, { offset: 1_200_000 }),
      present(L + 5000, { offset: 1_200_000 }),
      present(D),
    ],
    expected: AMBIGUOUS,
  },
  {
    name: 'a clock that is always off is no jump',
    checks: [1000, D].map((at) => absent(at, { offset: 1_200_000 })),
    expected: 'failed/not_found',
  },
  {
    name: 'a cache keeps its date',
    checks: [absent(1000, { offset: 0 }), absent(D + 90_000, { offset: 90_000, ageMs: 90_000 })],
    expected: 'failed/not_found',
  },
  {
    name: 'what nothing can change is blamed all the same',
    checks: [differs(1000, ['sha'], { mark: 'final' }), differs(4000, ['sha'], { mark: 'final', offset: 1_200_000 })],
    expected: 'mismatch/content_mismatch',
  },
]

const unread: readonly Case[] = (
  [
    ['unexpected_response', AMBIGUOUS],
    ['too_large', AMBIGUOUS],
    ['unavailable', 'unverifiable/destination_unavailable'],
    ['timeout', 'unverifiable/destination_unavailable'],
    ['forbidden', 'unverifiable/permission_denied'],
    ['rate_limited', 'unverifiable/rate_limited'],
  ] as const
).map(([code, expected]) => ({
  name: `nothing but ${code}: a place that answered is not called unavailable`,
  checks: [failure(1000, code), failure(D, code)],
  now: GRACE_END,
  expected,
}))

testCases([...withoutLog, ...withLog, ...confirming, ...unsettled, ...clocks, ...unread])
