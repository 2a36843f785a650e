/** Closing accounts and deleting workspaces: what goes, what stays, and what refuses. */
import { byUser } from '@claimcheck/server/base/actor'
import { diagnose } from '@claimcheck/server/features/maintenance/doctor'
import t from 'tap'
import { createDatabase } from '../../../../test/support/database.ts'
import { openPostgres, SCHEMA } from '../../../../test/support/storage.ts'
import { first, NOON, newUser, onPostgres, openFirst, openPeople, PASSWORD, type People, VISITOR } from './people.ts'

async function joining({ accounts }: People, workspaceId: string, role: 'owner' | 'member', name: string) {
  return (await accounts.join(await accounts.inviteToken(workspaceId, role, null), newUser(name))).user
}

t.test('of a closed account nothing personal is left, and what others refer to stays', async (t) => {
  const people = await openFirst(t)
  const { storage, accounts, sessions, members, identities, accountDeletion, keys, user, workspaceId } = people
  const bob = await joining(people, workspaceId, 'owner', 'bob')
  const { id: key } = await keys.create(workspaceId, 'by bob', {}, byUser(bob.id, '::1'))
  await identities.add(bob, { issuer: 'https://id.example.com', subject: 'bobs-subject' })
  const passkey = { publicKey: 'AA', counter: 0, transports: [], name: "bob's phone", createdAt: 0, lastUsedAt: null }
  await storage.write((tx) => tx.passkeys.insert({ id: 'bobs-passkey', userId: bob.id, ...passkey }))
  const token = await sessions.start(bob, 'password', { ...VISITOR, userAgent: "bob's browser" })
  const invitation = await accounts.inviteToken(workspaceId, 'member', bob.id)
  const reset = await accounts.resetToken('bob@example.com')

  await accountDeletion.close(bob)
  t.equal(await sessions.find(token), undefined)
  t.equal(await accounts.byPassword('bob@example.com', PASSWORD), undefined)
  for (const link of [invitation, reset]) t.equal(await accounts.link(link), undefined)
  t.strictSame(
    (await members.list(workspaceId)).map(({ userId }) => userId),
    [user.id],
  )
  t.strictSame(
    (await accounts.list()).map(({ id }) => id),
    [user.id],
  )
  const { doctor, passkeys, secondSteps } = storage.read
  const rows = (['users', 'sessions', 'links', 'members'] as const).map((table) => doctor.rows(table, '', 100))
  const tables = await Promise.all([...rows, passkeys.ofUser(bob.id), storage.read.identities.ofUser(bob.id)])
  t.equal(await secondSteps.ofUser(bob.id), undefined)
  t.notMatch(JSON.stringify(tables), /bob|192\.0\.2\.1/i)
  t.same([...(await members.namesOf([bob.id])).values()], ['closed account'])
  t.match(await keys.list(workspaceId), [{ id: key, createdBy: bob.id, revokedAt: null }])

  const again = await joining(people, workspaceId, 'member', 'bob')
  t.not(again.id, bob.id, 'the address is free')
  await t.rejects(accountDeletion.close(bob), { code: 'conflict' })
  await t.rejects(accountDeletion.closeByEmail(`${bob.id.toLowerCase()}@closed.invalid`, { withWorkspaces: true }), {
    code: 'not_found',
  })
  await t.rejects(accounts.resetToken(`${bob.id.toLowerCase()}@closed.invalid`), { code: 'not_found' })
})

t.test('the only owner of a workspace with other members stays, and is told what to do', async (t) => {
  const people = await openFirst(t)
  const { members, accountDeletion, accounts, user, workspaceId } = people
  const bob = await joining(people, workspaceId, 'member', 'bob')
  const message = /only owner of acme, which has other members: make one of them an owner, or delete the workspace/
  await t.rejects(accountDeletion.close(user), { code: 'conflict', message })
  t.match(await accountDeletion.ownedAlone(user.id), [{ id: workspaceId, hasOthers: true }])
  t.ok(await accounts.byPassword('ann@example.com', PASSWORD), 'nothing happened')
  const { id } = (await members.list(workspaceId)).find(({ userId }) => userId === bob.id)!
  await members.setRole(workspaceId, id, 'owner')
  await accountDeletion.close(user)
  t.match(await members.list(workspaceId), [{ userId: bob.id, role: 'owner' }])
})

t.test('what nobody else is in goes with the account; an operator has to say so', async (t) => {
  const { accountDeletion, keys, workspaces, accounts, user, workspaceId } = await openFirst(t)
  const { key } = await keys.create(workspaceId, 'key')
  t.match(await accountDeletion.ownedAlone(user.id), [{ name: 'acme', hasOthers: false }])
  const asked = accountDeletion.closeByEmail('ann@example.com', { withWorkspaces: false })
  await t.rejects(asked, {
    code: 'conflict',
    message: /this account is the only member of acme: invite another owner first/,
  })
  t.ok(await keys.authenticate(key, '::1'))
  t.strictSame(await accountDeletion.closeByEmail(' ANN@example.com', { withWorkspaces: true }), ['acme'])
  t.equal(await keys.authenticate(key, '::1'), undefined)
  await t.rejects(workspaces.find('acme'), { code: 'not_found' })
  t.ok(await accounts.setupToken(), 'without any account somebody can set the service up again')
})

t.test('a deleted workspace lets nobody in, keeps its rows, and gives its name away', async (t) => {
  const people = await openFirst(t)
  const { storage, accounts, members, keys, workspaces, user, workspaceId } = people
  await joining(people, workspaceId, 'member', 'bob')
  const { key } = await keys.create(workspaceId, 'key')
  const invitation = await accounts.inviteToken(workspaceId, 'owner', null)
  await workspaces.delete(workspaceId)
  t.equal(await keys.authenticate(key, '::1'), undefined)
  t.equal(await accounts.link(invitation), undefined)
  t.strictSame(await members.workspacesOf(user.id), [])
  for (const name of ['acme', workspaceId]) await t.rejects(workspaces.find(name), { code: 'not_found' })
  await t.rejects(workspaces.delete(workspaceId), { code: 'not_found' })
  await t.rejects(keys.create(workspaceId, 'late'), { code: 'not_found' })
  await t.rejects(accounts.inviteToken(workspaceId, 'owner', null), { code: 'not_found' })
  await t.rejects(members.setSignInRule(workspaceId, 'passkey'), { code: 'not_found' })
  const other = await members.createWorkspace(user.id, 'acme')
  t.not(other.id, workspaceId)
  const rows = await storage.read.doctor.rows('workspaces', '', 100)
  t.equal(rows.length, 2)
})

t.test('of a deleted workspace no secret is left, and the doctor finds it sound', async (t) => {
  const { storage, workspaces, keys, clock, workspaceId } = await openFirst(t)
  await keys.create(workspaceId, 'key')
  const sealed = {
    sealedSecrets: { token: 'v2.aaaaaaaa.AA' },
    sealedTokens: { token: 'v2.aaaaaaaa.CC' },
    sourceKey: 'v2.aaaaaaaa.BB',
  }
  const times = {
    connectedAt: NOON,
    disconnectedAt: null,
    lastReadAt: NOON,
    lastFailureAt: null,
    lastFailure: null,
    state: null,
    stateAt: null,
    trialTarget: null,
    expiresAt: null,
    identity: null,
  }
  const connection = { id: 'conn_1', workspaceId, name: null, provider: 'mailbox', options: {}, connectedBy: null }
  const told = { address: 'withheld', scopes: [], notes: [] } as const
  await storage.write((tx) => tx.connections.insert({ ...connection, ...sealed, ...times, ...told }))
  clock.now += 1
  await workspaces.delete(workspaceId)
  t.match(await storage.read.doctor.rows('connections', '', 100), [
    { sealed_secrets: '{}', sealed_tokens: '{}', source_key: null },
  ])
  t.strictSame((await diagnose(storage, { schema: SCHEMA })).problems, [])
})

t.test('what comes into a workspace while its deletion waits is not revoked before it was made', async (t) => {
  const database = await createDatabase('postgres')
  let begun = () => {}
  const isWaiting = new Promise<void>((resolve) => {
    begun = resolve
  })
  let isDeleting = false
  const beforeStatement = (sql: string) => {
    if (isDeleting && /FROM workspaces/.test(sql)) begun()
  }
  const storage = await openPostgres(database.env.DATABASE_URL!, { beforeStatement })
  const people = await openPeople(t, { storage })
  t.teardown(() => database.remove())
  const { workspaces, keys, clock } = people
  const { workspaceId } = await first(people)
  const { id } = await keys.create(workspaceId, 'earlier')
  const earlier = (await storage.read.keys.byId(id))!
  const deleted = await storage.write(async (tx) => {
    await tx.workspaces.lock(workspaceId)
    isDeleting = true
    const deleting = workspaces.delete(workspaceId)
    await isWaiting
    clock.now += 1000
    await tx.keys.insert({ ...earlier, id: 'key_late', keyHash: 'late', createdAt: clock.now })
    return { deleting }
  })
  await deleted.deleting
  t.match(await storage.read.keys.byId('key_late'), { revokedAt: clock.now })
})

t.test('the audit trail has what was closed, deleted, revoked and asked for, and by whom', async (t) => {
  const people = await openFirst(t)
  const { storage, members, keys, accountDeletion, user, workspaceId } = people
  const bob = await joining(people, workspaceId, 'owner', 'bob')
  const by = byUser(user.id, '192.0.2.1')
  const { id: key } = await keys.create(workspaceId, 'bobs', {}, byUser(bob.id, '192.0.2.2'))
  const { id } = (await members.list(workspaceId)).find(({ userId }) => userId === bob.id)!
  await members.setSignInRule(workspaceId, 'second_step', by)
  await members.remove(workspaceId, id, by, [key])
  await accountDeletion.close(user, by)
  const entries = await storage.read.audit.after(0, 100)
  const actor = { actorKind: 'user', actorId: user.id, address: '192.0.2.1' }
  for (const expected of [
    { event: 'workspace.sign_in_rule_changed', workspaceId, details: { from: 'any', to: 'second_step' } },
    { event: 'key.revoked', workspaceId, subject: key },
    { event: 'workspace.deleted', workspaceId, details: { name: 'acme' } },
    { event: 'account.closed', userId: user.id },
  ]) {
    t.match(
      entries.filter(({ event }) => event === expected.event),
      [{ ...expected, ...actor }],
      expected.event,
    )
  }
})

t.test('nothing comes into a workspace that is deleted at the same moment', async (t) => {
  const people = await onPostgres(t)
  const { accounts, members, keys, workspaces } = people
  const { user } = await first(people)
  for (let round = 0; round < 10; round++) {
    const { id } = await members.createWorkspace(user.id, `w${round}`)
    const invitation = await accounts.inviteToken(id, 'owner', null)
    const [{ memberId } = { memberId: '' }] = (await members.workspacesOf(user.id)).filter((one) => one.id === id)
    const [deleted, key, joined] = await Promise.allSettled([
      workspaces.delete(id),
      keys.create(id, 'late'),
      accounts.join(invitation, newUser(`bob${round}`)),
      members.setRole(id, memberId, 'owner'),
      members.setSignInRule(id, 'second_step'),
    ])
    t.equal(deleted.status, 'fulfilled', 'whoever waits for whom')
    if (key.status === 'fulfilled') t.equal(await keys.authenticate(key.value.key, '::1'), undefined)
    t.strictSame(await members.list(id), [], joined.status)
  }
})

t.test('of two owners who close their accounts at once, one stays for the others', async (t) => {
  const people = await onPostgres(t)
  const { members, accountDeletion } = people
  const { user: ann, workspaceId } = await first(people)
  await joining(people, workspaceId, 'member', 'mia')
  const bob = await joining(people, workspaceId, 'owner', 'bob')
  const outcomes = await Promise.allSettled([ann, bob].map((user) => accountDeletion.close(user)))
  t.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1, JSON.stringify(outcomes))
  t.strictSame((await members.list(workspaceId)).filter(({ role }) => role === 'owner').length, 1)
})
