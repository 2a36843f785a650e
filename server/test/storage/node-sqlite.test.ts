// Test run: every-node
/** What the thread of a connection by `node:sqlite` must hand over as the package sqlite3 does. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Connection } from '@claimcheck/server/storage/node-sqlite'
import {
  loadSqliteDriver,
  nodeSqliteProblem,
  SQLITE_DRIVERS,
  type SqliteDriverName,
} from '@claimcheck/server/storage/sqlite-drivers'
import t, { type Test } from 'tap'
import { whyMissing } from '../../../test/support/database.ts'
import { knexOn } from '../../../test/support/sql.ts'
import { openSqlite } from '../../../test/support/storage.ts'

const NODE_SQLITE = { skip: await whyMissing('node:sqlite') }

async function open(t: Test, driver: SqliteDriverName) {
  const db = await knexOn(join(t.testdir(), 'claimcheck.db'), driver)
  t.teardown(() => db.destroy())
  return db
}

for (const driver of SQLITE_DRIVERS) {
  t.test(`by ${driver}, values come back as they were bound`, { skip: await whyMissing(driver) }, async (t) => {
    const db = await open(t, driver)
    const bytes = Buffer.from('a larger buffer').subarray(2, 8)
    const at = new Date(1_800_000_000_000)
    const values = ['é😀', 2 ** 53 - 1, -5, 0.5, true, false, null, at, bytes]
    const columns = values.map((_, index) => `? AS c${index}, typeof(?) AS t${index}`)
    const bound = values.flatMap((value) => [value, value])
    const [row] = await db.raw(`SELECT ${columns.join(', ')}`, bound as string[])
    const expected = ['é😀', 2 ** 53 - 1, -5, 0.5, 1, 0, null, at.getTime(), bytes]
    t.strictSame(
      values.map((_, index) => row[`c${index}`]),
      expected,
    )
    t.ok(Buffer.isBuffer(row.c8))
    t.strictSame(
      [row.t0, row.t2, row.t3, row.t4, row.t6, row.t8],
      ['text', 'integer', 'real', 'integer', 'null', 'blob'],
    )
  })

  t.test(`by ${driver}, statements say what they changed`, { skip: await whyMissing(driver) }, async (t) => {
    const db = await open(t, driver)
    await db.schema.createTable('notes', (table) => {
      table.integer('id').primary()
      table.text('text').unique()
    })
    t.strictSame(await db('notes').insert({ id: 7, text: 'one' }), [7])
    t.strictSame(await db('notes').insert({ id: 8, text: 'two' }).returning('text'), [{ text: 'two' }])
    t.equal(await db('notes').update({ text: 'three' }).where({ id: 8 }), 1)
    t.equal(await db('notes').del(), 2)
  })

  t.test(`by ${driver}, errors have SQLite's codes`, { skip: await whyMissing(driver) }, async (t) => {
    const db = await open(t, driver)
    await db.raw('CREATE TABLE notes (text TEXT UNIQUE)')
    await db('notes').insert({ text: 'one' })
    await t.rejects(db('notes').insert({ text: 'one' }), {
      code: 'SQLITE_CONSTRAINT',
      message: /SQLITE_CONSTRAINT: UNIQUE constraint failed: notes\.text$/,
    })
    await t.rejects(db.raw('SELECT * FROM missing'), { code: 'SQLITE_ERROR', message: /no such table: missing$/ })
    const nowhere = await knexOn(join(t.testdir(), 'none', 'claimcheck.db'), driver)
    await t.rejects(nowhere.raw('SELECT 1'), { code: 'SQLITE_CANTOPEN' })
    await nowhere.destroy()
  })
}

t.test('a driver that is not there is named, with what to do', async (t) => {
  await t.rejects(loadSqliteDriver([]), { code: 'no_driver', message: /newer Node\.js.*npm install sqlite3.*Postgres/ })
})

t.test('an SQLite that can damage a write-ahead log does not serve', (t) => {
  const of = (sqlite?: string) => nodeSqliteProblem({ node: '24.1.0', ...(sqlite ? { sqlite } : {}) }, true)
  t.equal(of('3.51.3'), undefined)
  t.equal(of('3.53.0'), undefined)
  for (const old of ['3.51.2', '3.46.1', '3.9.9']) t.match(of(old), /has SQLite .*, and 3\.51\.3 is needed$/, old)
  t.match(of(), /does not have it/)
  t.match(nodeSqliteProblem({ node: '20.20.2', sqlite: '3.51.3' }, false), /does not have it/)
  t.end()
})

t.test('an order to a connection that is closed fails, and closing again ends', NODE_SQLITE, async (t) => {
  const { module } = await loadSqliteDriver(['node:sqlite'])
  const connection = await new Promise<Connection>((resolve, reject) => {
    const opened = new module.Database(join(t.testdir(), 'a.db'), 0, (error) =>
      error ? reject(error) : resolve(opened),
    )
  })
  const closed = new Promise<Error | null>((resolve) => connection.close(resolve))
  const late = new Promise<Error | null>((resolve) => connection.exec('SELECT 1', resolve))
  t.match(await late, { code: 'SQLITE_MISUSE', message: /is closed/ })
  t.equal(await closed, null)
  t.equal(await new Promise((resolve) => connection.close(resolve)), null)
})

t.test('a text with a NUL is refused, as by Postgres', NODE_SQLITE, async (t) => {
  const db = await open(t, 'node:sqlite')
  await t.rejects(db.raw('SELECT ?', ['a\0b']), /a text with a NUL cannot be stored/)
})

/** In a process that has little memory. */
async function run(folder: string, script: string, ...flags: readonly string[]) {
  const begin = `import { SCHEMA } from ${JSON.stringify(resolve('server/dist/features.js'))}
    import { openSqlite } from ${JSON.stringify(resolve('server/dist/storage/sqlite.js'))}
    const storage = await openSqlite('sqlite:claimcheck.db', { schema: SCHEMA, drivers: ['node:sqlite'] })
    const ask = (sql) => storage.snapshot((db) => db.query(sql))
    const print = (value) => process.stdout.write(JSON.stringify(value) + ' ')`
  const args = [...flags, '--input-type=module', '-e', `${begin}\n${script}`]
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
  return { code, stdout }
}

t.test(
  'where the memory of a thread does not suffice, its statement fails, and another thread goes on',
  NODE_SQLITE,
  async (t) => {
    const many = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000) SELECT i, i + 1 AS next, i + 2 AS other FROM n`
    const script = `await ask(${JSON.stringify(many)}).catch(({ code, cause }) => print([code, cause.code]))
    print(await ask('SELECT 1 AS one'))
    await storage.close()`
    const ran = await run(t.testdir(), script, '--max-old-space-size=30')
    t.strictSame(ran, { code: 0, stdout: '["unavailable","SQLITE_IOERR"] [{"one":1}] ' })
  },
)

t.test('storage says which driver serves', NODE_SQLITE, async (t) => {
  const storage = await openSqlite(join(t.testdir(), 'claimcheck.db'), { drivers: ['node:sqlite'] })
  t.equal(storage.driver, 'node:sqlite')
  await storage.close()
})
