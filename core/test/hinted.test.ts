/** The looks beside the schedule that are recorded. */
import { hintedRecord, type ReadRecord } from '@claimcheck/core/rules'
import t from 'tap'

const CLAIM = { deadlineAt: 900_000 }

const look = (sentAt: number, observation: object): ReadRecord => ({
  ...{ sentAt, answeredAt: sentAt + 100, clockOffsetMs: 0, ageMs: 0 },
  observation: { facts: {}, ...observation } as ReadRecord['observation'],
})
const SHOWN = { kind: 'present', differs: [] } as const

const rows: readonly (readonly [what: string, isRecorded: boolean, look: ReadRecord])[] = [
  ['one that shows the outcome', true, look(60_000, SHOWN)],
  ['one that shows it in the log', true, look(60_000, { ...SHOWN, stays: [{ appeared: { notAfter: 1 } }] })],
  ['one that shows it just before the deadline', true, look(899_999, SHOWN)],
  ['one that shows it at the deadline', false, look(900_000, SHOWN)],
  ['one that shows what may still change', false, look(60_000, { ...SHOWN, mark: 'unsettled' })],
  ['an absence', false, look(60_000, { kind: 'absent' })],
  ['an absence with a mark that would blame at once', false, look(60_000, { kind: 'absent', mark: 'final' })],
  ['an absence with a mark that would keep from blame', false, look(60_000, { kind: 'absent', mark: 'may_have_been' })],
  ['an absence that tells of a log', false, look(60_000, { kind: 'absent', stays: [] })],
  ['a difference', false, look(60_000, { kind: 'present', differs: ['sha'] })],
]

for (const [what, isRecorded, seen] of rows) {
  t.test(`${what} is ${isRecorded ? '' : 'not '}recorded`, async (t) => {
    t.strictSame(hintedRecord(CLAIM, seen), isRecorded ? { ...seen, hinted: true } : undefined)
  })
}
