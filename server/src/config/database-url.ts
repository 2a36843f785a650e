/** The database's URL: reads it, and shows it without its password. */
import { resolve } from 'node:path'
import type { Report } from './report.ts'

const SQLITE = 'sqlite:'

const SCHEMES: Readonly<Record<string, (url: string, cwd: string, report: Report) => string>> = {
  sqlite: readSqliteUrl,
  postgres: readPostgresUrl,
  postgresql: readPostgresUrl,
}

/** Returns `sqlite:` with an absolute path, or a `postgres:` URL. */
export function readDatabaseUrl(text: string, cwd: string, report: Report): string {
  const [, scheme = ''] = /^([a-z]+):/.exec(text) ?? []
  if (Object.hasOwn(SCHEMES, scheme)) return SCHEMES[scheme]!(text, cwd, report)
  // Does not repeat the text after the scheme, which may contain a password.
  const supported = Object.keys(SCHEMES).join(', ')
  report(
    `DATABASE_URL: ${scheme ? `the scheme ${scheme}` : 'a URL without a scheme'} is not supported; use one of ${supported}`,
  )
  return ''
}

/** The path of a SQLite database; undefined for Postgres. */
export function sqliteFile(databaseUrl: string): string | undefined {
  return databaseUrl.startsWith(SQLITE) ? databaseUrl.slice(SQLITE.length) : undefined
}

export function isPostgresUrl(databaseUrl: string): boolean {
  return databaseUrl.startsWith('postgres:')
}

/** The URL as the service shows it: without the password and without the parameters, which may contain one, too. */
export function describeDatabase(databaseUrl: string): string {
  if (!isPostgresUrl(databaseUrl)) return databaseUrl
  const url = new URL(databaseUrl)
  if (url.password !== '') url.password = '***'
  url.search = ''
  return url.href
}

function readSqliteUrl(url: string, cwd: string, report: Report): string {
  const path = url.slice(SQLITE.length)
  if (path === '' || path.startsWith(':memory:')) report('DATABASE_URL: must be sqlite: and the path of a file')
  return SQLITE + resolve(cwd, path)
}

function readPostgresUrl(url: string, _cwd: string, report: Report): string {
  const { hostname = '', pathname = '', searchParams } = URL.canParse(url) ? new URL(url) : {}
  // A URL can name the folder of a Unix socket only as the parameter `host`.
  const hasHost = hostname !== '' || searchParams?.has('host')
  if (!hasHost || pathname.length < 2) report('DATABASE_URL: must be like postgres://user:password@host/database')
  return url.replace(/^postgresql:/, 'postgres:')
}
