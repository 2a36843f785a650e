import t from 'tap'
import { ISSUER, NOON, newUser, openFirst, openPeople, type People, SESSION_ENDS } from './people.ts'

/** Somebody without a password: with an identity at the provider. */
async function withoutPassword({ accounts }: People) {
  const identity = { issuer: ISSUER, subject: 'ann' }
  const newcomer = { ...newUser('ann'), proof: { identity } }
  const { user } = await accounts.setUp((await accounts.setupToken())!, newcomer, 'acme')
  return { user, userId: user.id, identity }
}

function addPasskey({ storage }: People, userId: string, id: string) {
  const row = { id, userId, publicKey: 'AA', counter: 0, transports: [], name: id, createdAt: NOON, lastUsedAt: null }
  return storage.write((tx) => tx.passkeys.insert(row))
}

t.test('the last way in stays, whichever it is', async (t) => {
  const people = await openPeople(t)
  const { passkeys, identities } = people
  const { userId } = await withoutPassword(people)
  await t.rejects(identities.remove(userId, ISSUER), { code: 'conflict' })
  await addPasskey(people, userId, 'one')
  await identities.remove(userId, ISSUER)
  await t.rejects(passkeys.remove(userId, 'one'), { code: 'conflict' })
  await addPasskey(people, userId, 'two')
  await passkeys.remove(userId, 'one')
  await t.rejects(passkeys.remove(userId, 'two'), { code: 'conflict' })
  t.equal((await passkeys.list(userId)).length, 1)
})

t.test('an identity at a provider that is not asked any more is no way in', async (t) => {
  const people = await openPeople(t, { config: { oidcSignIn: undefined, sessionEnds: SESSION_ENDS } })
  const { userId } = await withoutPassword(people)
  await addPasskey(people, userId, 'one')
  await t.rejects(people.passkeys.remove(userId, 'one'), { code: 'conflict' })
})

t.test('with a password everything else may go', async (t) => {
  const people = await openFirst(t)
  const { passkeys, userId } = people
  await addPasskey(people, userId, 'one')
  await passkeys.remove(userId, 'one')
  t.same(await passkeys.list(userId), [])
})

t.test('an identity belongs to one account', async (t) => {
  const people = await openPeople(t)
  const { identities, accounts, members } = people
  const { user, userId, identity } = await withoutPassword(people)
  const [workspace] = await members.workspacesOf(userId)
  const bob = await accounts.join(await accounts.inviteToken(workspace!.id, 'member', null), newUser('bob'))
  await t.rejects(identities.add(bob.user, identity), { code: 'conflict' })
  t.match(await identities.signIn(identity), { id: userId })
  await identities.add(user, identity)
  await t.rejects(identities.add(user, { ...identity, subject: 'else' }), { code: 'conflict' })
  await t.rejects(identities.remove(bob.user.id, ISSUER), { code: 'not_found' })
})
