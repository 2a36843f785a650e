import type { Counts } from '@claimcheck/server/features/claims/claim-statistics'
import { added, rateOf, rateWords } from '@claimcheck/server/features/claims/verdict-rate'
import t from 'tap'

t.test('a rate is told with what it is of, and unverifiable claims are on neither side of it', async (t) => {
  const rows: [counts: Counts, words: string][] = [
    [
      { verified: 46, late: 1, mismatch: 1, failed: 2, unverifiable: 3, queued: 9 },
      '92 % verified, 46 of 50 decided; 3 unverifiable (6 %)',
    ],
    [{ verified: 46, failed: 4 }, '92 % verified, 46 of 50 decided; 0 unverifiable (0 %)'],
    [{ failed: 1 }, '0 % verified, 0 of 1 decided; 0 unverifiable (0 %)'],
    [{ unverifiable: 3 }, 'no rate yet: none decided for or against; 3 unverifiable (100 %)'],
    [{ queued: 3 }, 'no rate yet: none decided for or against; 0 unverifiable'],
    [{}, 'no rate yet: none decided for or against; 0 unverifiable'],
    [{ verified: 12_345 }, '100 % verified, 12,345 of 12,345 decided; 0 unverifiable (0 %)'],
  ]
  for (const [counts, words] of rows) t.equal(rateWords(rateOf(counts)), words)
})

t.test('only all is 100 percent, and only none is 0', async (t) => {
  t.equal(rateOf({ verified: 9_999, failed: 1 }).percent, 99)
  t.equal(rateOf({ verified: 1, failed: 9_999 }).percent, 1)
  t.equal(rateOf({ verified: 1, unverifiable: 9_999 }).unverifiablePercent, 99)
  t.equal(rateOf({ verified: 10 }).percent, 100)
  t.equal(rateOf({ late: 10 }).percent, 0)
  t.equal(rateOf({ queued: 10 }).percent, undefined)
})

t.test('the counts of several stretches are added by standing', async (t) => {
  t.strictSame(added([{ verified: 1, late: 2 }, {}, { verified: 3, queued: 1 }]), { verified: 4, late: 2, queued: 1 })
})
