/** The log's own row and its keys, held against the heads. */
import { bytesEqual, logIdOf } from '@claimcheck/core'
import type { SigningKeyRow } from '../../storage/log.ts'
import type { Reads } from '../../storage/storage.ts'
import type { Ending } from './heads.ts'
import { publicKeyOf } from './key-ring.ts'
import type { Problems } from './problems.ts'

const MOST_STRAYS = 1000

export async function checkEnding({ state, keys, newest, firstHeads }: Ending, problems: Problems): Promise<void> {
  checkKeys(keys, firstHeads, problems)
  if (!state) {
    if (newest) problems.complain('log: the row is missing')
    return
  }
  const complain = (problem: string) => problems.complain(`log: ${problem}`)
  if (logIdOf(state.name) !== state.logId) complain('log_id is not the hash of name')
  if (!keys.some(({ keyId, revokedAt }) => keyId === state.keyId && revokedAt === null)) {
    complain('key_id is no key that may sign')
  }
  if (!newest) return complain('it has no tree head')
  const { row, signed } = newest
  if (signed.body.log_id !== state.logId) complain('log_id is not that of the newest tree head')
  if (signed.signature.key_id !== state.keyId) complain('key_id is not the key of the newest tree head')
  if (row.treeSize !== state.treeSize)
    complain(`tree_size is ${state.treeSize}, the newest tree head has ${row.treeSize}`)
  if (row.issuedAt !== state.issuedAt) complain('issued_at is not that of the newest tree head')
  if (!bytesEqual(row.rootHash, state.rootHash ?? Buffer.alloc(0)))
    complain('root_hash is not that of the newest tree head')
}

/** Each key's window begins with a head that it signed, and ends where the next one's begins. */
function checkKeys(rows: readonly SigningKeyRow[], firstHeads: Ending['firstHeads'], problems: Problems): void {
  for (const [index, row] of rows.entries()) {
    const complain = (problem: string) => problems.complain(`signing key ${row.keyId}: ${problem}`)
    const next = rows[index + 1]
    if (!publicKeyOf(row)) complain('key_id is not the hash of public_key')
    if (row.revokedAt !== (next?.validFrom ?? null)) complain('revoked_at is not when the next key begins')
    if (firstHeads.get(row.keyId)?.issuedAt !== row.validFrom)
      complain('valid_from is not the time of its first tree head')
  }
}

/** Rows that belong to nothing. */
export async function checkStrays({ audit, log }: Pick<Reads, 'audit' | 'log'>, problems: Problems): Promise<void> {
  for (const id of await audit.logIds()) if (id !== 1) problems.complain(`log: id ${id} is no log's`)
  for (const { leaf_index, receipt_id } of await audit.strayReceipts(MOST_STRAYS)) {
    problems.complain(`receipt ${receipt_id} (leaf ${leaf_index}): the log does not reach it`)
  }
  for (const { table, id, missing } of await audit.orphans(MOST_STRAYS)) {
    problems.complain(`${table} ${id}: there is no ${missing}`)
  }
  for (const { logId, name } of await log.retiredLogs()) {
    if (logIdOf(name) !== logId) problems.complain(`retired log ${logId}: log_id is not the hash of name`)
  }
}
