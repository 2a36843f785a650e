/** Canonical JSON, compared with another implementation. */

import { canonicalize } from '@claimcheck/core/receipts'
import type { JsonValue } from '@claimcheck/core/rules'
import byLibrary from 'canonicalize'
import fc from 'fast-check'
import t from 'tap'
import { runs } from '../../test/support/extent.ts'

t.test('another implementation makes the same canonical JSON', async (t) => {
  const value = fc.jsonValue({ stringUnit: 'binary', depthSize: 'medium' }) as fc.Arbitrary<JsonValue>
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(value, (value) => canonicalize(value) === byLibrary(value)),
      runs(2000),
    ),
  )
})

t.test('members are sorted by their UTF-16 code units, also when their names are numbers', async (t) => {
  t.equal(
    canonicalize({ '10': 1, '9': 2, '\u{1f600}': 3, '\ufb33': 4, a: 5 }),
    '{"10":1,"9":2,"a":5,"\u{1f600}":3,"\ufb33":4}',
  )
})

t.test('a member named __proto__ is an ordinary member', async (t) => {
  t.equal(canonicalize(JSON.parse('{"b":1,"__proto__":{"a":2}}')), '{"__proto__":{"a":2},"b":1}')
})

t.test('values without a canonical form are refused', async (t) => {
  for (const value of ['\ud800', Number.NaN, Number.POSITIVE_INFINITY])
    t.throws(() => canonicalize({ value }), TypeError)
})
