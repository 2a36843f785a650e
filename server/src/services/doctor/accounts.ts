/** Workspaces, API keys and connections: little follows from other rows here, and what does is held against it. */

import { instantOf } from '../../ids.ts'
import type { Secrets } from '../../secrets.ts'
import type { Row } from '../../storage/db.ts'
import type { Reads } from '../../storage/storage.ts'
import { secretContext } from '../connections.ts'
import { parseJson } from './check-record.ts'
import type { Problems } from './problems.ts'

type Opener = Pick<Secrets, 'open'>

const ROWS_PER_READ = 500
/** Between the making of an id and the time beside it a destination may be probed. */
const LONGEST_MAKING_MS = 5 * 60_000
const KEY_HASH = /^[0-9a-f]{64}$/
const LAST_FOUR = /^[A-Za-z0-9_-]{4}$/

export async function checkAccounts(audit: Reads['audit'], problems: Problems, secrets?: Opener): Promise<void> {
  const checks = {
    workspaces: (row: Row) => timeProblems(row, 'created_at'),
    api_keys: (row: Row) => [...timeProblems(row, 'created_at', 'revoked_at'), ...keyProblems(row)],
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
}

function timeProblems(row: Row, begin: string, end?: string): string[] {
  const problems: string[] = []
  const begun = Number(row[begin])
  const madeAt = instantOf(String(row.id)) ?? begun
  if (!(Math.abs(begun - madeAt) <= LONGEST_MAKING_MS)) problems.push(`${begin} is not the time in its id`)
  if (end && row[end] !== null && !(Number(row[end]) >= madeAt)) problems.push(`${end} is before it was made`)
  return problems
}

function keyProblems(row: Row): string[] {
  const problems: string[] = []
  if (!KEY_HASH.test(String(row.key_hash))) problems.push('key_hash is no SHA-256 in hex')
  if (!LAST_FOUR.test(String(row.last_four))) problems.push('last_four are no letters of a key')
  return problems
}

function connectionProblems(row: Row, opener: Opener | undefined): string[] {
  const problems: string[] = []
  const [options, scopes, sealed] = [row.options, row.scopes, row.sealed_secrets].map((text) => parseJson(String(text)))
  if (typeof options !== 'object' || options === null || Array.isArray(options)) problems.push('options are no object')
  if (!Array.isArray(scopes)) problems.push('scopes are no list')
  if (typeof sealed !== 'object' || sealed === null || Array.isArray(sealed)) {
    return [...problems, 'sealed_secrets are no object']
  }
  const secrets = Object.entries(sealed)
  if (row.disconnected_at !== null && secrets.length > 0) problems.push('it is disconnected and keeps secrets')
  for (const [name, text] of secrets) {
    try {
      opener?.open(String(text), secretContext(String(row.id), name))
    } catch {
      problems.push(`sealed_secrets: ${name} does not open with SECRET_KEY`)
    }
  }
  return problems
}
