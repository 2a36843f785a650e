/** base64url, strictly. */
import { fromBase64url, toBase64url, utf8 } from '@claimcheck/core/receipts'
import fc from 'fast-check'
import t from 'tap'
import { runs } from '../../test/support/extent.ts'

t.test('base64url follows RFC 4648, without padding', async (t) => {
  const rows = [
    ['', ''],
    ['f', 'Zg'],
    ['fo', 'Zm8'],
    ['foo', 'Zm9v'],
    ['foob', 'Zm9vYg'],
    ['fooba', 'Zm9vYmE'],
    ['foobar', 'Zm9vYmFy'],
  ] as const
  for (const [plain, text] of rows) {
    t.equal(toBase64url(utf8(plain)), text)
    t.strictSame(fromBase64url(text), utf8(plain))
  }
  t.equal(toBase64url(Uint8Array.of(0xfb, 0xff)), '-_8')
})

t.test('any bytes are decoded from their text', async (t) => {
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        const text = toBase64url(bytes)
        return text === Buffer.from(bytes).toString('base64url') && Buffer.from(fromBase64url(text)!).equals(bytes)
      }),
    ),
  )
})

t.test('bytes have exactly one text', async (t) => {
  const letters = fc.string({ unit: fc.constantFrom(...'AQgw159-_zZ='), maxLength: 12 })
  t.doesNotThrow(() =>
    fc.assert(
      fc.property(fc.oneof(letters, fc.string()), (text) => {
        const bytes = fromBase64url(text)
        return bytes === undefined || toBase64url(bytes) === text
      }),
      runs(2000),
    ),
  )
})

t.test('padding, other alphabets, single letters and trailing bits are refused', async (t) => {
  for (const text of ['Zg==', 'Zg=', 'Zh', 'Zm9', 'Z', 'Zm9vY', '+_8', '-/8', 'Zm 9v', 'Zm9v\n', 'Zé']) {
    t.equal(fromBase64url(text), undefined, text)
  }
})

t.test('a text of another length than requested is refused', async (t) => {
  t.strictSame(fromBase64url('Zm9v', 3), utf8('foo'))
  t.equal(fromBase64url('Zm9v', 4), undefined)
  t.equal(fromBase64url('Zm9vYg', 3), undefined)
})
