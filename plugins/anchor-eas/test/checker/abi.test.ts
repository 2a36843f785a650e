// Test run: end-to-end
/** The ABI decoder, compared with the encoder of another library. */
import { decodeAbi } from '@claimcheck/plugin-anchor-eas/checker'
import { AbiCoder, getBytes, hexlify } from 'ethers'
import fc from 'fast-check'
import t from 'tap'
import { runs } from '../../../../test/support/extent.ts'

const coder = AbiCoder.defaultAbiCoder()

const VALUES = {
  bytes32: fc.uint8Array({ minLength: 32, maxLength: 32 }),
  address: fc.uint8Array({ minLength: 20, maxLength: 20 }),
  uint64: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  bool: fc.boolean(),
  bytes: fc.uint8Array({ maxLength: 100 }),
  string: fc.string({ unit: 'binary', maxLength: 50 }),
}
type AbiType = keyof typeof VALUES

const types = fc.array(fc.constantFrom(...(Object.keys(VALUES) as AbiType[])), { maxLength: 6 })
const tuples = types.chain((types) =>
  fc.tuple(...types.map((type) => VALUES[type])).map((values) => ({ types, values: values as unknown[] })),
)

const encode = (types: readonly AbiType[], values: readonly unknown[]) =>
  getBytes(
    coder.encode(
      types,
      values.map((value) => (value instanceof Uint8Array ? hexlify(value) : value)),
    ),
  )

t.test('what another library encodes is decoded to the same values', async (t) => {
  const property = fc.property(tuples, ({ types, values }) => {
    t.matchOnlyStrict(decodeAbi(types, encode(types, values)), values)
  })
  t.doesNotThrow(() => fc.assert(property))
})

t.test('bytes are decoded only when they are exactly the encoding of the decoded values', async (t) => {
  const edits = fc.record({
    at: fc.nat(),
    length: fc.nat({ max: 40 }),
    bytes: fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.constantFrom(new Uint8Array(32), new Uint8Array(32).fill(255)),
    ),
  })
  const property = fc.property(tuples, edits, ({ types, values }, { at, length, bytes }) => {
    const encoded = encode(types, values)
    const start = at % (encoded.length + 1)
    const edited = Buffer.concat([encoded.subarray(0, start), bytes, encoded.subarray(start + length)])
    const decoded = decodeAbi(types, edited)
    return decoded === undefined || edited.equals(encode(types, decoded))
  })
  t.doesNotThrow(() => fc.assert(property, runs(3000)))
})

t.test('no bytes make the decoder throw', async (t) => {
  const property = fc.property(types, fc.uint8Array({ maxLength: 300 }), (types, bytes) => {
    decodeAbi(types, bytes)
  })
  t.doesNotThrow(() => fc.assert(property, runs(3000)))
})

const word = (hex: string) => hex.padStart(64, '0')
const decode = (types: readonly AbiType[], ...words: readonly string[]) =>
  decodeAbi(types, Buffer.from(words.join(''), 'hex'))

t.test('only the canonical encoding is decoded', async (t) => {
  const abc = `616263${'00'.repeat(29)}`
  t.strictSame(decode(['string'], word('20'), word('3'), abc), ['abc'])
  const rows: [name: string, types: readonly AbiType[], ...words: string[]][] = [
    ['a bool of 2', ['bool'], word('2')],
    ['a number above 64 bits', ['uint64'], word('10000000000000000')],
    ['an address with a byte before it', ['address'], `${'00'.repeat(11)}01${'ab'.repeat(20)}`],
    ['a text whose offset leaves a gap', ['string'], word('40'), word('0'), word('3'), abc],
    ['a text whose offset points to itself', ['string'], word('0')],
    ['a text whose offset is beyond the end', ['string'], word('ffffffffffffffff')],
    ['a length beyond the end', ['string'], word('20'), word('21'), abc],
    ['a length beyond 64 bits', ['bytes'], word('20'), 'ff'.repeat(32), abc],
    ['a length that is the largest 64-bit number', ['bytes'], word('20'), word('ffffffffffffffff'), abc],
    ['padding that is missing', ['bytes'], word('20'), word('3'), '616263'],
    ['padding that is not zero', ['bytes'], word('20'), word('3'), `616263${'00'.repeat(28)}01`],
    ['a text that is not UTF-8', ['string'], word('20'), word('1'), `ff${'00'.repeat(31)}`],
    ['two texts with the same offset', ['string', 'string'], word('40'), word('40'), word('3'), abc],
    ['two texts in reverse order', ['string', 'string'], word('80'), word('40'), word('3'), abc, word('3'), abc],
    ['an additional word', ['bool'], word('1'), word('0')],
    ['half a word', ['bytes32'], '00'.repeat(16)],
    ['no bytes', ['bool']],
    ['a word for an empty tuple', [], word('0')],
  ]
  for (const [name, types, ...words] of rows) t.equal(decode(types, ...words), undefined, name)
})
