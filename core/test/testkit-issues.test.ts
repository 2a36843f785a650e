// Test run: end-to-end, slow
/** What `plugin try` says of options that are wrong. */
import { secret, Type } from '@claimcheck/core/plugin'
import { tryClaim } from '@claimcheck/core/testkit'
import t from 'tap'
import { ticketPlugin } from './bad-plugins/good.ts'

const options = Type.Object(
  { token: secret({ title: 'Token', description: 'A token.' }), user: Type.Optional(Type.String()) },
  { additionalProperties: false },
)
const claim = {
  action: 'acme.ticket.close',
  target: 'ACME-7',
  params: { resolution: 'fixed' },
  claimedAt: Date.now(),
}

t.test('an option that there is not is named, with those that there are', async (t) => {
  const connection = { token: 'a-token', pasword: 'a-password' }
  const error = await tryClaim({ plugin: ticketPlugin({ connection: { options } }), claim, connection }).catch(
    (error: unknown) => error,
  )
  t.match(error, {
    issues: [{ loc: ['options', 'pasword'], msg: 'there is none of that name; there are: token, user' }],
  })
})

t.test('credentials that name an option that there is not are said, as a service says them', async (t) => {
  const credentials = { registry: { scheme: 'challenge', username: 'user', password: 'passwort' } } as const
  const plugin = ticketPlugin({ connection: { options, credentials } })
  await t.rejects(tryClaim({ plugin, claim, connection: { token: 'a-token' } }), {
    code: 'no_plugin',
    message: /registry: there is no option passwort/,
  })
})
