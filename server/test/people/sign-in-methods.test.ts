import t from 'tap'
import { ISSUER, NOON, newUser, openPeople, type People } from './people.ts'

/** Somebody without a password: with an identity at the provider. */
async function withoutPassword({ accounts }: People) {
  const identity = { issuer: ISSUER, subject: 'ann' }
  const { userId } = await accounts.setUp(
    (await accounts.setupToken())!,
    { ...newUser('ann'), proof: { identity } },
    'acme',
  )
  return { userId, identity }
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
  const people = await openPeople(t, { config: { oidcSignIn: undefined } })
  const { userId } = await withoutPassword(people)
  await addPasskey(people, userId, 'one')
  await t.rejects(people.passkeys.remove(userId, 'one'), { code: 'conflict' })
})

t.test('with a password everything else may go', async (t) => {
  const people = await openPeople(t)
  const { accounts, passkeys } = people
  const { userId } = await accounts.setUp((await accounts.setupToken())!, newUser('ann'), 'acme')
  await addPasskey(people, userId, 'one')
  await passkeys.remove(userId, 'one')
  t.same(await passkeys.list(userId), [])
})

t.test('an identity belongs to one account', async (t) => {
  const people = await openPeople(t)
  const { identities, accounts, members } = people
  const { userId, identity } = await withoutPassword(people)
  const [workspace] = await members.workspacesOf(userId)
  const bob = await accounts.join(await accounts.inviteToken(workspace!.id, 'member', null), newUser('bob'))
  await t.rejects(identities.add(bob.userId, identity), { code: 'conflict' })
  t.match(await identities.find(identity), { id: userId })
  await identities.add(userId, identity)
  await t.rejects(identities.add(userId, { ...identity, subject: 'else' }), { code: 'conflict' })
  await t.rejects(identities.remove(bob.userId, ISSUER), { code: 'not_found' })
})
