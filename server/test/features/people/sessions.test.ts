/** Sessions: when they end, and what the database knows of them. Threat K2 of `security.md`. */
import { createMemberService } from '@claimcheck/server/features/people/members'
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

t.test('sessions that are asked about together, as those of open streams, share the statements', async (t) => {
  const { storage, sessions, user, userId } = await openFirst(t)
  const tokens = await Promise.all(Array.from({ length: 40 }, () => sessions.start(user, 'password', VISITOR)))
  await sessions.end(userId, (await sessions.find(tokens[7]!))!.session.id)
  const { read } = storage
  const asked = { sessions: 0, users: 0, members: 0 }
  /** Counts the calls of a function that reads. */
  const counting = <A extends readonly unknown[], R>(name: keyof typeof asked, ask: (...args: A) => R) => {
    return (...args: A): R => {
      asked[name]++
      return ask(...args)
    }
  }
  const counted = {
    ...storage,
    read: {
      ...read,
      sessions: { ...read.sessions, byHashes: counting('sessions', read.sessions.byHashes) },
      users: { ...read.users, byIds: counting('users', read.users.byIds) },
      members: { ...read.members, workspacesOf: counting('members', read.members.workspacesOf) },
    },
  }
  const now = () => NOON
  const service = createSessionService({ storage: counted, now, config: { sessionEnds: SESSION_ENDS } })
  const members = createMemberService({ storage: counted, now })
  const found = await Promise.all(
    [...tokens, 'no token', tokens[3]!].map(async (token) => {
      const signedIn = await service.find(token, false)
      return signedIn && (await members.workspacesOf(signedIn.user.id)).map(({ name }) => name)
    }),
  )
  t.equal(found.filter((names) => names?.[0] === 'acme').length, 40)
  t.strictSame([found[7], found[40]], [undefined, undefined])
  t.strictSame(asked, { sessions: 1, users: 1, members: 1 })
})
