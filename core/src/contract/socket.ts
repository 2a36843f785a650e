/** The contract of other protocols than HTTP. A plugin only reads: the manifest declares each command and statement. */
import type { Instant } from '../evidence.ts'
import type { DeclaredCredential } from './auth.ts'

/** One entry of a manifest's `sockets`. */
export type SocketGrant = CommandGrant | StatementGrant

/**
 * A port of the destination; `connection` for the one in the address that the workspace typed. An entry for that number itself comes before
 * it. Of two databases' entries for a typed port, that counts which has the statement of the query.
 */
export type SocketPort = number | 'connection'

/** A mailbox. Core knows the commands that only read; the host starts TLS and logs in. */
export interface CommandGrant {
  readonly port: SocketPort
  /**
   * Tells whether the connection has TLS. With `starttls` it begins in plain, and the host starts TLS before anything else; its address is
   * `tls://host:port`, too.
   */
  readonly tls: boolean | 'starttls'
  readonly protocol: 'imap'
  /** Commands that only read: `EXAMINE`, `UID FETCH`. */
  readonly commands: readonly string[]
}

/** A database. The host connects, logs in, and runs a declared statement in a transaction that only reads. */
export interface StatementGrant {
  readonly port: SocketPort
  readonly tls: boolean
  readonly protocol: 'postgres' | 'mysql'
  readonly statements: readonly Statement[]
}

export interface Statement {
  readonly name: string
  /**
   * The statement: one SELECT, with `$1`, `$2` for the parameters in Postgres, and `?` in MySQL and MariaDB. It calls functions that only compute.
   */
  readonly text: string
  /** The names of the statement's parameters, in the order of their places. */
  readonly parameters?: readonly string[]
  /**
   * The kinds of the names that a check gives for places in braces outside of quotations, such as `{table}`: one base table, and columns of it.
   * A place of the kind `columns` is a list of them.
   */
  readonly identifiers?: Readonly<Record<string, IdentifierKind>>
}

export type IdentifierKind = 'table' | 'column' | 'columns'

/** The mechanism of a login. `login` is IMAP's LOGIN. */
export type LoginMechanism = 'login' | 'plain' | 'scram-sha-256' | 'xoauth2'

/** A login, which the host sends, after TLS if the address is `tls://`. It hands over the connection once the login is accepted. */
export interface Login {
  readonly mechanism: LoginMechanism
  /** The user's name: a text, or the handle of a secret option. */
  readonly user: string
  /**
   * The handle of a secret option: a password, or an access token for `xoauth2`. A declared credential of the scheme `oauth2` stands for its
   * access token, which the host gets, and replaces where the server refuses it.
   */
  readonly secret: string | DeclaredCredential
}

export interface ConnectInit {
  readonly login?: Login
}

export interface Query {
  /** The name of a declared statement. */
  readonly statement: string
  /** Values of the statement's parameters, by name. */
  readonly parameters?: Readonly<Record<string, string | number | boolean | null>>
  /**
   * Names for the statement's identifiers: a table with its schema (in MySQL and MariaDB its database), `public.orders`; a column; a list of
   * columns. They are taken as the catalogue writes them. One that it does not show there is `unsupported_target`.
   */
  readonly identifiers?: Readonly<Record<string, string | readonly string[]>>
  readonly database: string
  readonly login: Pick<Login, 'user' | 'secret'>
}

export interface QueryAnswer {
  readonly columns: readonly string[]
  /** The rows, with values as the database writes them as text, times in UTC; null for NULL. */
  readonly rows: readonly (readonly (string | null)[])[]
  /** The database's clock, read after the statement. */
  readonly now: Instant
}

/** Number of rows beyond which an answer is `too_large`. */
export const MAX_ROWS = 1000

/** A connection that is logged in. The plugin writes whole lines, each of them declared. */
export interface Socket {
  readonly readable: ReadableStream<Uint8Array>
  readonly writable: WritableStream<Uint8Array>
  close(): Promise<void>
}
