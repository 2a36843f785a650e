/** The tables of claims and their checks. The queue is in the claims themselves. */
import type { Dialect } from '../../storage/dialect.ts'
import type { MigrationDb } from '../../storage/schema.ts'

/** The expression of a claim's lane. Claims of one lane hold each other up. */
const LANE = `payer || ' ' || workspace_id || ' ' || submitted_by || ' ' || COALESCE(connection_id, '') || ' ' || COALESCE(origin, '')`

const COMPARED = [
  'claim_id',
  'workspace_id',
  'payer',
  'client_claim_id',
  'agent_id',
  'connection_id',
  'profile_action',
  'state',
  'receipt_id',
  'log_id',
] as const

export const claimMigrations = {
  '005-claims': { up },
  '012-profile-settings': { up: addProfileSettings },
  '013-claim-freshness': { up: addFreshness },
  '014-claim-lists': { up: addListIndexes },
}

async function up(db: MigrationDb, dialect: Dialect): Promise<void> {
  await db.schema.createTable('claims', (table) => {
    table.text('claim_id').primary()
    table.text('workspace_id').notNullable().references('workspaces.id')
    // The `Payer`: an account, `ACCOUNT/GUEST`, or the workspace itself.
    table.text('payer').notNullable()
    table.text('client_claim_id').notNullable()
    table.text('agent_id').notNullable()
    // A 1 says that the claim was submitted through a key that is bound to its agent.
    table.integer('agent_bound').notNullable()
    table.text('action').notNullable()
    table.text('target').notNullable()
    table.text('params').notNullable()
    table.bigInteger('claimed_at').notNullable()
    table.bigInteger('deadline_at').notNullable()
    table.bigInteger('submitted_at').notNullable()
    table.text('claim_digest').notNullable()
    table.text('access').notNullable()
    table.text('connection_id').references('connections.id')
    table.text('origin')
    table.text('submitted_by').notNullable()
    table.text('traceparent')
    table.text('profile_action').notNullable()
    table.text('profile_version').notNullable()
    table.text('state').notNullable()
    table.integer('attempts').notNullable()
    // The time when a worker gets the claim next; taking it moves this to the end of the worker's lease.
    table.bigInteger('due_at')
    table.bigInteger('next_check_at')
    table.bigInteger('moment_at')
    table.text('last_check')
    // A decided claim has the id of its receipt, which is unique over all logs, and the log that has it.
    table.text('receipt_id').unique()
    table.text('log_id')
    table.text('verdict')
    table.text('reason_code')
    table.unique(['workspace_id', 'client_claim_id'])
    table.index(['workspace_id', 'submitted_at', 'claim_id'])
    // The verdict is left out: counting reads the claims, but on SQLite a decision changes nothing in this index.
    table.index(['workspace_id', 'agent_id', 'submitted_at', 'claim_id'], 'claims_agent')
  })

  await db.schema.createTable('checks', (table) => {
    table.text('claim_id').notNullable().references('claims.claim_id')
    table.integer('attempt').notNullable()
    table.text('record').notNullable()
    table.primary(['claim_id', 'attempt'])
  })

  const { appendOnly, compareBytes } = dialect.migrations
  const statements = [
    // Busy lanes are passed over by the queue without reading their claims.
    `CREATE INDEX claims_due ON claims (due_at, moment_at, (${LANE}), claim_id) WHERE state = 'queued'`,
    `CREATE INDEX claims_moment ON claims (moment_at, due_at, (${LANE}), claim_id) WHERE state = 'queued'`,
    `CREATE INDEX claims_waiting ON claims (payer, workspace_id) WHERE state = 'queued'`,
    // Lists by verdict may look for one claim among many.
    `CREATE INDEX claims_verdict ON claims (workspace_id, verdict, submitted_at, claim_id) WHERE verdict IS NOT NULL`,
    ...appendOnly('checks'),
    ...compareBytes('claims', COMPARED),
    ...compareBytes('checks', ['claim_id']),
  ]
  for (const sql of statements) await db.raw(sql)
}

async function addProfileSettings(db: MigrationDb, dialect: Dialect): Promise<void> {
  await db.schema.alterTable('claims', (table) => {
    // The digest of what decides in the claim's profile; null in claims from before it was kept.
    table.text('profile_digest')
    // A 1 says that the claim is looked at so often that what was there for half a minute is seen.
    table.integer('watched').notNullable().defaultTo(0)
    // A 1 says that the recorded checks decide the claim, and that the decision could not be signed yet.
    table.integer('unsigned').notNullable().defaultTo(0)
    // A 1 says that the claim ended because its connection was removed.
    table.integer('connection_removed').notNullable().defaultTo(0)
  })

  await db.schema.createTable('profile_settings', (table) => {
    table.text('action').notNullable()
    table.text('version').notNullable()
    // Empty for claims that are older than this table: the first host that has the profile fills it in.
    table.text('digest').notNullable()
    table.bigInteger('closing_ms').notNullable()
    table.bigInteger('grace_ms').notNullable()
    table.bigInteger('since').notNullable()
    table.text('deciding').notNullable()
    table.primary(['action', 'version', 'digest', 'closing_ms', 'grace_ms'])
  })

  const statements = [
    ...dialect.migrations.compareBytes('profile_settings', ['action', 'version', 'digest']),
    `CREATE INDEX claims_watched ON claims (due_at, workspace_id) WHERE state = 'queued' AND watched = 1`,
    `INSERT INTO profile_settings (action, version, digest, closing_ms, grace_ms, since, deciding)
      SELECT profile_action, profile_version, '', 0, 0, MIN(submitted_at), '{}' FROM claims
      WHERE access <> 'unsupported_action' GROUP BY profile_action, profile_version`,
    // Claims of an earlier version are recognized by their times: a decision that could not be signed was put off, with an hour in which checks that
    // decide go first.
    `UPDATE claims SET unsigned = 1 WHERE state = 'queued' AND attempts > 0 AND moment_at - next_check_at = 3600000`,
  ]
  for (const sql of statements) await db.raw(sql)
}

async function addFreshness(db: MigrationDb): Promise<void> {
  await db.schema.alterTable('claims', (table) => {
    // The reason that the claim is fresh or is not; null in claims from before it was asked.
    table.text('fresh_by')
  })
  // Few claims are dated after their submission; those of the last day are read every other second.
  await db.raw(`CREATE INDEX claims_ahead ON claims (submitted_at, submitted_by) WHERE fresh_by = 'claimed_ahead'`)
}

/** Adds indexes for lists: one by action may look for one claim among many, and one of waiting claims for a few. */
async function addListIndexes(db: MigrationDb): Promise<void> {
  // Lists alone use these conditions: Postgres, which plans for the tables as they were, would otherwise read the indexes where a claim is looked up
  // by its ids.
  await db.raw(`CREATE INDEX claims_action ON claims (workspace_id, action, submitted_at, claim_id) WHERE action <> ''`)
  await db.raw('CREATE INDEX claims_queued ON claims (workspace_id, submitted_at, claim_id) WHERE verdict IS NULL')
}
