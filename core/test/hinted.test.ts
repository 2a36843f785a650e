/** What of a look beside the schedule is recorded, and how. */
import { type CheckRecord, hintedRecord, type ReadRecord, type Rules } from '@claimcheck/core/rules'
import t from 'tap'

const CLAIM = { submittedAt: 0, deadlineAt: 900_000 }
const RULES: Rules = { rulesVersion: 2, required: { sha: 'content' }, toleranceMs: 600_000 }

const read = (sentAt: number, observation: Partial<ReadRecord['observation']> = {}, ageMs = 0): ReadRecord => ({
  ...{ sentAt, answeredAt: sentAt + 100, clockOffsetMs: 0, ageMs },
  observation: { kind: 'absent', facts: {}, ...observation } as ReadRecord['observation'],
})
const ABSENT = read(1000)
const SHOWN = { kind: 'present', differs: [] } as const
const OTHER = { kind: 'present', differs: ['sha'] } as const
const LOG = { stays: [] }
const FAILED: CheckRecord = { sentAt: 1000, answeredAt: 1100, failure: { code: 'timeout' } }

const rows: readonly (readonly [
  what: string,
  recorded: 'as it is' | 'unsettled' | 'not',
  look: ReadRecord,
  checks: readonly CheckRecord[],
])[] = [
  ['one that shows the outcome', 'as it is', read(60_000, SHOWN), [ABSENT]],
  ['one that shows it in the log', 'as it is', read(60_000, { ...SHOWN, stays: [{ appeared: { notAfter: 1 } }] }), []],
  ['one that shows it after the deadline', 'not', read(900_000, SHOWN), [ABSENT]],
  ['an absence that the schedule saw', 'unsettled', read(60_000), [ABSENT]],
  ['one with a mark that would blame at once', 'unsettled', read(60_000, { mark: 'final' }), [ABSENT]],
  ['one with a mark that would keep from blame', 'unsettled', read(60_000, { mark: 'may_have_been' }), [ABSENT]],
  ['an absence after the deadline', 'not', read(900_000), [ABSENT]],
  ['an absence that no look of the schedule saw', 'not', read(60_000), [FAILED]],
  ['one that another look on a hint saw', 'not', read(60_000), [FAILED, { ...ABSENT, hinted: true }]],
  ['a difference where the schedule saw an absence', 'not', read(60_000, OTHER), [ABSENT]],
  ['a difference that the schedule saw', 'unsettled', read(60_000, OTHER), [read(1000, OTHER)]],
  ['an absence where the schedule saw the outcome', 'not', read(60_000), [read(1000, SHOWN)]],
  ['one that tells of a log, where the schedule saw none', 'not', read(60_000, LOG), [ABSENT]],
  ['one that tells of a log, as the schedule did', 'unsettled', read(60_000, LOG), [read(1000, LOG)]],
  ['an absence just after the submission', 'not', read(4000), [ABSENT]],
  ['an older answer than the schedule got', 'not', read(60_000, {}, 9000), [ABSENT]],
  ['an answer as old as the schedule got', 'unsettled', read(60_000, {}, 9000), [read(10_000, {}, 9000)]],
]

for (const [what, recorded, look, checks] of rows) {
  t.test(`${what}: ${recorded}`, async (t) => {
    const record = hintedRecord(RULES, CLAIM, checks, look)
    const asItIs = { ...look, hinted: true }
    const unsettled = { ...asItIs, observation: { ...look.observation, mark: 'unsettled' } }
    t.strictSame(record, { 'as it is': asItIs, unsettled, not: undefined }[recorded])
  })
}
