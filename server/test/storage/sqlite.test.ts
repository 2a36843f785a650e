// Test run: every-node
import { copyFileSync, mkdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { SQLITE_DRIVERS, type SqliteDriverName } from '@claimcheck/server/storage/sqlite-drivers'
import type { Storage } from '@claimcheck/server/storage/storage'
import t, { type Test } from 'tap'
import { whyMissing } from '../../../test/support/database.ts'
import { LONG } from '../../../test/support/extent.ts'
import { query } from '../../../test/support/sql.ts'
import { openSqlite } from '../../../test/support/storage.ts'
import { LIST_INDEXES } from '../support/claim-row.ts'
import { UNUSED } from '../support/rows.ts'
import { testStorage } from './contract.ts'
import { testEvents } from './events-contract.ts'

const NOON = Date.UTC(2026, 8, 25, 12)
const WORKSPACE = { id: 'ws_1', name: 'acme', createdAt: NOON }

for (const driver of SQLITE_DRIVERS) {
  t.test(`by ${driver}`, { skip: await whyMissing(driver) }, async (t) => testDriver(t, driver))
}

function testDriver(t: Test, driver: SqliteDriverName): void {
  const options = { drivers: [driver] }

  testStorage(t, 'sqlite', (table) => [`REPLACE INTO ${table} SELECT * FROM ${table}`], options)
  testEvents(t, 'sqlite', options)

  async function open(t: Test): Promise<{ storage: Storage; file: string }> {
    const file = join(t.testdir(), 'claimcheck.db')
    const storage = await openSqlite(file, options)
    t.teardown(() => storage.close())
    return { storage, file }
  }

  t.test('a database is made for its owner alone, with its folder', async (t) => {
    const file = join(t.testdir(), 'new', 'deep', 'claimcheck.db')
    const storage = await openSqlite(file, options)
    t.teardown(() => storage.close())
    await storage.write((tx) => tx.workspaces.insert(WORKSPACE))
    for (const suffix of ['', '-wal', '-shm']) t.equal(statSync(file + suffix).mode & 0o077, 0, `${suffix} is private`)
  })

  t.test('a database from a newer version is left as it is', async (t) => {
    const { storage, file } = await open(t)
    await storage.close()
    await query(`sqlite:${file}`, `INSERT INTO migrations (name) VALUES ('999-newer')`)
    const before = readFileSync(file)
    await t.rejects(openSqlite(file, options), { code: 'newer_schema' })
    t.same(readFileSync(file), before)
  })

  t.test('a leaf is looked up by its hash in an index, part by part', async (t) => {
    const file = join(t.testdir(), 'claimcheck.db')
    const statements: string[] = []
    const storage = await openSqlite(file, { ...options, beforeStatement: (sql) => statements.push(sql) })
    await storage.read.log.leafByHash({ logId: 'log', treeSize: 1 }, Buffer.alloc(32))
    await storage.close()
    const asked = statements.at(-1)!.replace('?', '0').replace('?', `'log'`).replace('?', `'[["00"]]'`)
    const plan = await query(`sqlite:${file}`, `EXPLAIN QUERY PLAN ${asked}`)
    t.match(plan.map(({ detail }) => detail).join('\n'), /^SEARCH receipts USING INDEX receipts_leaf_hash/m)
  })

  for (const [filter, index] of LIST_INDEXES) {
    t.test(`a list by ${Object.keys(filter)} reads those that fit alone`, async (t) => {
      const file = join(t.testdir(), 'claimcheck.db')
      const statements: string[] = []
      const storage = await openSqlite(file, { ...options, beforeStatement: (sql) => statements.push(sql) })
      await storage.read.claims.list({ workspaceId: 'ws_1', ...filter, limit: 10 })
      await storage.read.claims.position({ workspaceId: 'ws_1', ...filter }, 10)
      await storage.close()
      const explain = (sql: string) => query(`sqlite:${file}`, `EXPLAIN QUERY PLAN ${sql.replaceAll('?', '1')}`)
      const [list, position] = await Promise.all(statements.slice(-2).map(explain))
      t.match(list!.map(({ detail }) => detail).join('\n'), new RegExp(`^SEARCH claims USING INDEX ${index} `, 'm'))
      t.match(
        position!.map(({ detail }) => detail).join('\n'),
        new RegExp(`^SEARCH claims USING (COVERING )?INDEX ${index} `, 'm'),
      )
      t.notMatch([...list!, ...position!].map(({ detail }) => detail).join('\n'), /TEMP B-TREE/, 'in its order')
    })
  }

  t.test('a file that is no database is refused, and left as it is', async (t) => {
    const text = 'These are the notes of another program. '.repeat(50)
    const file = join(t.testdir({ 'notes.txt': text }), 'notes.txt')
    await t.rejects(openSqlite(file, options), { code: 'corrupt' })
    t.equal(readFileSync(file, 'utf8'), text)
  })

  t.test('a database whose pages are damaged is refused', async (t) => {
    const { storage, file } = await open(t)
    await storage.close()
    const bytes = readFileSync(file)
    bytes.fill(0xa5, 100, 4096)
    writeFileSync(file, bytes)
    await t.rejects(openSqlite(file, options), { code: 'corrupt' })
  })

  t.test('a file that cannot be written, or that must be there and is not, is refused', async (t) => {
    const folder = t.testdir({ file: '' })
    mkdirSync(join(folder, 'folder.db'))
    for (const path of [join(folder, 'folder.db'), join(folder, 'file', 'claimcheck.db'), '/proc/claimcheck.db']) {
      await t.rejects(openSqlite(path, options), { code: 'unavailable' }, path)
    }
    await t.rejects(openSqlite(join(folder, 'none.db'), { ...options, asIs: true }), { code: 'unavailable' })
    t.throws(() => statSync(join(folder, 'none.db')), { code: 'ENOENT' })
  })

  t.test('where SQLite cannot make its other files, a whole database is read as it is', async (t) => {
    const file = join(t.testdir(), 'claimcheck.db')
    const writing = await openSqlite(file, options)
    await writing.write((tx) => tx.log.insertEnded({ logId: 'before', name: 'before' }, 0))
    const unfolded = `${file}.unfolded`
    for (const ending of ['', '-wal']) copyFileSync(file + ending, unfolded + ending)
    symlinkSync('nowhere/at/all', `${unfolded}-shm`)
    await writing.close()
    symlinkSync('nowhere/at/all', `${file}-shm`)
    await t.rejects(openSqlite(file, options), { code: 'unavailable' })
    const storage = await openSqlite(file, { ...options, asIs: true })
    t.match(await storage.read.log.all(), [{ logId: 'before' }])
    await t.rejects(
      storage.write((tx) => tx.log.insertEnded({ logId: 'log', name: 'log' }, 0)),
      { code: 'unavailable' },
    )
    storage.requireUnchanged()
    utimesSync(file, 0, 0)
    t.throws(() => storage.requireUnchanged(), { code: 'unavailable', message: /changed while it was read/ })
    await storage.close()
    symlinkSync(unfolded, `${file}.link`)
    await t.rejects(openSqlite(`${file}.link`, { ...options, asIs: true }), { code: 'unavailable' }, 'by a link')
    await t.rejects(
      openSqlite(unfolded, { ...options, asIs: true }),
      { code: 'unavailable' },
      'one with changes elsewhere',
    )
  })

  t.test('a new file that is opened several times at once is opened each time', LONG, async (t) => {
    for (let round = 0; round < 30; round++) {
      const file = join(t.testdir(), `${round}.db`)
      const opened = await Promise.allSettled([
        openSqlite(file, options),
        openSqlite(file, options),
        openSqlite(file, options),
      ])
      for (const one of opened) {
        if (one.status === 'rejected') t.fail(one.reason.message)
        else await one.value.close()
      }
    }
  })

  t.test('commits go to a write-ahead log', async (t) => {
    const { file } = await open(t)
    t.strictSame(await query(`sqlite:${file}`, 'PRAGMA journal_mode'), [{ journal_mode: 'wal' }])
  })

  t.test('of two writers one waits for the other from the beginning, so that what it reads stays true', async (t) => {
    const { storage, file } = await open(t)
    const other = await openSqlite(file, options)
    t.teardown(() => other.close())
    // A transaction that begins without the lock fails here: what it has read is old when it writes.
    async function addOne(host: Storage): Promise<void> {
      await host.write(async (tx) => {
        const id = `key_${(await tx.keys.list()).length}`
        await setTimeout(5)
        const key = {
          id,
          workspaceId: 'ws_1',
          name: id,
          keyHash: id,
          lastFour: 'abcd',
          createdAt: NOON,
          revokedAt: null,
        }
        await tx.keys.insert({ ...key, ...UNUSED })
      })
    }
    await storage.write((tx) => tx.workspaces.insert(WORKSPACE))
    await Promise.all(Array.from({ length: 10 }, (_, index) => addOne(index % 2 ? storage : other)))
    t.equal((await storage.read.keys.list()).length, 10)
  })

  t.test('nothing follows a statement on which SQLite rolls the transaction back by itself', async (t) => {
    const storage = await openSqlite(join(t.testdir(), 'claimcheck.db'), options)
    t.teardown(() => storage.close())
    // As it does on some errors of the disk.
    const rollsBack = `CREATE TRIGGER rolls_back BEFORE INSERT ON tree_heads WHEN new.tree_size = 1
    BEGIN SELECT RAISE(ROLLBACK, 'rolled back'); END`
    await storage.transaction((db) => db.query(rollsBack))
    const heads = Array.from({ length: 10 }, (_, index) => index + 1).map((treeSize) => ({
      logId: 'log',
      number: treeSize,
      keyId: 'key',
      treeSize,
      issuedAt: NOON,
      rootHash: Buffer.alloc(32),
      signed: '{}',
    }))
    const work = storage.write((tx) => Promise.all(heads.map((head) => tx.log.insertHead(head))))
    await t.rejects(work, { message: /rolled back/ })
    t.equal(await storage.read.log.newestHead(), undefined)
  })
}
