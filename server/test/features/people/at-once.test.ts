/** What two people do at once on PostgreSQL, where transactions run side by side. */

import t from 'tap'
import { first, ISSUER, NONE_KEPT, NOON, newUser, onPostgres } from './people.ts'

const ROUNDS = 10

function refusals(outcomes: readonly PromiseSettledResult<unknown>[]): unknown[] {
  return outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.code] : []))
}

t.test('of two owners who go at once, one stays', async (t) => {
  const people = await onPostgres(t)
  const { accounts, members } = people
  const ann = await first(people)
  for (let round = 0; round < ROUNDS; round++) {
    const { id: workspaceId } = await members.createWorkspace(ann.userId, `w${round}`)
    await accounts.join(await accounts.inviteToken(workspaceId, 'owner', null), newUser(`bob${round}`))
    const [one, other] = await members.list(workspaceId)
    const outcomes = await Promise.allSettled([
      members.remove(workspaceId, one!.id),
      members.setRole(workspaceId, other!.id, 'member'),
    ])
    t.same(refusals(outcomes), ['conflict'])
    const left = await members.list(workspaceId)
    t.equal(left.filter(({ role }) => role === 'owner').length, 1)
  }
})

t.test('of two ways in that go at once, one stays', async (t) => {
  const people = await onPostgres(t)
  const { accounts, identities, passkeys, storage } = people
  const { workspaceId } = await first(people)
  for (let round = 0; round < ROUNDS; round++) {
    const name = `bob${round}`
    const identity = { issuer: ISSUER, subject: name }
    const token = await accounts.inviteToken(workspaceId, 'member', null)
    const { user } = await accounts.join(token, { ...newUser(name), proof: { identity } })
    const userId = user.id
    const row = {
      id: name,
      userId,
      publicKey: 'AA',
      counter: 0,
      transports: [],
      name,
      createdAt: NOON,
      lastUsedAt: null,
    }
    await storage.write((tx) => tx.passkeys.insert(row))
    const outcomes = await Promise.allSettled([identities.remove(userId, ISSUER), passkeys.remove(userId, name)])
    t.same(refusals(outcomes), ['conflict'])
    t.equal((await passkeys.list(userId)).length + (await identities.list(userId)).length, 1)
  }
})

t.test('an owner who is removed leaves no invitation behind, whichever comes first', async (t) => {
  const people = await onPostgres(t)
  const { accounts, members } = people
  const ann = await first(people)
  for (let round = 0; round < ROUNDS; round++) {
    const { id: workspaceId } = await members.createWorkspace(ann.userId, `w${round}`)
    const token = await accounts.inviteToken(workspaceId, 'owner', null)
    const { user } = await accounts.join(token, newUser(`bob${round}`))
    const userId = user.id
    const bob = (await members.list(workspaceId)).find((member) => member.userId === userId)!
    await Promise.allSettled([members.remove(workspaceId, bob.id), accounts.inviteToken(workspaceId, 'owner', userId)])
    t.same(await members.invitations(workspaceId), [])
  }
})

t.test('of two links to a new password that are used at once, one gives it', async (t) => {
  const people = await onPostgres(t)
  const { accounts } = people
  await first(people)
  for (let round = 0; round < ROUNDS; round++) {
    const tokens = [await accounts.resetToken('ann@example.com'), await accounts.resetToken('ann@example.com')]
    const passwords = [`violet tram under harbours ${round}`, `amber kettle over meadows ${round}`]
    const outcomes = await Promise.allSettled(
      tokens.map((token, index) => accounts.passwords.reset(token, passwords[index]!, NONE_KEPT)),
    )
    t.same(refusals(outcomes), ['not_found'])
    const given = outcomes.findIndex(({ status }) => status === 'fulfilled')
    t.ok(await accounts.byPassword('ann@example.com', passwords[given]!))
  }
})

t.test('who joins as somebody, and who invites in their name, do not wait for each other', async (t) => {
  const people = await onPostgres(t)
  const { storage } = people
  const { userId, workspaceId } = await first(people)
  const link = {
    tokenHash: 'x',
    kind: 'invitation',
    role: 'member',
    userId: null,
    usedAt: null,
    recipient: null,
    undelivered: null,
  } as const
  const at = { createdAt: NOON, expiresAt: NOON + 1 }
  let isHeld = () => {}
  const held = new Promise<void>((resolve) => {
    isHeld = resolve
  })
  const outcomes = await Promise.allSettled([
    storage.write(async (tx) => {
      await tx.users.lock(userId)
      await held
      await tx.workspaces.lock(workspaceId)
    }),
    storage.write(async (tx) => {
      await tx.workspaces.lock(workspaceId)
      isHeld()
      // What names the user waits for nobody who only holds them.
      await tx.links.insert({ ...link, ...at, id: 'inv_1', workspaceId, createdBy: userId })
    }),
  ])
  t.same(refusals(outcomes), [])
})
