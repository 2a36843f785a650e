/** Runs a declared statement in MySQL or MariaDB, by the driver `mysql2` that the host has. */
import { bytesToHex } from '@noble/hashes/utils.js'
import { refusal } from '../failures.ts'
import { requireNamed } from '../sockets/identifiers.ts'
import type { QueryResult, SecretQuery } from '../sockets/query.ts'
import { type DatabaseAddress, type DriverSocket, runBounded, STATEMENT_TIMEOUT_MS } from './bounds.ts'

/** The used part of the driver `mysql2`. */
export interface MysqlDriver {
  createConnection(options: object): Connection
}

interface Connection {
  on(event: 'error', listener: () => void): unknown
  once(event: 'connect' | 'error', listener: (value?: unknown) => void): unknown
  promise(): {
    query(asked: object): Promise<readonly [rows: unknown, fields: unknown]>
    execute(asked: object, values: readonly unknown[]): Promise<readonly [rows: unknown, fields: unknown]>
  }
  readonly packetParser: { onPacket: (packet: { readonly sequenceId: number }) => void }
  readonly sequenceId: number
}

const NO_SUCH_VARIABLE = 1193

/** Lists the columns of a base table: views can run functions, and tables of these engines are elsewhere. */
const COLUMNS = `SELECT t.TABLE_SCHEMA, t.TABLE_NAME, c.COLUMN_NAME FROM information_schema.TABLES AS t
  JOIN information_schema.COLUMNS AS c ON c.TABLE_SCHEMA = t.TABLE_SCHEMA AND c.TABLE_NAME = t.TABLE_NAME
  WHERE t.TABLE_SCHEMA = ? AND t.TABLE_NAME = ? AND c.TABLE_SCHEMA = ? AND c.TABLE_NAME = ?
    AND t.TABLE_SCHEMA NOT IN ('mysql', 'sys', 'performance_schema', 'information_schema')
    AND t.TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED') AND t.ENGINE NOT IN ('FEDERATED', 'CONNECT', 'SPIDER')`

/** Runs a declared statement. @throws DestinationError where the database gives no rows */
export function queryMysql(
  { createConnection }: MysqlDriver,
  { address, port, tls, createSocket }: DatabaseAddress,
  asked: SecretQuery,
): Promise<QueryResult> {
  const { user, secret, database, text, named, values, now } = asked
  const socket = createSocket()
  return runBounded(socket, asked, codeOf, async () => {
    // Without a name, the driver would take a certificate of `localhost`.
    if (tls?.servername === '') throw refusal('MySQL is read over TLS by a name, and not by an IP address')
    socket.connect(port, address)
    const opened = createConnection({
      // The name that TLS verifies: the socket is connected already.
      host: tls?.servername ?? address,
      port,
      user,
      password: secret,
      database,
      stream: socket,
      ...(tls && { ssl: { ...tls, verifyIdentity: true } }),
      // Forbids files of this machine, a second statement, and code that is made of the server's answers.
      flags: ['-LOCAL_FILES', '-MULTI_STATEMENTS'],
      multipleStatements: false,
      disableEval: true,
      rowsAsArray: true,
      dateStrings: true,
      jsonStrings: true,
      supportBigNumbers: true,
      bigNumberStrings: true,
      charset: 'utf8mb4',
    })
    opened.on('error', () => {})
    guardPackets(opened, socket)
    await new Promise((resolve, reject) => {
      opened.once('connect', resolve)
      opened.once('error', reject)
    })
    const connection = opened.promise()
    const run = (sql: string) => connection.query({ sql, rowsAsArray: true })
    await run("SET time_zone = '+00:00', sql_mode = 'NO_BACKSLASH_ESCAPES', autocommit = 1")
    await firstKnown(run, [
      `SET max_statement_time = ${STATEMENT_TIMEOUT_MS / 1000}`,
      `SET max_execution_time = ${STATEMENT_TIMEOUT_MS}`,
    ])
    await run('START TRANSACTION READ ONLY')
    if (named) {
      const { schema, table } = named
      const [shown] = await connection.execute({ sql: COLUMNS, rowsAsArray: true }, [schema, table, schema, table])
      requireNamed(named, shown as readonly (readonly unknown[])[])
    }
    const [rows, fields] = await connection.execute({ sql: text, rowsAsArray: true }, values)
    const askedAt = now()
    const [told] = await run('SELECT UNIX_TIMESTAMP(SYSDATE(6)) * 1000')
    const answeredAt = now()
    await run('ROLLBACK')
    const at = Math.trunc(Number((told as string[][])[0]?.[0]))
    return {
      columns: (fields as readonly { readonly name: string }[]).map(({ name }) => name),
      rows: (rows as readonly (readonly unknown[])[]).map((row) => row.map(toText)),
      now: at,
      clock: { at, resolutionMs: 1, askedAt, answeredAt },
    }
  })
}

/**
 * Guards against a hostile server. The driver logs a line for each packet that is out of order, and what its parser throws would end the
 * host.
 */
function guardPackets(connection: Connection, socket: DriverSocket): void {
  const { packetParser } = connection
  const handle = packetParser.onPacket
  packetParser.onPacket = (packet) => {
    if (socket.destroyed) return
    try {
      if (packet.sequenceId === connection.sequenceId) return handle(packet)
    } catch {}
    socket.destroy()
  }
}

/** Runs the first statement that the server knows: MariaDB and MySQL have different names for one limit. */
async function firstKnown(run: (sql: string) => Promise<unknown>, statements: readonly string[]): Promise<void> {
  for (const sql of statements) {
    try {
      await run(sql)
      return
    } catch (error) {
      if ((error as { errno?: unknown }).errno !== NO_SUCH_VARIABLE) throw error
    }
  }
}

function toText(value: unknown): string | null {
  if (value === null || value === undefined) return null
  if (!ArrayBuffer.isView(value)) return String(value)
  return `\\x${bytesToHex(new Uint8Array(value.buffer, value.byteOffset, value.byteLength))}`
}

const CODES: Readonly<Record<number, 'unauthorized' | 'forbidden' | 'misconfigured' | 'timeout' | 'unavailable'>> = {
  1045: 'unauthorized',
  1698: 'unauthorized',
  1044: 'forbidden',
  1142: 'forbidden',
  1143: 'forbidden',
  1227: 'forbidden',
  1370: 'forbidden',
  1049: 'misconfigured',
  1969: 'timeout',
  3024: 'timeout',
  1040: 'unavailable',
  1053: 'unavailable',
  1203: 'unavailable',
}

function codeOf(error: unknown) {
  const { errno, code } = error as { readonly errno?: unknown; readonly code?: unknown }
  // Errors of the system have negative numbers.
  if (typeof errno === 'number' && errno > 0) return CODES[errno] ?? 'unexpected_response'
  return typeof code === 'string' && /^(?:HANDSHAKE_NO_SSL_SUPPORT|PROTOCOL_CONNECTION_LOST)$/.test(code)
    ? 'unavailable'
    : undefined
}
