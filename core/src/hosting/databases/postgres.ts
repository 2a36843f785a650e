/** Runs a declared statement in Postgres, by the driver `pg` that the host has. */
import { requireNamed } from '../sockets/identifiers.ts'
import type { QueryResult, SecretQuery } from '../sockets/query.ts'
import { type DatabaseAddress, runBounded, STATEMENT_TIMEOUT_MS } from './bounds.ts'

/** The used part of the driver `pg`. */
export interface PostgresDriver {
  readonly Client: new (
    options: object,
  ) => {
    connect(): Promise<unknown>
    query(asked: object | string): Promise<unknown>
    on(event: 'error', listener: () => void): unknown
    readonly connection: { attachListeners(stream: Stream): unknown }
  }
}

interface Stream {
  on(event: string, listener: (value?: unknown) => void): unknown
}

interface Rows {
  readonly fields: readonly { readonly name: string }[]
  readonly rows: readonly (readonly (string | null)[])[]
}

/** Begins a transaction in which a called function can change nothing, and which is rolled back, so that what is sent at its end never is. */
const BEGIN = [
  'BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED READ ONLY',
  `SET LOCAL statement_timeout = ${STATEMENT_TIMEOUT_MS}`,
  "SET LOCAL TIME ZONE 'UTC'",
  "SET LOCAL DateStyle = 'ISO'",
  "SET LOCAL IntervalStyle = 'iso_8601'",
  "SET LOCAL bytea_output = 'hex'",
  'SET LOCAL extra_float_digits = 1',
  // Backslashes in a declared text are refused; in this form they would mean nothing.
  'SET LOCAL standard_conforming_strings = on',
  // Functions are those of Postgres, whichever path the database's owner has set. An operator on an owner's own type may be the owner's: a
  // statement names `OPERATOR(pg_catalog.=)` for one that is not.
  `SELECT pg_catalog.set_config('search_path', pg_catalog.btrim(pg_catalog.concat('pg_catalog, ',
    pg_catalog.current_setting('search_path')), ', '), true)`,
].join('; ')

/** Runs a declared statement. @throws DestinationError where the database gives no rows */
export function queryPostgres(
  { Client }: PostgresDriver,
  { address, port, tls, createSocket }: DatabaseAddress,
  asked: SecretQuery,
): Promise<QueryResult> {
  const { user, secret, database, text, named, values, now } = asked
  const socket = createSocket()
  return runBounded(socket, asked, codeOf, async () => {
    const client = new Client({
      host: address,
      port,
      user,
      password: secret,
      database,
      ssl: tls ?? false,
      stream: () => socket,
      application_name: 'claimcheck',
      enableChannelBinding: true,
      types: { getTypeParser: () => (value: unknown) => value },
    })
    client.on('error', () => {})
    catchParser(client.connection, (error) => socket.destroy(error))
    await client.connect()
    await client.query(BEGIN)
    // The extended protocol takes one statement and no more.
    const run = (text: string, values: SecretQuery['values']) =>
      client.query({ text, values: [...values], rowMode: 'array', queryMode: 'extended' }) as Promise<Rows>
    if (named) requireNamed(named, (await run(COLUMNS, [named.schema, named.table])).rows)
    const found = await run(text, values)
    const askedAt = now()
    const told = await run(CLOCK, [])
    const answeredAt = now()
    await client.query('ROLLBACK')
    const at = Math.trunc(Number(told.rows[0]?.[0]))
    return {
      columns: found.fields.map(({ name }) => name),
      rows: found.rows,
      now: at,
      clock: { at, resolutionMs: 1, askedAt, answeredAt },
    }
  })
}

/** Catches the driver's parser, which throws for what no Postgres says. Uncaught, that would end the host. */
function catchParser(connection: { attachListeners(stream: Stream): unknown }, failed: (error: Error) => void): void {
  const attach = connection.attachListeners.bind(connection)
  connection.attachListeners = (stream) =>
    attach({
      on: (event, listener) =>
        stream.on(event, (value) => {
          try {
            listener(value)
          } catch (error) {
            failed(error as Error)
          }
        }),
    })
}

/**
 * Lists the columns of a base table: a view, or a foreign table below it, could run functions and programs outside of the transaction. The
 * names are compared as texts, because a value of the type `name` is cut to 63 bytes.
 */
const COLUMNS = `WITH RECURSIVE part AS (
    SELECT c.oid, c.relkind FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname::text = $1::text AND c.relname::text = $2::text
      AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
    UNION SELECT c.oid, c.relkind FROM part JOIN pg_catalog.pg_inherits AS i ON i.inhparent = part.oid
    JOIN pg_catalog.pg_class AS c ON c.oid = i.inhrelid)
  SELECT n.nspname::text, c.relname::text, a.attname::text FROM pg_catalog.pg_class AS c
  JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
  JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  WHERE n.nspname::text = $1::text AND c.relname::text = $2::text AND c.oid IN (SELECT oid FROM part)
    AND NOT EXISTS (SELECT FROM part WHERE relkind NOT IN ('r', 'p'))`
const CLOCK = 'SELECT extract(epoch FROM clock_timestamp()) * 1000'

/** The meaning of an error, by its SQLSTATE. */
function codeOf(error: unknown) {
  const { code, message = '' } = error as { readonly code?: unknown; readonly message?: string }
  if (/SASL|SCRAM|password/i.test(message) && typeof code !== 'string') return 'unexpected_response'
  if (typeof code !== 'string' || !/^[0-9A-Z]{5}$/.test(code)) return undefined
  if (code.startsWith('28')) return 'unauthorized'
  if (code === '42501') return 'forbidden'
  if (code === '3D000') return 'misconfigured'
  // The code of cancellation, here by the statement's own time limit.
  if (code === '57014') return 'timeout'
  if (/^(?:08|53|57|58)/.test(code)) return 'unavailable'
  return 'unexpected_response'
}
