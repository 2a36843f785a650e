import { createClockDoubt } from '@claimcheck/server/hosts/clock-doubt'
import t from 'tap'

const NOON = Date.UTC(2026, 8, 25, 12)
const MINUTE_MS = 60_000

function open() {
  const clock = { at: NOON }
  const lines: string[] = []
  const note = (level: string) => () => lines.push(level)
  const doubt = createClockDoubt({ now: () => clock.at, logger: { error: note('error'), info: note('info') } })
  const heard = (place: string, least: number, most: number, isUndated = false) =>
    doubt.heard(place, { ahead: { least, most }, isUndated })
  return { doubt, heard, clock, lines }
}

t.test('a clock that no place speaks against is not doubted', async (t) => {
  const { doubt, heard, lines } = open()
  t.notOk(doubt.isDoubted())
  heard('a', -1000, 1000)
  t.notOk(doubt.isDoubted())
  t.strictSame(lines, [])
})

t.test('it is doubted when a place is off by more than 30 seconds for certain, whichever way', async (t) => {
  const rows: [least: number, most: number, isDoubted: boolean][] = [
    [30_000, 31_000, false],
    [30_001, 31_000, true],
    [-31_000, -30_000, false],
    [-32_000, -30_001, true],
    [-90_000, 90_000, false],
    [10_000, 90_000, false],
  ]
  for (const [least, most, isDoubted] of rows) {
    const { doubt, heard } = open()
    heard('a', least, most)
    t.equal(doubt.isDoubted(), isDoubted, `${least} to ${most}`)
  }
})

t.test('places that do not agree among themselves raise no doubt', async (t) => {
  const { doubt, heard } = open()
  heard('a', 40_000, 41_000)
  heard('b', -41_000, -40_000)
  t.notOk(doubt.isDoubted(), 'in opposite directions')
  heard('b', 50_000, 51_000)
  t.ok(doubt.isDoubted(), 'in the same')
  heard('c', -500, 500)
  t.notOk(doubt.isDoubted(), 'one of them agrees with this host')
})

t.test('an answer that does not tell its time is no voice', async (t) => {
  const { doubt, heard } = open()
  heard('a', 40_000, 41_000, true)
  doubt.heard('b', { ahead: undefined, isUndated: true })
  t.notOk(doubt.isDoubted())
})

t.test('what a place says now replaces what it said before', async (t) => {
  const { doubt, heard } = open()
  heard('a', 40_000, 41_000)
  t.ok(doubt.isDoubted())
  heard('a', -500, 500)
  t.notOk(doubt.isDoubted())
})

t.test('what a place said more than ten minutes ago counts no more, also when the clock is set back', async (t) => {
  for (const step of [10 * MINUTE_MS + 1, -10 * MINUTE_MS - 1]) {
    const { doubt, heard, clock } = open()
    heard('a', 40_000, 41_000)
    clock.at += Math.sign(step) * 10 * MINUTE_MS
    t.ok(doubt.isDoubted())
    clock.at = NOON + step
    t.notOk(doubt.isDoubted())
  }
})

t.test('the beginning and the end of doubt are logged once each', async (t) => {
  const { doubt, heard, lines } = open()
  heard('a', 40_000, 41_000)
  for (let i = 0; i < 3; i++) doubt.isDoubted()
  heard('a', 0, 999)
  for (let i = 0; i < 3; i++) doubt.isDoubted()
  t.strictSame(lines, ['error', 'info'])
})
