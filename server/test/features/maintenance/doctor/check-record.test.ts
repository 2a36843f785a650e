/** The doctor takes for the record of a check all that hosts write, and nothing else. */
import type { CheckRecord } from '@claimcheck/core/rules'
import { readRecord } from '@claimcheck/server/features/maintenance/doctor/check-record'
import t from 'tap'

const TIMES = { sentAt: 1000, answeredAt: 1200 }
const READ: CheckRecord = {
  ...TIMES,
  observation: { kind: 'absent', facts: {} },
  clockOffsetMs: 900,
  dated: true,
  clockAheadMs: -800,
  clockSetMs: 5000,
  ageMs: 0,
  answers: 1,
}
const RECORDS: readonly (readonly [name: string, record: CheckRecord])[] = [
  ['a read', READ],
  ['a failure', { ...TIMES, failure: { code: 'rate_limited', status: 429, retryAt: 5000 } }],
  ['a removed connection', { ...TIMES, failure: { code: 'no_connection', connectionRemoved: true } }],
  ['a process that ended', { ...TIMES, failure: { code: 'verifier_error', endedProcess: true } }],
]

for (const [name, record] of RECORDS) {
  t.test(name, async (t) => {
    t.strictSame(readRecord(JSON.stringify(record)), record)
    t.equal(readRecord(JSON.stringify({ ...record, more: 1 })), undefined)
  })
}
