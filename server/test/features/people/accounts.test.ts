/** Accounts and the links into them. Threats K4, K7 and S3 of `security.md`. */
import t from 'tap'
import { first, NONE_KEPT, NOON, newUser, openFirst, openPeople, PASSWORD, VISITOR } from './people.ts'

const HOUR_MS = 60 * 60_000
const DAY_MS = 24 * HOUR_MS

t.test('links run out: a set-up and an invitation after days, a reset after an hour', async (t) => {
  const people = await openPeople(t)
  const { accounts, clock } = people
  const setup = (await accounts.setupToken())!
  clock.now = NOON + DAY_MS
  t.equal(await accounts.link(setup), undefined)
  await t.rejects(accounts.setUp(setup, newUser('late'), 'acme'), { code: 'not_found' })

  const { workspaceId } = await first(people)
  const rows = [
    [await accounts.inviteToken(workspaceId, 'member', null), 7 * DAY_MS],
    [await accounts.resetToken('ann@example.com'), HOUR_MS],
  ] as const
  const begun = clock.now
  for (const [token, lastsMs] of rows) {
    clock.now = begun + lastsMs - 1
    t.ok(await accounts.link(token))
    clock.now = begun + lastsMs
    t.equal(await accounts.link(token), undefined)
  }
  clock.now = begun + 7 * DAY_MS
  await t.rejects(accounts.join(rows[0][0], newUser('late')), { code: 'not_found' })
  await t.rejects(accounts.passwords.reset(rows[1][0], PASSWORD, NONE_KEPT), { code: 'not_found' })
})

t.test('a link is good for what it was made for, and for nothing else', async (t) => {
  const { accounts, workspaceId } = await openFirst(t)
  const invitation = await accounts.inviteToken(workspaceId, 'member', null)
  const reset = await accounts.resetToken('ann@example.com')
  await t.rejects(accounts.passwords.reset(invitation, PASSWORD, NONE_KEPT), { code: 'not_found' })
  await t.rejects(accounts.join(reset, newUser('bob')), { code: 'not_found' })
  await t.rejects(accounts.setUp(invitation, newUser('bob'), 'other'), { code: 'not_found' })
  t.equal(await accounts.link('none'), undefined)
})

t.test('of two who use one invitation at once, one joins', async (t) => {
  const { accounts, members, workspaceId } = await openFirst(t)
  const token = await accounts.inviteToken(workspaceId, 'member', null)
  const outcomes = await Promise.allSettled(['bob', 'mia'].map((name) => accounts.join(token, newUser(name))))
  t.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
  t.equal((await members.list(workspaceId)).length, 2)
  t.equal((await accounts.list()).length, 2, 'and the other has no account')
})

t.test('an invitation that was passed on tells of a few addresses whether they have accounts', async (t) => {
  const { accounts, clock, workspaceId } = await openFirst(t)
  const invite = () => accounts.inviteToken(workspaceId, 'member', null)
  const token = await invite()
  for (let tries = 0; tries < 5; tries++) await t.rejects(accounts.join(token, newUser('ann')), { code: 'conflict' })
  await t.rejects(accounts.join(token, newUser('ann')), { code: 'too_many' })
  await t.rejects(accounts.join(token, newUser('bob')), { code: 'too_many' }, 'nor of those without one')
  t.ok((await accounts.join(await invite(), newUser('mia'))).user, 'another invitation is as good as ever')
  clock.now += DAY_MS
  t.ok((await accounts.join(token, newUser('bob'))).user, 'and so is this one a day later')
})

t.test('only who is an owner now invites', async (t) => {
  const { accounts, workspaceId } = await openFirst(t)
  const bob = await accounts.join(await accounts.inviteToken(workspaceId, 'member', null), newUser('bob'))
  await t.rejects(accounts.inviteToken(workspaceId, 'member', bob.user.id), { code: 'conflict' })
})

t.test('somebody unknown takes a password check like somebody known', async (t) => {
  const people = await openPeople(t)
  const { accounts } = people
  await first(people)
  const userOf = (email: string, password: string) => accounts.byPassword(email, password)
  t.match(await userOf(' ANN@example.com ', PASSWORD), { email: 'ann@example.com' })
  t.equal(await userOf('ann@example.com', 'wrong password'), undefined)

  // Work, not time: what argon2 takes of the processor is many times what a look-up takes.
  const spent = async (email: string) => {
    const before = process.cpuUsage()
    for (let count = 0; count < 5; count++) await userOf(email, 'wrong password')
    const { user, system } = process.cpuUsage(before)
    return user + system
  }
  await spent('nobody@example.com')
  const [known, unknown] = [await spent('ann@example.com'), await spent('nobody@example.com')]
  t.ok(unknown > known / 3, `${unknown} µs of work for somebody unknown, ${known} for somebody known`)
})

t.test('of the links to a new password none is left once there is one', async (t) => {
  const { accounts, sessions, workspaceId } = await openFirst(t)
  await accounts.join(await accounts.inviteToken(workspaceId, 'member', null), newUser('bob'))
  const ofBob = await accounts.resetToken('bob@example.com')
  const tokens = [await accounts.resetToken('ann@example.com'), await accounts.resetToken('ann@example.com')] as const
  const again = await accounts.passwords.reset(tokens[0], PASSWORD, NONE_KEPT)
  await t.rejects(accounts.passwords.reset(tokens[1], 'another password altogether', NONE_KEPT), { code: 'not_found' })

  const third = await accounts.resetToken('ann@example.com')
  const { session } = (await sessions.find(await sessions.start(again, 'password', VISITOR)))!
  await accounts.passwords.changePassword(again, {
    current: PASSWORD,
    next: PASSWORD,
    keep: NONE_KEPT,
    sessionId: session.id,
  })
  t.equal(await accounts.link(third), undefined)
  t.match(await accounts.link(ofBob), { kind: 'reset', email: 'bob@example.com' }, 'those of others stay')
})
