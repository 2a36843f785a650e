/** Checks users, workspaces, API keys and connections, as far as their columns follow from other data. */
import { isJsonObject, jsonIn } from '@claimcheck/core/rules'
import { instantOf } from '../../base/ids.ts'
import { readNetwork } from '../../base/networks.ts'
import type { Row } from '../../storage/db.ts'
import { inBatches, problemIf } from '../../storage/row-checks.ts'
import type { Examination } from '../../storage/schema.ts'
import { SIGN_IN_RULES } from './sign-in-rules.ts'

const ROWS_PER_READ = 500
/** The most by which the time of a row may be later than the time in its id: the service may probe a destination in between. */
const MAX_TIME_AFTER_ID_MS = 5 * 60_000
const HASH = /^[0-9a-f]{64}$/
const EMAIL = /^[^@\s]+@[^@\s]+$/
const PASSWORD_HASH = /^\$argon2id\$v=19\$m=\d+,t=\d+,p=\d+\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/
const ROLES = ['owner', 'member']
const METHODS = ['password', 'password_and_code', 'passkey', 'outside']
const LINK_COLUMNS = ['workspace_id', 'role', 'user_id']
const LINKS: Readonly<Record<string, readonly string[]>> = {
  setup: [],
  invitation: ['workspace_id', 'role'],
  reset: ['user_id'],
  address: ['user_id'],
}
const SCOPE = /^[a-z]+:[a-z]+$/
const LAST_FOUR = /^[A-Za-z0-9_-]{4}$/

export async function examineAccounts({ read: { doctor }, problems }: Examination): Promise<void> {
  const checks = {
    users: (row: Row) => [...timeProblems(row, 'created_at', 'closed_at', 'confirmed_at'), ...userProblems(row)],
    members: (row: Row) => [...timeProblems(row, 'created_at'), ...oneOf(row, 'role', ROLES)],
    sessions: (row: Row) => [
      ...timeProblems(row, 'created_at', 'expires_at', 'last_seen_at'),
      ...hashProblems(row, 'token_hash'),
      ...oneOf(row, 'method', METHODS),
    ],
    links: (row: Row) => [
      ...timeProblems(row, 'created_at', 'expires_at', 'used_at'),
      ...hashProblems(row, 'token_hash'),
      ...linkProblems(row),
    ],
    workspaces: (row: Row) => [
      ...timeProblems(row, 'created_at', 'deleted_at'),
      ...oneOf(row, 'sign_in_rule', SIGN_IN_RULES),
    ],
    api_keys: (row: Row) => [
      ...timeProblems(row, 'created_at', 'revoked_at', 'last_used_at'),
      ...hashProblems(row, 'key_hash'),
      ...problemIf(!LAST_FOUR.test(String(row.last_four)), 'last_four is not the end of a key'),
      ...problemIf(!isListOf(row.networks, isNetwork), 'networks is not a list of networks'),
      ...problemIf(row.agent_ids !== null && !isListOf(row.agent_ids, isAgent), 'agent_ids is not a list of agents'),
    ],
    machines: (row: Row) => [
      ...timeProblems(row, 'created_at', 'revoked_at', 'last_used_at'),
      ...hashProblems(row, 'secret_hash'),
      ...problemIf(!LAST_FOUR.test(String(row.last_four)), 'last_four is not the end of a secret'),
      ...problemIf(!isListOf(row.scopes, isScope), 'scopes is not a list of scopes'),
    ],
    connections: (row: Row) => [...timeProblems(row, 'connected_at', 'disconnected_at'), ...connectionProblems(row)],
  } as const
  for (const [table, check] of Object.entries(checks)) {
    const read = (after: string) => doctor.rows(table as keyof typeof checks, after, ROWS_PER_READ)
    for await (const rows of inBatches(read, '', ({ id }) => String(id))) {
      for (const row of rows) for (const problem of check(row)) problems.add(`${table} ${row.id}: ${problem}`)
    }
  }
}

function isListOf(text: unknown, isItem: (item: string) => boolean): boolean {
  const list = jsonIn(String(text))
  return Array.isArray(list) && list.every((item) => typeof item === 'string' && isItem(item))
}

const isAgent = (id: string) => id !== ''
const isScope = (scope: string) => SCOPE.test(scope)

function isNetwork(text: string): boolean {
  try {
    return readNetwork(text) === text
  } catch {
    return false
  }
}

function timeProblems(row: Row, begin: string, ...ends: readonly string[]): string[] {
  const began = Number(row[begin])
  const madeAt = instantOf(String(row.id)) ?? began
  return [
    ...problemIf(!(Math.abs(began - madeAt) <= MAX_TIME_AFTER_ID_MS), `${begin} is not the time in its id`),
    ...ends
      .filter((end) => row[end] !== null && !(Number(row[end]) >= madeAt))
      .map((end) => `${end} is before the time in its id`),
  ]
}

function hashProblems(row: Row, column: string): string[] {
  return problemIf(!HASH.test(String(row[column])), `${column} is not a SHA-256 hash in hex`)
}

function oneOf(row: Row, column: string, values: readonly string[]): string[] {
  return problemIf(!values.includes(String(row[column])), `${column} is not one of ${values.join(', ')}`)
}

function userProblems({ email, password_hash: hash }: Row): string[] {
  const text = String(email)
  return [
    ...problemIf(!EMAIL.test(text) || text !== text.toLowerCase(), 'email is not an address in lower case'),
    ...problemIf(hash !== null && !PASSWORD_HASH.test(String(hash)), 'password_hash is not an argon2id hash'),
  ]
}

/** Checks that a link has the columns that LINKS names for its kind, and no others. */
function linkProblems(row: Row): string[] {
  const expected = LINKS[String(row.kind)]
  if (!expected) return oneOf(row, 'kind', Object.keys(LINKS))
  if (row.role !== null && !ROLES.includes(String(row.role))) return oneOf(row, 'role', ROLES)
  // Used set-up links name the account that they created, except for those of earlier versions.
  const optional = row.kind === 'setup' && row.used_at !== null ? 'user_id' : undefined
  return LINK_COLUMNS.filter((column) => column !== optional)
    .filter((column) => (row[column] !== null) !== expected.includes(column))
    .map((column) => `${column} is ${expected.includes(column) ? 'missing for' : 'not allowed with'} its kind`)
}

const CONNECTION_STATES = ['works', 'reached', 'refused']

function connectionProblems(row: Row): string[] {
  const [options, scopes, notes, sealed, tokens] = [
    row.options,
    row.scopes,
    row.notes,
    row.sealed_secrets,
    row.sealed_tokens,
  ].map((text) => jsonIn(String(text)))
  const problems = [
    ...problemIf(!isJsonObject(options), 'options is not an object'),
    ...problemIf(!Array.isArray(scopes), 'scopes is not a list'),
    ...problemIf(!Array.isArray(notes), 'notes is not a list'),
    ...problemIf(row.identity !== null && !isJsonObject(jsonIn(String(row.identity))), 'identity is not an object'),
    ...(row.state === null ? [] : oneOf(row, 'state', CONNECTION_STATES)),
  ]
  if (!isJsonObject(sealed)) return [...problems, 'sealed_secrets is not an object']
  if (!isJsonObject(tokens)) return [...problems, 'sealed_tokens is not an object']
  const hasSecrets = Object.keys({ ...sealed, ...tokens }).length > 0 || row.source_key !== null
  problems.push(...problemIf(row.disconnected_at !== null && hasSecrets, 'it is disconnected and still has secrets'))
  return problems
}
