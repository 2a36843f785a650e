/** Signed tree heads as hosts remember them, and the keys of the log that signed them. */

import { checkTreeHead } from '@claimcheck/core/log'
import { fromBase64url, isTreeHead, type KeyEntry, type KeySet } from '@claimcheck/core/receipts'
import { formatInstant, jsonIn } from '@claimcheck/core/rules'
import { formatOrNull } from '../../../base/timestamp.ts'
import type { SigningKeyRow } from '../../../storage/log.ts'
import type { Head } from '../memory/head-record.ts'

interface SignedHead {
  readonly body: { readonly tree_size: number; readonly root_hash: string }
}

/** Undefined for what is no tree head of this log. */
export function headOf(signed: string, logId: string): Pick<Head, 'treeSize' | 'rootHash'> | undefined {
  const head = jsonIn(signed)
  return head !== undefined && isTreeHead(head) && head.body.log_id === logId ? partsOf(head) : undefined
}

/** @param signed a tree head */
export function toHead(signed: string): Pick<Head, 'treeSize' | 'rootHash'> {
  return partsOf(JSON.parse(signed))
}

function partsOf({ body: { tree_size: treeSize, root_hash } }: SignedHead): Pick<Head, 'treeSize' | 'rootHash'> {
  return { treeSize, rootHash: fromBase64url(root_hash)! }
}

export function isSigned(head: string, rows: readonly SigningKeyRow[]): boolean {
  const keys = rows.map((row) => [row.keyId, { ...row, publicKey: fromBase64url(row.publicKey)! }] as const)
  const set: KeySet = { keys: new Map(keys), anchorAddresses: [], anchorSchemas: [] }
  return checkTreeHead(head, set).valid
}

/** A key in the form of the key document. */
export function toEntry({ keyId, publicKey, validFrom, revokedAt }: SigningKeyRow): KeyEntry {
  return {
    key_id: keyId,
    public_key: publicKey,
    valid_from: formatInstant(validFrom),
    revoked_at: formatOrNull(revokedAt),
    jwk: { kty: 'OKP', crv: 'Ed25519', kid: keyId, x: publicKey },
  }
}
