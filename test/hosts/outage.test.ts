// Test run: end-to-end, slow
import t from 'tap'
import { runOutageTest } from '../crash/outage.ts'
import { LONG } from '../support/extent.ts'

t.test(
  'while the database is away hosts answer 503 with Retry-After, and they go on by themselves when it is back',
  LONG,
  async (t) => {
    const { refusals, recoveryMs, acknowledgedBefore, acknowledgedAfter, problems } = await runOutageTest({
      mode: 'fast',
      seconds: 5,
      hosts: 2,
      seed: 1,
    })
    const claims = `${acknowledgedBefore} claims before, ${acknowledgedAfter} after`
    t.comment(`${refusals} refusals, recovery within ${recoveryMs} ms, ${claims}`)
    t.strictSame(problems, [])
    t.ok(refusals > 10)
    t.ok(recoveryMs < 30_000)
    t.ok(acknowledgedBefore > 10 && acknowledgedAfter > acknowledgedBefore + 10, 'claims were taken before and after')
  },
)
