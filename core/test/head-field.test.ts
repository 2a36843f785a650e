/** Tree heads as an HTTP field: the same head comes out, and nothing else does. */
import { headField, newerHeadField, readHeadField, signTreeHead } from '@claimcheck/core/log'
import { createNobleSigner } from '@claimcheck/core/receipts'
import t from 'tap'

const NOON = Date.UTC(2026, 8, 25, 12)
const signer = createNobleSigner(new Uint8Array(32).fill(3))

const signed = (treeSize: number, { logId = 'A'.repeat(43), issuedAt = NOON } = {}) =>
  signTreeHead(signer, { logId, treeSize, rootHash: new Uint8Array(32).fill(treeSize), issuedAt })

t.test('a head comes out as it went in, in any order and with members of later versions', async (t) => {
  for (const size of [0, 7, Number.MAX_SAFE_INTEGER]) {
    const head = await signed(size)
    const field = headField(head)
    t.strictSame(readHeadField(field), head)
    t.strictSame(readHeadField(`later="x:1", ${field.split(', ').toReversed().join(' ,\t')}`), head)
  }
})

t.test('what is no head is none', async (t) => {
  const field = headField(await signed(7))
  const none = [
    ...['', ' ', ',', 'x', '{}', `${field},`, `${field}; a=1`, field.replace('=7', '=-7'), field.replace('=7', '=7.0')],
    ...[field.replace('=7', '="7"'), field.replace('=7', `=${'9'.repeat(16)}`), field.replace('=7', '=1e3')],
    ...[field.replace(/issued_at="[^"]*"/, 'issued_at="soon"'), field.replace(/, signature.*/, ''), 'a'.repeat(600)],
    ...[`__proto__="x", constructor="y"`, `${field}, pad="${'x'.repeat(300)}"`],
  ]
  for (const text of none) t.equal(readHeadField(text), undefined, text)
})

t.test('of one log the larger tree is newer, of two logs the head that was issued later', async (t) => {
  const [small, large] = [headField(await signed(7)), headField(await signed(8))]
  const next = headField(await signed(0, { logId: 'E'.repeat(43), issuedAt: NOON + 1 }))
  for (const [one, other, newest] of [
    [small, large, large],
    [large, small, large],
    [large, next, next],
    [next, large, next],
    [undefined, small, small],
    [small, undefined, small],
    [small, 'nonsense', small],
    ['nonsense', small, small],
    [undefined, 'nonsense', undefined],
    [undefined, undefined, undefined],
  ])
    t.equal(newerHeadField(one, other), newest)
})
