/** Checks an anchor against the transactions that were signed for it, as far as an examiner of its kind can read them. */

import type { AnchorExaminer } from '@claimcheck/core/hosting'
import type { SignedAnchor, StoredAnchor } from '@claimcheck/core/plugin'
import { isJsonObject, jsonIn } from '@claimcheck/core/rules'
import type { Row } from '../../storage/db.ts'
import { problemIf } from '../../storage/row-checks.ts'

/** Reads the signed transactions; undefined when the column is not a list of them. */
export function readSigned({ signed }: Row): readonly SignedAnchor[] | undefined {
  const list = jsonIn(String(signed))
  if (!Array.isArray(list) || JSON.stringify(list) !== signed) return undefined
  return list.every((item) => isJsonObject(item)) ? (list as unknown as readonly SignedAnchor[]) : undefined
}

/**
 * Finds what is wrong with an anchor's signed transactions.
 * @param previous the anchor to which this one refers
 */
export function signatureProblems(row: Row, previous: Row | undefined, examine: AnchorExaminer): string[] {
  const signed = readSigned(row)
  if (!signed) return ['signed is not a list of transactions']
  const isOtherHash = row.tx_hash !== null && signed.length > 0 && !signed.some(({ txHash }) => txHash === row.tx_hash)
  return [
    ...problemIf(new Set(signed.map(({ nonce }) => nonce)).size > 1, 'signed: the transactions have different nonces'),
    ...problemIf(isOtherHash, 'tx_hash is not the hash of a signed transaction'),
    ...examine(toStored(row, signed), previous && toStored(previous, [])),
  ]
}

function toStored(row: Row, signed: readonly SignedAnchor[]): StoredAnchor {
  const textOrNull = (value: unknown) => (value === null ? null : String(value))
  return {
    chain: String(row.chain),
    scheme: String(row.scheme),
    attester: String(row.attester),
    schema: String(row.schema),
    logId: String(row.log_id),
    treeSize: Number(row.tree_size),
    rootHash: row.root_hash instanceof Uint8Array ? row.root_hash : new Uint8Array(),
    uid: textOrNull(row.uid),
    txHash: textOrNull(row.tx_hash),
    blockTime: row.block_time === null ? null : Number(row.block_time),
    signed,
  }
}
