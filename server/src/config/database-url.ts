/** The database's URL: reads it, and shows it without its password. */
import { resolve } from 'node:path'
import { parseUrl } from '@claimcheck/core/plugin'
import type { Report } from './report.ts'

interface Scheme {
  /** Returns the URL in its one form, and reports what it lacks. */
  read(url: string, cwd: string, report: Report): string
  /** Returns the URL without anything secret. */
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

/** Returns `sqlite:` with an absolute path, or a `postgres:` URL. */
export function readDatabaseUrl(text: string, cwd: string, report: Report): string {
  const [, written = '', rest = ''] = /^([a-z]+)(:.*)$/s.exec(text) ?? []
  const scheme = OTHER_NAMES[written] ?? written
  if (Object.hasOwn(SCHEMES, scheme)) return SCHEMES[scheme as DatabaseScheme].read(scheme + rest, cwd, report)
  // Does not repeat the text after the scheme, which may contain a password.
  const supported = [...Object.keys(SCHEMES), ...Object.keys(OTHER_NAMES)].join(', ')
  report(
    `DATABASE_URL: ${written ? `the scheme ${written}` : 'a URL without a scheme'} is not supported; use one of ${supported}`,
  )
  return ''
}

/** @param databaseUrl made by `readDatabaseUrl` */
export function schemeOf(databaseUrl: string): DatabaseScheme {
  return databaseUrl.slice(0, databaseUrl.indexOf(':')) as DatabaseScheme
}

/** Several hosts may use the database. False for a URL that `readDatabaseUrl` refused. */
export function isSharedDatabase(databaseUrl: string): boolean {
  return databaseUrl !== '' && SCHEMES[schemeOf(databaseUrl)].isShared
}

/** The URL as the service shows it: without the password and without the parameters, which may contain one, too. */
export function describeDatabase(databaseUrl: string): string {
  return SCHEMES[schemeOf(databaseUrl)].describe(databaseUrl)
}

/** The URL of a database that is a file. */
export function fileUrl(path: string): string {
  return SQLITE + path
}

/** The path of a database that is a file; undefined for the others. */
export function sqliteFile(databaseUrl: string): string | undefined {
  return databaseUrl.startsWith(SQLITE) ? databaseUrl.slice(SQLITE.length) : undefined
}

function readFileUrl(url: string, cwd: string, report: Report): string {
  const path = url.slice(SQLITE.length)
  if (path === '' || path.startsWith(':memory:')) report('DATABASE_URL: must be sqlite: and the path of a file')
  return SQLITE + resolve(cwd, path)
}

function readServerUrl(url: string, _cwd: string, report: Report): string {
  const { hostname = '', pathname = '', searchParams } = parseUrl(url) ?? {}
  // A URL can name the folder of a Unix socket only as the parameter `host`.
  const hasHost = hostname !== '' || searchParams?.has('host')
  if (!hasHost || pathname.length < 2) report('DATABASE_URL: must be like postgres://user:password@host/database')
  return url
}

function describeServer(databaseUrl: string): string {
  const url = new URL(databaseUrl)
  if (url.password !== '') url.password = '***'
  url.search = ''
  return url.href
}
