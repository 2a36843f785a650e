/** Migration 22: what a trial of a connection proved, and when; what it tried; when the credentials end. Null: not known. */
import type { Knex } from 'knex'

export async function up(db: Knex): Promise<void> {
  for (const column of ['state text', 'state_at bigint', 'trial_target text', 'expires_at bigint'])
    await db.raw(`ALTER TABLE connections ADD COLUMN ${column}`)
  await db.raw(`UPDATE connections SET state = 'refused', state_at = last_failure_at
    WHERE last_failure IN ('unauthorized', 'forbidden') AND last_failure_at >= COALESCE(last_read_at, 0)`)
}
