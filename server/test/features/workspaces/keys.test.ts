/** API keys: made, held to what they are for, rotated and revoked. Threats A4, O8 and K1 of `security.md`. */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { wrongLooks } from '@claimcheck/server/features/workspaces/bound-looks'
import { KEY_PATTERN, KeyService } from '@claimcheck/server/features/workspaces/keys'
import { createWorkspaceService } from '@claimcheck/server/features/workspaces/workspaces'
import { LOOKS_VERSION } from '@claimcheck/server/names/confusables'
import t, { type Test } from 'tap'
import { knexOn } from '../../../../test/support/sql.ts'
import { openSqlite } from '../../../../test/support/storage.ts'

const ADDRESS = '192.0.2.7'
const NOON = Date.UTC(2026, 8, 25, 12)

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const BY = { actor: { kind: 'command', id: 'op@host' }, address: null } as const

async function open(t: Test) {
  const file = join(t.testdir(), 'claimcheck.db')
  const storage = await openSqlite(file)
  t.teardown(() => storage.close())
  const db = await knexOn(file)
  t.teardown(() => db.destroy())
  const workspaces = createWorkspaceService({ storage, now: () => NOON })
  const clock = { now: NOON }
  const keys = new KeyService({ storage, now: () => clock.now, activity: { keyUsed() {} } })
  const recorded = async () =>
    (await storage.read.audit.after(0, 100)).map(({ event, subject, details }) => ({ event, subject, details }))
  return { workspaces, keys, storage, workspace: await workspaces.create('acme'), db, clock, recorded }
}

t.test('a key is shown once, kept as its hash, and speaks for its workspace', async (t) => {
  const { keys, workspace, db } = await open(t)
  const { id, key } = await keys.create(workspace.id, 'mine')
  t.match(key, /^svc_sk_[A-Za-z0-9_-]{43}$/)
  t.same(await keys.authenticate(key, ADDRESS), {
    kind: 'key',
    keyId: id,
    workspaceId: workspace.id,
    payer: workspace.id,
    agentIds: null,
    bindsAgents: false,
  })
  const listed = await keys.list(workspace.id)
  t.match(listed, [{ id, name: 'mine', lastFour: key.slice(-4), revokedAt: null }])
  t.notMatch(JSON.stringify([listed, await db('api_keys')]), key.slice('svc_sk_'.length))
  t.notOk('keyHash' in listed[0]!)
  const [{ key_hash: hash }] = await db('api_keys')
  t.equal(hash, createHash('sha256').update(key).digest('hex'), 'the SHA-256 of all of it')
})

t.test('nothing but the key itself is accepted', async (t) => {
  const { keys, workspace, db } = await open(t)
  const { key } = await keys.create(workspace.id, 'mine')
  const { key_hash: hash } = await db('api_keys').first()
  const wrong = [
    '',
    key.slice(0, -1),
    `${key}A`,
    ` ${key}`,
    `${key}\n`,
    key.toLowerCase(),
    key.slice(7),
    hash,
    `svc_sk_${hash.slice(0, 43)}`,
  ]
  t.strictSame((await Promise.all(wrong.map((text) => keys.authenticate(text, ADDRESS)))).filter(Boolean), [])
})

t.test('requests that arrive together are told apart', async (t) => {
  const { keys, workspaces } = await open(t)
  const made = []
  for (const name of ['a', 'b', 'c']) {
    const { id: workspaceId } = await workspaces.create(name)
    made.push({ ...(await keys.create(workspaceId, name)), workspaceId })
  }
  const asked = [...made, ...made, ...made]
  const found = await Promise.all(asked.map(({ key }) => keys.authenticate(key, ADDRESS)))
  t.strictSame(
    found.map((credential) => credential?.kind === 'key' && credential.workspaceId),
    asked.map(({ workspaceId }) => workspaceId),
  )
})

t.test('a key that expires is refused from that moment on, and works again when an owner extends it', async (t) => {
  const { keys, workspace, clock } = await open(t)
  const expiresAt = NOON + DAY_MS
  const { id, key } = await keys.create(workspace.id, 'for a day', { expiresAt })
  clock.now = expiresAt - 1
  t.match(await keys.authenticate(key, ADDRESS), { kind: 'key' })
  clock.now = expiresAt
  t.same(await keys.authenticate(key, ADDRESS), { kind: 'expired', at: expiresAt })
  await t.rejects(keys.change(id, { expiresAt: clock.now - 1 }), { code: 'bad_request' }, 'not to a time that is past')
  await keys.change(id, { name: 'still expired' })
  t.match(await keys.authenticate(key, ADDRESS), { kind: 'expired' }, 'another change does not extend it')
  await keys.change(id, { expiresAt: null })
  t.match(await keys.authenticate(key, ADDRESS), { kind: 'key' })
  for (const wrong of [NOON, Number.NaN, Number.POSITIVE_INFINITY]) {
    await t.rejects(keys.create(workspace.id, 'past', { expiresAt: wrong }), { code: 'bad_request' })
  }
})

t.test('a key with networks is accepted from these alone', async (t) => {
  const { keys, workspace } = await open(t)
  const { id, key } = await keys.create(workspace.id, 'office', {
    networks: ['192.0.2.9/24', '2001:DB8::1', '10.0.0.0/8'],
  })
  t.match(await keys.list(), [{ networks: ['192.0.2.0/24', '2001:db8::1/128', '10.0.0.0/8'] }], 'in their one form')
  const from = async (address: string) => (await keys.authenticate(key, address))?.kind
  for (const address of ['192.0.2.7', '::ffff:192.0.2.7', '2001:db8::1', '10.255.0.1'])
    t.equal(await from(address), 'key')
  for (const address of ['192.0.3.7', '2001:db8::2', '::1', '', 'nowhere']) t.equal(await from(address), 'elsewhere')
  await keys.change(id, { networks: [] })
  t.equal(await from('203.0.113.1'), 'key')
  await t.rejects(keys.change(id, { networks: ['10.0.0.0/33'] }), { code: 'bad_request' })
  await t.rejects(keys.change(id, { networks: Array.from({ length: 51 }, (_, at) => `10.0.0.${at}`) }), {
    code: 'bad_request',
  })
})

t.test('an agent is bound by its first key, also when its keys end, until an owner releases it', async (t) => {
  const { keys, workspace, clock } = await open(t)
  const free = await keys.create(workspace.id, 'free')
  t.match(await keys.authenticate(free.key, ADDRESS), { agentIds: null, bindsAgents: false })
  const one = await keys.create(workspace.id, 'one', { agentIds: ['release-bot', 'release-bot'] })
  clock.now += 1
  const other = await keys.create(workspace.id, 'other', { agentIds: ['release-bot'], expiresAt: NOON + DAY_MS })
  t.match(await keys.authenticate(free.key, ADDRESS), { agentIds: null, bindsAgents: true })
  t.match(await keys.authenticate(one.key, ADDRESS), { agentIds: ['release-bot'] })
  t.match(await keys.boundAgents(workspace.id), [{ agentId: 'release-bot', keys: [{ id: one.id }, { id: other.id }] }])

  await t.rejects(keys.releaseAgent(workspace.id, 'release-bot'), { code: 'conflict' })
  await keys.revoke(one.id)
  await t.rejects(keys.releaseAgent(workspace.id, 'release-bot'), { code: 'conflict' }, 'one key is left')
  clock.now = NOON + DAY_MS
  t.match(await keys.boundAgents(workspace.id), [{ agentId: 'release-bot', keys: [] }])
  await keys.releaseAgent(workspace.id, 'release-bot')
  t.strictSame(await keys.boundAgents(), [])
  await t.rejects(keys.releaseAgent(workspace.id, 'release-bot'), { code: 'not_found' })

  await keys.change(other.id, { expiresAt: null })
  t.match(
    await keys.boundAgents(),
    [{ agentId: 'release-bot', keys: [{ id: other.id }] }],
    'a key that is extended binds',
  )
  await keys.change(other.id, { agentIds: ['deploy-bot'] })
  t.match(await keys.boundAgents(), [
    { agentId: 'deploy-bot', keys: [{ id: other.id }] },
    { agentId: 'release-bot', keys: [] },
  ])
  for (const agentIds of [[], [''], ['x'.repeat(257)], ['a\nb'], Array.from({ length: 51 }, (_, at) => `${at}`)]) {
    await t.rejects(keys.create(workspace.id, 'wrong', { agentIds }), { code: 'bad_request' })
  }
})

t.test('what bound agents look like is made anew when another table made it, and doctor says so', async (t) => {
  const { keys, workspace, storage, db } = await open(t)
  await keys.create(workspace.id, 'bound', { agentIds: ['old-bot', 'На'] })
  const made = await storage.read.keys.boundLooks()
  t.match(made, [
    { look: 'ha', agentId: 'На', version: LOOKS_VERSION },
    { look: 'old-bot', agentId: 'old-bot' },
    { look: 'ʜa', agentId: 'На' },
  ])
  await db('bound_looks').where({ look: 'old-bot' }).update({ version: 'older' })
  await db('bound_looks').where({ look: 'ha' }).update({ agent_id: 'nothing', look: 'x' })
  t.match(await wrongLooks(storage.read), [
    /^bound_looks ws_\w+: what looks like old-bot is not known$/,
    /^bound_looks ws_\w+: what looks like На is not known$/,
    /^bound_looks ws_\w+: old-bot is no look of old-bot$/,
    /^bound_looks ws_\w+: x is no look of nothing$/,
  ])
  await keys.renewLooks()
  t.strictSame(await storage.read.keys.boundLooks(), made)
  t.strictSame(await wrongLooks(storage.read), [])
})

t.test('of two bound agents that look alike by a newer table, each stays bound by itself', async (t) => {
  const { keys, workspace, storage, db } = await open(t)
  const older = await keys.create(workspace.id, 'older', { agentIds: ['release-bot'] })
  const younger = await keys.create(workspace.id, 'younger', { agentIds: ['other-bot'] })
  const agent = { workspace_id: workspace.id, agent_id: 're1ease-bot' }
  await db('bound_agents').where({ agent_id: 'other-bot' }).update(agent)
  await db('api_keys')
    .where({ id: younger.id })
    .update({ agent_ids: JSON.stringify(['re1ease-bot']) })
  await keys.renewLooks()
  const like = (agentId: string) => storage.read.keys.boundLike(workspace.id, agentId)
  t.strictSame(await like('re1ease-bot'), ['re1ease-bot', 'release-bot'])
  await keys.rotate(younger.id, 0)
  await t.rejects(keys.change(older.id, { agentIds: ['release-bot', 'reIease-bot'] }), { code: 'conflict' }, 'a third')
  await keys.revoke(older.id)
  await keys.releaseAgent(workspace.id, 'release-bot')
  for (const agentId of ['re1ease-bot', 'Release-Bot']) t.strictSame(await like(agentId), ['re1ease-bot'], agentId)
})

t.test('an agent that looks like a bound one is bound by no key, and by another once that is released', async (t) => {
  const { keys, workspace } = await open(t)
  const { id } = await keys.create(workspace.id, 'one', { agentIds: ['release-bot'] })
  for (const agentIds of [['re1ease-bot'], ['Release-Bot'], ['other', '\uff4fther']]) {
    await t.rejects(keys.create(workspace.id, 'two', { agentIds }), {
      code: 'conflict',
      message: /which is bound already/,
    })
  }
  await keys.revoke(id)
  await t.rejects(keys.create(workspace.id, 'two', { agentIds: ['Release-Bot'] }), { code: 'conflict' })
  await keys.releaseAgent(workspace.id, 'release-bot')
  t.match(await keys.create(workspace.id, 'two', { agentIds: ['Release-Bot'] }), { id: /^key_/ })
  await t.rejects(keys.create(workspace.id, 'bad', { agentIds: ['a\u200bb'] }), {
    code: 'bad_request',
    message:
      'the agent id "a<U+200B>b" is not valid: it has an invisible character (U+200B at position 2): leave it out',
  })
})

t.test('a rotated key goes on for the overlap, beside a new one that is held to the same', async (t) => {
  const { keys, workspace, clock } = await open(t)
  const limits = { expiresAt: NOON + 10 * DAY_MS, networks: ['192.0.2.0/24'], agentIds: ['bot'] }
  const old = await keys.create(workspace.id, 'ci', limits)
  clock.now = NOON + DAY_MS
  const made = await keys.rotate(old.id, HOUR_MS)
  t.match(made.replaced, { id: old.id, replacedBy: made.id, expiresAt: clock.now + HOUR_MS })
  const [, listed] = await keys.list()
  t.match(listed, { ...limits, id: made.id, name: 'ci', expiresAt: NOON + 11 * DAY_MS, replacedBy: null })
  const both = async () =>
    (await Promise.all([old, made].map(({ key }) => keys.authenticate(key, ADDRESS)))).map((one) => one?.kind)
  t.strictSame(await both(), ['key', 'key'])
  clock.now += HOUR_MS
  t.strictSame(await both(), ['expired', 'key'])

  await t.rejects(keys.rotate(old.id, HOUR_MS), { code: 'conflict' }, 'a key is replaced once')
  const short = await keys.create(workspace.id, 'short', { expiresAt: clock.now + HOUR_MS })
  t.match(
    (await keys.rotate(short.id, DAY_MS)).replaced,
    { expiresAt: clock.now + HOUR_MS },
    'no key is extended by it',
  )
  const atOnce = await keys.rotate(made.id, 0)
  t.equal((await keys.authenticate(made.key, ADDRESS))?.kind, 'expired')
  await keys.revoke(atOnce.id)
  await t.rejects(keys.rotate(atOnce.id, 0), { code: 'conflict' })
  await t.rejects(keys.change(atOnce.id, { expiresAt: null }), { code: 'conflict' })
  await t.rejects(keys.rotate(made.id, -1), { code: 'bad_request' })
  await t.rejects(keys.rotate('key_none', 0), { code: 'not_found' })
  await t.rejects(keys.revoke('key_none'), { code: 'not_found' })
  await t.rejects(keys.rotate(made.id, 0, 'ws_other'), { code: 'not_found' })
  await t.rejects(keys.change(made.id, {}, 'ws_other'), { code: 'not_found' })
})

t.test('of rotations that race one makes a key', async (t) => {
  const { keys, workspace } = await open(t)
  const { id } = await keys.create(workspace.id, 'ci')
  const results = await Promise.allSettled([
    keys.rotate(id, HOUR_MS),
    keys.rotate(id, HOUR_MS),
    keys.rotate(id, HOUR_MS),
  ])
  t.equal(results.filter(({ status }) => status === 'fulfilled').length, 1)
  t.equal((await keys.list()).length, 2)
})

t.test('what happens to keys is in the audit trail, without the keys', async (t) => {
  const { keys, workspace, recorded } = await open(t)
  const { id, key } = await keys.create(workspace.id, 'ci', { networks: ['10.0.0.0/8'], agentIds: ['bot'] }, BY)
  await keys.change(id, { agentIds: null }, workspace.id, BY)
  const made = await keys.rotate(id, HOUR_MS, workspace.id, BY)
  await keys.revoke(id, workspace.id, BY)
  await keys.revoke(id, workspace.id, BY)
  await keys.releaseAgent(workspace.id, 'bot', BY)
  const entries = (await recorded()).filter(({ event }) => /^(key|agent)\./.test(event))
  t.match(entries, [
    { event: 'key.created', subject: id, details: { name: 'ci', networks: '10.0.0.0/8', agents: 'bot' } },
    { event: 'key.changed', subject: id, details: { name: 'ci', networks: '10.0.0.0/8' } },
    { event: 'key.rotated', subject: id, details: { new_key: made.id } },
    { event: 'key.revoked', subject: id },
    { event: 'agent.released', subject: 'bot' },
  ])
  t.equal(entries.length, 5, 'a second revocation changes nothing')
  const text = JSON.stringify(entries)
  for (const secret of [key, made.key]) t.notMatch(text, secret.slice(7))
})

t.test('the pattern for scanners finds every key, and nothing that is none', async (t) => {
  const { keys, workspace } = await open(t)
  const pattern = new RegExp(KEY_PATTERN, 'g')
  for (let count = 0; count < 50; count++) {
    const { key } = await keys.create(workspace.id, 'x')
    t.strictSame(`token="${key}", ${key}\nKEY=${key}`.match(pattern), [key, key, key])
    for (const none of [`x${key}`, `${key}x`, key.slice(0, -1), `${key.slice(0, -1)}B`]) t.notMatch(none, pattern)
  }
})
