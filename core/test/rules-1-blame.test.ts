/** The verdict rules, one row for each case: what it takes to blame, with a log of the place and without one. Threat A1 of `security.md`. */
import {
  AMBIGUOUS,
  absent,
  type Case,
  D,
  differs,
  FAILED,
  FORGETS,
  failure,
  GRACE_END,
  L,
  LATE,
  log,
  NEVER,
  present,
  stay,
  testCases,
  UNAVAILABLE,
  WAITS,
} from './rules-cases.ts'

const withoutLog: readonly Case[] = [
  [FAILED, 'not shown just after the submission, nor at the deadline', [absent(1000), absent(D)]],
  [WAITS, 'not decided before the deadline', [absent(1000), absent(D - 1)]],
  ['mismatch/content_mismatch', 'another state all along', [differs(1000, ['sha']), differs(D, ['sha'])]],
  [FAILED, 'a first look at the end of five seconds', [absent(5000), absent(D)]],
  [AMBIGUOUS, 'a first look after five seconds leaves a gap', [absent(5001), absent(D)]],
  [
    FAILED,
    'a first look that failed, and one that did not within five seconds',
    [failure(500, 'timeout'), absent(4000), absent(D)],
  ],
  [
    FAILED,
    'a claim of ten seconds before the submission is fresh',
    [absent(11_000), absent(D)],
    { claim: { submittedAt: 10_000 } },
  ],
  [AMBIGUOUS, 'an older one is not', [absent(11_000), absent(D)], { claim: { submittedAt: 10_001 } }],
  [
    FAILED,
    'unless its profile says so',
    [absent(11_000), absent(D)],
    { claim: { submittedAt: 10_001 }, rules: { freshMs: 10_001 } },
  ],
  [
    FAILED,
    'a client that is ahead is judged from the submission',
    [absent(-298_000), absent(D)],
    { claim: { submittedAt: -300_000 } },
  ],
  [
    AMBIGUOUS,
    'a client that is ahead, and a first look long after the submission',
    [absent(-200_000), absent(D)],
    { claim: { submittedAt: -300_000 } },
  ],
  [
    AMBIGUOUS,
    'answers that are older than the submission show nothing of it',
    [absent(1000, { ageMs: 1001 }), absent(D + 2000, { ageMs: 1001 })],
  ],
  [
    LATE,
    'late after a look just after the submission',
    [absent(1000), absent(L + 1000), present(L + 60_000), present(D)],
  ],
  [
    AMBIGUOUS,
    'not late where it may have come and gone before the first look',
    [absent(6000), absent(L + 1000), present(L + 60_000), present(D)],
  ],
  [LATE, 'but late where the place says that it never was', [absent(L + 1000, NEVER), present(L + 60_000), present(D)]],
  ['verified', 'shown at any later look', [absent(1000), present(5000)]],
]

const withLog: readonly Case[] = [
  [
    FAILED,
    'a whole log blames whenever it was read',
    [absent(L, log()), absent(D, log())],
    { claim: { submittedAt: 300_000 } },
  ],
  [
    'verified',
    'a log that shows a stay in time verifies the claim',
    [absent(1000, log(stay(200, 700))), absent(D, log(stay(200, 700)))],
  ],
  [
    'verified',
    'a client that is ahead: a stay after the submission is after the claim',
    [absent(-290_000, log(stay(-299_000, -295_000)))],
    { claim: { submittedAt: -300_000 } },
  ],
  [AMBIGUOUS, 'a log that is cut blames nobody', [absent(1000, FORGETS), absent(D, FORGETS)]],
  [AMBIGUOUS, 'a veto at one look stays', [absent(1000, log()), absent(5000, FORGETS), absent(D, log())]],
  [
    FAILED,
    'the record of the place outweighs it',
    [absent(1000, FORGETS), ...[0, 3000].map((at) => absent(D + at, NEVER))],
  ],
]

const confirming: readonly Case[] = [
  [WAITS, 'one final read blames nobody', [differs(1000, ['sha'], { mark: 'final' })]],
  [
    'mismatch/target_mismatch',
    'two final reads do',
    [1000, 3000].map((at) => differs(at, ['branch'], { mark: 'final' })),
  ],
  [WAITS, 'absence does not confirm a final read', [absent(1000), differs(4000, ['sha'], { mark: 'final' })]],
  [
    WAITS,
    'a final read of other fields does not either',
    [differs(1000, ['branch']), differs(4000, ['sha'], { mark: 'final' })],
  ],
  [
    AMBIGUOUS,
    'no agreement by the end',
    [absent(1000), failure(D, 'timeout'), differs(D + 20_000, ['sha'])],
    { now: GRACE_END },
  ],
  [
    'mismatch/content_mismatch',
    'at the deadline another state, then the same again',
    [absent(1000), differs(D, ['sha']), differs(D + 3000, ['sha'])],
  ],
]

const unsettled: readonly Case[] = [
  [
    AMBIGUOUS,
    'what is not settled bounds nothing: settled after the tolerance, it is not late',
    [absent(1000), absent(L + 1000, { mark: 'unsettled' }), present(L + 60_000), present(D)],
  ],
  [
    'mismatch/content_mismatch',
    'nor does it keep what comes after it from blame',
    [absent(1000, { mark: 'unsettled' }), differs(D - 5000, ['sha']), differs(D, ['sha'])],
  ],
  [AMBIGUOUS, 'at the deadline it blames nobody', [absent(1000), absent(D, { mark: 'unsettled' })]],
  [
    AMBIGUOUS,
    'an outcome without a time is never late',
    [absent(1000), absent(L + 1000), present(L + 60_000), present(D)],
    { rules: { neverLate: true } },
  ],
]

const clocks: readonly Case[] = [
  [
    AMBIGUOUS,
    'reads between which a clock jumped are worthless for absence',
    [absent(1000, { offset: 1000 }), absent(D, { offset: 1_200_000 })],
  ],
  [
    AMBIGUOUS,
    'and for lateness',
    [absent(1000), absent(L + 1000, { offset: 1_200_000 }), present(L + 5000, { offset: 1_200_000 }), present(D)],
  ],
  [FAILED, 'a clock that is always off is no jump', [1000, D].map((at) => absent(at, { offset: 1_200_000 }))],
  [
    FAILED,
    'a cache keeps its date',
    [absent(1000, { offset: 0 }), absent(D + 90_000, { offset: 90_000, ageMs: 90_000 })],
  ],
  [
    'mismatch/content_mismatch',
    'what nothing can change is blamed all the same',
    [differs(1000, ['sha'], { mark: 'final' }), differs(4000, ['sha'], { mark: 'final', offset: 1_200_000 })],
  ],
]

const unread: readonly Case[] = (
  [
    ['unexpected_response', AMBIGUOUS],
    ['too_large', AMBIGUOUS],
    ['unavailable', UNAVAILABLE],
    ['timeout', UNAVAILABLE],
    ['forbidden', 'unverifiable/permission_denied'],
    ['rate_limited', 'unverifiable/rate_limited'],
  ] as const
).map(([code, expected]): Case => {
  return [expected, `nothing but ${code}`, [failure(1000, code), failure(D, code)], { now: GRACE_END }]
})

testCases([...withoutLog, ...withLog, ...confirming, ...unsettled, ...clocks, ...unread])
