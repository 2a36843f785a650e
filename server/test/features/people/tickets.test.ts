/** What is remembered between two requests of one browser. Threat K5 of `security.md`. */
import t from 'tap'
import { NOON, openPeople } from './people.ts'

const KIND = 'passkey_challenge'

t.test('a ticket gives back what was put into it, once', async (t) => {
  const { tickets } = await openPeople(t)
  const ticket = await tickets.issue(KIND, { challenge: 'abc' })
  t.equal(await tickets.take('outside_sign_in', ticket), undefined, 'of another kind there is none')
  const taken = await Promise.all([tickets.take(KIND, ticket), tickets.take(KIND, ticket)])
  t.same(taken.filter(Boolean), [{ challenge: 'abc' }], 'of two at once, one')
  t.equal(await tickets.take(KIND, ticket), undefined)
  for (const wrong of [undefined, '', 'x', 'A'.repeat(43)]) t.equal(await tickets.take(KIND, wrong), undefined)
})

t.test('a ticket runs out, and goes from the database', async (t) => {
  const { tickets, clock } = await openPeople(t)
  const ticket = await tickets.issue(KIND, {})
  clock.now = NOON + 5 * 60_000
  t.equal(await tickets.take(KIND, ticket), undefined)
  await tickets.issue(KIND, {})
  clock.now = NOON
  t.equal(await tickets.take(KIND, ticket), undefined)
})

t.test('of a ticket the database holds a hash and what is sealed, bound to its place', async (t) => {
  const { tickets, storage, secrets } = await openPeople(t)
  const ticket = await tickets.issue(KIND, { challenge: 'what is hidden' })
  const { hashToken } = await import('@claimcheck/server/base/tokens')
  const row = (await storage.read.records.find(KIND, hashToken(ticket)))!
  t.notMatch(JSON.stringify(row), new RegExp(`what is hidden|${ticket}`))
  t.throws(() => secrets.open(row.payload, 'elsewhere'), { code: 'wrong_key' })
})
