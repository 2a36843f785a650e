// Test run: every-node
/** Keyed fingerprints: what anybody can make with the key, and what a key is not spent on. */
import { createHmac } from 'node:crypto'
import { bearer, credential, header } from '@claimcheck/core/plugin'
import t, { type Test } from 'tap'
import { serve } from '../../support/loopback.ts'
import { spendingAt } from '../../support/spending.ts'

const KEY = 'Wrk7-4t9v-Zq2m-Lp8x'
const FINGERPRINTS = credential('fingerprints')

async function checkWith(t: Test, key?: string) {
  const arrived: string[] = []
  const host = await serve(t, ({ url = '' }, response) => {
    arrived.push(url)
    response.end('{}')
  })
  const url = `http://${host}`
  const check = spendingAt(t, {
    url,
    credentials: {
      fingerprints: { scheme: 'fingerprint', key: 'fingerprint_key' },
      bot: { scheme: 'path', secret: 'token' },
    },
    options: { token: 'a token of the bot', ...(key !== undefined && { fingerprint_key: key }) },
    secret: ['token', ...(key === undefined ? [] : ['fingerprint_key'])],
  })
  return { check, url, arrived }
}

t.test('a fingerprint is the HMAC of its purpose and the text', async (t) => {
  const { check, arrived } = await checkWith(t, KEY)
  for (const text of ['', 'a@acme.example', 'zażółć\n=1', 'a'.repeat(32_768)]) {
    const expected = createHmac('sha256', KEY).update(`claimcheck.fingerprint:${text}`).digest('hex')
    t.equal(await check().fingerprint(FINGERPRINTS, text), `hmac-sha256:${expected}`)
  }
  t.equal(
    await check().fingerprint(FINGERPRINTS, 'a@acme.example'),
    'hmac-sha256:79e942aa7242a64e164c47055aeff917d4cd950acbc5a2e13189f785c98e359c',
    'as other programs make it',
  )
  t.strictSame(arrived, [], 'asks nobody')
})

t.test('without a key, or with one that can be guessed, the connection is misconfigured', async (t) => {
  for (const key of [undefined, '', 'fifteen letters']) {
    const { check } = await checkWith(t, key)
    await t.rejects(check().fingerprint(FINGERPRINTS, 'text'), { code: 'misconfigured' }, `${key}`)
  }
})

t.test('the key goes into no request, and no other secret makes fingerprints', async (t) => {
  const { check, url, arrived } = await checkWith(t, KEY)
  const handle = 'secret:fingerprint_key'
  for (const auth of [FINGERPRINTS, bearer(handle), header('x-key', handle)])
    await t.rejects(check().fetch(url, { auth }), Error)
  t.strictSame(arrived, [])
  await t.rejects(check().fingerprint(credential('bot'), 'text'), /the scheme path makes no fingerprints/)
  await t.rejects(check().fingerprint(credential('fingerprint_key'), 'text'), /names no credential/)
  await t.rejects(check().fingerprint(credential('__proto__'), 'text'), /names no credential/)
  const refused = check()
  await t.rejects(refused.fingerprint(FINGERPRINTS, 7 as never), /is made of a text/)
  t.ok(refused.breach(), 'what the plugin reports after that is no evidence')
  await t.rejects(check().fingerprint(FINGERPRINTS, 'a'.repeat(32_769)), { code: 'too_large' })
})
