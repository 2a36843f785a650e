/** The servers that a URL of Postgres lists: connects to the first that answers and is of the kind that the URL asks for. */
import { readFile } from 'node:fs/promises'
import { type Client, type ClientConfig, DatabaseError, type QueryConfig } from 'pg'
import { parse, toClientConfig } from 'pg-connection-string'
import { PASSWORD_FILE, type SessionAttrs, serverUrls } from '../config/database-url.ts'

export interface Servers {
  /**
   * Connects to the first suitable server. Certificates and passwords are read anew, because they rotate.
   * @throws NoServerError
   */
  connect(open: (settings: ClientConfig) => Promise<Client>): Promise<Client>
}

export interface ServersOptions {
  readonly settings: ClientConfig
  /** The time limit for all servers together. */
  readonly timeoutMs: number
  /** True for a replica, to which nothing is written. */
  readonly isReplica?: boolean | undefined
}

type Failure = Error & { readonly code?: string }

/** An error that says that no server can be used. */
export class NoServerError extends Error {
  override readonly name = 'NoServerError'
  /** The code that all servers answered; empty when each answered something else, or nothing. */
  readonly code: string
  readonly mayReturn: boolean

  constructor(failures: ReadonlyMap<string, Failure>) {
    const errors = [...failures.values()]
    // Node gives no message where a name has several addresses.
    const answers = [...failures].map(([server, { message, code }]) => `${server}: ${message || code}`)
    super(errors.length === 1 ? errors[0]!.message || errors[0]!.code : answers.join('; '), { cause: errors[0] })
    const [{ code = '' }] = errors as [Failure]
    this.code = errors.every((error) => error.code === code) ? code : ''
    this.mayReturn = errors.some(mayReturn)
  }
}

const ANSWER_MS = 5_000
/**
 * SQLSTATEs of a server that starts or stops, lacks connections, memory or room on its disk, may be promoted, or whose rows or tables another program
 * holds.
 */
const AWAY = /^(53|57P0|08|25006|55P03|40)/
// Node's codes for errors of the network and of TLS: only the database's answer tells what has happened.
const NETWORK_TROUBLE = /^(E[A-Z]{3,}$|EAI_|ERR_(SSL|TLS|STREAM|SOCKET)_)/
const NO_FILE = /^(ENOENT|EACCES|EISDIR)$/
// The driver and knex give these errors no code. knex writes the statement before the driver's message.
const LOST =
  /(?:^| - )(Query read timeout|Connection terminated|Client has encountered|timeout e|Knex: Timeout acquiring|Connection ended|There was an error est)/

/**
 * Tells whether the network is at fault.
 * @param error an error that is no answer of the database
 */
export function isNetworkTrouble(error: unknown): boolean {
  const { code = '', message } = error as { code?: string; message: string }
  return NETWORK_TROUBLE.test(code) || LOST.test(message)
}

/** Tells whether the database may come back by itself. */
export function mayReturn(error: unknown): boolean {
  if (error instanceof NoServerError) return error.mayReturn
  const { code } = error as { code?: string }
  if (error instanceof DatabaseError || error instanceof UnwantedError) return AWAY.test(String(code))
  return isNetworkTrouble(error) && !NO_FILE.test(String(code))
}

/** An error that says that a server answers, but is of another kind than the URL asks for. */
class UnwantedError extends Error {
  readonly code = '25006'
}

export function postgresServers(
  databaseUrl: string,
  { settings, timeoutMs, isReplica = false }: ServersOptions,
): Servers {
  const urls = serverUrls(databaseUrl)
  const { searchParams } = new URL(urls[0]!)
  const given = searchParams.get('target_session_attrs') as SessionAttrs | null
  // A list of several servers may hold a standby, which takes no writes and is of no use by default.
  const wanted = given ?? (urls.length > 1 && !isReplica ? 'read-write' : 'any')
  const rounds: readonly SessionAttrs[] = wanted === 'prefer-standby' ? ['standby', 'any'] : [wanted]
  const own = { ...settings, connectionTimeoutMillis: Math.floor(timeoutMs / (urls.length * rounds.length)) }
  let last = urls[0]!

  return {
    async connect(open) {
      const failures = new Map<string, Failure>()
      for (const attrs of rounds) {
        for (const url of new Set([last, ...urls])) {
          try {
            const connection = await open(await settingsOf(url, own))
            await requireAttrs(connection, attrs)
            last = url
            return connection
          } catch (error) {
            failures.set(new URL(url).host, error as Failure)
          }
        }
      }
      throw new NoServerError(failures)
    },
  }
}

/**
 * Reads the files that the URL names into the settings of a connection.
 * @throws where a file cannot be read
 */
async function settingsOf(url: string, settings: ClientConfig): Promise<ClientConfig> {
  const parsed = parse(url, { useLibpqCompat: true })
  const config = { ...settings, ...toClientConfig(parsed) }
  const { [PASSWORD_FILE]: file, passfile, password } = parsed
  if (password) return config
  if (file) return { ...config, password: await passwordOf(String(file)) }
  if (passfile) return { ...config, password: passwordIn(await readFile(String(passfile), 'utf8'), config) }
  return config
}

async function passwordOf(file: string): Promise<string> {
  const password = (await readFile(file, 'utf8')).replace(/\r?\n$/, '')
  if (password === '') throw new Error(`password file: ${file} is empty`)
  return password
}

/**
 * Finds the password in a password file.
 * @param text in the format of libpq: lines of `host:port:database:user:password`, where `*` matches any
 */
function passwordIn(text: string, { host, port = 5432, database, user }: ClientConfig): string {
  const isSocket = !host || host.startsWith('/')
  const wanted = [isSocket ? 'localhost' : host, String(port), database, user]
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith('#')) continue
    const fields = [...line.matchAll(/((?:\\.|[^:\\])*)(?::|$)/g)].map(([, field]) => field!.replace(/\\(.)/g, '$1'))
    const password = fields[wanted.length]
    if (password && wanted.every((value, index) => fields[index] === '*' || fields[index] === value)) return password
  }
  throw new Error(`passfile: no line is for ${wanted.join(':')}`)
}

/**
 * Ends a connection to a server of another kind.
 * @throws UnwantedError
 */
async function requireAttrs(connection: Client, attrs: SessionAttrs): Promise<void> {
  if (attrs === 'any') return
  const text = `SELECT pg_is_in_recovery() AS standby, current_setting('transaction_read_only') = 'on' AS readonly`
  try {
    const { standby, readonly } = (await connection.query({ text, query_timeout: ANSWER_MS } as QueryConfig)).rows[0]
    const is = { 'read-write': !readonly, 'read-only': readonly, primary: !standby, standby, 'prefer-standby': standby }
    if (!is[attrs])
      throw new UnwantedError(`it is ${standby ? 'a standby' : `a primary${readonly ? ', and read-only' : ''}`}`)
  } catch (error) {
    connection.end().catch(() => {})
    throw error
  }
}
