import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { openSqlite } from '@claimcheck/server/storage/sqlite'
import { createKeyService } from '@claimcheck/server/workspaces/keys'
import { createWorkspaceService } from '@claimcheck/server/workspaces/workspaces'
import knex from 'knex'
import t, { type Test } from 'tap'

const NOON = Date.UTC(2026, 8, 25, 12)

async function open(t: Test) {
  const file = join(t.testdir(), 'claimcheck.db')
  const storage = await openSqlite(file)
  t.teardown(() => storage.close())
  const db = knex({ client: 'sqlite3', connection: { filename: file }, useNullAsDefault: true })
  t.teardown(() => db.destroy())
  const workspaces = createWorkspaceService({ storage, now: () => NOON })
  const keys = createKeyService({ storage, now: () => NOON, activity: { keyUsed() {} } })
  return { workspaces, keys, workspace: await workspaces.create('acme'), db }
}

t.test('a key is shown once, kept as its hash, and speaks for its workspace', async (t) => {
  const { keys, workspace, db } = await open(t)
  const { id, key } = await keys.create(workspace.id, 'mine')
  t.match(key, /^svc_sk_[A-Za-z0-9_-]{43}$/)
  t.same(await keys.authenticate(key), { kind: 'key', keyId: id, workspaceId: workspace.id })
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
  t.strictSame((await Promise.all(wrong.map(keys.authenticate))).filter(Boolean), [])
})

t.test('a revocation holds at the next request, and for good', async (t) => {
  const { keys, workspace } = await open(t)
  const { id, key } = await keys.create(workspace.id, 'mine')
  const other = await keys.create(workspace.id, 'other')
  t.match(await keys.revoke(id), { id, revokedAt: NOON })
  const [revoked, stays] = await Promise.all([keys.authenticate(key), keys.authenticate(other.key)])
  t.equal(revoked, undefined)
  t.match(stays, { keyId: other.id })
  t.equal((await keys.list()).length, 2, 'it stays listed')
  await t.rejects(keys.revoke('key_none'), { code: 'not_found' })
})

t.test('requests that arrive together are told apart', async (t) => {
  const { keys, workspaces } = await open(t)
  const made = []
  for (const name of ['a', 'b', 'c']) {
    const { id: workspaceId } = await workspaces.create(name)
    made.push({ ...(await keys.create(workspaceId, name)), workspaceId })
  }
  const asked = [...made, ...made, ...made]
  const found = await Promise.all(asked.map(({ key }) => keys.authenticate(key)))
  t.strictSame(
    found.map((credential) => credential?.workspaceId),
    asked.map(({ workspaceId }) => workspaceId),
  )
})

t.test('a key has a name that says what it is for', async (t) => {
  const { keys, workspace } = await open(t)
  for (const name of ['', '  ', 'x'.repeat(101), 'a\nb', 'a\u0000b', 'a\u0085b']) {
    await t.rejects(keys.create(workspace.id, name), { code: 'bad_request' }, JSON.stringify(name))
  }
  await keys.create(workspace.id, ` ${'x'.repeat(100)} `)
  t.strictSame(
    (await keys.list()).map(({ name }) => name),
    ['x'.repeat(100)],
  )
})
