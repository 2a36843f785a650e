import { copyJson } from '@claimcheck/server/base/json-copy'
import fc from 'fast-check'
import t from 'tap'

t.test('a copy is equal to what it was made from', async (t) => {
  t.doesNotThrow(() => fc.assert(fc.property(fc.jsonValue(), (value) => t.strictSame(copyJson(value), value))))
})

t.test('nothing that is changed in a copy is changed in what it was made from', async (t) => {
  const original = { list: [{ name: 'one' }], inner: { name: 'one' } }
  const copy = copyJson(original)
  copy.list[0]!.name = 'other'
  copy.list.push({ name: 'more' })
  copy.inner.name = 'other'
  t.strictSame(original, { list: [{ name: 'one' }], inner: { name: 'one' } })
})

t.test('a member named __proto__ is copied as a member', async (t) => {
  const copy = copyJson(JSON.parse('{"__proto__":{"name":"one"}}'))
  t.strictSame(Object.keys(copy), ['__proto__'])
  t.equal(copy.name, undefined)
})
