/** Where the database is, as configuration says it and as people may see it. */
import { resolve } from 'node:path'

type Complain = (problem: string) => void

const SQLITE = 'sqlite:'

const SCHEMES: Readonly<Record<string, (url: string, cwd: string, complain: Complain) => string>> = {
  sqlite: readSqliteUrl,
  postgres: readPostgresUrl,
  postgresql: readPostgresUrl,
}

/** As `sqlite:` with an absolute path, or as a `postgres:` URL. */
export function readDatabaseUrl(text: string, cwd: string, complain: Complain): string {
  const [, scheme = ''] = /^([a-z]+):/.exec(text) ?? []
  if (Object.hasOwn(SCHEMES, scheme)) return SCHEMES[scheme]!(text, cwd, complain)
  // What stands behind the scheme may hold a password.
  const known = Object.keys(SCHEMES).join(', ')
  complain(`DATABASE_URL: ${scheme || 'that'} is not a database of this version, which knows ${known}`)
  return ''
}

/** Undefined for a Postgres database. */
export function sqliteFile(databaseUrl: string): string | undefined {
  return databaseUrl.startsWith(SQLITE) ? databaseUrl.slice(SQLITE.length) : undefined
}

export function isPostgresUrl(databaseUrl: string): boolean {
  return databaseUrl.startsWith('postgres:')
}

/** For people: without the password, and without the parameters, where one may stand as well. */
export function describeDatabase(databaseUrl: string): string {
  if (!isPostgresUrl(databaseUrl)) return databaseUrl
  const url = new URL(databaseUrl)
  if (url.password !== '') url.password = '***'
  url.search = ''
  return url.href
}

function readSqliteUrl(url: string, cwd: string, complain: Complain): string {
  const path = url.slice(SQLITE.length)
  if (path === '' || path.startsWith(':memory:')) complain('DATABASE_URL: sqlite: and the path of a file')
  return SQLITE + resolve(cwd, path)
}

function readPostgresUrl(url: string, _cwd: string, complain: Complain): string {
  const { hostname = '', pathname = '', searchParams } = URL.canParse(url) ? new URL(url) : {}
  // The folder of a socket has no other place than a parameter.
  const hasHost = hostname !== '' || searchParams?.has('host')
  if (!hasHost || pathname.length < 2) complain('DATABASE_URL: postgres://user:password@host/database')
  return url.replace(/^postgresql:/, 'postgres:')
}
