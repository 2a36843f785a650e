// Test run: slow, every-node
import { PARAMETERS } from '@claimcheck/server/storage/changes'
import { type Migration, schemaOf } from '@claimcheck/server/storage/schema'
import pg from 'pg'
import t from 'tap'
import { query } from '../../../test/support/sql.ts'
import { openStorage, SCHEMA } from '../../../test/support/storage.ts'
import { claimNumber, LIST_INDEXES } from '../support/claim-row.ts'
import { newDatabase, opened } from '../support/databases.ts'
import { testStorage } from './contract.ts'
import { testEvents } from './events-contract.ts'

const NOON = Date.UTC(2026, 8, 25, 12)
const CLAIMS = 5000
const LOOKUPS = 100

testStorage(t, 'postgres', (table) => [`TRUNCATE ${table} CASCADE`])
testEvents(t, 'postgres')

t.test('a migration waits for what a running host began, and takes nothing that ends it', async (t) => {
  const url = await newDatabase(t, 'postgres')
  await (await openStorage({ databaseUrl: url })).close()
  const later: Migration = { up: (db) => db.raw('ALTER TABLE claims ADD COLUMN note text') }
  // Storing a claim, which looks for its workspace at the end.
  const host = new pg.Client(url)
  await host.connect()
  await host.query('BEGIN')
  await host.query('LOCK TABLE claims IN ROW EXCLUSIVE MODE')
  let isDone = false
  const migrated = openStorage(
    { databaseUrl: url },
    { schema: schemaOf([SCHEMA, { tables: [], migrations: { '100-notes': later } }]) },
  ).finally(() => {
    isDone = true
  })
  const waits = `SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'claims'::regclass`
  while ((await query(url, waits)).length === 0) t.notOk(isDone, 'it waits')
  await host.query('SELECT id FROM workspaces FOR KEY SHARE')
  await host.query('COMMIT')
  await host.end()
  const storage = await migrated
  t.strictSame(storage.migrated, ['100-notes'])
  await storage.close()
})

t.test('what is looked up by its key is all that is read, also by a host that began with empty tables', async (t) => {
  const url = await newDatabase(t, 'postgres', { isEmpty: true })
  const storage = await opened(t, url)
  const log = {
    logId: 'log',
    name: 'log',
    number: 0,
    keyId: 'key',
    treeSize: 0,
    rootHash: Buffer.alloc(32),
    issuedAt: NOON,
  }
  const lookUp = async (number: number) => {
    const { workspaceId, clientClaimId, claimId } = claimNumber(number)
    const found = await storage.read.claims.byClientIds([{ workspaceId, clientClaimId }])
    await storage.write((tx) => tx.claims.queuedAttempts([claimId]))
    return found.filter(Boolean).length
  }
  await storage.write(async (tx) => {
    await tx.workspaces.insert({ id: 'ws_1', name: 'acme', createdAt: NOON })
    await tx.log.insertSigningKey({ keyId: 'key', publicKey: '', validFrom: NOON, revokedAt: null })
    await tx.log.create({ ...log, signed: '{}' })
  })
  const CHECK = { sentAt: NOON, answeredAt: NOON, failure: { code: 'timeout' } } as const
  const store = (number: number) => storage.apply({ log: log, newClaims: [claimNumber(CLAIMS + number)] })
  for (let number = 0; number < 10; number++) {
    t.equal(await lookUp(number), 0)
    await store(number)
  }
  const newClaims = Array.from({ length: CLAIMS }, (_, number) => claimNumber(number))
  await storage.apply({ log: log, newClaims })
  for (let number = 0; number < LOOKUPS; number++) {
    if ((await lookUp(number)) !== 1) t.fail(`claim ${number} is not found`)
    await storage.apply({ log: log, progress: [{ ...claimNumber(number), attempts: 1, lastCheck: CHECK }] })
    await store(10 + number)
  }
  // What it reads of an index, and is not a row, is counted nowhere.
  const plan = await storage.snapshot(async (db) => {
    const [kept] = await db.query(`SELECT name FROM pg_prepared_statements WHERE statement LIKE 'WITH held%'`)
    return db.query(`EXPLAIN EXECUTE ${kept!.name}(${PARAMETERS.map(() => 'NULL')})`)
  })
  const lines = plan.map((row) => String(row['QUERY PLAN']))
  const erased = lines.findIndex((line) => line.includes(' on claims known '))
  t.match(lines[erased + 1], /Index Cond: .*workspace_id = /, 'erased claims are looked up, for each new claim')
  // A connection reports what it read when it ends, at the latest.
  await storage.close()
  const [reads] = await query(
    url,
    `SELECT CAST(seq_tup_read + idx_tup_fetch AS integer) AS rows FROM pg_stat_user_tables WHERE relname = 'claims'`,
  )
  t.ok((reads!.rows as number) >= LOOKUPS, 'it is counted')
  t.ok((reads!.rows as number) < 20 * LOOKUPS, `${reads!.rows} rows read in ${4 * LOOKUPS} statements`)
})

t.test('a list by one filter reads those that fit alone', async (t) => {
  const statements: string[] = []
  const databaseUrl = await newDatabase(t, 'postgres')
  const storage = await openStorage({ databaseUrl }, { beforeStatement: (sql) => statements.push(sql) })
  t.teardown(() => storage.close())
  for (const [filter, index] of LIST_INDEXES) {
    await storage.read.claims.list({ workspaceId: 'ws_1', ...filter, limit: 10 })
    const sql = statements
      .at(-1)!
      .replace(/LIMIT \S+$/, 'LIMIT 10')
      .replaceAll(/\?|\$\d+/g, `'1'`)
    const plan = await storage.snapshot((db) => db.query(`EXPLAIN ${sql}`))
    const lines = plan.map((row) => String(row['QUERY PLAN'])).join('\n')
    t.match(lines, new RegExp(`Index Scan Backward using ${index} `))
    t.notMatch(lines, /Sort/)
  }
})

t.test('a connection that leads to a standby is not used again, however its statement was built', async (t) => {
  const storage = await opened(t, await newDatabase(t, 'postgres'))
  const { db } = storage.read
  const statements = [() => db.query('DELETE FROM mails'), () => db.table('mails').delete()]
  for (const statement of statements) {
    await db.query('SET default_transaction_read_only = on')
    await t.rejects(Promise.resolve(statement()), /read-only/)
    await statement()
  }
})

t.test('a database that does not store UTF-8 is refused, with what to do', async (t) => {
  const url = await newDatabase(t, 'postgres', { isEmpty: true })
  const other = new URL(url)
  other.pathname += '_ascii'
  const name = other.pathname.slice(1)
  await query(url, `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE_PROVIDER libc LOCALE 'C'`)
  t.teardown(() => query(url, `DROP DATABASE ${name}`))
  const opening = openStorage({ databaseUrl: other.href })
  await t.rejects(opening, { code: 'encoding', message: /stores text as SQL_ASCII.*ENCODING 'UTF8'/ })
})
