/** Who pays for what people and workspaces use. Threat A8 of `security.md`. */
import { createMachineService } from '@claimcheck/server/features/oauth/machines'
import t from 'tap'
import { first, newUser, openPeople, type People, VISITOR } from './people.ts'

const ADDRESS = '192.0.2.1'

async function invited(people: People, workspaceId: string, by: string | null, name: string) {
  const token = await people.accounts.inviteToken(workspaceId, 'owner', by)
  return (await people.accounts.join(token, newUser(name))).user
}

/** Who pays for what is asked with a key of the workspace. */
async function payerByKey({ keys }: People, workspaceId: string) {
  const { key } = await keys.create(workspaceId, 'payer')
  const found = await keys.authenticate(key, ADDRESS)
  return found?.kind === 'key' && found.payer
}

t.test('a workspace is paid for by the account that made it, and one of the command line by itself', async (t) => {
  const people = await openPeople(t)
  const { members, storage } = people
  const { userId, workspaceId, memberId } = await first(people)
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
  t.equal((await storage.read.machines.byId(clientId))?.payer, userId)
  t.equal((await storage.read.members.byIdWithPayer(memberId))?.payer, userId)
})

t.test('whoever is invited shares with the one who began the chain, until the operator lifts it', async (t) => {
  const people = await openPeople(t)
  const { allowances, members, sessions, storage } = people
  const ann = await first(people)
  const bob = await invited(people, ann.workspaceId, ann.userId, 'bob')
  const cyn = await invited(people, ann.workspaceId, bob.id, 'cyn')
  const dan = await invited(people, ann.workspaceId, null, 'dan')
  t.strictSame([bob.payer, cyn.payer, dan.payer], [ann.userId, ann.userId, dan.id])
  const { id: ofCyn } = await members.createWorkspace(cyn.id, 'cyn')
  t.equal(await payerByKey(people, ofCyn), ann.userId)

  await allowances.separate('Bob@example.com ')
  await allowances.separate('bob@example.com')
  const payers = async () => Object.fromEntries((await people.accounts.list()).map(({ name, payer }) => [name, payer]))
  t.strictSame(await payers(), { ann: ann.userId, bob: bob.id, cyn: ann.userId, dan: dan.id }, 'his guests stay')
  const eve = await invited(people, ann.workspaceId, bob.id, 'eve')
  t.equal(eve.payer, bob.id, 'and new ones are his')

  await allowances.share('bob@example.com', 'dan@example.com')
  t.strictSame(await payers(), { ann: ann.userId, bob: dan.id, cyn: ann.userId, dan: dan.id, eve: dan.id })
  const { id: ofEve } = await members.createWorkspace(eve.id, 'eve')
  t.equal(await payerByKey(people, ofEve), dan.id)
  const session = await sessions.find(await sessions.start(eve, 'password', VISITOR))
  t.equal(session?.user.payer, dan.id)

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
})

t.test('those who share with a closed account go on sharing with each other', async (t) => {
  const people = await openPeople(t)
  const ann = await first(people)
  const bob = await invited(people, ann.workspaceId, ann.userId, 'bob')
  const cyn = await invited(people, ann.workspaceId, ann.userId, 'cyn')
  await people.accountDeletion.closeByEmail('ann@example.com', { withWorkspaces: false })
  t.strictSame(
    (await people.accounts.list()).map(({ payer }) => payer),
    [ann.userId, ann.userId],
  )
  t.equal(await payerByKey(people, ann.workspaceId), ann.userId)
  t.strictSame([bob.payer, cyn.payer], [ann.userId, ann.userId])
  await t.rejects(people.allowances.separate('ann@example.com'), { code: 'not_found' })
})
