// Test run: every-node
import { clockOffset, mergeReadings, NO_READINGS, type Readings, readAnswer } from '@claimcheck/core/hosting'
import { MAX_AGE_MS } from '@claimcheck/core/rules'
import t from 'tap'

const NOON = Date.UTC(2026, 8, 25, 12)
const answer = (headers: Record<string, string>, tookMs = 0) => readAnswer(new Headers(headers), NOON, NOON + tookMs)
const date = (offsetMs: number) => ({ date: new Date(NOON + offsetMs).toUTCString() })

t.test('a Date header bounds how far the clock is ahead, by its second and the time of the request', async (t) => {
  t.strictSame(answer(date(0)).ahead, { least: 0, most: 999 })
  t.strictSame(answer(date(5000), 2000).ahead, { least: 3000, most: 5999 })
  t.strictSame(answer(date(-5000), 2000).ahead, { least: -7000, most: -4001 })
})

t.test('an answer without a Date header, or with another text there, is undated', async (t) => {
  for (const headers of [{}, { date: '' }, { date: 'now' }] as Record<string, string>[]) {
    t.match(answer(headers), { ahead: undefined, isUndated: true, sentAt: NOON })
  }
})

t.test('the Age header counts in whole seconds, of several caches the largest one', async (t) => {
  const rows: [string, number][] = [
    ['0', 0],
    ['12', 12_000],
    ['12, 13', 13_000],
    ['13,12', 13_000],
    ['0, 0', 0],
  ]
  for (const [age, ageMs] of rows) t.equal(answer({ age }).ageMs, ageMs, age)
  t.equal(answer({}).ageMs, 0)
})

t.test('an Age that cannot be read is larger than any that counts', async (t) => {
  for (const age of ['', '-1', '1.5', '1e3', '9999999999', 'old', '12,', '12, old'])
    t.ok(answer({ age }).ageMs > MAX_AGE_MS, age)
})

t.test('of several answers the largest doubt counts', async (t) => {
  const one: Readings = {
    sentAt: NOON + 5,
    ahead: { least: -10, most: 20 },
    isUndated: false,
    ageMs: 1000,
    tokens: ['one'],
  }
  const other: Readings = { sentAt: NOON, ahead: { least: 0, most: 90 }, isUndated: true, ageMs: 0, tokens: ['one'] }
  const merged = { sentAt: NOON, ahead: { least: -10, most: 90 }, isUndated: true, ageMs: 1000, tokens: ['one'] }
  t.strictSame(mergeReadings(one, other), merged)
  t.strictSame(mergeReadings(other, one), merged)
  t.strictSame(mergeReadings(NO_READINGS, one), one)
  t.strictSame(mergeReadings(one, NO_READINGS), one)
  t.strictSame(mergeReadings(NO_READINGS, NO_READINGS), NO_READINGS)
})

t.test('the offset is the larger end, without its sign; unknown when one answer was undated', async (t) => {
  const ahead = (least: number, most: number, isUndated = false) =>
    clockOffset({ sentAt: NOON, ahead: { least, most }, isUndated, ageMs: 0, tokens: [] })
  t.equal(ahead(-7000, 20), 7000)
  t.equal(ahead(-7, 2000), 2000)
  t.equal(ahead(-7, 2000, true), undefined)
  t.equal(clockOffset(NO_READINGS), undefined, 'nor without a request')
})
