/** How much accounts and workspaces may have, on both databases and by two hosts at once. Threat A8 of `security.md`. */
import { byUser } from '@claimcheck/server/base/actor'
import { createMachineService } from '@claimcheck/server/features/oauth/machines'
import { createAllowances } from '@claimcheck/server/features/people/allowances'
import { MemberService } from '@claimcheck/server/features/people/members'
import { KeyService } from '@claimcheck/server/features/workspaces/keys'
import { DEFAULT_LIMITS, type Limits } from '@claimcheck/server/features/workspaces/limits-config'
import { requireRoomForConnection } from '@claimcheck/server/features/workspaces/possession-limits'
import type { Storage } from '@claimcheck/server/storage/storage'
import t, { type Test } from 'tap'
import { createDatabase, DIALECTS, type Dialect } from '../../../../test/support/database.ts'
import { openPostgres } from '../../../../test/support/storage.ts'
import { first, NOON, newUser, openPeople } from './people.ts'

const DAY_MS = 24 * 60 * 60_000
const LIMITS: Limits = {
  ...DEFAULT_LIMITS,
  exportsPerAccount: 3,
  workspacesPerAccount: 5,
  keysPerWorkspace: 4,
  connectionsPerWorkspace: 2,
  boundAgentsPerWorkspace: 3,
}
const ACTIVITY = { activity: { keyUsed() {} } }

/** The same database, as two hosts open it. A SQLite file has one. */
async function open(t: Test, dialect: Dialect) {
  const urls = dialect === 'postgres' ? [await postgresUrl(t)] : []
  const [storage] = await Promise.all(urls.map((url) => openPostgres(url)))
  const people = await openPeople(t, storage ? { storage } : {})
  const [other = people.storage] = await Promise.all(urls.map((url) => openPostgres(url)))
  if (other !== people.storage) t.teardown(() => other.close())
  const now = () => people.clock.now
  const config = { limits: LIMITS }
  const hosts = [people.storage, other].map((storage: Storage) => ({
    members: new MemberService({ storage, now, config }),
    keys: new KeyService({ storage, now, config, ...ACTIVITY }),
    machines: createMachineService({ storage, now, config }),
    allowances: createAllowances({ storage, now, config }),
  }))
  return { people, hosts: hosts as [(typeof hosts)[0], (typeof hosts)[0]] }
}

async function postgresUrl(t: Test): Promise<string> {
  const database = await createDatabase('postgres')
  t.teardown(() => database.remove())
  return database.env.DATABASE_URL!
}

/** Begins all of them at once, by turns on the two hosts. Returns how many succeeded, and the distinct refusals. */
async function atOnce(count: number, work: (index: number) => Promise<unknown>) {
  const outcomes = await Promise.allSettled(Array.from({ length: count }, (_, index) => work(index)))
  const refusals = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
  const messages = [...new Set(refusals.map((error: Error) => error.message))]
  return { made: count - refusals.length, messages, codes: [...new Set(refusals.map(({ code }) => code))] }
}

for (const dialect of DIALECTS) {
  t.test(`on ${dialect}, two people who share one allowance make as many workspaces as one`, async (t) => {
    const { people, hosts } = await open(t, dialect)
    const ann = await first(people)
    const token = await people.accounts.inviteToken(ann.workspaceId, 'owner', ann.userId)
    const { user: bob } = await people.accounts.join(token, newUser('bob'))
    const make = (index: number) => {
      const userId = index % 2 === 0 ? ann.userId : bob.id
      return hosts[(index >> 1) % 2]!.members.createWorkspace(userId, `w${index}`, byUser(userId, '::1'))
    }
    const { made, messages, codes } = await atOnce(25, make)
    t.equal(made, 4, 'beside the one that ann has')
    t.strictSame(codes, ['conflict'])
    t.match(
      messages.join('\n'),
      /has as many workspaces as it may, 5: delete one first, or ask .* limits\.workspaces_per_account/,
    )
    t.match(messages.join('\n'), /with those that share its allowance/)
    t.ok(await people.members.createWorkspace(null, 'operator'), 'the command line has no limit')
    const [mine] = (await people.members.workspacesOf(bob.id)).filter(
      ({ payer, id }) => payer === ann.userId && id !== ann.workspaceId,
    )
    if (mine) await people.workspaces.delete(mine.id)
    t.equal((await atOnce(3, (index) => make(100 + index))).made, 1, 'a deleted one makes room')
    await people.allowances.separate('bob@example.com')
    t.ok(await hosts[0].members.createWorkspace(bob.id, 'of bob', byUser(bob.id, '::1')), 'and so does the operator')
  })

  t.test(`on ${dialect}, 60 keys at once are as many as a workspace may have, however they are made`, async (t) => {
    const { people, hosts } = await open(t, dialect)
    const { userId, workspaceId } = await first(people)
    const by = byUser(userId, '::1')
    const create = (index: number) => hosts[index % 2]!.keys.create(workspaceId, `k${index}`, {}, by)
    const { made, messages, codes } = await atOnce(60, create)
    t.strictSame([made, codes], [4, ['conflict']])
    t.match(messages, [
      /^this workspace has as many API keys as it may, 4: revoke one first, or .*limits\.keys_per_workspace$/,
    ])
    const [key] = await people.keys.list(workspaceId)
    await t.rejects(hosts[0].keys.rotate(key!.id, 1000, undefined, by), { code: 'conflict' }, 'a chain of rotations')
    const { id } = await hosts[0].keys.rotate(key!.id, 0, undefined, by)
    await people.keys.revoke(id)
    t.equal((await atOnce(5, create)).made, 1, 'a revoked one makes room')
    t.ok(await hosts[0].keys.create(workspaceId, 'operator'), 'the command line has no limit')
    const machines = await atOnce(9, (index) =>
      hosts[index % 2]!.machines.create(workspaceId, 'm', ['claims:read'], by),
    )
    t.equal(machines.made, 4)
    t.match(machines.messages, [/as many machines as it may, 4/])
  })

  t.test(`on ${dialect}, agents that are bound, and connections, are bounded`, async (t) => {
    const { people, hosts } = await open(t, dialect)
    const { userId, workspaceId } = await first(people)
    const by = byUser(userId, '::1')
    const bind = (index: number) =>
      hosts[index % 2]!.keys.create(workspaceId, `k${index}`, { agentIds: [`a${index}`, `b${index}`] }, by)
    const { made, messages } = await atOnce(3, bind)
    t.equal(made, 1)
    t.match(messages, [/as many bound agents as it may, 3: release some first/])
    t.equal((await people.keys.boundAgents(workspaceId)).length, 2, 'what was refused is not bound')
    const room = (most: number) =>
      people.storage.write((tx) =>
        requireRoomForConnection(tx, { ...LIMITS, connectionsPerWorkspace: most }, workspaceId, by),
      )
    await room(0)
    await room(1)
  })

  t.test(`on ${dialect}, exports are counted by who pays, for a day`, async (t) => {
    const { people, hosts } = await open(t, dialect)
    const spend = (index: number) => hosts[index % 2]!.allowances.spendExport({ payer: 'usr_1' })
    const { made, messages, codes } = await atOnce(12, spend)
    t.strictSame([made, codes], [3, ['too_many']])
    t.match(messages, [
      /^nothing was exported: .* at most 3 files a day\. Try again later, or .* limits\.exports_per_account$/,
    ])
    await hosts[0].allowances.spendExport({ payer: 'usr_2' })
    people.clock.now = NOON + DAY_MS
    await spend(0)
  })
}
