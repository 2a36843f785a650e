/** Checks the logs and the signing keys against the heads, and finds rows that belong to nothing. */
import { logIdOf } from '@claimcheck/core/log'
import type { Problems } from '../../../base/problems.ts'
import type { SigningKeyRow } from '../../../storage/log.ts'
import type { LogRow, TreeHeadRow } from '../../../storage/log-state.ts'
import type { Schema } from '../../../storage/schema.ts'
import type { Reads } from '../../../storage/storage.ts'
import type { Ending } from './heads.ts'
import { publicKeyOf } from './key-ring.ts'

const MAX_STRAYS = 1000

export function checkLogRow(
  { logId, name, begunAt, endedAt, archivedAt, contradictedBy }: LogRow,
  { first, newest, keys }: Ending,
  problems: Problems,
): void {
  const addProblem = (problem: string) => problems.add(`log ${logId}: ${problem}`)
  if (logIdOf(name) !== logId) addProblem('log_id is not the hash of name')
  if (first && first.issuedAt !== begunAt) addProblem('begun_at is not the time of its first tree head')
  if (contradictedBy !== null && endedAt === null)
    addProblem('it lacks entries that were signed: the database is an old one')
  if (archivedAt !== null && endedAt === null) addProblem('it is archived and open')
  if (endedAt !== null && endedAt < Math.max(begunAt, newest?.issuedAt ?? 0))
    addProblem('ended_at is before its last tree head')
  if (endedAt !== null) return
  if (!newest) addProblem('it is open, and has no tree head')
  else if (!keys.some(({ keyId, revokedAt }) => keyId === newest.keyId && revokedAt === null))
    addProblem('the key of its newest tree head is not an active signing key')
}

/** The window of each key begins with a head that it signed, and ends when the window of the next key begins. */
export function checkKeys(
  rows: readonly SigningKeyRow[],
  firstHeads: ReadonlyMap<string, TreeHeadRow>,
  isArchived: boolean,
  problems: Problems,
): void {
  for (const [index, row] of rows.entries()) {
    const addProblem = (problem: string) => problems.add(`signing key ${row.keyId}: ${problem}`)
    const next = rows[index + 1]
    if (!publicKeyOf(row)) addProblem('key_id is not the hash of public_key')
    if (row.revokedAt !== (next?.validFrom ?? null)) addProblem('revoked_at is not the valid_from of the next key')
    const first = firstHeads.get(row.keyId)
    // Its heads may be in the archive of their log.
    if (!first && isArchived) continue
    if (first?.issuedAt !== row.validFrom) addProblem('valid_from is not the time of its first tree head')
  }
}

/** Finds rows that belong to nothing. */
export async function checkStrays(
  { doctor }: Pick<Reads, 'doctor'>,
  schema: Schema,
  problems: Problems,
): Promise<void> {
  for (const { leaf_index, receipt_id } of await doctor.strayReceipts(MAX_STRAYS)) {
    problems.add(`receipt ${receipt_id} (leaf ${leaf_index}): the log does not reach it`)
  }
  for (const { table, id, missing } of await doctor.orphans(schema, MAX_STRAYS)) {
    problems.add(`${table} ${id}: there is no ${missing}`)
  }
}
