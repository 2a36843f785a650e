/** Sessions: when they end, and what the database knows of them. Threat K2 of `security.md`. */
import { createSessionService } from '@claimcheck/server/features/people/sessions'
import t from 'tap'
import { first, NOON, openFirst, openPeople, SESSION_ENDS, VISITOR } from './people.ts'

const { idleMs, longestMs } = SESSION_ENDS

t.test('a session ends after a day without a visit', async (t) => {
  const { sessions, clock, user } = await openFirst(t)
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
  const { sessions, clock, user } = await openFirst(t)
  const token = await sessions.start(user, 'password', VISITOR)
  const step = idleMs / 2
  for (clock.now = NOON; clock.now < NOON + longestMs; clock.now += step) t.ok(await sessions.find(token))
  clock.now = NOON + longestMs
  t.equal(await sessions.find(token), undefined)
})

t.test('of a session the database knows the hash, and nothing that opens it', async (t) => {
  const { sessions, storage, user } = await openFirst(t)
  const token = await sessions.start(user, 'password', { ...VISITOR, userAgent: 'x'.repeat(5000) })
  const rows = await storage.read.sessions.ofUser(user.id, NOON)
  t.notMatch(JSON.stringify(rows), token)
  t.equal(rows[0]!.userAgent.length, 256)
  for (const wrong of ['', token.slice(1), `${token}A`, rows[0]!.tokenHash, rows[0]!.id]) {
    t.equal(await sessions.find(wrong), undefined)
  }
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
