/** Databases that earlier versions left, with rows in every table: this version brings each to its schema, and everything in it still holds. */
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { loadConfig } from '@claimcheck/server/features'
import t, { type Test } from 'tap'
import { Client } from './support/client.ts'
import { runClaimcheck } from './support/command.ts'
import { DIALECTS, emptyDatabase, LOCKED, newFolder } from './support/copies.ts'
import type { Dialect } from './support/database.ts'
import { Host } from './support/host.ts'
import { SCRIPTED } from './support/installation.ts'
import { openQuerying, query, type Row } from './support/sql.ts'
import { openStorage, SCHEMA } from './support/storage.ts'

const FOLDER = 'test/upgrades'
/** Under which the values in the databases are sealed. */
const SECRET_KEY = 'c0'.repeat(32)

type Value = string | number | null | { readonly hex: string }
type Rows = Readonly<Record<string, { readonly columns: readonly string[]; readonly rows: readonly Value[][] }>>

const LITERALS: Readonly<Record<Dialect, (value: Value) => string>> = {
  sqlite: (value) => literal(value, (hex) => `X'${hex}'`),
  postgres: (value) => literal(value, (hex) => `'\\x${hex}'`),
}

function literal(value: Value, bytes: (hex: string) => string): string {
  if (value === null || typeof value === 'number') return String(value)
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : bytes(value.hex)
}

function rowsOf(version: string): Rows {
  return JSON.parse(gunzipSync(readFileSync(join(FOLDER, version, 'rows.json.gz'))).toString())
}

/** @param version a folder with the schema of each database, the rows of all tables, and the archives of logs */
async function databaseOf(t: Test, version: string, dialect: Dialect): Promise<string> {
  const url = await emptyDatabase(t, dialect)
  const schema = readFileSync(join(FOLDER, version, `${dialect}.sql`), 'utf8')
  const db = await openQuerying(url)
  try {
    // Postgres takes all statements at once, and SQLite one after the other; those of triggers end alone on a line.
    for (const sql of dialect === 'postgres' ? [schema] : schema.split(/;\n(?=CREATE)/)) await db.query(sql)
    await db.query('BEGIN')
    for (const [table, { columns, rows }] of Object.entries(rowsOf(version))) {
      // What only hosts that share a database have.
      if (!new RegExp(`CREATE (UNLOGGED )?TABLE (public\\.|[\`"])?${table}\\b`).test(schema)) continue
      for (const row of rows)
        await db.query(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${row.map(LITERALS[dialect]).join(', ')})`)
    }
    await db.query('COMMIT')
  } finally {
    await db.close()
  }
  return url
}

async function counts(url: string): Promise<Readonly<Record<string, number>>> {
  const all: [string, number][] = []
  for (const { table } of SCHEMA.tables) {
    const rows: Row[] = await query(url, `SELECT COUNT(*) AS count FROM ${table.name}`).catch(() => [])
    if (rows[0]) all.push([table.name, Number(rows[0].count)])
  }
  return Object.fromEntries(all)
}

for (const version of readdirSync(FOLDER)) {
  for (const dialect of DIALECTS) {
    t.test(`a database of ${version} on ${dialect} is upgraded, examined, backed up and used`, async (t) => {
      const folder = newFolder(t)
      writeFileSync(join(folder, 'claimcheck.config.json'), JSON.stringify({ plugins: [SCRIPTED, LOCKED] }))
      const url = await databaseOf(t, version, dialect)
      const before = await counts(url)
      t.same(
        Object.entries(before).filter(([, count]) => count === 0),
        [],
        'there are rows in every table',
      )
      const dataDir = join(folder, 'data')
      mkdirSync(join(dataDir, 'signing-keys'), { recursive: true, mode: 0o700 })
      // Where one host has the database, it has the private keys as files.
      for (const [keyId, sealed] of rowsOf(version).sealed_signing_keys!.rows) {
        const file = join(dataDir, 'signing-keys', `${String(keyId).replace('ed25519:', '')}.pem`)
        if (dialect === 'sqlite') writeFileSync(file, String(sealed), { mode: 0o600 })
      }
      cpSync(join(FOLDER, version, 'logs'), join(dataDir, 'logs'), { recursive: true })
      const env = {
        DATABASE_URL: url,
        DATA_DIR: dataDir,
        HEAD_MEMORY: 'none',
        SECRET_KEY,
        PORT: '0',
        LOG_LEVEL: 'silent',
      }
      const run = async (...args: string[]) => {
        const { code, stdout, stderr } = await runClaimcheck(folder, [...args, '--json'], env)
        t.equal(code, 0, `${args[0]} ${stdout} ${stderr}`)
        return { code, stderr, value: JSON.parse(stdout) }
      }

      const { value: upgraded } = await run('migrate')
      t.ok(upgraded.migrated.length > 0)
      t.strictSame(upgraded.lacking, [])
      t.match(await run('doctor', '--signatures'), { code: 0, value: { ok: true, problems: [] } })
      const after = await counts(url)
      for (const [table, count] of Object.entries(before))
        if (table !== 'audit_trail') t.equal(after[table], count, `${table} keeps its rows`)

      // At another server no host remembers the log.
      if (dialect === 'postgres') await run('log', 'new', '--yes')
      const host = new Host(loadConfig(env, folder), { folder, env, isNew: false })
      await host.start()
      t.teardown(() => host.stop())
      const { value: key } = await run('key', 'create', '--workspace', 'acme')
      const client = new Client(host, 'acme', key.key)
      for (const end = Date.now() + 40_000; Date.now() < end; await setTimeout(200))
        if ((await host.request('/readyz')).status === 200) break
      const { status, body } = await client.submit()
      t.equal(status, 202, JSON.stringify(body))
      t.match(await client.decided(body.claim_id), { verdict: 'verified' })
      t.match(await run('backup', join(folder, 'backup')), { code: 0, value: { verified: true } })
      const target = { DATABASE_URL: await emptyDatabase(t, dialect), DATA_DIR: join(folder, 'restored') }
      const restored = await runClaimcheck(folder, ['restore', join(folder, 'backup'), '--json'], { ...env, ...target })
      t.equal(restored.code, 0, restored.stderr)
    })

    t.test(
      `a database of ${version} on ${dialect} that lacks an index is used, and the start says what to run`,
      async (t) => {
        const url = await databaseOf(t, version, dialect)
        await query(url, 'DROP INDEX claims_verdict')
        const open = async () => {
          const { migrated, lacking, close } = await openStorage({ databaseUrl: url })
          await close()
          return { migrated, lacking }
        }
        const first = await open()
        t.ok(first.migrated.length > 0)
        t.match(first.lacking, [/^claims_verdict is missing: run CREATE INDEX claims_verdict ON claims \(/])
        t.match(await open(), { migrated: [], lacking: first.lacking }, 'again')
        await query(url, first.lacking[0]!.replace(/^.*: run /, ''))
        for (const what of ['made', 'remembered']) t.strictSame((await open()).lacking, [], what)
        const digests = await query(url, 'SELECT digest FROM migrations WHERE digest IS NULL')
        t.strictSame(digests, [], 'they are stored')
      },
    )
  }
}
