/** The one row of the table `log`: how far the log has come, by its newest head, and which key signs what comes next. */
import type { Instant } from '@claimcheck/core'
import type { Row } from './db.ts'

export interface LogState {
  readonly logId: string
  readonly name: string
  readonly treeSize: number
  readonly rootHash: Uint8Array
  readonly issuedAt: Instant
  readonly keyId: string
}

export interface AnchoredLogState extends LogState {
  /** Of the newest landed anchor; 0 when there is none. */
  readonly anchoredSize: number
}

export const LOG_COLUMNS = 'log_id, name, tree_size, root_hash, issued_at, key_id'

/** Of an AnchoredLogState. */
export const ANCHORED_LOG_COLUMNS = `${LOG_COLUMNS}, (SELECT MAX(anchors.tree_size) FROM anchors
  WHERE anchors.log_id = log.log_id AND anchors.state = 'final') AS anchored_size`

export function fromState({ logId, name, treeSize, rootHash, issuedAt, keyId }: LogState) {
  const hash = Buffer.from(rootHash)
  return { log_id: logId, name, tree_size: treeSize, root_hash: hash, issued_at: issuedAt, key_id: keyId }
}

export function toState(row: Row): LogState {
  return {
    logId: String(row.log_id),
    name: String(row.name),
    treeSize: Number(row.tree_size),
    rootHash: row.root_hash as Uint8Array,
    issuedAt: Number(row.issued_at),
    keyId: String(row.key_id),
  }
}

export function toAnchoredState(row: Row): AnchoredLogState {
  return { ...toState(row), anchoredSize: Number(row.anchored_size ?? 0) }
}
