/** Which submitters' clocks are ahead, as every host reads it from the claims. Threat A3 of `security.md`. */
import { createAheadClocks } from '@claimcheck/server/features/claims/ahead-clocks'
import t from 'tap'

const NOON = Date.UTC(2026, 8, 25, 12)
const DAY_MS = 24 * 60 * 60_000

function clocks(ahead: () => Promise<string[]>) {
  const asked: number[] = []
  const submittersAhead = (after: number) => {
    asked.push(after)
    return ahead()
  }
  return { asked, clocks: createAheadClocks({ storage: { read: { claims: { submittersAhead } } } }) }
}

t.test('a submitter that dated a claim ahead within a day is known, and no other', async (t) => {
  const { asked, clocks: known } = clocks(async () => ['key_1'])
  t.strictSame(await Promise.all(['key_1', 'key_2'].map((key) => known.has(key, NOON))), [true, false])
  t.strictSame(asked, [NOON - DAY_MS], 'claims that come together share one look-up')
  await known.has('key_1', NOON + 1999)
  t.equal(asked.length, 1)
  await known.has('key_1', NOON + 2000)
  t.strictSame(asked, [NOON - DAY_MS, NOON + 2000 - DAY_MS])
})

t.test('a look-up that failed is made again', async (t) => {
  let fails = true
  const { clocks: known } = clocks(async () => {
    if (fails) throw new Error('away')
    return ['key_1']
  })
  await t.rejects(known.has('key_1', NOON), /away/)
  fails = false
  t.equal(await known.has('key_1', NOON), true)
})
