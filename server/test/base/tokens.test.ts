import { newToken } from '@claimcheck/server/base/tokens'
import t from 'tap'

t.test('a token is 256 random bits, as text of 43 characters', async (t) => {
  const tokens = Array.from({ length: 1000 }, newToken)
  t.equal(new Set(tokens).size, tokens.length)
  for (const token of tokens.slice(0, 10)) t.match(token, /^[\w-]{43}$/)
  const ones = tokens
    .flatMap((token) => [...Buffer.from(token, 'base64url')])
    .map((byte) => byte.toString(2).replaceAll('0', '').length)
  const share = ones.reduce((sum, count) => sum + count, 0) / (8 * ones.length)
  t.ok(Math.abs(share - 0.5) < 0.01, `${share} of the bits are ones`)
})
