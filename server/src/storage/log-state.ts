/** The state of a log: its newest tree head, and the key that signed it and signs the next one. */
import type { Instant } from '@claimcheck/core/rules'
import type { Row } from './db.ts'
import { bigint, bytes, instant, json, nullable, part, type RowOf, table, text } from './table.ts'

/** The backup that closed a log: the log was restored from it, or goes on where its last backup is restored. */
export interface Closing {
  /** The id of the backup. */
  readonly epoch: string
  readonly madeAt: Instant
  /** Present if the backup is the log's last one here. Once it is made, the log goes on where that is restored. */
  readonly last?: 'making' | 'made'
  /** Present if the log was restored from the backup. */
  readonly restore?: string
  /** The hosts that shared the database when the backup of a restored log was made; absent when nobody knows them. */
  readonly hosts?: readonly string[] | undefined
}

/** The reason that a log stopped by the word of a client: one client's head stops a log only once. */
export interface Witnessed {
  /** A signed tree head, as JSON, which the log lacked. */
  readonly head: string
  readonly at: Instant
  /** The time when the operator let the log go on all the same. */
  readonly acknowledgedAt?: Instant
}

/** Each log of this installation: the open one, and those that have ended. */
export const logs = table('logs', ['logId'], {
  logId: text('log_id'),
  name: text('name'),
  begunAt: instant('begun_at'),
  /** The time when the log ended; null for the one open log. */
  endedAt: nullable(instant('ended_at')),
  /** The time when the log was archived; its rows may have been taken out since. */
  archivedAt: nullable(instant('archived_at')),
  /** A signed tree head, as JSON, which this log lacks: its rows are those of a backup. While it is set, nothing is appended. */
  contradictedBy: nullable(text('contradicted_by')),
  /** The head in `contradictedBy` and its time, if it came from a client. */
  witnessed: nullable(json<Witnessed>('witnessed')),
  /**
   * The answer of the database (`answersAs`) when the hosts last agreed that the log is the newest; nothing is appended under another answer. Empty:
   * they have not agreed.
   */
  agreedOn: text('agreed_on'),
  /** The system and timeline of the database when the hosts last agreed; empty where the server does not tell. */
  agreedSystem: text('agreed_system'),
  /** The backup that closed the log. While it is set nothing is appended: claims wait, nothing is checked, signed or mailed. */
  closedBy: nullable(json<Closing>('restored_from')),
  /** The moves by which the log came into this database, oldest first: ids of last backups and copies, restores and resumptions. null: it began here. */
  moves: nullable(json<readonly string[]>('moves')),
  /** The number of erasures while the log was open. */
  erasures: bigint('erasures'),
})

export const treeHeads = table('tree_heads', ['logId', 'number'], {
  logId: text('log_id'),
  /** The number of the head, one after the other from 0 on. */
  number: bigint('number'),
  treeSize: bigint('tree_size'),
  rootHash: bytes('root_hash'),
  issuedAt: instant('issued_at'),
  keyId: text('key_id'),
  /** The signed tree head as JSON. */
  signed: text('signed'),
})

const state = part(treeHeads, 'number', 'treeSize', 'rootHash', 'issuedAt', 'keyId')
const named = part(logs, 'logId', 'name')
const guarded = part(logs, 'contradictedBy', 'witnessed', 'closedBy', 'agreedOn', 'moves')

export type LogRow = RowOf<typeof logs>
export type TreeHeadRow = RowOf<typeof treeHeads>
export type LogTip = RowOf<typeof named> & RowOf<typeof state>
export type LogState = LogTip &
  RowOf<typeof guarded> & {
    /** The answer of the database to `answersAs` now. */
    readonly answersAs: string
  }

export interface AnchoredLogState extends LogTip {
  /** The tree size of the newest final anchor; 0 when there is none. */
  readonly anchoredSize: number
}

const NEWEST =
  '(SELECT newest.number FROM tree_heads AS newest WHERE newest.log_id = logs.log_id ORDER BY newest.number DESC LIMIT 1)'

/** Selects the logs that meet the condition, each with its newest head. */
export function logStates(condition: string): string {
  const columns = [
    ...[...named.columns, ...guarded.columns].map(({ name }) => `logs.${name}`),
    ...state.columns.map(({ name }) => name),
  ]
  return `(SELECT ${columns.join(', ')} FROM logs JOIN tree_heads ON tree_heads.log_id = logs.log_id AND tree_heads.number = ${NEWEST}
    WHERE ${condition}) AS log`
}

export const OPEN_LOG = logStates('logs.ended_at IS NULL')

/** The id of the open log as a value in a statement. */
export const OPEN_LOG_ID = '(SELECT log_id FROM logs WHERE ended_at IS NULL)'

export function toLogState(row: Row): LogState {
  return { ...named.read(row), ...guarded.read(row), ...state.read(row), answersAs: String(row.answers_as ?? '') }
}

/** The columns of logs' states that `toAnchoredState` reads. */
export const ANCHORED_LOG_COLUMNS = `log.*, (SELECT MAX(anchors.tree_size) FROM anchors
  WHERE anchors.log_id = log.log_id AND anchors.state = 'final') AS anchored_size`

export function toAnchoredState(row: Row): AnchoredLogState {
  return { ...toLogState(row), anchoredSize: Number(row.anchored_size ?? 0) }
}
