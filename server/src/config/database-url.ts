/** Reads the URL of the database, and shows it without its password. */
import { accessSync, constants, existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseUrl } from '@claimcheck/core/plugin'
import { isLoopback } from '../base/loopback.ts'
import type { Env, Report } from './section.ts'

interface Scheme {
  /** Returns a database's URL in its one form, and reports what it lacks. */
  read(url: string, cwd: string, report: Report): string
  /** Returns a database's URL without anything secret. */
  describe(url: string): string
  /** True for a kind of database that several hosts may use. */
  readonly isShared: boolean
}

const SQLITE = 'sqlite:'

const SCHEMES = {
  sqlite: { read: readFileUrl, describe: (url) => url, isShared: false },
  postgres: { read: readServerUrl, describe: describeServer, isShared: true },
} as const satisfies Readonly<Record<string, Scheme>>

export type DatabaseScheme = keyof typeof SCHEMES

const OTHER_NAMES: Readonly<Record<string, DatabaseScheme>> = { postgresql: 'postgres' }

export interface Databases {
  /** The URL of the database: `sqlite:` and an absolute path, or a `postgres:` URL, which may contain a password. */
  readonly databaseUrl: string
  /** The URL of a replica for reads, which may lag and be away. */
  readonly databaseReadUrl: string | undefined
}

/**
 * Reads the URLs of the database and its replica.
 * @param otherwise the URL where none is given
 */
export function readDatabases(env: Env, otherwise: string, cwd: string, report: Report): Databases {
  const { DATABASE_URL, DATABASE_READ_URL, DATABASE_PASSWORD_FILE } = env
  const databaseUrl = readDatabaseUrl(DATABASE_URL || otherwise, cwd, report)
  const reportOfReplica: Report = (problem) => report(problem.replace(/^DATABASE_URL/, 'DATABASE_READ_URL'))
  const databaseReadUrl = DATABASE_READ_URL ? readDatabaseUrl(DATABASE_READ_URL, cwd, reportOfReplica) : undefined
  if (databaseReadUrl && !(isSharedDatabase(databaseReadUrl) && isSharedDatabase(databaseUrl)))
    report('DATABASE_READ_URL: must be a replica of DATABASE_URL, both postgres:// URLs')
  if (!DATABASE_PASSWORD_FILE) return { databaseUrl, databaseReadUrl }
  const path = resolve(cwd, DATABASE_PASSWORD_FILE)
  if (!isReadable(path)) report(`DATABASE_PASSWORD_FILE: cannot read ${path}`)
  const completed = withPasswordFile(databaseUrl, path)
  if (isSharedDatabase(databaseUrl) && completed === databaseUrl)
    report('DATABASE_PASSWORD_FILE: DATABASE_URL has a password, too; leave one out')
  return { databaseUrl: completed, databaseReadUrl: databaseReadUrl && withPasswordFile(databaseReadUrl, path) }
}

/** Reads a URL as `sqlite:` with an absolute path, or a `postgres:` URL. */
function readDatabaseUrl(text: string, cwd: string, report: Report): string {
  const [, written = '', rest = ''] = /^([a-z]+)(:.*)$/s.exec(text) ?? []
  const scheme = OTHER_NAMES[written] ?? written
  if (Object.hasOwn(SCHEMES, scheme)) return SCHEMES[scheme as DatabaseScheme].read(scheme + rest, cwd, report)
  // The message does not repeat the text after the scheme, which may contain a password.
  const supported = [...Object.keys(SCHEMES), ...Object.keys(OTHER_NAMES)].join(', ')
  report(
    `DATABASE_URL: ${written ? `the scheme ${written}` : 'a URL without a scheme'} is not supported; use one of ${supported}`,
  )
  return ''
}

/**
 * Returns the scheme of a database's URL.
 * @param databaseUrl made by `readDatabaseUrl`
 */
export function schemeOf(databaseUrl: string): DatabaseScheme {
  return databaseUrl.slice(0, databaseUrl.indexOf(':')) as DatabaseScheme
}

/** Tells whether several hosts may use the database. False for a URL that `readDatabaseUrl` refused. */
export function isSharedDatabase(databaseUrl: string): boolean {
  return databaseUrl !== '' && SCHEMES[schemeOf(databaseUrl)].isShared
}

/** Shows a database's URL without the password and without the parameters, which may contain one, too. */
export function describeDatabase(databaseUrl: string): string {
  return SCHEMES[schemeOf(databaseUrl)].describe(databaseUrl)
}

/** Makes the URL of a database that is a file. */
export function fileUrl(path: string): string {
  return SQLITE + path
}

/** Tells whether a database is a file that is not made yet. */
export function isUnmade(databaseUrl: string): boolean {
  const file = sqliteFile(databaseUrl)
  return file !== undefined && !existsSync(file)
}

/** Returns the path of a database that is a file; undefined for other databases. */
export function sqliteFile(databaseUrl: string): string | undefined {
  return databaseUrl.startsWith(SQLITE) ? databaseUrl.slice(SQLITE.length) : undefined
}

function readFileUrl(url: string, cwd: string, report: Report): string {
  const path = url.slice(SQLITE.length)
  if (path === '' || path.startsWith(':memory:')) report('DATABASE_URL: must be sqlite: and the path of a file')
  return SQLITE + resolve(cwd, path)
}

/** The kinds of servers that a connection to Postgres may lead to, as libpq names them. */
export const SESSION_ATTRS = ['any', 'read-write', 'read-only', 'primary', 'standby', 'prefer-standby'] as const
export type SessionAttrs = (typeof SESSION_ATTRS)[number]

/** The modes of TLS with Postgres. libpq has two more, which go on without TLS where the server, or an attacker in its place, offers none. */
const TLS_MODES = ['disable', 'require', 'verify-ca', 'verify-full']
export const PASSWORD_FILE = 'password_file'
const FILES = ['sslrootcert', 'sslcert', 'sslkey', 'passfile', PASSWORD_FILE]

/** Splits a URL into what precedes the hosts, the hosts, and what follows them. */
function partsOf(serverUrl: string): readonly [user: string, hosts: string, rest: string] {
  const [, user = '', hosts = '', rest = ''] = /^postgres:\/\/([^/?#]*@)?([^/?#]*)(.*)$/s.exec(serverUrl) ?? []
  return [user, hosts, rest]
}

/** Makes a URL for each host that the URL of a Postgres database lists, in order. */
export function serverUrls(databaseUrl: string): readonly string[] {
  const [user, hosts, rest] = partsOf(databaseUrl)
  return hosts.split(',').map((host) => `postgres://${user}${host}${rest}`)
}

/** Lists the servers beyond this machine to which connections go without TLS, because nothing says whether to use it. */
export function serversInClear({ databaseUrl, databaseReadUrl = '' }: Databases): readonly string[] {
  return [databaseUrl, databaseReadUrl].filter(isSharedDatabase).flatMap(serverUrls).flatMap(hostInClear)
}

function hostInClear(serverUrl: string): readonly string[] {
  const { host, hostname, searchParams } = new URL(serverUrl)
  const named = decodeURIComponent(searchParams.get('host') ?? hostname)
  const isNear = named === '' || named.startsWith('/') || isLoopback(named)
  return isNear || [...searchParams.keys()].some((name) => name.startsWith('ssl')) ? [] : [host || named]
}

/** Adds the password from its file. A URL with a password, or of another database, stays as it is. */
function withPasswordFile(databaseUrl: string, path: string): string {
  const [user, hosts, rest] = partsOf(databaseUrl)
  const hasPassword = user.includes(':') || new URLSearchParams(rest.replace(/^[^?]*/, '')).has('password')
  if (!isSharedDatabase(databaseUrl) || hasPassword) return databaseUrl
  const parameter = `?${PASSWORD_FILE}=${encodeURIComponent(path)}`
  return `postgres://${user}${hosts}${rest.includes('?') ? rest.replace('?', `${parameter}&`) : rest + parameter}`
}

function readServerUrl(url: string, _cwd: string, report: Report): string {
  const servers = serverUrls(url).map((server) => parseUrl(server))
  const { pathname = '', searchParams = new URLSearchParams() } = servers[0] ?? {}
  // A URL can name the folder of a Unix socket only as the parameter `host`.
  const hasHosts = servers.every((server) => server && (server.hostname !== '' || searchParams.has('host')))
  if (!hasHosts || pathname.length < 2) report('DATABASE_URL: must be like postgres://user:password@host/database')
  if (searchParams.get('host')?.includes(','))
    report('DATABASE_URL: write several hosts before the database: postgres://user:password@a:5432,b:5432/database')
  const oneOf = (name: string, allowed: readonly string[]) => {
    const value = searchParams.get(name)
    if (value !== null && !allowed.includes(value))
      report(`DATABASE_URL: ${name} must be one of ${allowed.join(', ')}, not ${value}`)
  }
  oneOf('target_session_attrs', SESSION_ATTRS)
  oneOf('sslmode', TLS_MODES)
  if (searchParams.get('sslmode') === 'verify-ca' && !searchParams.has('sslrootcert'))
    report('DATABASE_URL: sslmode=verify-ca needs sslrootcert, the file with the certificates to trust')
  if (searchParams.has('uselibpqcompat'))
    report('DATABASE_URL: leave uselibpqcompat out: sslmode has the meanings of libpq')
  for (const name of FILES) {
    const file = searchParams.get(name)
    if (file !== null && !isReadable(file)) report(`DATABASE_URL: ${name}: cannot read ${file}`)
  }
  return url
}

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK)
    return true
  } catch {
    return false
  }
}

function describeServer(databaseUrl: string): string {
  const [user, hosts, rest] = partsOf(databaseUrl)
  return `postgres://${user.replace(/:.*@/s, ':***@')}${hosts}${rest.replace(/[?#].*/s, '')}`
}
