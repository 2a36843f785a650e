/** Sessions: when they end, and what the database knows of them. Threat K2 of `security.md`. */
import { SESSION_IDLE_MS, SESSION_LONGEST_MS } from '@claimcheck/server/people/sessions'
import t from 'tap'
import { first, NOON, openPeople, VISITOR } from './people.ts'

t.test('a session ends after two weeks without a visit', async (t) => {
  const people = await openPeople(t)
  const { sessions, clock } = people
  const { userId } = await first(people)
  const token = await sessions.start(userId, VISITOR)
  clock.now = NOON + SESSION_IDLE_MS - 1
  t.ok(await sessions.find(token))
  clock.now += SESSION_IDLE_MS - 1
  t.ok(await sessions.find(token), 'each visit counts')
  clock.now += SESSION_IDLE_MS
  t.equal(await sessions.find(token), undefined)
  t.same(await sessions.list(userId), [])
})

t.test('a session ends after ninety days however often it is used', async (t) => {
  const people = await openPeople(t)
  const { sessions, clock } = people
  const { userId } = await first(people)
  const token = await sessions.start(userId, VISITOR)
  const step = SESSION_IDLE_MS / 2
  for (clock.now = NOON; clock.now < NOON + SESSION_LONGEST_MS; clock.now += step) t.ok(await sessions.find(token))
  clock.now = NOON + SESSION_LONGEST_MS
  t.equal(await sessions.find(token), undefined)
})

t.test('of a session the database knows the hash, and nothing that opens it', async (t) => {
  const people = await openPeople(t)
  const { sessions, storage } = people
  const { userId } = await first(people)
  const token = await sessions.start(userId, { ...VISITOR, userAgent: 'x'.repeat(5000) })
  const rows = await storage.read.sessions.ofUser(userId, NOON)
  t.notMatch(JSON.stringify(rows), token)
  t.equal(rows[0]!.userAgent.length, 256)
  for (const wrong of ['', token.slice(1), `${token}A`, rows[0]!.tokenHash, rows[0]!.id]) {
    t.equal(await sessions.find(wrong), undefined)
  }
})

t.test('a session is ended by the one whose it is', async (t) => {
  const people = await openPeople(t)
  const { sessions } = people
  const { userId } = await first(people)
  const token = await sessions.start(userId, VISITOR)
  const [session] = await sessions.list(userId)
  t.equal(await sessions.end('usr_other', session!.id), false)
  t.ok(await sessions.find(token))
  t.equal(await sessions.end(userId, session!.id), true)
  t.equal(await sessions.find(token), undefined)
})
