/** The verdict rules, one row for each case: what is there, marks, and the closing read. Threat A1 of `security.md`. */

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

const FIRST = absent(1000)

const rows: Case[] = [
  [WAITS, 'nothing was checked yet', [], { now: GRACE_END }],
  [AMBIGUOUS, 'a claim that fits several connections, at once', [failure(0, 'ambiguous_claim')]],
  ['unverifiable/no_connection', 'a claim without a connection, at once', [failure(0, 'no_connection')]],
  ['unverifiable/unsupported_action', 'an action that nothing checks, at once', [failure(0, 'unsupported_action')]],

  // Verified.
  [
    'verified',
    'an outcome whose answer came at the end of the tolerance',
    [present(L - 100)],
    { appeared: { notAfter: L, source: 'observation' } },
  ],
  [WAITS, 'an answer 1 ms after the tolerance alone decides nothing', [present(L - 99)]],
  [
    'verified',
    'the log has it in time although reads saw absence before it was listed',
    [absent(L - 1000), absent(L + 1000), present(L + 30_000, log(stay(L - 2000)))],
    { appeared: { notBefore: L - 2000, notAfter: L - 1001, source: 'destination' } },
  ],
  ['verified', 'the log has it in time although it is gone now', [absent(D, log(stay(5000, 60_000)))]],
  [
    'verified',
    'pushed and deleted with its whole branch before the claim',
    [absent(1000, log(stay(-HOUR, -60_000, true)))],
    { appeared: { notBefore: -HOUR, notAfter: -HOUR + 999, source: 'destination' } },
  ],
  [
    WAITS,
    'pushed more than the window before the claim, and deleted with its branch',
    [absent(1000, log(stay(-25 * HOUR, -60_000, true)))],
  ],
  [
    WAITS,
    'a whole branch that is deleted counts only where the profile has a window',
    [absent(1000, log(stay(-HOUR, -60_000, true)))],
    { rules: { removedWithinMs: 0 } },
  ],
  [WAITS, 'forced away before the claim: it may be pushed again', [absent(1000, log(stay(-HOUR, -60_000)))]],
  [
    'verified',
    'forced away before the claim and pushed again in time',
    [absent(1000, log(stay(-HOUR, -60_000))), present(5000, log(stay(3000), stay(-HOUR, -60_000)))],
  ],
  [
    LATE,
    'forced away before the claim and pushed again late',
    [
      absent(1000, log(stay(-HOUR, -60_000))),
      absent(L + 1000, log(stay(-HOUR, -60_000))),
      ...[9000, 12_000].map((at) => present(L + at, log(stay(L + 5000), stay(-HOUR, -60_000)))),
    ],
  ],
  [
    AMBIGUOUS,
    'forced away before the claim and not pushed again',
    [absent(1000, log(stay(-HOUR, -60_000))), absent(D, log(stay(-HOUR, -60_000)))],
  ],
  [
    FAILED,
    'a stay that ended before the window does not keep an absence from blame',
    [FIRST, absent(D, { stays: [stay(-50 * HOUR, -25 * HOUR)], mark: 'never_before' })],
  ],
  [
    WAITS,
    'the clock that widens a point past the end of the tolerance leaves it open',
    [present(L + 5000, { stays: [stay(L - 1500)], offset: 600 })],
  ],
  [
    WAITS,
    'a log without a clock gives no points: not verified by it',
    [present(L + 5000, { stays: [stay(1000)], dated: false })],
  ],
  [
    AMBIGUOUS,
    'a log without a clock that shows a stay keeps its end from blame',
    [FIRST, absent(D, { stays: [stay(1000, 60_000)], dated: false })],
  ],
  [
    WAITS,
    'a clock that is off by more than a day gives no points',
    [present(L + 5000, { stays: [stay(1000)], offset: 25 * HOUR })],
  ],

  // Late and failed, of what is there.
  [
    LATE,
    'absent at the end of the tolerance and present before the deadline, without a log',
    [FIRST, absent(L), present(L + 5000), present(L + 7000)],
    { appeared: { notBefore: L, notAfter: L + 5100, source: 'observation' } },
  ],
  [
    WAITS,
    'late needs two reads that show it and are two seconds apart',
    [FIRST, absent(L), present(L + 5000), present(L + 6999)],
  ],
  [WAITS, 'a log that puts it late blames after a second read', [present(L + 50_000, log(stay(L + 1000)))]],
  [
    LATE,
    'a log that puts it late, read twice',
    [present(L + 50_000, log(stay(L + 1000))), present(L + 52_000, log(stay(L + 1000)))],
  ],
  [
    WAITS,
    'where a log can be read and does not list it yet, our reads alone never say late',
    [absent(L, log()), ...[5000, 8000].map((at) => present(L + at, log()))],
  ],
  [
    AMBIGUOUS,
    'a log that never lists it: ambiguous after the closing read',
    [absent(L, log()), present(L + 5000, log()), present(D, log())],
  ],
  [
    LATE,
    'a log that is written after the fact bounds from above, our reads from below',
    [FIRST, absent(L), ...[5000, 7000].map((at) => present(L + at, { stays: [{ appeared: { notAfter: L + 4000 } }] }))],
    { appeared: { notBefore: L, notAfter: L + 4000, source: 'destination' } },
  ],
  [
    'verified',
    'a log that is written after the fact and says in time outweighs our stale reads',
    [absent(L + 1000), present(L + 5000, { stays: [{ appeared: { notAfter: L - 500 } }] })],
  ],
  [
    WAITS,
    'a stale replica makes nobody late: absence counts less the age of the answer',
    [FIRST, absent(L + 5000, { ageMs: 10_000 }), present(L + 30_000), present(L + 33_000)],
  ],
  [
    WAITS,
    'an absence in a place that forgets bounds nothing',
    [FIRST, absent(L, FORGETS), present(L + 5000), present(L + 8000)],
  ],
  [AMBIGUOUS, 'an answer exactly at the deadline is not late', [FIRST, absent(L), present(D - 100), present(D + 2000)]],
  [
    FAILED,
    'absent at the deadline and present after it',
    [FIRST, absent(D, { took: 50 }), present(D + 3000), present(D + 5000)],
  ],
  [
    FAILED,
    'a log that puts it at the deadline: failed, after a second read',
    [present(D + 5000, log(stay(D))), present(D + 8000, log(stay(D)))],
  ],
  [WAITS, 'a straddle waits for the closing read', [absent(L - 5000), present(L + 1)]],
  [
    AMBIGUOUS,
    'a straddle is ambiguous after the closing read',
    [absent(L - 5000), present(L + 1), present(D)],
    { appeared: { notBefore: L - 5000, notAfter: L + 101, source: 'observation' } },
  ],
  [
    'verified',
    'a straddle that the log places in time later',
    [present(L + 1, log()), present(L + 60_000, log(stay(5000)))],
  ],
  [WAITS, 'ever shown, then gone, is never blamed: it waits', [present(L + 1), absent(L + 60_000)]],
  [
    AMBIGUOUS,
    'ever shown, then gone: ambiguous at the end, even where the last read says that it never was',
    [present(L + 1), absent(D, NEVER)],
  ],

  // Contradictions.
  [
    AMBIGUOUS,
    'points that exclude each other are ambiguous in the end',
    [present(L + 10_000, log(stay(L + 1000))), present(L + 12_000, log(stay(L + 5000))), present(D)],
  ],
  [
    AMBIGUOUS,
    'a point after the answer that showed it contradicts',
    [present(L + 1000), present(L + 20_000, log(stay(L + 9000))), present(D)],
  ],
  [
    WAITS,
    'a clock that was set back between two reads contradicts: not verified by it',
    [absent(L + 5000), present(L - 5000)],
  ],

  // Marks.
  [WAITS, 'never before, read before the deadline: it may still come', [FIRST, absent(D - 1, NEVER)]],
  [FAILED, 'never before, at the deadline', [FIRST, absent(D, NEVER)]],
  [
    WAITS,
    'never before, where the answer may be as old as from before the deadline',
    [FIRST, absent(D + 5000, { mark: 'never_before', ageMs: 10_000 })],
  ],
  [FAILED, 'never before, long after the closing window', [FIRST, absent(GRACE_END + HOUR, NEVER)]],
  ['mismatch/target_mismatch', 'never before and elsewhere', [D, D + 3000].map((at) => differs(at, ['branch'], NEVER))],
  [FAILED, 'never before outweighs an earlier read of a place that forgets', [absent(1000, FORGETS), absent(D, NEVER)]],
  [AMBIGUOUS, 'may have been, at the closing read', [FIRST, absent(D, FORGETS)]],
  [AMBIGUOUS, 'may have been, at an earlier read', [absent(1000, FORGETS), absent(D)]],
  [AMBIGUOUS, 'differing in a place that forgets', [FIRST, differs(D, ['branch'], FORGETS)]],

  // The closing read.
  [FAILED, 'absent at the end of the closing window', [FIRST, absent(WINDOW_END)]],
  [
    WAITS,
    'the closing read comes after the deadline and the age of answers',
    [FIRST, absent(D + 9999, { ageMs: 10_000 })],
  ],
  [FAILED, 'the closing read after the age of answers', [FIRST, absent(D + 10_000, { ageMs: 10_000 })]],
  [
    'mismatch/target_mismatch',
    'differing at the deadline: mismatch by the role of the field',
    [1000, D].map((at) => differs(at, ['branch'])),
  ],
  [
    'mismatch/target_mismatch',
    'where a target and a content differ, the target is told',
    [1000, D].map((at) => differs(at, ['sha', 'branch'])),
  ],
  [WAITS, 'one read alone blames nobody', [absent(D, log())]],
  [WAITS, 'two reads that are less than two seconds apart blame nobody', [D, D + 1999].map((at) => absent(at, log()))],
  [FAILED, 'two reads after the deadline blame', [D, D + 2000].map((at) => absent(at, log()))],
  [
    UNAVAILABLE,
    'a blame that no second read confirms ends as the failure that was in the way',
    [absent(D, log()), failure(GRACE_END, 'timeout')],
  ],

  // No closing read.
  [WAITS, 'failing reads are tried again until the end of the grace', [FIRST, failure(D + 5000, 'unavailable')]],
  [
    'unverifiable/permission_denied',
    'failing reads at the end of the grace: their reason',
    [FIRST, failure(GRACE_END, 'forbidden')],
  ],
  [
    WAITS,
    'a connection that cannot work as it is may be mended: it is tried again',
    [FIRST, failure(D + 5000, 'misconfigured')],
  ],
  [
    'unverifiable/no_connection',
    'a connection that cannot work as it is at the end of the grace: no connection',
    [FIRST, failure(GRACE_END, 'misconfigured')],
  ],
  [
    'unverifiable/unsupported_action',
    'a target that the verifier cannot read ends it at once',
    [failure(1000, 'unsupported_target')],
  ],
  [
    'unverifiable/rate_limited',
    'a wait beyond the grace ends it at once',
    [FIRST, failure(D + 1000, 'rate_limited', GRACE_END + 1)],
  ],
  [
    UNAVAILABLE,
    'absent after the window, with failures within it: their reason',
    [FIRST, failure(D + 1000, 'timeout'), absent(WINDOW_END + 1)],
  ],
  [
    UNAVAILABLE,
    'a check that was under way at the deadline, and failed after the grace: its reason',
    [{ ...failure(D - 500, 'timeout'), answeredAt: GRACE_END + 1 }],
  ],
  [
    'unverifiable/verifier_error',
    'absent after the window, and a failure before the deadline: our own fault',
    [failure(D - 5000, 'timeout'), absent(WINDOW_END + 1)],
  ],
  [
    'unverifiable/verifier_error',
    'absent after the window, and nothing was tried within it: our own fault',
    [FIRST, absent(WINDOW_END + 1)],
  ],
  [
    'unverifiable/rate_limited',
    'absent after the window, which a wait that the destination asked for covered: its reason',
    [FIRST, failure(D - 1000, 'rate_limited', WINDOW_END + 1), absent(WINDOW_END + 2)],
  ],
  [
    AMBIGUOUS,
    'submitted after the window, and absent',
    [absent(WINDOW_END + 2)],
    { claim: { submittedAt: WINDOW_END + 1 } },
  ],
  [
    'verified',
    'submitted after the window, and the log has it in time',
    [present(WINDOW_END + 2, log(stay(5000)))],
    { claim: { submittedAt: WINDOW_END + 1 } },
  ],
]

testCases(rows)
