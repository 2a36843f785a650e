/** Passwords: which are taken, and how they are kept. Threat K4 of `security.md`. */
import { hashPassword, isPassword } from '@claimcheck/server/features/people/passwords'
import t from 'tap'

const PASSWORD = 'purple lantern orbit cactus'

// First, while nobody has asked for anybody.
t.test('somebody unknown who comes when too many wait is told so then, and not for good', async (t) => {
  const waiting = Promise.all(Array.from({ length: 64 }, () => hashPassword(PASSWORD)))
  await t.rejects(isPassword(PASSWORD, null), { code: 'unavailable' })
  await waiting
  t.equal(await isPassword(PASSWORD, null), false)
})

t.test('a password is kept as argon2id with 19 MiB, two passes and one lane, and a salt of its own', async (t) => {
  const [one, other] = [await hashPassword(PASSWORD), await hashPassword(PASSWORD)]
  for (const text of [one, other]) t.ok(text.startsWith('$argon2id$v=19$m=19456,t=2,p=1$'), text)
  t.not(one, other)
  t.equal(await isPassword(PASSWORD, one), true)
  for (const wrong of ['', PASSWORD.slice(1), `${PASSWORD} `, PASSWORD.toUpperCase()]) {
    t.equal(await isPassword(wrong, one), false, wrong)
  }
})

t.test('a password has 12 to 256 characters, whatever these are', async (t) => {
  await t.rejects(hashPassword('x'.repeat(11)), { code: 'bad_request' })
  await t.rejects(hashPassword('x'.repeat(257)), { code: 'bad_request' })
  await t.rejects(hashPassword('🔑'.repeat(11)), { code: 'bad_request' }, 'characters, not units of code')
  const longest = '🔑'.repeat(256)
  t.equal(await isPassword(longest, await hashPassword(longest)), true)
})

t.test('one password is the same however its letters were put together', async (t) => {
  const composed = 'caf\u00e9 caf\u00e9 caf\u00e9'
  t.equal(await isPassword(composed.normalize('NFD'), await hashPassword(composed)), true)
})

t.test('nobody has no password, not even the empty one', async (t) => {
  for (const password of ['', PASSWORD]) {
    t.equal(await isPassword(password, null), false)
    t.equal(await isPassword(password, undefined), false)
  }
})

t.test('so many wait their turn, and more are told to come again', async (t) => {
  const known = await hashPassword(PASSWORD)
  const all = await Promise.allSettled(Array.from({ length: 80 }, () => isPassword(PASSWORD, known)))
  const refused = all.filter((outcome) => outcome.status === 'rejected')
  t.ok(refused.length > 0 && refused.length < 80)
  t.ok(refused.every(({ reason }) => reason.code === 'unavailable'))
  t.equal(await isPassword(PASSWORD, known), true, 'and afterwards it goes on')
})
