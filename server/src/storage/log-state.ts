/** The one row of the table `log`: its newest tree head, and the key that signs the next one. */
import type { Row } from './db.ts'
import { bigint, bytes, instant, integer, part, type RowOf, table, text } from './table.ts'

export const log = table('log', ['id'], {
  id: integer('id'),
  logId: text('log_id'),
  name: text('name'),
  treeSize: bigint('tree_size'),
  rootHash: bytes('root_hash'),
  issuedAt: instant('issued_at'),
  keyId: text('key_id'),
})

export const logState = part(log, 'logId', 'name', 'treeSize', 'rootHash', 'issuedAt', 'keyId')

export type LogState = RowOf<typeof logState>

export interface AnchoredLogState extends LogState {
  /** The size at the newest final anchor; 0 when there is none. */
  readonly anchoredSize: number
}

/** What `toAnchoredState` reads. */
export const ANCHORED_LOG_COLUMNS = `${logState.names}, (SELECT MAX(anchors.tree_size) FROM anchors
  WHERE anchors.log_id = log.log_id AND anchors.state = 'final') AS anchored_size`

export function toAnchoredState(row: Row): AnchoredLogState {
  return { ...logState.read(row), anchoredSize: Number(row.anchored_size ?? 0) }
}
