/** Postgres: many hosts may share one database, each with a few connections. */
import { hash } from 'node:crypto'
import type { Knex } from 'knex'
import { type Client, DatabaseError } from 'pg'
import { changeParts, PARAMETERS } from './changes.ts'
import { keepChecks } from './claim-row.ts'
import type { Dialect, Expressions } from './dialect.ts'
import { migrate, requireThisSchema } from './migrate.ts'
import { createStorage, type OpenedStorage, type OpenStorageOptions, type Pools } from './pools.ts'
import { BY_KEYS, discard, keepUsable, LIMITS, LOCK_TIMEOUT_MS, openPool, type PoolOptions } from './postgres-pool.ts'
import { isNetworkTrouble, mayReturn, NoServerError } from './postgres-servers.ts'
import { readsOfReplica } from './replica.ts'
import { StorageError } from './storage.ts'

// The limit for an answer: a machine that vanished says nothing, and TCP alone would wait for it for hours.
const SILENCE_MS = 15_000
// Limits at a replica are short, because the primary answers instead.
const REPLICA = { silenceMs: 5_000, timeoutMs: 2_000, isReplica: true, byKeys: true }

/** The number of the lock for migrations, which no other program uses in the service's database. */
const MIGRATION_LOCK = 0x636c6d

/**
 * SQLSTATE classes of faults that the service may have caused: values, constraints, limits, and errors that triggers raise. All others are the
 * database's.
 */
const OWN_FAULT = /^(21|22|23|54|P0)/
/** SQLSTATE classes of refused rows: values out of range, and constraints. */
const REFUSED_ROWS = /^(22|23)/

const expressions: Expressions = {
  bytes: (hex) => `decode(${hex}, 'hex')`,
  // The type jsonb finds each member at once: json would read the row's text again for each column.
  unfold: (binding) => `jsonb_array_elements(CAST(${binding} AS jsonb))`,
  cell: (index, type) => (type === 'bytes' ? `decode(value->>${index}, 'hex')` : `CAST(value->>${index} AS ${type})`),
  slice: (bytes, index, type) => {
    const [start, length] = [0, 1].map((part) => `CAST(value->${index}->>${part} AS integer)`)
    const value = `substring(CAST(${bytes} AS bytea) FROM ${start} FOR ${length})`
    return type === 'bytes' ? value : `convert_from(${value}, 'UTF8')`
  },
  texts: '(SELECT jsonb_array_elements_text(CAST(? AS jsonb)))',
  // This function stands for an operator with a question mark, which would mark a binding.
  includes: (column, text) => `jsonb_exists(CAST(${column} AS jsonb), ${text})`,
  // Collation C compares the letters of ASCII only; languages have their own idea of which letters are the same.
  matches: (column) => `${column} COLLATE "C" ILIKE CAST(? AS text) ESCAPE '\\'`,
  jsonArray: 'json_build_array',
  jsonGroup: 'json_agg',
  clock: 'extract(epoch FROM clock_timestamp()) * 1000',
  // Every user may call these functions, also where a managed server forbids to ask for its timeline.
  answersAs: `concat_ws('/', (SELECT oid FROM pg_database WHERE datname = current_database()), CAST(CAST('logs' AS regclass) AS oid),
    extract(epoch FROM pg_postmaster_start_time()))`,
}

export const postgres: Dialect = {
  ...expressions,
  begin: 'BEGIN',
  beginSnapshot: 'BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY',
  forUpdate: 'FOR UPDATE',
  forChange: 'FOR NO KEY UPDATE',
  forUpdateSkipLocked: 'FOR UPDATE SKIP LOCKED',
  lockTables: (tables) => [`LOCK TABLE ${tables.join(', ')} IN SHARE ROW EXCLUSIVE MODE`],
  allowIdle: ['SET LOCAL idle_in_transaction_session_timeout = 0'],
  analyze: (tables) => [`ANALYZE ${tables.join(', ')}`],
  changesStatement: changesStatement(),
  // Only a vacuum forgets deleted rows here, and takes long: the database runs it by itself.
  forgetDeleted: [],
  // A plain vacuum gives the space of old rows to new ones, and leaves the old bytes until then.
  rewrite: (tables) => tables.map((table) => `VACUUM (FULL, ANALYZE) ${table}`),
  tableNames: (table) => table('pg_tables').whereRaw('schemaname = current_schema()').pluck('tablename'),
  indexAndTriggerNames: async (table) => [
    ...(await table('pg_indexes').whereRaw('schemaname = current_schema()').pluck('indexname')),
    ...(await table('pg_trigger').whereRaw('NOT tgisinternal').pluck('tgname')),
  ],
  isUnavailable: (error) => {
    if (error instanceof DatabaseError) return !OWN_FAULT.test(String(error.code))
    return error instanceof NoServerError || isNetworkTrouble(error)
  },
  mayReturn,
  reasons: {
    '25006': 'it is read-only, as a standby is',
    '28P01': 'it refuses the password',
    '3D000': 'it is gone',
    '42501': 'it refuses the permission',
    '53100': 'its disk is full',
    '53300': 'it has too many connections',
    '55P03': 'another program holds it',
    '57P03': 'it is starting or stopping',
    '58030': 'its disk fails',
    XX001: 'a page of it is damaged',
    XX002: 'an index of it is damaged',
  },
  refusesRows: (error) => error instanceof DatabaseError && REFUSED_ROWS.test(String(error.code)),
  migrations: {
    lock: [
      // The lock is held by another process's migration, which may take long.
      'SET LOCAL lock_timeout = 0',
      'SET LOCAL idle_in_transaction_session_timeout = 0',
      `SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`,
    ],
    takeTables: (tables) => [
      // Running hosts wait meanwhile: a copy that takes long must not hold them up.
      `SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`,
      `LOCK TABLE ${tables.join(', ')} IN ACCESS EXCLUSIVE MODE`,
      'SET LOCAL lock_timeout = 0',
    ],
    appendOnly: (table) => [
      `CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$`,
      `CREATE TRIGGER ${table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ${table}
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()`,
    ],
    keepFrom: (table, number, head, first) => [
      `CREATE TRIGGER ${table}_no_change BEFORE UPDATE OR TRUNCATE ON ${table}
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()`,
      `CREATE FUNCTION refuse_${table}_deletion() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN
          IF OLD.${number} >= (SELECT ${first} FROM ${head}) THEN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END IF;
          RETURN OLD;
        END $$`,
      `CREATE TRIGGER ${table}_no_deletion BEFORE DELETE ON ${table}
        FOR EACH ROW EXECUTE FUNCTION refuse_${table}_deletion()`,
    ],
    allowErasure: (table, change, condition) => [
      `DROP TRIGGER ${table}_append_only ON ${table}`,
      `CREATE TRIGGER ${table}_no_other_change BEFORE ${change === 'UPDATE' ? 'DELETE' : 'UPDATE'} OR TRUNCATE ON ${table}
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()`,
      `CREATE FUNCTION refuse_${table}_change() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN
          IF (${condition}) IS NOT TRUE THEN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END IF;
          RETURN ${change === 'UPDATE' ? 'NEW' : 'OLD'};
        END $$`,
      `CREATE TRIGGER ${table}_append_only BEFORE ${change} ON ${table}
        FOR EACH ROW EXECUTE FUNCTION refuse_${table}_change()`,
    ],
    compareBytes: (table, columns) => {
      const changes = columns.map((column) => `ALTER COLUMN ${column} TYPE text COLLATE "C"`)
      return [`ALTER TABLE ${table} ${changes.join(', ')}`]
    },
  },
  shared: {
    // The control file has the timeline from before a promotion until the next checkpoint.
    system: `SELECT system_identifier || '/' || CAST('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) AS bit(32))::int
      AS system FROM pg_control_system()`,
    // Users other than superusers see of replication only that there is some, unless they have pg_monitor. A base backup is no standby.
    durability: `SELECT current_setting('fsync') AS fsync, current_setting('full_page_writes') AS full_page_writes,
      current_setting('synchronous_commit') AS synchronous_commit, current_setting('synchronous_standby_names') AS synchronous_names,
      COUNT(*) AS standbys, COUNT(*) FILTER (WHERE state IS NULL) AS hidden,
      COUNT(*) FILTER (WHERE sync_state IN ('sync', 'quorum')) AS synchronous
      FROM pg_stat_replication WHERE state IS DISTINCT FROM 'backup'`,
    createUnlogged: 'CREATE UNLOGGED TABLE',
    deleteSome: (table, condition) => `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM ${table} WHERE ${condition} LIMIT ? FOR UPDATE SKIP LOCKED)) RETURNING 1 AS one`,
  },
}

/**
 * Makes the one statement of `changes.ts`. Postgres carries out every part, also one that no other reads; a part that reads `grown` comes after it.
 */
function changesStatement(): string {
  const given = (name: (typeof PARAMETERS)[number]) => `$${PARAMETERS.indexOf(name) + 1}`
  const { held, grown, moved, added, heads, inserted } = changeParts(expressions, given, {
    lock: 'FOR NO KEY UPDATE',
    isHeld: 'EXISTS (SELECT FROM held)',
    isGrown: `(SELECT COUNT(*) FROM grown) = ${given('head_count')} AND EXISTS (SELECT FROM held)`,
    heads: 'moved_heads',
  })
  const count = (part: string) => `(SELECT COUNT(*) FROM ${part})`
  const changed = (from: string) => `RETURNING claims.claim_id, claims.attempts, ${from}.last_check`
  // A sentence is no integer, so the cast of one fails with an error that quotes it.
  return `WITH held AS (${held}), grown AS (${grown} RETURNING 1), moved AS (${moved} ${changed('moved')}), added AS (${added} ${changed('claims')}),
    checked AS (${keepChecks('(SELECT * FROM moved UNION ALL SELECT * FROM added)')}),
    moved_heads AS (${heads} RETURNING workspace_id, last_number),
    ${inserted.map((part, index) => `inserted_${index} AS (${part})`).join(',\n')}
    SELECT CAST(CASE WHEN ${count('held')} <> 1 OR ${count('grown')} <> ${given('head_count')} THEN 'the log has moved on'
      WHEN ${count('moved')} <> ${given('progress_count')} THEN 'a claim has moved on'
      WHEN ${count('added')} <> ${given('new_count')} THEN 'a new claim may not be stored' ELSE '0' END AS integer)`
}

/**
 * Opens a Postgres database.
 * @throws StorageError
 */
export async function openPostgres(
  url: string,
  {
    schema,
    beforeStatement,
    asIs = false,
    prepareSchema = asIs ? requireThisSchema : migrate,
    patient = false,
    readUrl,
  }: OpenStorageOptions,
): Promise<OpenedStorage> {
  const common = { schema, beforeStatement }
  const { pool, storage } = storageAt(url, common, { silenceMs: patient ? 0 : SILENCE_MS, byKeys: !patient })
  try {
    await requireUtf8(pool)
    const prepared = await prepareSchema(pool, postgres, schema)
    if (readUrl === undefined) return { ...storage, ...prepared }
    const { storage: at } = storageAt(readUrl, common, REPLICA)
    const replica = readsOfReplica(storage.read, at.read)
    const close = async () => {
      await at.close()
      await storage.close()
    }
    return { ...storage, ...replica, close, ...prepared }
  } catch (error) {
    await storage.close()
    if (error instanceof StorageError) throw error
    // The driver's messages never hold the password.
    throw new StorageError('unavailable', `cannot open the database: ${(error as Error).message}`, {
      cause: error,
      mayReturn: mayReturn(error),
    })
  }
}

interface Use extends Pick<PoolOptions, 'timeoutMs' | 'isReplica'> {
  /** The time limit of a statement, in milliseconds; 0 is none. */
  readonly silenceMs: number
  /** True to have rows looked up by their keys. */
  readonly byKeys: boolean
}

function storageAt(
  url: string,
  options: Pick<OpenStorageOptions, 'schema' | 'beforeStatement'>,
  { silenceMs, byKeys, ...connecting }: Use,
) {
  const open = new Set<Client>()
  // A pooler's session that several clients share keeps neither settings nor prepared statements: each transaction begins with its own.
  const isShared = /[?&]pgbouncer=true(&|$)/.test(url)
  const settings = byKeys ? [...LIMITS, ...BY_KEYS] : LIMITS
  const first = isShared ? '' : settings.map((setting) => `SET ${setting}`).join('; ')
  const pool = openPool(url, { open, settings: first, ...connecting })
  const begin = [postgres.begin, ...settings.map((setting) => `SET LOCAL ${setting}`)].join('; ')
  const limit = { query_timeout: silenceMs }
  const run: Pools<Client>['run'] = async (connection, sql, bindings, { replanned } = {}) => {
    const text = isShared && sql === postgres.begin ? begin : numbered(sql)
    const query = replanned || isShared ? { text } : prepare(sql, text)
    const asked = { ...query, values: [...bindings], ...limit }
    return (await keepUsable(connection, open, connection.query(asked))).rows
  }
  const pools = { built: limit, dialect: postgres, driver: 'pg', label: 'the database', reader: pool, writer: pool }
  const storage = createStorage<Client>({ ...pools, ...options, run, discard, limitsTransactions: isShared })
  return { pool, storage }
}

/**
 * Requires a database in UTF-8: in another encoding it changes or refuses what claims say.
 * @throws StorageError `encoding`
 */
async function requireUtf8(pool: Knex): Promise<void> {
  const { rows } = await pool.raw('SHOW server_encoding')
  const encoding = rows[0].server_encoding
  if (encoding === 'UTF8') return
  const message = `the database stores text as ${encoding}, and Claimcheck needs UTF8: create one with CREATE DATABASE claimcheck TEMPLATE template0 ENCODING 'UTF8', and name it in DATABASE_URL`
  throw new StorageError('encoding', message)
}

const names = new Map<string, string>()

/** Names each statement's text in the same way on every host: behind a pooler they share sessions. */
function prepare(sql: string, text: string): { readonly name: string; readonly text: string } {
  const name = names.get(sql) ?? `claimcheck_${hash('sha256', text).slice(0, 32)}`
  names.set(sql, name)
  return { name, text }
}

const texts = new Map<string, string>()

/** Replaces the marks `?` of a statement with `$1`, `$2` and so on. */
function numbered(sql: string): string {
  let marks = 0
  const text = texts.get(sql) ?? sql.replaceAll('?', () => `$${++marks}`)
  texts.set(sql, text)
  return text
}
