/** Where the database is, as configuration says it and as people may see it. */
import { resolve } from 'node:path'

type Complain = (problem: string) => void

interface Scheme {
  /** The URL in its one form. Complains of what it lacks. */
  read(url: string, cwd: string, complain: Complain): string
  /** Without anything secret. */
  describe(url: string): string
  /** Several hosts may use the database. */
  readonly isShared: boolean
}

const SQLITE = 'sqlite:'

const SCHEMES = {
  sqlite: { read: readFileUrl, describe: (url) => url, isShared: false },
  postgres: { read: readServerUrl, describe: describeServer, isShared: true },
} as const satisfies Readonly<Record<string, Scheme>>

export type DatabaseScheme = keyof typeof SCHEMES

const OTHER_NAMES: Readonly<Record<string, DatabaseScheme>> = { postgresql: 'postgres' }

/** As `sqlite:` with an absolute path, or as a `postgres:` URL. */
export function readDatabaseUrl(text: string, cwd: string, complain: Complain): string {
  const [, written = '', rest = ''] = /^([a-z]+)(:.*)$/s.exec(text) ?? []
  const scheme = OTHER_NAMES[written] ?? written
  if (Object.hasOwn(SCHEMES, scheme)) return SCHEMES[scheme as DatabaseScheme].read(scheme + rest, cwd, complain)
  // What stands behind the scheme may hold a password.
  const known = [...Object.keys(SCHEMES), ...Object.keys(OTHER_NAMES)].join(', ')
  complain(`DATABASE_URL: ${written || 'that'} is not a database of this version, which knows ${known}`)
  return ''
}

/** @param databaseUrl made by `readDatabaseUrl` */
export function schemeOf(databaseUrl: string): DatabaseScheme {
  return databaseUrl.slice(0, databaseUrl.indexOf(':')) as DatabaseScheme
}

/** Several hosts may use the database. False for a URL that could not be read. */
export function isSharedDatabase(databaseUrl: string): boolean {
  return databaseUrl !== '' && SCHEMES[schemeOf(databaseUrl)].isShared
}

/** For people: without the password, and without the parameters, where one may stand as well. */
export function describeDatabase(databaseUrl: string): string {
  return SCHEMES[schemeOf(databaseUrl)].describe(databaseUrl)
}

/** Of a database that needs no server. */
export function fileUrl(path: string): string {
  return SQLITE + path
}

/** Undefined for a database that is not a file. */
export function sqliteFile(databaseUrl: string): string | undefined {
  return databaseUrl.startsWith(SQLITE) ? databaseUrl.slice(SQLITE.length) : undefined
}

function readFileUrl(url: string, cwd: string, complain: Complain): string {
  const path = url.slice(SQLITE.length)
  if (path === '' || path.startsWith(':memory:')) complain('DATABASE_URL: sqlite: and the path of a file')
  return SQLITE + resolve(cwd, path)
}

function readServerUrl(url: string, _cwd: string, complain: Complain): string {
  const { hostname = '', pathname = '', searchParams } = URL.canParse(url) ? new URL(url) : {}
  // The folder of a socket has no other place than a parameter.
  const hasHost = hostname !== '' || searchParams?.has('host')
  if (!hasHost || pathname.length < 2) complain('DATABASE_URL: postgres://user:password@host/database')
  return url
}

function describeServer(databaseUrl: string): string {
  const url = new URL(databaseUrl)
  if (url.password !== '') url.password = '***'
  url.search = ''
  return url.href
}
