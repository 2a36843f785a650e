// Test run: every-node
/** Codes over the host's own request, computed once more by `node:crypto` from what arrived. Threat P9 of `security.md`. */
import { createHash, createHmac } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { credentialProblems } from '@claimcheck/core/hosting'
import { credential, type HmacCredential, secret, Type } from '@claimcheck/core/plugin'
import t, { type Test } from 'tap'
import { code, serve } from '../../support/loopback.ts'
import { spendingAt } from '../../support/spending.ts'

const KEY = 's3cret-key-of-the-api'
const DECLARED: HmacCredential = {
  scheme: 'hmac',
  key: 'api_secret',
  hash: 'sha256',
  encoding: 'hex',
  date: 'seconds',
  message: '{date}{method}{target}{body}',
  headers: { 'x-key': '{option.api_key}', 'x-timestamp': '{date}', authorization: 'ACME {option.api_key}:{signature}' },
}

async function api(t: Test, declared: Partial<HmacCredential> = {}, key = KEY) {
  const arrived: IncomingMessage[] = []
  const bodies: string[] = []
  const host = await serve(t, async (request, response) => {
    arrived.push(request)
    let body = ''
    for await (const chunk of request) body += chunk
    bodies.push(body)
    response.end()
  })
  const check = spendingAt(t, {
    url: `http://${host}`,
    credentials: { api: { ...DECLARED, ...declared } },
    options: { api_secret: key, api_key: 'key-1' },
    secret: ['api_secret'],
    methods: { jsonRpc: ['read'], paths: ['/rpc'] },
  })
  return { host, url: `http://${host}`, check, arrived, bodies }
}

const AUTH = { auth: credential('api') }
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

t.test('a request is signed by its declared form', async (t) => {
  const { url, check, arrived } = await api(t)
  await check().fetch(`${url}/orders/7?b=1&a=%20`, AUTH)
  const { headers } = arrived[0]!
  t.equal(headers['x-key'], 'key-1')
  const message = `${headers['x-timestamp']}GET/orders/7?b=1&a=%20${sha256('')}`
  t.equal(headers.authorization, `ACME key-1:${createHmac('sha256', KEY).update(message).digest('hex')}`)
})

t.test('the body that the host writes is signed, too', async (t) => {
  const { url, check, arrived, bodies } = await api(t)
  await check().fetch(`${url}/rpc`, { ...AUTH, call: { jsonRpc: 'read', params: ['x'] } })
  const { headers } = arrived[0]!
  const message = `${headers['x-timestamp']}POST/rpc${sha256(bodies[0]!)}`
  t.equal(headers.authorization, `ACME key-1:${createHmac('sha256', KEY).update(message).digest('hex')}`)
})

t.test('keys, hashes, dates and encodings are as declared', async (t) => {
  const forms = { http: /GMT$/, iso: /^20.*\.\d{3}Z$/, seconds: /^\d{10}$/, milliseconds: /^\d{13}$/ }
  for (const [date, form] of Object.entries(forms)) {
    for (const [keyEncoding, key] of [
      ['base64', Buffer.from(KEY).toString('base64')],
      ['hex', Buffer.from(KEY).toString('hex')],
    ] as const) {
      for (const hash of ['sha1', 'sha256', 'sha512'] as const) {
        const declared = {
          ...{ hash, keyEncoding, date: date as 'http', encoding: 'base64' as const },
          message: '{method}\n{host}\n{path}\n{query}\n{date}\n{nonce}',
          headers: { date: '{date}', 'x-nonce': '{nonce}', 'x-signature': '{signature}' },
        }
        const { url, host, check, arrived } = await api(t, declared, key)
        await check().fetch(`${url}/a?b=c`, AUTH)
        const { headers } = arrived[0]!
        t.match(headers.date, form)
        const message = ['GET', host, '/a', 'b=c', headers.date, headers['x-nonce']].join('\n')
        t.equal(headers['x-signature'], createHmac(hash, KEY).update(message).digest('base64'))
      }
    }
  }
})

t.test('a plugin sets none of the headers that carry the signature', async (t) => {
  const { url, check, arrived } = await api(t)
  for (const name of ['X-Timestamp', 'x-key', 'Authorization']) {
    t.equal(await code(check().fetch(url, { ...AUTH, headers: { [name]: '1' } })), 'breach', name)
  }
  t.strictSame(arrived, [])
})

t.test('a key that is not written as declared is the mistake of the connection', async (t) => {
  for (const keyEncoding of ['hex', 'base64'] as const) {
    const { url, check } = await api(t, { keyEncoding }, '*')
    t.equal(await code(check().fetch(url, AUTH)), 'misconfigured')
  }
})

const options = Type.Object({ api_secret: secret({ description: 'The key.' }), api_key: Type.String() })
const problems: [what: string, declared: object, problem: RegExp][] = [
  ['a secret in clear', { headers: { a: '{option.api_secret}{signature}' } }, /api_secret is a secret/],
  ['an option that there is not', { message: '{option.other}' }, /no option other/],
  ['an option that every object has', { message: '{option.constructor}' }, /no option constructor/],
  ['a key that is no secret', { key: 'api_key' }, /api_key is not a secret/],
  ['a part that there is not', { message: '{cookie}' }, /\{cookie\}/],
  ['a signature of itself', { message: '{signature}' }, /message names \{signature\}/],
  ['no place for the signature', { headers: { a: '{date}' } }, /no header carries/],
  ['a date without a form', { date: undefined }, /needs a form/],
  ["a header that is the client's", { headers: { host: 'a', 'x-a': '{signature}' } }, /may not set the header host/],
  ['a method in a header', { headers: { 'x-http-method-override': 'DELETE', a: '{signature}' } }, /override/],
  ['another hash', { hash: 'md5' }, /hash/],
  ['a member too many', { text: 'a' }, /^api: hmac/],
]
for (const [what, declared, problem] of problems) {
  t.test(`a declaration with ${what} is refused`, async (t) => {
    const one = JSON.parse(JSON.stringify({ ...DECLARED, ...declared }))
    t.match(credentialProblems({ options, credentials: { api: one } }).join('\n'), problem)
  })
}

t.test('a declaration in order has no problem', async (t) => {
  t.strictSame(credentialProblems({ options, credentials: { api: DECLARED } }), [])
})
