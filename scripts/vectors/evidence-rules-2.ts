/** Receipts by rules of version 2, in the form of evidence that they need. */
import { type CheckRecord, CLOSING } from '@claimcheck/core/rules'
import {
  absent,
  type CheatRow,
  CLAIMED_AT,
  cheated,
  D,
  type EvidenceVector,
  elsewhere,
  FORM,
  failed,
  follows,
  type GoodRow,
  L,
  MINUTE_MS,
  present,
  signed,
  stay,
} from './evidence.ts'

/** Looks every 15 s, from just after the submission until the tolerance ends. */
const looks = (look: (sentAt: number) => CheckRecord) =>
  [1000, ...Array.from({ length: 39 }, (_, index) => 15_000 * (index + 1)), L + 1000].map(look)
const LOOKED_FOR = [...looks((at) => absent(at)), absent(D)]
const AN_HOUR_BEFORE = CLAIMED_AT - 60 * MINUTE_MS
const BEFORE = { appeared: { notBefore: AN_HOUR_BEFORE, notAfter: AN_HOUR_BEFORE } }
const NEVER = { mark: 'never_before' } as const
const END = D + CLOSING.graceMs

const GOOD: readonly GoodRow[] = [
  ['verified', 'Seen in time.', [absent(1000), present(5000)]],
  ['verified-by-the-log', "Placed in time by the destination's own log.", [present(L + 5000, { stays: [stay(2000)] })]],
  ['failed', 'Without a log: looks leave no gap of more than 30 s.', LOOKED_FOR],
  ['mismatch', 'Another branch at every look.', [...looks((at) => elsewhere(at)), elsewhere(D)]],
  [
    'late',
    'Absent at every look in time, and there before the deadline.',
    [...LOOKED_FOR.slice(0, -1), present(L + 30_000), present(L + 33_000)],
  ],
  ['failed-by-the-log', 'A whole log shows nothing.', [absent(L, { stays: [] }), absent(D, { stays: [] })]],
  [
    'failed-never-before',
    'Never there, by the own record of the destination.',
    [absent(D, NEVER), absent(D + 3000, NEVER)],
  ],
  ['unverifiable-between-looks', 'Without a log, looks too far apart.', [absent(1000), absent(D)]],
  [
    'unverifiable-not-settled',
    'What was not settled leaves a gap.',
    [...looks((at) => absent(at, at === 15_000 || at === 30_000 ? { mark: 'unsettled' } : {})), absent(D)],
  ],
  [
    'unverifiable-contradicted-stay',
    'Looks did not show it long after the log, read later, says that it began.',
    [
      ...[1000, 90_000, 93_000, L + 1000].map((at) => elsewhere(at)),
      ...[L + 60_000, D].map((at) => present(at, { stays: [BEFORE] })),
    ],
  ],
  [
    'verified-by-a-log-that-one-look-missed',
    'One odd look contradicts no log.',
    [elsewhere(90_000), present(L + 60_000, { stays: [BEFORE] })],
  ],
  [
    'failed-at-the-second-look',
    'Read again only after its time was over.',
    [failed(1000), absent(END + 5000, NEVER), absent(END + 7000, NEVER)],
  ],
  ['unverifiable-unread', 'Not to be read at the end.', [absent(1000), failed(D), failed(END)]],
]

const NOT_BLAMED = cheated('verdict.value', 'verdict.reason_code', 'observation.largest_gap_ms')
const GAP = cheated('observation.largest_gap_ms')

/** By default done to what was looked for and is not there. */
const CHEATS: readonly CheatRow[] = [
  ['gap', 'A smaller gap is signed than the looks left.', GAP, { 'body.observation.largest_gap_ms': 1000 }],
  ['gap-left-out', 'No gap is signed.', GAP, { 'body.observation.largest_gap_ms': undefined }],
  [
    'gap-of-what-was-seen',
    'A gap is signed with a verdict that does not rest on looks.',
    GAP,
    { 'body.observation.largest_gap_ms': 1000 },
    [absent(1000), present(5000)],
  ],
  [
    'looks-removed',
    'Two looks are left out, and the gap is too large without them.',
    cheated('observation.attempts', 'verdict.value', 'verdict.reason_code', 'observation.largest_gap_ms'),
    ({ document }) => document.checks.splice(5, 2),
  ],
  [
    'not-fresh',
    'Blame without a log, for a claim that was not fresh.',
    NOT_BLAMED,
    { 'document.claim.fresh': false, 'document.claim.fresh_by': 'too_old' },
  ],
  [
    'of-a-clock-that-is-ahead',
    'Blame without a log, for a key whose clock was ahead.',
    NOT_BLAMED,
    { 'document.claim.fresh': false, 'document.claim.fresh_by': 'clock_ahead' },
  ],
  [
    'ahead-against-its-times',
    "Not blamed for a client's clock that is ahead, which it is not by the claim's times.",
    cheated('verdict.value', 'verdict.reason_code', 'observation.largest_gap_ms', 'claim.fresh'),
    { 'document.claim.fresh': false, 'document.claim.fresh_by': 'claimed_ahead' },
  ],
  ['fresh-by-no-reason', 'A reason that there is not.', FORM, { 'document.claim.fresh_by': 'surely' }],
  ['fresh-against-its-reason', 'Fresh, by a reason not to be.', FORM, { 'document.claim.fresh_by': 'too_old' }],
  ['fresh-left-out', 'It does not say whether the claim was fresh.', FORM, { 'document.claim.fresh': undefined }],
  [
    'blame-between-clocks',
    'A clock jumped by more than ten seconds between the reads.',
    NOT_BLAMED,
    { 'document.checks.1.clock_offset_ms': 11_201 },
  ],
  [
    'blame-across-a-turn-of-clocks',
    'The destination was behind the issuer at one read, and as far ahead of it at another.',
    NOT_BLAMED,
    {
      'document.checks.0.clock_ahead_ms': -600,
      'document.checks.1.clock_offset_ms': 9900,
      'document.checks.1.clock_ahead_ms': 9800,
    },
  ],
  [
    'blame-by-a-clock-that-was-set',
    "The issuer's clock was set by more than ten seconds since the submission.",
    NOT_BLAMED,
    { 'document.checks.1.clock_set_ms': 10_001 },
  ],
  [
    'blame-by-a-clock-that-was-set-by-little',
    "The issuer's clock was set by ten seconds since the submission.",
    follows('published'),
    { 'document.checks.1.clock_set_ms': 10_000 },
  ],
  [
    'ahead-by-more-than-the-offset',
    "The destination's clock was ahead by more than it is off.",
    cheated('clock_ahead_ms'),
    { 'document.checks.1.clock_ahead_ms': 1201 },
  ],
  ['answers-below-none', 'A number of answers that there is not.', FORM, { 'document.checks.0.answers': -1 }],
  [
    'answers-not-counted',
    'The answers of a check were not counted, at a time when some hosts did not.',
    follows('published'),
    { 'document.checks.0.answers': undefined },
  ],
  ['rules-of-version-1', 'Rules of version 1, in the form of version 2.', FORM, { 'document.rules_version': 1 }],
  ['form-of-version-1', 'The form of version 1, with rules of version 2.', FORM, { 'document.evidence_version': 1 }],
  [
    'rules-of-another-grace',
    'Other rules than the published ones.',
    follows('differs'),
    { 'document.rules.grace_ms': MINUTE_MS },
  ],
  [
    'stay-of-the-future',
    'A stay begins after the answer that tells of it.',
    cheated('stays'),
    {},
    [present(1000, { stays: [stay(5 * MINUTE_MS)] })],
  ],
]

export async function evidenceVectorsByRules2(): Promise<EvidenceVector[]> {
  const vectors: EvidenceVector[] = []
  for (const [name, description, checks] of GOOD) {
    const pair = await signed(checks, {}, '2')
    vectors.push({ name: `2-follows-${name}`, rule: 'follows', description, ...pair, expected: follows('published') })
  }
  for (const [name, description, expected, cheat, checks = LOOKED_FOR] of CHEATS) {
    const pair = await signed(checks, cheat, '2')
    vectors.push({ name: `2-${name}`, rule: `${expected.evidence}/2-${name}`, description, ...pair, expected })
  }
  return vectors
}
