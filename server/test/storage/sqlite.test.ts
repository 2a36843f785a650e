import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { CheckRecord } from '@claimcheck/core'
import type { ClaimRow } from '@claimcheck/server/storage/claim-row'
import { openSqlite } from '@claimcheck/server/storage/sqlite'
import type { Storage } from '@claimcheck/server/storage/storage'
import knex, { type Knex } from 'knex'
import t, { type Test } from 'tap'
import { claimNumber as claim } from '../support/claim-row.ts'
import { UNREAD, UNUSED } from '../support/rows.ts'

const NOON = Date.UTC(2026, 8, 25, 12)
const record: CheckRecord = { sentAt: NOON, answeredAt: NOON, failure: { code: 'timeout' } }

async function open(t: Test, file = join(t.testdir(), 'claimcheck.db')): Promise<{ storage: Storage; file: string }> {
  const storage = await openSqlite(file)
  t.teardown(() => storage.close())
  return { storage, file }
}

/** The file as any other program sees it. */
function rawly(t: Test, file: string): Knex {
  const db = knex({ client: 'sqlite3', connection: { filename: file }, useNullAsDefault: true })
  t.teardown(() => db.destroy())
  return db
}

async function withClaims(t: Test, claims: readonly ClaimRow[]) {
  const opened = await open(t)
  await opened.storage.write(async (tx) => {
    await tx.workspaces.insert({ id: 'ws_1', name: 'acme', createdAt: NOON })
    await tx.claims.insertNew(claims)
  })
  return opened
}

t.test('a database is made for its owner alone, with its folder, and opened again as it was', async (t) => {
  const file = join(t.testdir(), 'new', 'deep', 'claimcheck.db')
  const first = await openSqlite(file)
  t.strictSame(first.migrated, ['001-initial', '002-many-hosts', '003-anchors', '004-console', '005-plain-order'])
  await first.write((tx) => tx.workspaces.insert({ id: 'ws_1', name: 'acme', createdAt: NOON }))
  for (const suffix of ['', '-wal', '-shm']) t.equal(statSync(file + suffix).mode & 0o077, 0, `${suffix} is private`)
  await first.close()
  const second = await openSqlite(file)
  t.teardown(() => second.close())
  t.strictSame(second.migrated, [])
  t.match(await second.read.workspaces.byIdOrName('acme'), { id: 'ws_1' })
})

t.test('a database from a newer version is refused, and left as it is', async (t) => {
  const { storage, file } = await open(t)
  await storage.close()
  const db = rawly(t, file)
  await db('migrations').insert({ name: '999-newer' })
  await db.destroy()
  const before = readFileSync(file)
  await t.rejects(openSqlite(file), { code: 'newer_schema', message: /999-newer/ })
  t.same(readFileSync(file), before)
})

t.test('a file that is no database is refused, and left as it is', async (t) => {
  const text = 'These are the notes of somebody else. '.repeat(50)
  const file = join(t.testdir({ 'notes.txt': text }), 'notes.txt')
  await t.rejects(openSqlite(file), { code: 'corrupt' })
  t.equal(readFileSync(file, 'utf8'), text)
})

t.test('a database whose pages are damaged is refused', async (t) => {
  const { storage, file } = await open(t)
  await storage.close()
  const bytes = readFileSync(file)
  bytes.fill(0xa5, 100, 4096)
  writeFileSync(file, bytes)
  await t.rejects(openSqlite(file), { code: 'corrupt' })
})

t.test('what cannot be written is told', async (t) => {
  const folder = t.testdir({ file: '' })
  mkdirSync(join(folder, 'folder.db'))
  for (const path of [join(folder, 'folder.db'), join(folder, 'file', 'claimcheck.db'), '/proc/claimcheck.db']) {
    await t.rejects(openSqlite(path), { code: 'unavailable' }, path)
  }
})

t.test('processes that start together make one database', async (t) => {
  const file = join(t.testdir(), 'claimcheck.db')
  const script = `import { openSqlite } from ${JSON.stringify(resolve('server/dist/storage/sqlite.js'))}
    const storage = await openSqlite(${JSON.stringify(file)})
    process.stdout.write(String(storage.migrated.length))
    await storage.close()`
  const ran = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      let output = ''
      child.stdout.on('data', (piece) => {
        output += piece
      })
      await once(child, 'close')
      return output
    }),
  )
  t.strictSame(ran.sort(), ['0', '0', '0', '5'])
})

t.test('a new file that is opened several times at once is opened each time', async (t) => {
  for (let round = 0; round < 30; round++) {
    const file = join(t.testdir(), `${round}.db`)
    const opened = await Promise.allSettled([openSqlite(file), openSqlite(file), openSqlite(file)])
    for (const one of opened) {
      if (one.status === 'rejected') t.fail(one.reason.message)
      else await one.value.close()
    }
  }
})

t.test('each commit is on disk when it returns', async (t) => {
  const { storage, file } = await open(t)
  const db = rawly(t, file)
  await storage.write((tx) => tx.workspaces.insert({ id: 'ws_1', name: 'acme', createdAt: NOON }))
  t.strictSame(await db.raw('PRAGMA journal_mode'), [{ journal_mode: 'wal' }])
  t.strictSame(await db('workspaces').pluck('id'), ['ws_1'], 'and seen by everybody else')
})

t.test('a transaction that fails leaves nothing, and the next one is not held up', async (t) => {
  const { storage } = await open(t)
  const work = storage.write(async (tx) => {
    await tx.workspaces.insert({ id: 'ws_1', name: 'acme', createdAt: NOON })
    throw new Error('crashed')
  })
  await t.rejects(work, { message: 'crashed' })
  t.equal(await storage.read.workspaces.any(), false)
  t.ok(await storage.write((tx) => tx.workspaces.insert({ id: 'ws_2', name: 'acme', createdAt: NOON })))
})

t.test('what is not committed is seen by nobody', async (t) => {
  const { storage } = await open(t)
  await storage.write(async (tx) => {
    await tx.workspaces.insert({ id: 'ws_1', name: 'acme', createdAt: NOON })
    t.equal(await storage.read.workspaces.any(), false)
    t.equal(await tx.workspaces.any(), true)
  })
  t.equal(await storage.read.workspaces.any(), true)
})

t.test('of two writers one waits for the other from the beginning, so that what it reads stays true', async (t) => {
  const { storage, file } = await open(t)
  const other = await openSqlite(file)
  t.teardown(() => other.close())
  // A transaction that begins without the lock fails here: what it has read is old when it writes.
  async function addOne(host: Storage): Promise<void> {
    await host.write(async (tx) => {
      const taken = await tx.keys.list()
      await new Promise((resolve) => setTimeout(resolve, 5))
      const id = `key_${taken.length}`
      await tx.keys.insert({
        id,
        workspaceId: 'ws_1',
        name: id,
        ...UNUSED,
        keyHash: id,
        lastFour: 'abcd',
        createdAt: NOON,
        revokedAt: null,
      })
    })
  }
  await storage.write((tx) => tx.workspaces.insert({ id: 'ws_1', name: 'acme', createdAt: NOON }))
  await Promise.all(Array.from({ length: 10 }, (_, index) => addOne(index % 2 ? storage : other)))
  t.equal((await storage.read.keys.list()).length, 10)
})

t.test('rows of the log and of checks are never changed, replaced or deleted, by whatever statement', async (t) => {
  const { storage, file } = await withClaims(t, [claim(1)])
  await storage.write(async (tx) => {
    await tx.log.insertSigningKey({ keyId: 'key', publicKey: '', validFrom: NOON, revokedAt: null })
    const hash = Buffer.alloc(32)
    const log = { logId: 'log', name: 'log', keyId: 'key', treeSize: 0, rootHash: hash, issuedAt: NOON }
    await tx.log.create(log)
    const receipt = { leafIndex: 0, receiptId: 'rcpt_1', claimId: 'clm_1', leafHash: hash, issuedAt: NOON }
    await tx.apply({
      log: { from: log, to: { ...log, treeSize: 1 } },
      progress: [{ ...claim(1), attempts: 1, lastCheck: record }],
      receipts: [{ ...receipt, entry: '{}' }],
      tiles: [{ level: 0, index: 0, width: 1, hashes: hash }],
      heads: [{ treeSize: 1, issuedAt: NOON, rootHash: hash, signed: '{}' }],
    })
  })
  const db = rawly(t, file)
  // Otherwise REPLACE deletes without asking the triggers; the service's own connections have it on.
  await db.raw('PRAGMA recursive_triggers = ON')
  for (const table of ['checks', 'receipts', 'tiles', 'tree_heads']) {
    const [before] = await db(table)
    const [column = ''] = Object.keys(before)
    await t.rejects(db.raw(`UPDATE ${table} SET ${column} = ${column}`), /append-only/, table)
    await t.rejects(db.raw(`DELETE FROM ${table}`), /append-only/, table)
    await t.rejects(db.raw(`REPLACE INTO ${table} SELECT * FROM ${table}`), /append-only/, table)
    await t.rejects(db.raw(`INSERT INTO ${table} SELECT * FROM ${table}`), /UNIQUE/, table)
    t.same(await db(table), [before])
  }
})

t.test('a claim is inserted once for its client_claim_id, also within one statement', async (t) => {
  const { storage } = await withClaims(t, [claim(1)])
  const again = [claim(2, { clientClaimId: 'client-1' }), claim(3), claim(4, { clientClaimId: 'client-3' })]
  t.strictSame([...(await storage.write((tx) => tx.claims.insertNew(again)))], ['clm_3'])
  t.same(await storage.read.claims.byClientIds([{ workspaceId: 'ws_1', clientClaimId: 'client-1' }]), [claim(1)])
  t.same(await storage.read.claims.byClientIds([{ workspaceId: 'ws_2', clientClaimId: 'client-1' }]), [])
})

t.test('more rows than one statement takes are inserted all the same', async (t) => {
  const many = Array.from({ length: 3000 }, (_, number) => claim(number))
  const { storage } = await withClaims(t, many)
  t.equal((await storage.read.claims.list({ workspaceId: 'ws_1', limit: 5000 })).length, 3000)
})

t.test('due claims are handed out to one worker each, the longest due first', async (t) => {
  const due = [claim(1, { dueAt: NOON + 3 }), claim(2, { dueAt: NOON + 1 }), claim(3, { dueAt: NOON + 2 })]
  const { storage, file } = await withClaims(t, [
    ...due,
    claim(4, { dueAt: NOON + 100 }),
    claim(5, { state: 'decided', dueAt: null }),
  ])
  const other = await openSqlite(file)
  t.teardown(() => other.close())
  async function lease(host: Storage, limit: number, now = NOON + 10): Promise<string[]> {
    const ids = (await host.read.claims.due(now, limit, [])).map(({ claimId }) => claimId)
    return (await host.write((tx) => tx.claims.lease(ids, now, now + 40))).map((row) => row.claimId)
  }
  t.strictSame((await lease(storage, 2)).sort(), ['clm_2', 'clm_3'])
  const both = await Promise.all([lease(storage, 5), lease(other, 5)])
  t.strictSame(both.flat(), ['clm_1'])
  const again = await lease(storage, 5, NOON + 50)
  t.equal(again.length, 3, 'and again when the lease is over')
})

t.test('pages of claims go on where the last one ended, also among claims of one moment', async (t) => {
  const claims = [1, 2, 3, 4, 5].map((number) => claim(number, { submittedAt: NOON }))
  const { storage } = await withClaims(t, claims)
  const seen: string[] = []
  for (let before: ClaimRow | undefined; ; ) {
    const page = await storage.read.claims.list({ workspaceId: 'ws_1', limit: 2, ...(before ? { before } : {}) })
    if (page.length === 0) break
    seen.push(...page.map((row) => row.claimId))
    before = page.at(-1)!
  }
  t.strictSame(seen, ['clm_5', 'clm_4', 'clm_3', 'clm_2', 'clm_1'])
})

t.test('a removed connection keeps no secret, and a revocation its first time', async (t) => {
  const { storage, file } = await withClaims(t, [])
  await storage.write(async (tx) => {
    await tx.connections.insert({
      id: 'conn_1',
      workspaceId: 'ws_1',
      provider: 'test',
      options: {},
      sealedSecrets: { token: 'v1.sealed' },
      scopes: [],
      ...UNREAD,
      connectedAt: NOON,
      disconnectedAt: null,
    })
    const key = { id: 'key_1', workspaceId: 'ws_1', name: 'a', keyHash: 'h', lastFour: 'abcd', createdAt: NOON }
    await tx.keys.insert({ ...key, ...UNUSED, revokedAt: null })
  })
  t.equal(await storage.write((tx) => tx.connections.disconnect('conn_1', NOON)), true)
  t.equal(await storage.write((tx) => tx.connections.disconnect('conn_1', NOON)), false)
  t.equal(await storage.read.connections.activeById('conn_1'), undefined)
  t.strictSame(await rawly(t, file)('connections').pluck('sealed_secrets'), ['{}'])
  t.match(await storage.write((tx) => tx.keys.revoke('key_1', NOON + 1)), { revokedAt: NOON + 1 })
  t.match(await storage.write((tx) => tx.keys.revoke('key_1', NOON + 2)), { revokedAt: NOON + 1 })
  t.equal(await storage.write((tx) => tx.keys.revoke('key_2', NOON)), undefined)
})

t.test('what belongs to a workspace needs one', async (t) => {
  const { storage } = await withClaims(t, [])
  await t.rejects(
    storage.write((tx) => tx.claims.insertNew([claim(1, { workspaceId: 'ws_none' })])),
    /FOREIGN KEY/,
  )
})

t.test('what goes on when its transaction is over writes nothing', async (t) => {
  const { storage } = await withClaims(t, [])
  let late: Promise<unknown> | undefined
  const work = storage.write(async (tx) => {
    late = new Promise((resolve) => setTimeout(resolve, 20)).then(() =>
      tx.workspaces.insert({ id: 'ws_late', name: 'late', createdAt: NOON }),
    )
    throw new Error('failed')
  })
  await t.rejects(work, { message: 'failed' })
  await t.rejects(late!)
  t.equal(await storage.read.workspaces.byIdOrName('late'), undefined)
})

t.test('what is under way when its transaction fails is not written on its own', async (t) => {
  const { storage } = await open(t)
  const head = (treeSize: number) => ({ treeSize, issuedAt: NOON, rootHash: Buffer.alloc(32), signed: '{}' })
  for (let time = 0; time < 50; time++) {
    const work = storage.write((tx) =>
      Promise.all([
        ...Array.from({ length: 10 }, (_, index) => tx.log.insertHead(head(index))),
        Promise.reject(new Error('failed')),
      ]),
    )
    await t.rejects(work, { message: 'failed' })
  }
  t.equal(await storage.read.log.newestHead(), undefined)
})

t.test('nothing follows a statement on which SQLite rolls the transaction back by itself', async (t) => {
  const storage = await openSqlite(join(t.testdir(), 'claimcheck.db'))
  t.teardown(() => storage.close())
  // As it does on some errors of the disk.
  const rollsBack = `CREATE TRIGGER rolls_back BEFORE INSERT ON tree_heads WHEN new.tree_size = 1
    BEGIN SELECT RAISE(ROLLBACK, 'rolled back'); END`
  await storage.transaction((db) => db.query(rollsBack))
  const heads = Array.from({ length: 10 }, (_, index) => index + 1)
  const work = storage.write((tx) =>
    Promise.all(
      heads.map((treeSize) =>
        tx.log.insertHead({ treeSize, issuedAt: NOON, rootHash: Buffer.alloc(32), signed: '{}' }),
      ),
    ),
  )
  await t.rejects(work, { message: /rolled back/ })
  t.equal(await storage.read.log.newestHead(), undefined)
})

t.test('lanes that are busy are passed over in the queue', async (t) => {
  const queue = [
    claim(1, { dueAt: NOON + 1, connectionId: null, profileAction: 'test.a.do' }),
    claim(2, { dueAt: NOON + 2, connectionId: null, profileAction: 'test.b.do' }),
    claim(3, { dueAt: NOON + 3, connectionId: null, profileAction: 'test.a.do' }),
  ]
  const { storage } = await withClaims(t, queue)
  t.strictSame(await storage.read.claims.due(NOON + 10, 5, ['test.a.do']), [{ claimId: 'clm_2', lane: 'test.b.do' }])
  const all = await storage.read.claims.due(NOON + 10, 2, [])
  t.strictSame(
    all.map(({ lane }) => lane),
    ['test.a.do', 'test.b.do'],
  )
})
