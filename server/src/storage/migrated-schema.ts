/** The statements that migrations run, as this program has them: their digests are stored when they run, and tell what a database should have. */
import { hash } from 'node:crypto'
import knex, { type Knex } from 'knex'
import type { Dialect } from './dialect.ts'
import type { Migration, Schema } from './schema.ts'

/** Records the statements of a migration where every read finds nothing. The space between words does not count. */
export async function statementsOf(db: Knex, dialect: Dialect, { up }: Migration): Promise<readonly string[]> {
  const statements: string[] = []
  class Recorder extends (db.client.constructor as typeof Knex.Client) {
    override acquireConnection = async () => ({})
    override releaseConnection = async () => {}
    async _query(_connection: unknown, { sql, bindings = [] }: { sql: string; bindings?: unknown[] }) {
      const values = bindings.length > 0 ? ` ${JSON.stringify(bindings)}` : ''
      statements.push(sql.replace(/\s+/g, ' ').trim() + values)
    }
    processResponse = () => []
  }
  await up(knex({ client: Recorder, useNullAsDefault: true }), dialect)
  return statements
}

export async function digestOf(db: Knex, dialect: Dialect, migration: Migration): Promise<string> {
  const statements = await statementsOf(db, dialect, migration)
  return hash('sha256', statements.join('\n'))
}

/** Finds columns, indexes and triggers that migrations make and the database lacks. Returns sentences that say what to do. */
export async function lackingIn(db: Knex, dialect: Dialect, { tables, migrations }: Schema): Promise<string[]> {
  const lacking: string[] = []
  for (const { table, isShared } of tables) {
    if (isShared && !dialect.shared) continue
    const there = await db(table.name).columnInfo()
    const columns = table.columns.map(({ name }) => name).filter((name) => !Object.hasOwn(there, name))
    if (columns.length > 0)
      lacking.push(
        `the table ${table.name} has no ${columns.join(', ')}: use the database with the version that made it, and name another one in DATABASE_URL for this version`,
      )
  }
  const there = new Set(await dialect.indexAndTriggerNames((name) => db(name)))
  for (const [name, statement] of await madeBy(db, dialect, Object.values(migrations)))
    if (!there.has(name)) lacking.push(`${name} is missing: run ${statement}`)
  return lacking
}

const MAKES = /^(?:create (?:unique )?(?:index|trigger)|alter table \S+ add constraint) ["`]?(\w+)/i
const DROPS = /^drop (?:index|trigger) ["`]?(\w+)/i

/** Finds the indexes and triggers that migrations make, by name, each with its statement. */
async function madeBy(db: Knex, dialect: Dialect, migrations: readonly Migration[]): Promise<Map<string, string>> {
  const made = new Map<string, string>()
  for (const migration of migrations)
    for (const statement of await statementsOf(db, dialect, migration)) {
      made.delete(DROPS.exec(statement)?.[1] ?? '')
      const isForeign = / foreign key /i.test(statement)
      const name = isForeign ? undefined : MAKES.exec(statement)?.[1]
      if (name !== undefined) made.set(name, statement)
    }
  return made
}
