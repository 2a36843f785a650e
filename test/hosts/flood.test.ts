// Test run: end-to-end, slow
/**
 * A workspace that floods destinations that hang takes nothing from another one. The bounds are generous, since other tests run beside it:
 * `npm run bench` has the figures.
 * Threat A7 of `security.md`.
 */
import t from 'tap'
import { TEST_DATABASE } from '../support/database.ts'
import { IS_THOROUGH, LONG } from '../support/extent.ts'
import { runFlood } from './flood.ts'

// The hanging checks end within the test.
const CHECKS = { timeout_ms: 4000, first_answer_ms: 1000 }

const CLAIMS = IS_THOROUGH ? 2000 : 600

t.test(`a flood of ${CLAIMS} claims at nine destinations that hang, with four keys`, LONG, async (t) => {
  const figures = await runFlood({
    dialect: TEST_DATABASE,
    hosts: 1,
    claims: CLAIMS,
    honestClaims: CLAIMS / 10,
    checks: CHECKS,
    deadlineMs: 8000,
  })
  t.comment(figures)
  t.strictSame(figures.answers, { 202: CLAIMS })
  t.ok(figures.refused > 0, 'there were more claims than slots')
  // One that waits for a hanging check waits for seconds. The slowest claims say more about the machine than about the flood.
  t.ok(figures.floodedMs.p50 < 4 * figures.aloneMs.p50 + 1000, 'the other workspace is answered as before')
  t.ok(figures.floodedMs.p99 < 5000, 'its first looks come within 5 s, so that they can blame')
  t.ok(figures.honestLatenessMs < CHECKS.timeout_ms, 'its closing reads do not wait for the checks that hang')
  // All of them close within a second or two, which takes a busy machine a while.
  t.ok(figures.anyLatenessMs < 15_000, 'nor are those of the flood by much')
})
