/** How much accounts and workspaces may have, on both databases and by two hosts at once. Threat A8 of `security.md`. */
import { defineConnectionType, Type } from '@claimcheck/core/plugin'
import { byUser } from '@claimcheck/server/base/actor'
import { createMachineService } from '@claimcheck/server/features/oauth/machines'
import { createAllowances } from '@claimcheck/server/features/people/allowances'
import { createMemberService } from '@claimcheck/server/features/people/members'
import { ConnectionService } from '@claimcheck/server/features/workspaces/connections'
import { KeyService } from '@claimcheck/server/features/workspaces/keys'
import { DEFAULT_LIMITS, type Limits } from '@claimcheck/server/features/workspaces/limits-config'
import { createConcurrencyLimit } from '@claimcheck/server/outbound/concurrency-limit'
import { createOutbound } from '@claimcheck/server/outbound/outbound'
import { createRateLimitBudgets } from '@claimcheck/server/outbound/rate-limit-budget'
import type { Storage } from '@claimcheck/server/storage/storage'
import t, { type Test } from 'tap'
import { createDatabase, DIALECTS, type Dialect } from '../../../../test/support/database.ts'
import { openPostgres } from '../../../../test/support/storage.ts'
import { registryOf, WORKING } from '../../support/registry.ts'
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
const CONNECTION = defineConnectionType({
  ...WORKING,
  provider: 'test',
  options: Type.Object({ host: Type.String() }, { additionalProperties: false }),
  baseUrl: ({ host }) => `https://${host}.example`,
})
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
  const outbound = createOutbound({ allowPrivate: [] })
  t.teardown(() => outbound.close())
  const hosts = [people.storage, other].map((storage: Storage) => ({
    connections: new ConnectionService({
      storage,
      registry: { ...registryOf({ connections: [CONNECTION] }), actionsFor: () => [], aliasesFor: () => [] },
      secrets: people.secrets,
      outbound,
      slots: createConcurrencyLimit(256),
      budgets: createRateLimitBudgets({ now }),
      destinations: { of: (origin) => [origin] },
      now,
      config: { ...config, checks: { timeoutMs: 1000 } },
    }),
    members: createMemberService({ storage, now, config }),
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
    const ofGuest = await atOnce(25, (index) => make(200 + 2 * index + 1))
    t.equal(ofGuest.made, 4, 'what ann has left')
    t.match(ofGuest.messages, [
      /^all accounts that share one allowance may have at most 5 workspaces: .*user allowance EMAIL/,
    ])
    const { made, messages, codes } = await atOnce(25, make)
    t.equal(made, 1, 'and ann half of all, though none is left')
    t.strictSame(codes, ['conflict'])
    t.match(
      messages.join('\n'),
      /^an account, with those that share its allowance, may have at most 5 workspaces: delete one first, or .*limits\.workspaces_per_account$/m,
    )
    t.ok(await people.members.createWorkspace(null, 'operator'), 'the command line has no limit')
    const [mine] = (await people.members.workspacesOf(bob.id)).filter(({ payer }) => payer === bob.payer)
    if (mine) await people.workspaces.delete(mine.id)
    t.equal((await atOnce(3, (index) => make(100 + index))).made, 0, 'the one beyond the limit is not replaced')
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
      /^this workspace may have at most 4 API keys: revoke one first, or .*limits\.keys_per_workspace$/,
    ])
    const [key] = await people.keys.list(workspaceId)
    await t.rejects(hosts[0].keys.rotate(key!.id, 1000, undefined, by), { code: 'conflict' }, 'a chain of rotations')
    const { id } = await hosts[0].keys.rotate(key!.id, 0, undefined, by)
    await people.keys.revoke(id)
    t.equal((await atOnce(5, create)).made, 1, 'a revoked one makes room')
    t.ok(await hosts[0].keys.create(workspaceId, 'operator'), 'the command line has no limit')
    await t.test('a key that has ended does not come back beside a full set', async (t) => {
      const { id: workspaceId } = await people.members.createWorkspace(userId, 'revived')
      const settings = { expiresAt: people.clock.now + 1000 }
      const ended = await Promise.all(
        Array.from({ length: 3 }, (_, index) => people.keys.create(workspaceId, `e${index}`, settings)),
      )
      people.clock.now += 1000
      const other = await people.keys.create(workspaceId, 'rotated')
      await people.keys.rotate(other.id, 1000)
      const again = { expiresAt: people.clock.now + DAY_MS }
      await t.rejects(hosts[0].keys.change(other.id, again, workspaceId, by), {
        code: 'conflict',
        message: /^the key key_\w+ is replaced already, by key_\w+: use that one$/,
      })
      people.clock.now += 1000
      for (const index of [1, 2]) await hosts[0].keys.create(workspaceId, `w${index}`, {}, by)
      const revived = await atOnce(3, (index) =>
        hosts[index % 2]!.keys.change(ended[index]!.id, again, workspaceId, by),
      )
      t.strictSame([revived.made, revived.codes], [1, ['conflict']], 'beside three that work')
      t.match(revived.messages, [/at most 4 API keys/])
      const [one] = (await people.keys.list(workspaceId)).filter(({ expiresAt }) => expiresAt === again.expiresAt)
      await hosts[0].keys.change(one!.id, { expiresAt: null }, workspaceId, by)
      const still = ended.find(({ id }) => id !== one!.id)!
      await hosts[0].keys.change(still.id, { name: 'renamed' }, workspaceId, by)
    })
    const machines = await atOnce(9, (index) =>
      hosts[index % 2]!.machines.create(workspaceId, 'm', ['claims:read'], by),
    )
    t.equal(machines.made, 4)
    t.match(machines.messages, [/at most 4 machines/])
  })

  t.test(`on ${dialect}, agents that are bound, and connections, are bounded`, async (t) => {
    const { people, hosts } = await open(t, dialect)
    const { userId, workspaceId } = await first(people)
    const by = byUser(userId, '::1')
    const bind = (index: number) =>
      hosts[index % 2]!.keys.create(workspaceId, `k${index}`, { agentIds: [`a${index}`, `b${index}`] }, by)
    const { made, messages } = await atOnce(3, bind)
    t.equal(made, 1)
    t.match(messages, [/at most 3 bound agents: release some first/])
    t.equal((await people.keys.boundAgents(workspaceId)).length, 2, 'what was refused is not bound')
    const beyond = await people.keys.create(workspaceId, 'operator', { agentIds: ['c', 'd'] })
    const { id } = await hosts[0].keys.rotate(beyond.id, 0, workspaceId, by)
    await hosts[0].keys.change(id, { name: 'renamed' }, workspaceId, by)
    await t.rejects(hosts[0].keys.change(id, { agentIds: ['c', 'e'] }, workspaceId, by), { code: 'conflict' })
    const connect = (index: number) =>
      hosts[index % 2]!.connections.connect(
        workspaceId,
        'test',
        { host: `h${index}` },
        { userId, insists: false, name: `c${index}` },
        by,
      )
    const connected = await atOnce(12, connect)
    t.strictSame([connected.made, connected.codes], [2, ['conflict']], 'on any host')
    t.match(connected.messages, [
      /^this workspace may have at most 2 connections: disconnect one first, or .*limits\.connections_per_workspace$/,
    ])
    const { connections } = hosts[0]
    const [one, ...more] = await connections.list(workspaceId)
    t.equal(more.length, 1, 'what was refused is not stored')
    await connections.remove(one!.id)
    t.equal((await atOnce(4, (index) => connect(100 + index))).made, 1, 'one that was disconnected makes room')
    await connections.connect(workspaceId, 'test', { host: 'operator' }, { userId: null, insists: false })
    t.equal((await connections.list(workspaceId)).length, 3, 'the command line has no limit')
  })

  t.test(`on ${dialect}, exports are counted by who pays, for a day`, async (t) => {
    const { people, hosts } = await open(t, dialect)
    const spend = (index: number) => hosts[index % 2]!.allowances.spendExport({ payer: 'usr_1' })
    const { made, messages, codes } = await atOnce(12, spend)
    t.strictSame([made, codes], [3, ['too_many']])
    t.match(messages, [
      /^nothing was exported: an account, .* may export at most 3 a day\. Try again later, or .*limits\.exports_per_account$/,
    ])
    await hosts[0].allowances.spendExport({ payer: 'usr_2' })
    people.clock.now = NOON + DAY_MS
    await spend(0)
  })
}
