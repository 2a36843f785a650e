/** The descriptions of tables, held against the schema that the migrations make on each database. */

import type { ColumnType } from '@claimcheck/server/storage/dialect'
import { BOOKKEEPING } from '@claimcheck/server/storage/migrate'
import type { WholeDatabase } from '@claimcheck/server/storage/pools'
import type { Knex } from 'knex'
import t from 'tap'
import { query } from '../../../test/support/sql.ts'
import { SCHEMA } from '../../../test/support/storage.ts'
import { DIALECTS, newDatabase, opened } from '../support/databases.ts'

/** As the databases call the types. */
const TYPES: Readonly<Record<string, ColumnType>> = {
  text: 'text',
  integer: 'integer',
  bigint: 'bigint',
  blob: 'bytes',
  bytea: 'bytes',
}

async function schemaOf({ snapshot }: WholeDatabase, table: string): Promise<Record<string, Knex.ColumnInfo>> {
  return snapshot(async (db) => db.table(table).columnInfo())
}

for (const dialect of DIALECTS) {
  t.test(`on ${dialect}, every table is described, column by column`, async (t) => {
    const storage = await opened(t, await newDatabase(t, dialect))
    const stored = SCHEMA.tables.filter(({ isShared }) => !isShared || storage.shared)
    const described = stored.map(({ table }) => table)
    const there = await storage.snapshot((db) => db.dialect.tableNames(db.table))
    t.strictSame(there.sort(), [...described.map(({ name }) => name), ...BOOKKEEPING].sort())
    for (const { name, key, columns } of described) {
      const stored = Object.entries(await schemaOf(storage, name))
      const types = stored.map(([column, { type }]) => [column, TYPES[type]])
      t.strictSame(columns.map((column) => [column.name, column.type]).sort(), types.sort(), name)
      // SQLite lets columns of a primary key be null.
      const isNullable = ([column, { nullable }]: (typeof stored)[number]) => nullable && !key.includes(column)
      const nullable = stored.filter(isNullable).map(([column]) => column)
      t.strictSame(
        columns
          .filter((column) => column.isNullable)
          .map((column) => column.name)
          .sort(),
        nullable.sort(),
        `${name}: what may be null`,
      )
    }
  })
}

t.test('the key of a table is its primary key', async (t) => {
  const url = await newDatabase(t, 'sqlite')
  await opened(t, url)
  for (const { table, isShared } of SCHEMA.tables) {
    if (isShared) continue
    const { name, key } = table
    const columns = await query(url, `SELECT name FROM pragma_table_info('${name}') WHERE pk > 0 ORDER BY pk`)
    t.strictSame(
      key,
      columns.map((column) => column.name),
      name,
    )
  }
})
