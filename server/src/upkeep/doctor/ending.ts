/** Checks the row of the log and its signing keys against the heads, and finds rows that belong to nothing. */
import { bytesEqual, logIdOf } from '@claimcheck/core'
import type { SigningKeyRow } from '../../storage/log.ts'
import type { Reads } from '../../storage/storage.ts'
import type { Ending } from './heads.ts'
import { publicKeyOf } from './key-ring.ts'
import type { Problems } from './problems.ts'

const MAX_STRAYS = 1000

export async function checkEnding({ state, keys, newest, firstHeads }: Ending, problems: Problems): Promise<void> {
  checkKeys(keys, firstHeads, problems)
  if (!state) {
    if (newest) problems.add('log: the row is missing')
    return
  }
  const addProblem = (problem: string) => problems.add(`log: ${problem}`)
  if (logIdOf(state.name) !== state.logId) addProblem('log_id is not the hash of name')
  if (!keys.some(({ keyId, revokedAt }) => keyId === state.keyId && revokedAt === null)) {
    addProblem('key_id is not the id of an active signing key')
  }
  if (!newest) return addProblem('it has no tree head')
  const { row, signed } = newest
  if (signed.body.log_id !== state.logId) addProblem('log_id differs from that of the newest tree head')
  if (signed.signature.key_id !== state.keyId) addProblem('key_id differs from the key of the newest tree head')
  if (row.treeSize !== state.treeSize)
    addProblem(`tree_size is ${state.treeSize}, the newest tree head has ${row.treeSize}`)
  if (row.issuedAt !== state.issuedAt) addProblem('issued_at differs from that of the newest tree head')
  if (!bytesEqual(row.rootHash, state.rootHash ?? Buffer.alloc(0)))
    addProblem('root_hash differs from that of the newest tree head')
}

/** The window of each key begins with a head that it signed, and ends when the window of the next key begins. */
function checkKeys(rows: readonly SigningKeyRow[], firstHeads: Ending['firstHeads'], problems: Problems): void {
  for (const [index, row] of rows.entries()) {
    const addProblem = (problem: string) => problems.add(`signing key ${row.keyId}: ${problem}`)
    const next = rows[index + 1]
    if (!publicKeyOf(row)) addProblem('key_id is not the hash of public_key')
    if (row.revokedAt !== (next?.validFrom ?? null)) addProblem('revoked_at is not the valid_from of the next key')
    if (firstHeads.get(row.keyId)?.issuedAt !== row.validFrom)
      addProblem('valid_from is not the time of its first tree head')
  }
}

/** Finds rows that belong to nothing. */
export async function checkStrays({ doctor, log }: Pick<Reads, 'doctor' | 'log'>, problems: Problems): Promise<void> {
  for (const id of await doctor.logIds())
    if (id !== 1) problems.add(`log: there must be one row with id 1, and there is one with id ${id}`)
  for (const { leaf_index, receipt_id } of await doctor.strayReceipts(MAX_STRAYS)) {
    problems.add(`receipt ${receipt_id} (leaf ${leaf_index}): the log does not reach it`)
  }
  for (const { table, id, missing } of await doctor.orphans(MAX_STRAYS)) {
    problems.add(`${table} ${id}: there is no ${missing}`)
  }
  for (const { logId, name } of await log.retiredLogs()) {
    if (logIdOf(name) !== logId) problems.add(`retired log ${logId}: log_id is not the hash of name`)
  }
}
