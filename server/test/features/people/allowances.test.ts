/** Who pays for what people and workspaces use. Threat A8 of `security.md`. */
import { byUser } from '@claimcheck/server/base/actor'
import { createMachineService } from '@claimcheck/server/features/oauth/machines'
import t from 'tap'
import { first, newUser, openFirst, openPeople, type People, VISITOR } from './people.ts'

const ADDRESS = '192.0.2.1'

async function invited(people: People, workspaceId: string, by: string | null, name: string) {
  const token = await people.accounts.inviteToken(workspaceId, 'owner', by)
  people.clock.now += 1000
  return (await people.accounts.join(token, newUser(name))).user
}

/** Who pays for what is asked with a key of the workspace. */
async function payerByKey({ keys }: People, workspaceId: string) {
  const { key } = await keys.create(workspaceId, 'payer')
  const found = await keys.authenticate(key, ADDRESS)
  return found?.kind === 'key' && found.payer
}

t.test('a workspace is paid for by the account that made it, and one of the command line by itself', async (t) => {
  const people = await openFirst(t)
  const { members, storage, userId, workspaceId, memberId } = people
  const { id: second } = await members.createWorkspace(userId, 'second')
  const { id: ofOperator } = await members.createWorkspace(null, 'operator')
  const { clientId } = await createMachineService({ storage, now: () => people.clock.now }).create(second, 'm', [
    'claims:read',
  ])
  t.strictSame(await Promise.all([workspaceId, second, ofOperator].map((id) => payerByKey(people, id))), [
    userId,
    userId,
    ofOperator,
  ])
  t.strictSame(
    (await members.workspacesOf(userId)).map(({ name, payer }) => [name, payer]),
    [
      ['acme', userId],
      ['operator', ofOperator],
      ['second', userId],
    ],
  )
  t.equal((await storage.read.machines.byIds([clientId]))[0]?.payer, userId)
  t.equal((await storage.read.members.byIdsWithPayer([memberId]))[0]?.payer, userId)
})

t.test(
  'whoever is invited stands below who invited them, and goes along with them where the operator puts them',
  async (t) => {
    const people = await openPeople(t)
    const { allowances, members, sessions, storage } = people
    const ann = await first(people)
    const bob = await invited(people, ann.workspaceId, ann.userId, 'bob')
    const cyn = await invited(people, ann.workspaceId, bob.id, 'cyn')
    const dan = await invited(people, ann.workspaceId, null, 'dan')
    const guest = (host: string, { id }: { readonly id: string }) => `${host}/${id}`
    t.strictSame([bob.payer, cyn.payer, dan.payer], [guest(ann.userId, bob), guest(bob.payer, cyn), dan.id])
    const { id: ofCyn } = await members.createWorkspace(cyn.id, 'cyn')
    t.equal(await payerByKey(people, ofCyn), guest(bob.payer, cyn))

    await allowances.separate('Bob@example.com ')
    await allowances.separate('bob@example.com')
    const payers = async () =>
      Object.fromEntries((await people.accounts.list()).map(({ name, payer }) => [name, payer]))
    t.strictSame(await payers(), { ann: ann.userId, bob: bob.id, cyn: guest(bob.id, cyn), dan: dan.id })
    const eve = await invited(people, ann.workspaceId, bob.id, 'eve')
    t.equal(eve.payer, guest(bob.id, eve))

    await allowances.share('bob@example.com', 'dan@example.com')
    t.strictSame(await payers(), {
      ann: ann.userId,
      bob: guest(dan.id, bob),
      cyn: guest(guest(dan.id, bob), cyn),
      dan: dan.id,
      eve: guest(guest(dan.id, bob), eve),
    })
    const { id: ofEve } = await members.createWorkspace(eve.id, 'eve')
    t.equal(await payerByKey(people, ofEve), guest(guest(dan.id, bob), eve))
    const session = await sessions.find(await sessions.start(eve, 'password', VISITOR))
    t.equal(session?.user.payer, guest(guest(dan.id, bob), eve))

    const refused = [
      ['dan@example.com', 'eve@example.com', { code: 'conflict', message: /shares with this one/ }],
      ['dan@example.com', 'dan@example.com', { code: 'conflict', message: /the same account/ }],
      ['none@example.com', 'dan@example.com', { code: 'not_found', message: /none@example\.com/ }],
      ['dan@example.com', 'none@example.com', { code: 'not_found', message: /none@example\.com/ }],
    ] as const
    for (const [email, other, error] of refused) await t.rejects(allowances.share(email, other), error)
    const recorded = (await storage.read.audit.after(0, 1000)).filter(
      ({ event }) => event === 'account.allowance_changed',
    )
    t.match(recorded, [
      { userId: bob.id, details: { shares_with: null } },
      { userId: bob.id, details: { shares_with: dan.id } },
    ])
    t.equal(recorded.length, 2)
  },
)

t.test('those who share with a closed account go on sharing with each other', async (t) => {
  const people = await openPeople(t)
  const ann = await first(people)
  const bob = await invited(people, ann.workspaceId, ann.userId, 'bob')
  const cyn = await invited(people, ann.workspaceId, ann.userId, 'cyn')
  await people.accountDeletion.closeByEmail('ann@example.com', { withWorkspaces: false })
  t.strictSame(
    (await people.accounts.list()).map(({ payer }) => payer),
    [bob.payer, cyn.payer],
  )
  t.strictSame([bob.payer, cyn.payer], [`${ann.userId}/${bob.id}`, `${ann.userId}/${cyn.id}`])
  t.equal(await payerByKey(people, ann.workspaceId), ann.userId, 'who is closed takes the workspace along')
  await people.members.pay(ann.workspaceId, cyn.id, byUser(cyn.id, ADDRESS))
  t.equal(await payerByKey(people, ann.workspaceId), cyn.payer, 'until one of the owners says that they pay')
  await t.rejects(people.allowances.separate('ann@example.com'), { code: 'not_found' })
})

t.test('nobody pays for a workspace that they were not asked about', async (t) => {
  const people = await openPeople(t)
  const { members, storage, workspaces } = people
  const ann = await first(people)
  const bob = await invited(people, ann.workspaceId, null, 'bob')
  const cyn = await invited(people, ann.workspaceId, null, 'cyn')
  const memberOf = async (userId: string) =>
    (await members.list(ann.workspaceId)).find((member) => member.userId === userId)!.id
  const payer = () => payerByKey(people, ann.workspaceId)
  const by = (userId: string) => byUser(userId, ADDRESS)
  const setRole = async (userId: string, role: 'owner' | 'member', who: string) =>
    members.setRole(ann.workspaceId, await memberOf(userId), role, by(who))

  await t.rejects(members.pay(ann.workspaceId, bob.id, by(bob.id)), { code: 'conflict' }, 'ann pays for it already')
  await setRole(cyn.id, 'member', bob.id)
  t.equal(await payer(), ann.userId, 'another owner changes nothing')
  await members.remove(ann.workspaceId, ann.memberId, by(bob.id))
  t.equal(await payer(), bob.id, 'who takes it from her pays')
  const make = (index: number) => members.createWorkspace(ann.userId, `w${index}`, by(ann.userId))
  for (let index = 0; index < 20; index++) await make(index)
  await t.rejects(make(20), { code: 'conflict' }, 'all of her allowance is hers')

  await setRole(cyn.id, 'owner', bob.id)
  await setRole(bob.id, 'member', bob.id)
  t.equal(await payer(), bob.id, 'who goes by himself takes it along')
  t.match(await members.payer(ann.workspaceId), { id: bob.id, name: 'bob' })
  await t.rejects(
    members
      .pay(ann.workspaceId, bob.id, by(bob.id))
      .then(() => members.pay(ann.workspaceId, ann.userId, by(ann.userId))),
    {
      code: 'conflict',
      message: /only an owner/,
    },
  )
  await members.pay(ann.workspaceId, cyn.id, by(cyn.id))
  t.equal(await payer(), cyn.id)
  await setRole(bob.id, 'owner', cyn.id)
  t.equal(await payer(), cyn.id, 'and he does not pay again as an owner')
  await people.accountDeletion.closeByEmail('cyn@example.com', { withWorkspaces: false })
  t.equal(await payer(), cyn.id)
  await members.pay(ann.workspaceId, bob.id, by(bob.id))
  t.equal(await payer(), bob.id)

  const { id: ofOperator } = await workspaces.create('operator')
  const dan = await invited(people, ofOperator, null, 'dan')
  await invited(people, ofOperator, null, 'eve')
  const [joined] = await members.list(ofOperator)
  await members.remove(ofOperator, joined!.id, by(dan.id))
  t.equal(await payerByKey(people, ofOperator), ofOperator, 'one of the command line goes on paying for itself')

  const recorded = (await storage.read.audit.after(0, 1000)).filter(({ event }) => event === 'workspace.payer_changed')
  t.match(recorded, [
    { actorId: bob.id, userId: bob.id, workspaceId: ann.workspaceId, details: { from: ann.userId } },
    { actorId: cyn.id, userId: cyn.id, details: { from: bob.id } },
    { actorId: bob.id, userId: bob.id, details: { from: cyn.id } },
  ])
})

t.test('who left passes no workspaces on to who has no room for them', async (t) => {
  const people = await openPeople(t)
  const { members } = people
  const ann = await first(people)
  const bob = await invited(people, ann.workspaceId, null, 'bob')
  const by = (userId: string) => byUser(userId, ADDRESS)
  for (let index = 0; index < 20; index++) await members.createWorkspace(bob.id, `w${index}`, by(bob.id))
  await members.remove(ann.workspaceId, ann.memberId, by(ann.userId))
  await t.rejects(members.pay(ann.workspaceId, bob.id, by(bob.id)), {
    code: 'conflict',
    message: /at most 20 workspaces/,
  })
})

t.test('whoever takes over what another account made needs room for it', async (t) => {
  const people = await openPeople(t)
  const { accounts, members } = people
  const ann = await first(people)
  const bob = await invited(people, ann.workspaceId, ann.userId, 'bob')
  const cyn = await invited(people, ann.workspaceId, null, 'cyn')
  const by = (userId: string) => byUser(userId, ADDRESS)
  const memberOf = async (workspaceId: string, userId: string) =>
    (await members.list(workspaceId)).find((member) => member.userId === userId)!.id
  const full = { code: 'conflict', message: /at most 20 workspaces/ }

  /** The first makes a workspace, which the second takes from them. */
  const passOn = async (makerId: string, taker: { readonly id: string; readonly email: string }, name: string) => {
    const { id } = await members.createWorkspace(makerId, name, by(makerId))
    await accounts.join(await accounts.inviteToken(id, 'owner', null), { user: await userOf(taker.id) })
    await members.remove(id, await memberOf(id, makerId), by(taker.id))
  }
  const userOf = async (userId: string) => (await accounts.list()).find(({ id }) => id === userId)!

  for (let index = 0; index < 19; index++) await passOn(ann.userId, bob, `of bob ${index}`)
  await members.remove(ann.workspaceId, await memberOf(ann.workspaceId, ann.userId), by(bob.id))
  t.equal(await payerByKey(people, ann.workspaceId), bob.payer, 'what passes within a full allowance has room')
  await t.rejects(passOn(ann.userId, bob, 'one more'), full)
  t.equal((await members.workspacesOf(bob.id)).filter(({ payer }) => payer === bob.payer).length, 20)

  for (let index = 0; index < 20; index++) await members.createWorkspace(cyn.id, `of cyn ${index}`, by(cyn.id))
  const makers = await members.workspacesOf(bob.id)
  const passed = makers.find(({ name }) => name === 'of bob 0')!.id
  await accounts.join(await accounts.inviteToken(passed, 'owner', null), { user: await userOf(cyn.id) })
  const ofBob = await memberOf(passed, bob.id)
  await t.rejects(members.remove(passed, ofBob, by(cyn.id)), full)
  await t.rejects(members.setRole(passed, ofBob, 'member', by(cyn.id)), full)
  t.equal((await members.list(passed)).length, 2, 'and nothing changed')
})
