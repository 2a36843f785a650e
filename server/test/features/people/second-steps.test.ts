/** Codes of an authenticator app, and recovery codes: each works once, and guesses lead nowhere. Threat K4 of `security.md`. */
import type { SetUp } from '@claimcheck/server/features/people/second-steps'
import { Secret, TOTP } from 'otpauth'
import t, { type Test } from 'tap'
import { createDatabase } from '../../../../test/support/database.ts'
import { openPostgres } from '../../../../test/support/storage.ts'
import { first, NOON, openFirst, openPeople, type PeopleOptions, VISITOR } from './people.ts'

const PERIOD_MS = 30_000

/** What the app shows at a time. */
function codeOf(secret: string, at: number): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: at })
}

/** A code that is right at no time near. */
function wrongCode(secret: string, at: number): string {
  const right = [-2, -1, 0, 1, 2].map((step) => codeOf(secret, at + step * PERIOD_MS))
  return ['000000', '111111', '222222', '333333', '444444', '555555'].find((code) => !right.includes(code))!
}

async function withSecondStep(t: Test, options: PeopleOptions = {}) {
  const people = await openPeople(t, options)
  const { secondSteps, sessions, clock } = people
  const { user } = await first(people)
  const token = await sessions.start(user, 'password', VISITOR)
  const { session } = (await sessions.find(token))!
  const { secret, ticket } = await secondSteps.begin(user)
  const codes = await secondSteps.confirm(user, session.id, { ticket, code: codeOf(secret, clock.now) })
  if ('secret' in codes) throw new Error('the first code was wrong')
  clock.now += 2 * PERIOD_MS
  const enter = async (code: string) => secondSteps.answer(await secondSteps.ask(user), code)
  return { ...people, user, secret, token, session, codes, enter }
}

t.test('the code of RFC 6238 signs in, within one step of the clock, and no other', async (t) => {
  const { clock, secret, enter, user } = await withSecondStep(t)
  t.match(await enter(wrongCode(secret, clock.now)), { problem: /not right/, again: /./ })
  for (const step of [-2, 2])
    t.match(await enter(codeOf(secret, clock.now + step * PERIOD_MS)), { problem: /not right/ })
  t.match(await enter(codeOf(secret, clock.now - PERIOD_MS)), { user: { id: user.id } })
  t.match(await enter(codeOf(secret, clock.now)), { user: { id: user.id } })
  const spaced = codeOf(secret, clock.now + PERIOD_MS).replace(/(...)/, '$1 ')
  t.match(await enter(spaced), { user: { id: user.id } }, 'as an app shows it')
})

t.test('no code works twice, nor one from before it', async (t) => {
  const { clock, secret, enter } = await withSecondStep(t)
  const [before, code] = [codeOf(secret, clock.now - PERIOD_MS), codeOf(secret, clock.now)]
  t.ok('user' in (await enter(code)))
  for (const used of [code, before]) t.match(await enter(used), { problem: /was used already/ })
})

t.test('of two who type one code at the same time on two hosts, one gets in', async (t) => {
  const database = await createDatabase('postgres')
  t.teardown(() => database.remove())
  const { clock, secret, enter, codes } = await withSecondStep(t, {
    storage: await openPostgres(database.env.DATABASE_URL!),
  })
  for (const code of [codeOf(secret, clock.now), codes[0]!]) {
    const outcomes = await Promise.all([enter(code), enter(code), enter(code)])
    t.equal(outcomes.filter((outcome) => 'user' in outcome).length, 1)
  }
})

t.test('ten recovery codes work once each, in capitals and without dashes too, until replaced', async (t) => {
  const { secondSteps, codes, enter, user } = await withSecondStep(t)
  t.equal(new Set(codes).size, 10)
  for (const code of codes) t.match(code, /^(?:[a-z0-9]{4}-){3}[a-z0-9]{4}$/)
  t.ok('user' in (await enter(codes[0]!)))
  t.match(await enter(codes[0]!), { problem: /not right/ })
  t.ok('user' in (await enter(codes[1]!.toUpperCase().replaceAll('-', ' '))))
  t.match(await secondSteps.find(user.id), { codesLeft: 8 })
  const others = await secondSteps.replaceCodes(user)
  t.match(await enter(codes[2]!), { problem: /not right/ })
  t.ok('user' in (await enter(others[2]!)))
  t.match(await secondSteps.find(user.id), { codesLeft: 9 })
})

t.test('a right password is good for five tries, and the ticket for five minutes', async (t) => {
  const { secondSteps, clock, secret, user } = await withSecondStep(t)
  let ticket = await secondSteps.ask(user)
  for (let left = 4; left >= 0; left--) {
    const outcome = await secondSteps.answer(ticket, wrongCode(secret, clock.now))
    t.match(outcome, { problem: /not right/ })
    const used = ticket
    ticket = 'again' in outcome ? outcome.again : undefined
    t.equal(ticket !== undefined, left > 0, `${left} left`)
    t.match(await secondSteps.answer(used, codeOf(secret, clock.now)), { problem: /begin again/ }, 'each ticket once')
  }
  const late = await secondSteps.ask(user)
  clock.now += 5 * 60_000
  t.match(await secondSteps.answer(late, codeOf(secret, clock.now)), { problem: /took too long/, again: undefined })
  t.match(await secondSteps.answer(undefined, '123456'), { problem: /begin again/ })
})

t.test('who has the password alone cannot try all codes: after ten wrong ones the app has to wait', async (t) => {
  const { clock, secret, enter, codes } = await withSecondStep(t)
  for (let count = 0; count < 10; count++) await enter(wrongCode(secret, clock.now))
  t.match(await enter(codeOf(secret, clock.now)), {
    problem: /too many wrong codes: use a recovery code or a passkey/,
  })
  t.ok('user' in (await enter(codes[0]!)), 'a recovery code is looked at')
  clock.now += 15 * 60_000
  t.match(await enter(wrongCode(secret, clock.now)), { problem: /not right/ })
  t.match(await enter(codeOf(secret, clock.now)), { problem: /too many wrong codes/ }, 'one try each time')
  clock.now += 15 * 60_000
  t.ok('user' in (await enter(codeOf(secret, clock.now))))
  t.match(await enter(wrongCode(secret, clock.now)), { problem: /not right/ }, 'and then they count anew')
})

t.test('it is switched on by a code, which ends other sessions and makes this one stronger', async (t) => {
  const { secondSteps, sessions, clock, user } = await openFirst(t)
  const [token, other] = [
    await sessions.start(user, 'password', VISITOR),
    await sessions.start(user, 'password', VISITOR),
  ]
  const { session } = (await sessions.find(token))!
  const begun = await secondSteps.begin(user)
  t.match(begun.uri, /^otpauth:\/\/totp\/Claimcheck:ann%40example\.com\?.*secret=[A-Z2-7]{32}.*$/)
  t.match(new URL(begun.uri).searchParams.get('algorithm'), 'SHA1')
  const wrong = { ticket: begun.ticket, code: wrongCode(begun.secret, clock.now) }
  const again = (await secondSteps.confirm(user, session.id, wrong)) as SetUp
  t.equal(again.secret, begun.secret, 'the app need not be set up again')
  t.equal(await secondSteps.ask(user), undefined, 'it is not on')
  clock.now += 10 * 60_000
  await t.rejects(secondSteps.confirm(user, session.id, wrong), { code: 'bad_request' }, 'it took too long')
  clock.now -= 10 * 60_000
  await t.rejects(secondSteps.confirm(user, session.id, { ...wrong, ticket: 'x' }), { code: 'bad_request' })
  const right = { ticket: again.ticket, code: codeOf(again.secret, clock.now) }
  t.equal(((await secondSteps.confirm(user, session.id, right)) as readonly string[]).length, 10)
  t.equal(await sessions.find(other), undefined)
  t.equal((await sessions.find(token))?.session.method, 'password_and_code')
  t.match(await secondSteps.answer(await secondSteps.ask(user), right.code), { problem: /used already/ })

  const more = await secondSteps.begin(user)
  const second = { ticket: more.ticket, code: codeOf(more.secret, clock.now) }
  await t.rejects(secondSteps.confirm(user, session.id, second), { code: 'conflict' })
  await secondSteps.switchOff(user)
  t.equal((await sessions.find(token))?.session.method, 'password')
  t.equal(await secondSteps.ask(user), undefined)
  await t.rejects(secondSteps.switchOff(user), { code: 'conflict' })
  await t.rejects(secondSteps.replaceCodes(user), { code: 'conflict' })
})

t.test('the database holds neither the secret nor a recovery code', async (t) => {
  const { storage, user, secret, codes } = await withSecondStep(t)
  const row = JSON.stringify(await storage.read.secondSteps.ofUser(user.id))
  t.notMatch(row, secret)
  t.equal(await storage.write((tx) => tx.secondSteps.useCode(user.id, codes[0]!)), false)
})

t.test('the audit trail has it switched on and off, its wrong codes, and the use of a recovery code', async (t) => {
  const { storage, secondSteps, user, enter, codes, secret, clock } = await withSecondStep(t)
  await enter(wrongCode(secret, clock.now))
  await enter('not-a-recovery-code')
  await enter(codes[0]!)
  await secondSteps.replaceCodes(user)
  await secondSteps.switchOff(user)
  const entries = (await storage.read.audit.after(0, 100)).filter(({ event }) => event.startsWith('second_step.'))
  t.strictSame(
    entries.map(({ event }) => event.slice('second_step.'.length)),
    ['on', 'failed', 'failed', 'code_used', 'codes_replaced', 'off'],
  )
  t.ok(entries.every(({ userId }) => userId === user.id))
  for (const text of [secret, ...codes]) t.notMatch(JSON.stringify(entries), text)
})

t.test('it stands beside a password only, and for who is current', async (t) => {
  const people = await openPeople(t)
  const { accounts, secondSteps, sessions } = people
  const newcomer = { name: 'ann', email: 'ann@example.com', proof: { identity: { issuer: 'i', subject: 's' } } }
  const { user } = await accounts.setUp((await accounts.setupToken())!, newcomer, 'acme')
  const { session } = (await sessions.find(await sessions.start(user, 'outside', VISITOR)))!
  const { secret, ticket } = await secondSteps.begin(user)
  const answer = { ticket, code: codeOf(secret, NOON) }
  await t.rejects(secondSteps.confirm(user, session.id, answer), {
    code: 'conflict',
    message: /choose a password first/,
  })
  const stale = { ...user, generation: user.generation + 1 }
  await t.rejects(secondSteps.switchOff(stale), { code: 'conflict', message: /sign in again/ })
})
