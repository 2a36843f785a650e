/** The state of a log: its newest tree head, and the key that signed it, which signs the next one. */
import type { Instant } from '@claimcheck/core/rules'
import type { Row } from './db.ts'
import { bigint, bytes, instant, json, nullable, part, type RowOf, table, text } from './table.ts'

/** The backup that closed a log: it was restored from it, or goes on where its last one is restored. */
export interface Closing {
  /** The id of the backup. */
  readonly epoch: string
  readonly madeAt: Instant
  /** It is the log's last one here. Once it is made, the log goes on where that is restored. */
  readonly last?: 'making' | 'made'
  /** The log was restored from it. */
  readonly restore?: string
  /** Of a log that was restored: the hosts that shared the database when it was made. Without it nobody knows which. */
  readonly hosts?: readonly string[] | undefined
}

/** Why a log stopped once by the word of a client: a client's head stops no log twice. */
export interface Witnessed {
  /** A signed tree head, as JSON, which the log lacked. */
  readonly head: string
  readonly at: Instant
  /** When the operator let the log go on all the same. */
  readonly acknowledgedAt?: Instant
}

/** Each log of this installation: the open one, and those that have ended. */
export const logs = table('logs', ['logId'], {
  logId: text('log_id'),
  name: text('name'),
  begunAt: instant('begun_at'),
  /** null: it is open, as one log is. */
  endedAt: nullable(instant('ended_at')),
  /** Its rows may have been taken out since. */
  archivedAt: nullable(instant('archived_at')),
  /** A signed tree head, as JSON, which this log lacks: its rows are those of a backup. Nothing is appended. */
  contradictedBy: nullable(text('contradicted_by')),
  /** Where the head came from a client. */
  witnessed: nullable(json<Witnessed>('witnessed')),
  /** As what the database answered when the hosts last agreed that it is the newest: elsewhere nothing is appended. Empty: they have not. */
  agreedOn: text('agreed_on'),
  /** The system and timeline that it had then; empty where the server does not tell. */
  agreedSystem: text('agreed_system'),
  /** Nothing is appended: claims wait, nothing is checked, signed or mailed. */
  closedBy: nullable(json<Closing>('restored_from')),
  /** The moves by which the log came into this database, oldest first: ids of last backups and copies, restores and resumptions. null: it began here. */
  moves: nullable(json<readonly string[]>('moves')),
  /** How often something was erased while it was open. */
  erasures: bigint('erasures'),
})

export const treeHeads = table('tree_heads', ['logId', 'number'], {
  logId: text('log_id'),
  /** One after the other, from 0 on. */
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
    /** As what the database answers now. */
    readonly answersAs: string
  }

export interface AnchoredLogState extends LogTip {
  /** The size at the newest final anchor; 0 when there is none. */
  readonly anchoredSize: number
}

const NEWEST =
  '(SELECT newest.number FROM tree_heads AS newest WHERE newest.log_id = logs.log_id ORDER BY newest.number DESC LIMIT 1)'

/** The logs that meet the condition, each with its newest head. */
export function logStates(condition: string): string {
  const columns = [
    ...[...named.columns, ...guarded.columns].map(({ name }) => `logs.${name}`),
    ...state.columns.map(({ name }) => name),
  ]
  return `(SELECT ${columns.join(', ')} FROM logs JOIN tree_heads ON tree_heads.log_id = logs.log_id AND tree_heads.number = ${NEWEST}
    WHERE ${condition}) AS log`
}

export const OPEN_LOG = logStates('logs.ended_at IS NULL')

/** As a value in a statement. */
export const OPEN_LOG_ID = '(SELECT log_id FROM logs WHERE ended_at IS NULL)'

export function toLogState(row: Row): LogState {
  return { ...named.read(row), ...guarded.read(row), ...state.read(row), answersAs: String(row.answers_as ?? '') }
}

/** What `toAnchoredState` reads, of the states of logs. */
export const ANCHORED_LOG_COLUMNS = `log.*, (SELECT MAX(anchors.tree_size) FROM anchors
  WHERE anchors.log_id = log.log_id AND anchors.state = 'final') AS anchored_size`

export function toAnchoredState(row: Row): AnchoredLogState {
  return { ...toLogState(row), anchoredSize: Number(row.anchored_size ?? 0) }
}
