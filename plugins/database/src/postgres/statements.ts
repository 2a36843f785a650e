/** The statements that are run in PostgreSQL. */
import type { Statement } from '@claimcheck/core/plugin'
import { MOST_FOUND } from '../table-read.ts'

/** The names by which a claim's key columns are put into a statement. */
export const KEYS = ['first', 'second', 'third'] as const

/**
 * Statements that leave out, step by step, what the account may not read: `whole` has all; `unversioned` lacks the row's version, for an account with rights
 * to single columns; `bare` lacks the database's identity, too.
 */
export const DEPTHS = ['whole', 'unversioned', 'bare'] as const
export type Depth = (typeof DEPTHS)[number]

/**
 * Names the system, its timeline and the database. After a promotion the control file has the new timeline first as the end of recovery, and
 * only after a checkpoint as its own.
 */
const IDENTITY = `(SELECT s.system_identifier::text || '/' || greatest(k.timeline_id, coalesce(r.min_recovery_end_timeline, 0)) || '/' || d.oid
  FROM pg_catalog.pg_control_system() AS s, pg_catalog.pg_control_checkpoint() AS k, pg_catalog.pg_control_recovery() AS r,
    pg_catalog.pg_database AS d WHERE d.datname = current_catalog)`

const TABLE = `pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace`

/** Milliseconds since a time, by the database's clock. */
const since = (time: string) => `extract(epoch FROM pg_catalog.clock_timestamp() - ${time}) * 1000`

/** The row's version, and when it was committed here: what is replayed from elsewhere brings a time of its own. */
const VERSION = `xmin::text AS "row:version",
  CASE WHEN (SELECT s.setting FROM pg_catalog.pg_settings AS s WHERE s.name = 'track_commit_timestamp') = 'on'
    THEN (SELECT ${since('o.timestamp')} FROM pg_catalog.pg_xact_commit_timestamp_origin(xmin) AS o WHERE o.roident = 0) END AS "row:committed"`

/** The category of each column's type, and the name of the type below its domains, if it is one of Postgres. */
const TYPES = `(SELECT json_object_agg(a.attname, json_build_array(t.typcategory, (WITH RECURSIVE below AS (
    SELECT t.oid, t.typname, t.typnamespace, t.typbasetype UNION SELECT b.oid, b.typname, b.typnamespace, b.typbasetype
    FROM below JOIN pg_catalog.pg_type AS b ON b.oid = below.typbasetype)
  SELECT CASE WHEN s.nspname = 'pg_catalog' THEN below.typname::text ELSE '' END FROM below
  JOIN pg_catalog.pg_namespace AS s ON s.oid = below.typnamespace WHERE below.typbasetype = 0)))
  FROM pg_catalog.pg_attribute AS a JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
  WHERE a.attrelid = c.oid AND a.attname::text IN (SELECT json_array_elements_text($3::json)))`

/** Tells whether rows of the table, of a part of it or of what it is a part of come from another database. */
const SUBSCRIBED = `EXISTS (WITH RECURSIVE part AS (SELECT c.oid
    UNION SELECT i.inhrelid FROM part JOIN pg_catalog.pg_inherits AS i ON i.inhparent = part.oid),
  whole AS (SELECT c.oid UNION SELECT i.inhparent FROM whole JOIN pg_catalog.pg_inherits AS i ON i.inhrelid = whole.oid)
  SELECT FROM pg_catalog.pg_subscription_rel AS s WHERE s.srrelid IN (SELECT oid FROM part UNION SELECT oid FROM whole))`

/**
 * Finds rows by the key, beside what tells how far they prove anything, in one look: the next one may reach another server. The inner WHERE
 * comes first, so that each value is read by its column's type. Names with a colon are those of no column.
 */
function rowStatement(keys: readonly string[], depth: Depth): Statement {
  const places = keys.map((name, index) => ({ name, value: `$${index + 4}` }))
  // An owner of a type may have made an operator of the usual name, which would run with the rights of our account.
  const isEqual = places.map(({ name, value }) => `{${name}} OPERATOR(pg_catalog.=) ${value}`).join(' AND ')
  return {
    name: `postgres row by ${keys.length}, ${depth}`,
    text: `SELECT c.oid::text AS "place:table", pg_catalog.row_security_active(c.oid) AS "place:hides",
  pg_catalog.pg_is_in_recovery() AS "place:recovers", ${since('pg_catalog.pg_last_xact_replay_timestamp()')} AS "place:lag",
  ${SUBSCRIBED} AS "place:subscribed", ${TYPES} AS "place:types",
  ${depth === 'bare' ? 'NULL' : IDENTITY} AS "place:identity", found.*
FROM ${TABLE}
LEFT JOIN (SELECT TRUE AS "row:found", r.*
  FROM (SELECT ${depth === 'whole' ? `${VERSION}, ` : ''}{columns} FROM {table} WHERE ${isEqual} LIMIT ${MOST_FOUND}) AS r
) AS found ON TRUE
WHERE n.nspname = $1 AND c.relname = $2`,
    parameters: ['schema', 'name', 'columns', ...keys],
    identifiers: {
      table: 'table',
      columns: 'columns',
      ...Object.fromEntries(keys.map((key) => [key, 'column' as const])),
    },
  }
}

const WRITES = `'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE'`

export const POSTGRES_STATEMENTS: readonly Statement[] = [
  ...[1, 2, 3].flatMap((count) => DEPTHS.map((depth) => rowStatement(KEYS.slice(0, count), depth))),
  { name: 'postgres identity', text: `SELECT ${IDENTITY}` },
  {
    name: 'postgres account',
    text: `SELECT r.rolsuper OR EXISTS (SELECT FROM information_schema.role_table_grants AS g WHERE g.privilege_type IN (${WRITES})),
  pg_catalog.pg_is_in_recovery()
FROM pg_catalog.pg_roles AS r WHERE r.rolname = current_user`,
  },
  {
    name: 'postgres table',
    text: `SELECT pg_catalog.row_security_active(c.oid), (SELECT count(*) FROM (SELECT 1 FROM {table} LIMIT 1) AS one)
FROM ${TABLE} WHERE n.nspname = $1 AND c.relname = $2`,
    parameters: ['schema', 'name'],
    identifiers: { table: 'table' },
  },
]
