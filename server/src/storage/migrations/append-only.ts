/** Tables whose rows are never changed and never deleted, whoever tries. */
import type { Knex } from 'knex'
import { isPostgres } from './dialect.ts'

export async function makeAppendOnly(db: Knex, table: string): Promise<void> {
  if (isPostgres(db)) {
    await db.raw(`CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$`)
    await db.raw(
      `CREATE TRIGGER ${table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ${table}
       FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()`,
    )
    return
  }
  for (const change of ['UPDATE', 'DELETE']) {
    await db.raw(
      `CREATE TRIGGER ${table}_no_${change.toLowerCase()} BEFORE ${change} ON ${table}
       BEGIN SELECT RAISE(ABORT, '${table} is append-only'); END`,
    )
  }
}
