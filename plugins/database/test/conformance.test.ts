// Test run: slow
/** The plugin passes the conformance kit at a real PostgreSQL. */
import { type Destination, verifierConformance } from '@claimcheck/core/testkit'
import database from '@claimcheck/plugin-database'
import pg from 'pg'
import t from 'tap'
import { startPostgres } from '../../../test/support/postgres.ts'
import { NAME, optionsOf, PASSWORD, paramsOf } from './look.ts'

t.setTimeout(500_000)

const MINUTE = 60_000
const TARGET = `${NAME}/public.orders`
const ADDRESS = 'tls://db.example:5432'

const server = await startPostgres({ fsync: false })
t.teardown(() => server.remove())
const port = Number(new URL(server.url).port)

/** A table for each situation, so that the same situation always has the same row. */
const TABLES = { without: '', closed: "VALUES (7, 'closed')", open: "VALUES (7, 'open')" } as const
type Situation = keyof typeof TABLES | 'elsewhere'

/** Runs statements in a connection of their own, because a database that is renamed has none. */
async function run(database: string, sql: string): Promise<void> {
  const client = new pg.Client(server.url.replace(/postgres$/, database))
  await client.connect()
  await client.query(sql)
  await client.end()
}

await run('postgres', `CREATE ROLE reader LOGIN PASSWORD '${PASSWORD}'; CREATE ROLE guest LOGIN PASSWORD '${PASSWORD}'`)
for (const name of ['shop', 'elsewhere']) {
  await run('postgres', `CREATE DATABASE ${name}`)
  for (const [table, rows] of Object.entries(TABLES)) {
    await run(name, `CREATE TABLE orders_${table} (id int PRIMARY KEY, state text)`)
    if (rows) await run(name, `INSERT INTO orders_${table} ${rows}`)
    await run(name, `GRANT SELECT ON orders_${table} TO reader`)
  }
}
await run('elsewhere', 'ALTER TABLE orders_without RENAME TO orders')

/** The names of the database that the connection reads, and of its table, which change with the situation. */
let now: { readonly table?: keyof typeof TABLES; readonly isElsewhere?: boolean } = {}
const destination: Destination<Situation, undefined> = {
  start: async () => ({ url: `tcp://127.0.0.1:${port}`, stop() {} }),
  async set(situation) {
    const isElsewhere = situation === 'elsewhere'
    if (isElsewhere !== (now.isElsewhere ?? false)) {
      const [away, here] = isElsewhere ? ['shop', 'elsewhere'] : ['elsewhere', 'shop']
      const names = isElsewhere
        ? [`${away} RENAME TO away`, `${here} RENAME TO shop`]
        : ['shop RENAME TO elsewhere', 'away RENAME TO shop']
      for (const name of names) await run('postgres', `ALTER DATABASE ${name}`)
    }
    now = { ...now, isElsewhere }
    if (isElsewhere || now.table === situation) return undefined
    const back = now.table ? `ALTER TABLE orders RENAME TO orders_${now.table};` : ''
    await run('shop', `${back} ALTER TABLE orders_${situation} RENAME TO orders`)
    now = { table: situation as keyof typeof TABLES, isElsewhere }
    return undefined
  },
}

const connection = (user: string) => ({
  provider: 'postgres',
  options: { ...optionsOf({ provider: 'postgres', port, database: 'shop', user }), address: ADDRESS },
  target: 'public.orders',
})
const claim = (values?: Record<string, string>, id = '7') => ({
  target: TARGET,
  params: paramsOf(TARGET, { id }, values),
})

t.test('at PostgreSQL', async (t) => {
  const report = await verifierConformance(t, {
    plugin: database,
    connection: connection('reader'),
    unprivileged: connection('guest'),
    destination,
    before: 'without',
    another: 'elsewhere',
    cases: [
      {
        name: 'a row with its values',
        situation: 'closed',
        claim: claim({ state: 'closed' }),
        sees: { kind: 'present', facts: { rows: 1, columns_differ: 0 } },
        verdict: 'verified',
      },
      {
        name: 'a row with another value',
        situation: 'open',
        claim: claim({ state: 'closed' }),
        sees: { kind: 'present', differs: ['columns'], facts: { rows: 1, columns_differ: 1 } },
        verdict: 'mismatch',
      },
      {
        name: 'no row',
        situation: 'without',
        claim: claim(),
        sees: { kind: 'absent', facts: { rows: 0 } },
        verdict: 'failed',
      },
      {
        name: 'a row that came late',
        situation: 'without',
        changes: [{ afterMs: 7 * MINUTE, situation: 'closed' }],
        claim: claim(),
        sees: { kind: 'absent' },
        verdict: 'late',
      },
    ],
  })
  t.ok(report.ok)
})
