/** Secrets are found in their usual encodings, wherever they stand, and nothing else is taken for one. Threat D5 of `security.md`. */
import { randomBytes } from 'node:crypto'
import { inspect } from 'node:util'
import { leakFinder, REDACTED } from '@claimcheck/server/outbound/leaks'
import fc from 'fast-check'
import t from 'tap'
import { commitSeed } from '../../../scripts/commit-seed.ts'

type Encoding = (secret: string) => string

const bytes = (secret: string) => Buffer.from(secret)
const percent = (text: Buffer) => [...text].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
const unicode = (secret: string) =>
  secret.replaceAll(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

const encodings: Readonly<Record<string, Encoding>> = {
  'as it is': (secret) => secret,
  'as JSON': (secret) => JSON.stringify(secret),
  'as JSON in JSON': (secret) => JSON.stringify(JSON.stringify(secret)),
  'as escapes of JSON': unicode,
  'in base64': (secret) => bytes(secret).toString('base64'),
  'in base64, a byte further': (secret) => bytes(`x${secret}yz`).toString('base64'),
  'in base64, two bytes further': (secret) => bytes(`xy${secret}z`).toString('base64'),
  'in base64url': (secret) => bytes(`?>${secret}`).toString('base64url'),
  'in lines of base64': (secret) => bytes(secret).toString('base64').replaceAll(/.{6}/g, '$&\r\n'),
  'in base64 and percent-encoded': (secret) => encodeURIComponent(bytes(secret).toString('base64')),
  'as credentials of Basic': (secret) => `Basic ${bytes(`ann:${secret}`).toString('base64')}`,
  'as the user of Basic': (secret) => `Basic ${bytes(`${secret}:`).toString('base64')}`,
  'in hex': (secret) => bytes(secret).toString('hex'),
  'in hex, upper case': (secret) => bytes(secret).toString('hex').toUpperCase(),
  'in hex with colons': (secret) => bytes(secret).toString('hex').replaceAll(/../g, '$&:'),
  'percent-encoded': encodeURIComponent,
  'percent-encoded as a whole': (secret) => percent(bytes(secret)),
  'percent-encoded twice': (secret) => encodeURIComponent(percent(bytes(secret))),
  'in a form': (secret) => new URLSearchParams({ secret }).toString(),
  reversed: (secret) => [...secret].reverse().join(''),
  'in UTF-16': (secret) => Buffer.from(secret, 'utf16le').toString('latin1'),
  'in UTF-16 in base64': (secret) => Buffer.from(secret, 'utf16le').toString('base64'),
  'in UTF-16, the other order, in hex': (secret) => Buffer.from(secret, 'utf16le').swap16().toString('hex'),
  'in upper case': (secret) => secret.toUpperCase(),
}
const secrets = [
  's3cret-token',
  'ghp_Ab3dEf6hIj9lMn2pQr5tUv8xYz1CdE4gHiJk',
  'with "quotes" and\nlines',
  'grün/+ und=rot',
  'p%41ss%%word',
]

for (const [name, encode] of Object.entries(encodings)) {
  t.test(`a secret is found ${name}, alone and within other text`, async (t) => {
    for (const secret of secrets) {
      const finder = leakFinder(['another-secret', secret])
      const text = encode(secret)
      t.ok(finder.isIn(text), text)
      t.ok(finder.isInValue({ a: 1, b: [true, { c: `id=${text} x` }] }), 'in a value')
      t.notOk(finder.redact(`before ${text} after`).includes(text), 'it is redacted')
      t.notOk(finder.isIn(finder.redact(`before ${text} after`)))
      t.notOk(leakFinder(['another-secret']).isIn(text))
    }
  })
}

t.test('any secret of eight characters and more is found in any encoding, with anything around it', async (t) => {
  const text = fc
    .string({ minLength: 8, maxLength: 60, unit: 'grapheme-ascii' })
    .filter((secret) => secret.trim() === secret)
  fc.assert(
    fc.property(
      text,
      fc.string(),
      fc.string(),
      fc.constantFrom(...Object.entries(encodings)),
      (secret, before, after, [, encode]) => {
        // Characters of an encoding just before or after it belong to other bytes.
        return leakFinder([secret]).isIn(`${before}\n|${encode(secret)}|\n${after}`)
      },
    ),
    { numRuns: 2000, seed: commitSeed() },
  )
  t.pass()
})

t.test('what the facts of usual checks hold is no secret', async (t) => {
  const finder = leakFinder(['s3cret-token', 'ghp_Ab3dEf6hIj9lMn2pQr5tUv8xYz1CdE4gHiJk', 'abcd', '1234', 'x'])
  for (let row = 0; row < 2000; row++) {
    const facts = {
      repository: 'acme/site-1',
      sha: randomBytes(20).toString('hex'),
      digest: randomBytes(32).toString('base64'),
      at: new Date(row * 1e9).toISOString(),
      id: 123456 + row,
    }
    if (finder.isInValue(facts)) t.fail(JSON.stringify(facts))
  }
  t.pass()
})

const short: [secret: string, value: unknown, isFound: boolean][] = [
  ['1234', 123456, false],
  ['1234', 1234, true],
  ['1234', 'pin 1234.', true],
  ['1234', 'sha1234', false],
  ['main', 'refs/heads/main', true],
  ['main', 'maintained', false],
  ['grün', 'grüne', false],
  ['1234', Buffer.from('ann:1234').toString('base64'), true],
  ['1234', Buffer.from('1234').toString('hex'), false],
  ['fact', 'x', false],
  ['fact', { fact: 1 }, true],
  ['ab', 'ab', true],
  ['ab', 'ab cd', false],
  ['ab', ['cd', 'ab'], true],
  ['7', 7, true],
  ['7', 77, false],
  ['s3cret7', 's3cret7', true],
  ['s3cret7', 'xs3cret7', false],
  ['s3cret78', 'xs3cret78x', true],
]
for (const [secret, value, isFound] of short) {
  t.test(`the secret ${secret} is ${isFound ? '' : 'not '}in ${JSON.stringify(value)}`, async (t) => {
    t.equal(leakFinder([secret]).isInValue({ fact: value }), isFound)
  })
}

t.test('a text keeps what stands around a secret, and goes as a whole where the secret is encoded', async (t) => {
  const { redact } = leakFinder(['s3cret-token', 'token-of-another'])
  t.equal(redact('a s3cret-token b s3cret-token'), `a ${REDACTED} b ${REDACTED}`)
  t.equal(redact('s3cret-token-of-another'), REDACTED, 'one that overlaps the other')
  t.equal(redact(`a ${percent(bytes('s3cret-token'))} b`), REDACTED)
  t.equal(redact('nothing'), 'nothing')
})

t.test('a line of a key of several lines is found, and what begins every key is not', async (t) => {
  const line = randomBytes(48).toString('base64')
  const { isIn } = leakFinder([`-----BEGIN PRIVATE KEY-----\n${line}\n${line}\n-----END PRIVATE KEY-----\n`])
  t.ok(isIn(line))
  t.notOk(isIn('-----BEGIN PRIVATE KEY-----'))
})

t.test('a finder holds no secret', async (t) => {
  const finder = leakFinder(['s3cret-token'])
  t.notMatch(inspect(finder, { depth: 10, showHidden: true }), /s3cret/)
  t.equal(leakFinder(['s3cret-token']), finder, 'it is made once')
  t.notOk(leakFinder([]).isIn('anything'))
})

t.test('a plugin that knows many secrets does not keep the host busy with what it logs', async (t) => {
  const text = randomBytes(6000).toString('base64')
  const finderOfMany = (count: number) =>
    leakFinder(Array.from({ length: count }, () => randomBytes(20).toString('base64url')))
  // The best of many: the others waited for the processor.
  const best = ({ isIn }: ReturnType<typeof leakFinder>) =>
    Math.min(
      ...Array.from({ length: 40 }, () => {
        const begun = performance.now()
        isIn(text)
        return performance.now() - begun
      }),
    )
  const [one, many] = [best(finderOfMany(1)), best(finderOfMany(500))]
  t.ok(many < 10 * one, `${many.toFixed(2)} against ${one.toFixed(2)} ms`)
})
