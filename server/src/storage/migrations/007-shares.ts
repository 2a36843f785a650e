/** Migration 7: whose share of the checks a claim uses, and when its checks begin to decide. */
import type { Knex } from 'knex'

export async function up(db: Knex): Promise<void> {
  await db.raw(`ALTER TABLE claims ADD COLUMN origin text`)
  // Nobody knows who submitted the claims of before: together they are one share of their workspace.
  await db.raw(`ALTER TABLE claims ADD COLUMN submitted_by text NOT NULL DEFAULT ''`)
  await db.raw('ALTER TABLE claims ADD COLUMN moment_at bigint')
  // The first check from now on computes it.
  await db.raw(`UPDATE claims SET moment_at = deadline_at WHERE state = 'queued'`)
  await db.raw('DROP INDEX claims_due')
  const lane = `workspace_id || ' ' || submitted_by || ' ' || COALESCE(connection_id, '') || ' ' || COALESCE(origin, '')`
  await db.raw(`CREATE INDEX claims_due ON claims (due_at, moment_at, (${lane}), claim_id) WHERE state = 'queued'`)
  await db.raw(`CREATE INDEX claims_moment ON claims (moment_at, due_at, (${lane}), claim_id) WHERE state = 'queued'`)
  await db.raw(`CREATE INDEX claims_waiting ON claims (workspace_id) WHERE state = 'queued'`)
}
