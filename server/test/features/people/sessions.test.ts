/** Sessions: when they end, and what the database knows of them. Threat K2 of `security.md`. */
import { createSessionService } from '@claimcheck/server/features/people/sessions'
import t from 'tap'
import { first, NOON, openPeople, SESSION_ENDS, VISITOR } from './people.ts'

const { idleMs, longestMs } = SESSION_ENDS

t.test('a session ends after a day without a visit', async (t) => {
  const people = await openPeople(t)
  const { sessions, clock } = people
  const { user } = await first(people)
  const token = await sessions.start(user, 'password', VISITOR)
  clock.now = NOON + idleMs - 1
  t.ok(await sessions.find(token))
  clock.now += idleMs - 1
  t.ok(await sessions.find(token), 'each visit counts')
  clock.now += idleMs
  t.equal(await sessions.find(token), undefined)
  t.same(await sessions.list(user.id), [])
})

t.test('a session ends after two weeks however often it is used', async (t) => {
  const people = await openPeople(t)
  const { sessions, clock } = people
  const { user } = await first(people)
  const token = await sessions.start(user, 'password', VISITOR)
  const step = idleMs / 2
  for (clock.now = NOON; clock.now < NOON + longestMs; clock.now += step) t.ok(await sessions.find(token))
  clock.now = NOON + longestMs
  t.equal(await sessions.find(token), undefined)
})

t.test('of a session the database knows the hash, and nothing that opens it', async (t) => {
  const people = await openPeople(t)
  const { sessions, storage } = people
  const { user } = await first(people)
  const token = await sessions.start(user, 'password', { ...VISITOR, userAgent: 'x'.repeat(5000) })
  const rows = await storage.read.sessions.ofUser(user.id, NOON)
  t.notMatch(JSON.stringify(rows), token)
  t.equal(rows[0]!.userAgent.length, 256)
  for (const wrong of ['', token.slice(1), `${token}A`, rows[0]!.tokenHash, rows[0]!.id]) {
    t.equal(await sessions.find(wrong), undefined)
  }
})

t.test('a session is ended by the one whose it is', async (t) => {
  const people = await openPeople(t)
  const { sessions } = people
  const { user } = await first(people)
  const token = await sessions.start(user, 'password', VISITOR)
  const [session] = await sessions.list(user.id)
  t.equal(await sessions.end('usr_other', session!.id), false)
  t.ok(await sessions.find(token))
  t.equal(await sessions.end(user.id, session!.id), true)
  t.equal(await sessions.find(token), undefined)
})

t.test('a shorter time that is configured holds for sessions of before as well', async (t) => {
  const long = await openPeople(t, { config: { oidcSignIn: undefined, sessionEnds: { idleMs: 9e9, longestMs: 9e9 } } })
  const { user } = await first(long)
  const token = await long.sessions.start(user, 'password', VISITOR)
  const { storage, clock } = long
  const config = { sessionEnds: SESSION_ENDS }
  const sessions = createSessionService({ storage, now: () => clock.now, config })
  clock.now = NOON + idleMs - 1
  t.ok(await long.sessions.find(token))
  t.match(await sessions.find(token), { session: { method: 'password', endsAt: clock.now + idleMs } })
  clock.now += idleMs
  t.equal(await sessions.find(token), undefined)
  t.strictSame(await sessions.list(user.id), [])
  t.ok(await long.sessions.find(token))
})
