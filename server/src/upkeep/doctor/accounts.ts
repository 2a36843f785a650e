/** People, workspaces, API keys and connections: little follows from other rows here, and what does is held against it. */
import { instantOf } from '../../base/ids.ts'
import type { Secrets } from '../../base/secrets.ts'
import { recordContext } from '../../base/tokens.ts'
import type { Row } from '../../storage/db.ts'
import type { Reads } from '../../storage/storage.ts'
import { secretContext } from '../../workspaces/connections.ts'
import { parseJson } from './check-record.ts'
import type { Problems } from './problems.ts'

type Opener = Pick<Secrets, 'open'>

const ROWS_PER_READ = 500
/** Between the making of an id and the time beside it a destination may be probed. */
const LONGEST_MAKING_MS = 5 * 60_000
const HASH = /^[0-9a-f]{64}$/
const PASSWORD_HASH = /^\$argon2id\$v=19\$m=\d+,t=\d+,p=\d+\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/
const ROLES = ['owner', 'member']
const LINK_COLUMNS = ['workspace_id', 'role', 'user_id']
const LINKS: Readonly<Record<string, readonly string[]>> = {
  setup: [],
  invitation: ['workspace_id', 'role'],
  reset: ['user_id'],
}
const LAST_FOUR = /^[A-Za-z0-9_-]{4}$/

export async function checkAccounts(audit: Reads['audit'], problems: Problems, secrets?: Opener): Promise<void> {
  const checks = {
    users: (row: Row) => [...timeProblems(row, 'created_at'), ...userProblems(row)],
    members: (row: Row) => [...timeProblems(row, 'created_at'), ...oneOf(row, 'role', ROLES)],
    sessions: (row: Row) => [
      ...timeProblems(row, 'created_at', 'expires_at'),
      ...timeProblems(row, 'created_at', 'last_seen_at'),
      ...hashProblems(row, 'token_hash'),
    ],
    links: (row: Row) => [
      ...timeProblems(row, 'created_at', 'expires_at'),
      ...timeProblems(row, 'created_at', 'used_at'),
      ...hashProblems(row, 'token_hash'),
      ...linkProblems(row),
    ],
    workspaces: (row: Row) => timeProblems(row, 'created_at'),
    api_keys: (row: Row) => [
      ...timeProblems(row, 'created_at', 'revoked_at'),
      ...timeProblems(row, 'created_at', 'last_used_at'),
      ...hashProblems(row, 'key_hash'),
      ...(LAST_FOUR.test(String(row.last_four)) ? [] : ['last_four are no letters of a key']),
    ],
    connections: (row: Row) => [
      ...timeProblems(row, 'connected_at', 'disconnected_at'),
      ...connectionProblems(row, secrets),
    ],
  } as const
  for (const [table, check] of Object.entries(checks)) {
    for (let after: string | undefined = ''; after !== undefined; ) {
      const rows: readonly Row[] = await audit.rows(table as keyof typeof checks, after, ROWS_PER_READ)
      for (const row of rows) for (const problem of check(row)) problems.complain(`${table} ${row.id}: ${problem}`)
      after = rows.length === 0 ? undefined : String(rows.at(-1)!.id)
    }
  }
  if (secrets) await checkRecords(audit, problems, secrets)
}

async function checkRecords(audit: Reads['audit'], problems: Problems, secrets: Opener): Promise<void> {
  for (let rows = await audit.records(['', ''], ROWS_PER_READ); rows.length > 0; ) {
    for (const { kind, idHash, payload } of rows) {
      if (!opens(secrets, payload, recordContext(kind, idHash))) {
        problems.complain(`records ${kind} ${idHash}: it does not open with SECRET_KEY`)
      }
    }
    const last = rows.at(-1)!
    rows = await audit.records([last.kind, last.idHash], ROWS_PER_READ)
  }
}

function opens(secrets: Opener, sealed: string, context: string): boolean {
  try {
    secrets.open(sealed, context)
    return true
  } catch {
    return false
  }
}

function timeProblems(row: Row, begin: string, end?: string): string[] {
  const problems: string[] = []
  const begun = Number(row[begin])
  const madeAt = instantOf(String(row.id)) ?? begun
  if (!(Math.abs(begun - madeAt) <= LONGEST_MAKING_MS)) problems.push(`${begin} is not the time in its id`)
  if (end && row[end] !== null && !(Number(row[end]) >= madeAt)) problems.push(`${end} is before it was made`)
  return problems
}

function hashProblems(row: Row, column: string): string[] {
  return HASH.test(String(row[column])) ? [] : [`${column} is no SHA-256 in hex`]
}

function oneOf(row: Row, column: string, values: readonly string[]): string[] {
  return values.includes(String(row[column])) ? [] : [`${column} is none that there is`]
}

function userProblems({ email, password_hash: hash }: Row): string[] {
  const problems: string[] = []
  if (!/^[^@\s]+@[^@\s]+$/.test(String(email)) || String(email) !== String(email).toLowerCase()) {
    problems.push('email is no address in lower case')
  }
  if (hash !== null && !PASSWORD_HASH.test(String(hash))) problems.push('password_hash is no argon2id')
  return problems
}

/** Each kind has what it is about, and nothing else. */
function linkProblems(row: Row): string[] {
  const about = LINKS[String(row.kind)]
  if (!about) return ['kind is none that there is']
  if (row.role !== null && !ROLES.includes(String(row.role))) return ['role is none that there is']
  // A set-up link that was used names the account that it made; older ones do not.
  const free = row.kind === 'setup' && row.used_at !== null ? 'user_id' : undefined
  const bound = LINK_COLUMNS.filter((column) => column !== free)
  return bound
    .filter((column) => (row[column] !== null) !== about.includes(column))
    .map((column) => `${column} does not go with its kind`)
}

function connectionProblems(row: Row, opener: Opener | undefined): string[] {
  const problems: string[] = []
  const [options, scopes, notes, sealed] = [row.options, row.scopes, row.notes, row.sealed_secrets].map((text) =>
    parseJson(String(text)),
  )
  if (typeof options !== 'object' || options === null || Array.isArray(options)) problems.push('options are no object')
  if (!Array.isArray(scopes)) problems.push('scopes are no list')
  if (!Array.isArray(notes)) problems.push('notes are no list')
  if (typeof sealed !== 'object' || sealed === null || Array.isArray(sealed)) {
    return [...problems, 'sealed_secrets are no object']
  }
  const secrets = Object.entries(sealed)
  if (row.disconnected_at !== null && secrets.length > 0) problems.push('it is disconnected and keeps secrets')
  for (const [name, text] of secrets) {
    if (opener && !opens(opener, String(text), secretContext(String(row.id), name))) {
      problems.push(`sealed_secrets: ${name} does not open with SECRET_KEY`)
    }
  }
  return problems
}
