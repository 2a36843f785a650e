// Test run: slow
/** What storage promises also holds where an operator has partitioned the tables of the log, as the documentation says. */
import type { Dialect } from '@claimcheck/server/storage/dialect'
import { migrate } from '@claimcheck/server/storage/migrate'
import type { PreparedSchema } from '@claimcheck/server/storage/pools'
import type { Schema } from '@claimcheck/server/storage/schema'
import type { Knex } from 'knex'
import t from 'tap'
import { sqlOfLogsPage } from '../../../test/support/pages-sql.ts'
import { testStorage } from './contract.ts'

async function migrateAndPartition(db: Knex, dialect: Dialect, schema: Schema): Promise<PreparedSchema> {
  const prepared = await migrate(db, dialect, schema)
  const parts = await db('pg_partitioned_table').count('* as count')
  if (Number(parts[0]!.count) === 0) await db.raw(sqlOfLogsPage().partition)
  return prepared
}

testStorage(t, 'postgres', (table) => [`TRUNCATE ${table} CASCADE`], { prepareSchema: migrateAndPartition })
