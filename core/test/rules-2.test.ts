/**
 * The verdict rules of version 2, one row for each case in which they decide otherwise than those of version 1, and one beside it in which they do
 * not. Threats A1 and D2 of `security.md`.
 */
import type { CheckRecord } from '@claimcheck/core/rules'
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
  HOUR,
  L,
  LATE,
  log,
  NEVER,
  present,
  stay,
  testCases,
  UNAVAILABLE,
  WAITS,
  WINDOW_END,
} from './rules-cases.ts'

const MINUTE = 60_000
/** Looks at these seconds, and then every 15 s until the tolerance ends. */
const looks = (look: (at: number) => CheckRecord, ...first: number[]): CheckRecord[] => {
  const times = first.map((second) => second * 1000)
  for (let at = (times.at(-1) ?? 0) + 15_000; at < L; at += 15_000) times.push(at)
  return [...times, L].map(look)
}
const LOOKED = looks(absent, 1, 3)
/** A destination's clock that is so far ahead, or behind if it is below 0. */
const off = (ahead: number) => ({ clockAheadMs: ahead, clockOffsetMs: Math.abs(ahead) + 600 })
/** A log that is read only once it is green: the end of what is left, long before the claim. */
const GREEN = log({ appeared: { notAfter: -HOUR } })
const red = (at: number) => differs(at, ['sha'])

const stays: readonly Case[] = [
  [
    AMBIGUOUS,
    'red at every look until after the tolerance, then the red run is deleted',
    [...looks(red, 1, 3), red(L + 3000), present(L + 60_000, GREEN), present(D, GREEN)],
  ],
  [WAITS, 'and it waits for the deadline', [...looks(red, 1, 3), red(L + 3000), present(L + 60_000, GREEN)]],
  ['verified', 'one odd look contradicts nothing', [red(1000), present(L + 60_000, GREEN)]],
  ['verified', 'nor do two that do not agree', [red(1000), absent(4000), present(L + 60_000, GREEN)]],
  ['verified', 'nor do two within two seconds', [red(1000), red(2999), present(L + 60_000, GREEN)]],
  [
    'verified',
    'nor do looks within a minute of its beginning, which a replica may have answered',
    [absent(1000), absent(59_000), absent(61_998), present(L + 60_000, log(stay(1000)))],
  ],
  [
    AMBIGUOUS,
    'later looks do',
    [absent(1000), absent(61_999), absent(63_999), present(L + 60_000, log(stay(1000))), present(D, log(stay(1000)))],
  ],
  [
    'verified',
    'an answer that may be old is as old as that',
    [absent(64_000, { ageMs: 3000 }), absent(66_000, { ageMs: 5000 }), present(L + 60_000, log(stay(1000)))],
  ],
  [
    'verified',
    'the offset of the clock widens its beginning',
    [absent(64_000), absent(66_000), present(L + 60_000, { ...log(stay(1000)), offset: 5000 })],
  ],
  [
    'verified',
    'what is not settled contradicts nothing',
    [...[64_000, 70_000].map((at) => absent(at, { mark: 'unsettled' })), present(L + 60_000, log(stay(1000)))],
  ],
  [
    'verified',
    'a stay that ended is what the log says it is',
    [absent(100_000), absent(110_000), absent(L + 60_000, log(stay(1000, 50_000)))],
  ],
  [
    'verified',
    'what a look showed in time was there in time, whatever the log says',
    [absent(100_000), absent(110_000), present(L - 100, log(stay(1000)))],
    { appeared: { notBefore: 110_000, notAfter: L, source: 'observation' } },
  ],
  [
    AMBIGUOUS,
    'a contradicted stay does not lead to blame: it may have been there in time',
    [
      ...LOOKED,
      absent(D, log({ appeared: { notAfter: 1000 } })),
      absent(D + 3000, log({ appeared: { notAfter: 1000 } })),
    ],
  ],
  [
    'verified',
    'a stay that begins after the answer that tells of it is none',
    [present(1000, log(stay(5 * MINUTE)))],
    { appeared: { notAfter: 1100, source: 'observation' } },
  ],
  [AMBIGUOUS, 'and it verifies nothing', [absent(1000, log(stay(5 * MINUTE))), absent(D, log(stay(D + 5 * MINUTE)))]],
  [
    'verified',
    'a destination whose clock is ahead by what its answer says tells of no future',
    [absent(1000, { ...log(stay(4 * MINUTE)), offset: 4 * MINUTE })],
  ],
]

const gaps: readonly Case[] = [
  [FAILED, 'looks every 15 s see a lie', [...LOOKED, absent(D)], { largestGapMs: 15_100 }],
  ['mismatch/content_mismatch', 'and another content', [...looks(red, 1, 3), red(D)], { largestGapMs: 15_100 }],
  [AMBIGUOUS, 'two looks and the deadline do not', [absent(1000), absent(D)]],
  [
    FAILED,
    'a look that failed leaves a gap of 30 s',
    [...looks(absent, 1, 3).map((look, at) => (at === 5 ? failure(look.sentAt, 'timeout') : look)), absent(D)].map(
      (look) => ({ ...look, answeredAt: look.sentAt }),
    ),
    { largestGapMs: 30_000 },
  ],
  [
    AMBIGUOUS,
    'one of a millisecond more is too large',
    [...looks(absent, 1, 3).map((look, at) => (at === 5 ? failure(look.sentAt, 'timeout') : look)), absent(D)].map(
      (look, at) => ({ ...look, answeredAt: look.sentAt + (at === 6 ? 1 : 0) }),
    ),
  ],
  [
    FAILED,
    'answers that may be 2 s old leave 2 s more',
    [...looks((at) => absent(at, { ageMs: 2000 }), 2, 4), absent(D + 2000, { ageMs: 2000 })],
    { largestGapMs: 17_100 },
  ],
  [
    AMBIGUOUS,
    'answers that may be 20 s old leave too much',
    [...looks((at) => absent(at, { ageMs: 20_000 }), 2, 4), absent(D + 20_000, { ageMs: 20_000 })],
  ],
  [
    AMBIGUOUS,
    'one old answer shows nothing of now',
    [
      ...LOOKED.map((look, at) => (at === 5 || at === 6 ? { ...look, ageMs: 600_000 } : look)),
      absent(D + 600_000),
      absent(D + 603_000),
    ],
  ],
  [
    AMBIGUOUS,
    'nor does what was not settled',
    [...looks((at) => absent(at, at > 100_000 && at < 130_000 ? { mark: 'unsettled' } : {}), 1, 3), absent(D)],
  ],
  [FAILED, 'gaps after the tolerance do not count', [...LOOKED, absent(D)]],
  [FAILED, 'a log needs no looks', [absent(L, log()), absent(D, log())], {}],
  [FAILED, 'nor does a record', [absent(L, NEVER), absent(D, NEVER)]],
  [
    'mismatch/content_mismatch',
    'nor does what is final',
    [1000, 4000].map((at) => differs(at, ['sha'], { mark: 'final' })),
  ],
  [
    LATE,
    'late after looks that leave no room',
    [...LOOKED, absent(L + 2000), present(L + 60_000), present(D)],
    { largestGapMs: 15_100 },
  ],
  [AMBIGUOUS, 'not late where they do', [absent(1000), absent(L + 2000), present(L + 60_000), present(D)]],
  [LATE, 'late by the record of the place', [absent(L + 1000, NEVER), present(L + 60_000), present(D)]],
  [AMBIGUOUS, 'a place that forgets blames nobody', [...LOOKED, absent(D, FORGETS)]],
]

const SUBMITTED = { claim: { submittedAt: 10_000, claimedAt: 0 } }
const LATER = looks(absent, 11, 13)
const freshness: readonly Case[] = [
  [FAILED, 'ten seconds before the submission is fresh', [...LATER, absent(D)], SUBMITTED],
  [AMBIGUOUS, 'eleven are not', [...looks(absent, 12, 14), absent(D)], { claim: { submittedAt: 10_001 } }],
  [FAILED, 'a second ahead is rounding', [...looks(absent, 0, 2), absent(D)], { claim: { submittedAt: -1000 } }],
  [AMBIGUOUS, 'more is a clock that is ahead', [...looks(absent, 0, 2), absent(D)], { claim: { submittedAt: -1001 } }],
  [
    FAILED,
    'measured by a monotonic clock',
    [...LATER, absent(D)],
    { claim: { ...SUBMITTED.claim, freshBy: 'claimed_ago' } },
  ],
  [AMBIGUOUS, 'not as intake found', [...LATER, absent(D)], { claim: { ...SUBMITTED.claim, freshBy: 'too_old' } }],
  [
    AMBIGUOUS,
    'nor from a key whose clock was ahead',
    [...LATER, absent(D)],
    { claim: { ...SUBMITTED.claim, freshBy: 'clock_ahead' } },
  ],
  [
    AMBIGUOUS,
    'what the times contradict is not fresh, whatever intake found',
    [...looks(absent, 12, 14), absent(D)],
    { claim: { submittedAt: 10_001, freshBy: 'claimed_at' } },
  ],
  [FAILED, 'a log does not ask', [absent(L, log()), absent(D, log())], { claim: { freshBy: 'too_old' } }],
]

const clocks: readonly Case[] = [
  [FAILED, 'ten seconds are no jump', [...LOOKED, absent(D, { offset: 10_000 })]],
  [AMBIGUOUS, 'more is one', [...LOOKED, absent(D, { offset: 10_001 })]],
  [AMBIGUOUS, 'also at a place with a log', [absent(1000, log()), absent(D, { ...log(), offset: 10_001 })]],
  [
    FAILED,
    'a cache keeps its date',
    [...LOOKED, absent(D + 90_000, { offset: 100_000, ageMs: 90_000 })],
    { now: D + 90_100 },
  ],
  [
    AMBIGUOUS,
    'a clock that was as far behind as it is ahead now jumped',
    [...LOOKED.map((read) => ({ ...read, ...off(-30_000) })), absent(D, { offset: 30_500, ahead: 29_900 })],
  ],
  [
    FAILED,
    'one that is on the same side is steady',
    [...LOOKED.map((read) => ({ ...read, ...off(-30_000) })), absent(D, { offset: 30_500, ahead: -29_900 })],
  ],
  [
    FAILED,
    'five seconds either way are no jump',
    [...LOOKED.map((read) => ({ ...read, ...off(-4900) })), absent(D, { offset: 5000, ahead: 5000 })],
  ],
  [
    FAILED,
    'nor is the date of a kept answer',
    [
      ...LOOKED.map((read) => ({ ...read, ...off(500) })),
      absent(D + 90_000, { offset: 90_500, ahead: -90_000, ageMs: 90_000 }),
    ],
    { now: D + 90_100 },
  ],
  [
    AMBIGUOUS,
    'our own clock was set, where the place tells no time',
    [...LOOKED, absent(D, { dated: false, set: 10_001 })],
  ],
  [FAILED, 'by little', [...LOOKED, absent(D, { dated: false, set: 10_000 })]],
  [
    AMBIGUOUS,
    'what came late by a clock that was set may have come in time',
    [...LOOKED, present(L + 1000, { set: 60_000 }), present(D)],
  ],
]

const secondLooks: readonly Case[] = [
  [
    WAITS,
    'a host that was down until after its time looks again',
    [failure(1000, 'timeout'), absent(GRACE_END + HOUR, NEVER)],
  ],
  [
    FAILED,
    'and then decides',
    [failure(1000, 'timeout'), absent(GRACE_END + HOUR, NEVER), absent(GRACE_END + HOUR + 2000, NEVER)],
  ],
  [WAITS, 'also where the first look says nothing of the deadline', [absent(1000), absent(WINDOW_END + 1)]],
  [
    'unverifiable/verifier_error',
    'which is not decided by it',
    [absent(1000), absent(WINDOW_END + 1), absent(WINDOW_END + 2001)],
  ],
  ['verified', 'a log may', [absent(1000), absent(WINDOW_END + 1, log()), present(WINDOW_END + 2001, log(stay(0)))]],
  [WAITS, 'a look that failed is made again', [absent(1000), failure(GRACE_END + HOUR, 'timeout')]],
  [
    UNAVAILABLE,
    'once',
    [absent(1000), failure(GRACE_END + HOUR, 'timeout'), failure(GRACE_END + HOUR + 2000, 'timeout')],
  ],
  [
    'unverifiable/rate_limited',
    'a destination that asked for more time is not',
    [absent(1000), failure(D, 'rate_limited', GRACE_END + 1)],
  ],
  [
    WAITS,
    'a shorter grace does not end a claim between its two looks',
    [failure(1000, 'timeout'), absent(D, NEVER)],
    { closing: { graceMs: 0 } },
  ],
  [
    FAILED,
    'and the second decides it',
    [failure(1000, 'timeout'), absent(D, NEVER), absent(D + 2000, NEVER)],
    { closing: { graceMs: 0 } },
  ],
]

const by2 = (cases: readonly Case[]): readonly Case[] =>
  cases.map(([expected, name, checks, more = {}]) => [
    expected,
    name,
    checks,
    { ...more, rules: { ...more.rules, rulesVersion: 2 } },
  ])

testCases(by2([...stays, ...gaps, ...freshness, ...clocks, ...secondLooks]))
