/** Credentials that a plugin names and does not hold. */

import { authHeader, secretHandle, secretNames, withoutSecretValues } from '@claimcheck/core/hosting'
import { type Auth, basic, bearer, header, secret } from '@claimcheck/core/plugin'
import t from 'tap'
import { Type } from 'typebox'

const type = {
  options: Type.Object({
    host: Type.String(),
    token: Type.Optional(secret({ description: 'A token.' })),
    password: Type.Optional(secret({ description: 'A password.' })),
  }),
}
const GIVEN = { host: 'a.example', token: 's3cret-tökén', password: 'hunter:2' }
const { options, secrets } = withoutSecretValues(type, GIVEN)
const base64 = (text: string) => Buffer.from(text).toString('base64')

t.test('a plugin gets handles in place of secrets, and what it was given stays as it was', async (t) => {
  t.strictSame(secretNames(type), ['token', 'password'])
  t.strictSame(options, { host: 'a.example', token: 'secret:token', password: 'secret:password' })
  t.strictSame(
    [...secrets],
    [
      ['secret:token', GIVEN.token],
      ['secret:password', GIVEN.password],
    ],
  )
  t.equal(GIVEN.token, 's3cret-tökén')
})

t.test('a secret that was not given has no handle', async (t) => {
  const none = withoutSecretValues(type, { host: 'a.example' })
  t.strictSame(none.options, { host: 'a.example' })
  t.equal(none.secrets.size, 0)
  t.equal(bearer(undefined), undefined, 'and a request without it carries no credential')
})

const headers: [what: string, auth: Auth, name: string, value: string][] = [
  ['a bearer token', bearer(options.token), 'authorization', `Bearer ${GIVEN.token}`],
  ['a name and a password', basic('reader', options.password), 'authorization', `Basic ${base64('reader:hunter:2')}`],
  [
    'a token as the name, with an empty password',
    basic(options.token, ''),
    'authorization',
    `Basic ${base64(`${GIVEN.token}:`)}`,
  ],
  [
    'two secrets',
    basic(options.token, options.password),
    'authorization',
    `Basic ${base64(`${GIVEN.token}:${GIVEN.password}`)}`,
  ],
  ['a name in another script', basic('лиза', ''), 'authorization', `Basic ${base64('лиза:')}`],
  ["a header of the destination's own", header('PRIVATE-TOKEN', options.token), 'private-token', GIVEN.token],
  ['a header with a prefix', header('x-api-key', options.token, 'Key '), 'x-api-key', `Key ${GIVEN.token}`],
]
for (const [what, auth, name, value] of headers) {
  t.test(`${what} becomes its header`, async (t) => {
    t.strictSame(authHeader(auth, secrets), { name, value })
    t.notMatch(JSON.stringify(auth), /s3cret|hunter/, 'the plugin holds no secret')
  })
}

const FOREIGN = secretHandle('other')
const refused: [what: string, auth: unknown][] = [
  ['a token that is no handle', bearer('guessed')],
  ['a secret itself', bearer(GIVEN.token)],
  ["a handle of another connection's option", bearer(FOREIGN)],
  ["another connection's option as a password", basic('reader', FOREIGN)],
  ["another connection's option as a name", basic(FOREIGN, '')],
  ["another connection's option in a header", header('x-api-key', FOREIGN)],
  ['a password that was not given', basic('reader', undefined as unknown as string)],
  ['an option that is no secret', header('x-api-key', options.host)],
  ['a member that every object has', bearer('constructor')],
  ['a token that is no text', { scheme: 'bearer', token: { toString: () => options.token } }],
  ['a header without a name', header('', options.token)],
  ['a header whose name is two lines', header('x-a\r\nhost', options.token)],
  ['a header whose name is no text', { scheme: 'header', name: ['x-a'], value: options.token, prefix: '' }],
  ['another scheme', { scheme: 'digest', token: options.token }],
  ['no scheme', {}],
  ['nothing', null],
]
for (const [what, auth] of refused) {
  t.test(`${what} is refused, and no secret is in the error`, async (t) => {
    const error = t.throws(() => authHeader(auth as Auth, secrets), TypeError)
    t.notMatch(String((error as Error).stack), /s3cret|hunter/)
  })
}
