/** Which answers are old copies, by what caches say of them. */
import { isOldCopy } from '@claimcheck/core/plugin'
import t from 'tap'

const isOld = (headers: Record<string, string>) => isOldCopy(new Headers(headers), 60)

t.test('a copy is old by its age', async (t) => {
  for (const age of ['0', '60', '007', ' 60 ']) t.notOk(isOld({ age }), JSON.stringify(age))
  for (const age of ['61', '999999999']) t.ok(isOld({ age }), age)
  t.notOk(isOld({}))
})

t.test('an age that nobody can read, and one in a list, are old', async (t) => {
  for (const age of ['', '-1', '1e1', '0x10', '1.5', '9999999999', 'old', '5, 6', '12,'])
    t.ok(isOld({ age }), JSON.stringify(age))
})

t.test('an age says more than the word of its cache, and a cache without ages more than one beside it', async (t) => {
  t.ok(isOld({ 'x-cache': 'HIT' }))
  t.notOk(isOld({ 'x-cache': 'HIT', age: '5' }))
  t.ok(isOld({ 'x-litespeed-cache': 'hit', age: '5' }))
})
