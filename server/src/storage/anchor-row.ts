/** An anchor as it is stored: from its plan to the chain. */
import type { Anchor, AnchorerErrorCode, Instant, SignedAnchor } from '@claimcheck/core'
import type { Row } from './db.ts'
import { type Cells, type Columns, nullableNumber, nullableText } from './rows.ts'

export const OPEN_STATES = ['planned', 'signed', 'sent', 'mined'] as const
export type AnchorState = (typeof OPEN_STATES)[number] | 'final' | 'dropped'

/** Why an anchor does not go on, or why it was dropped. */
export type AnchoringProblem =
  | AnchorerErrorCode
  /** It was planned for another chain or account than the one that is configured. */
  | 'anchorer_changed'
  /** Another log has followed the one that it was planned for. */
  | 'log_ended'
  /** The anchorer failed in a way that its contract does not know. */
  | 'anchorer_error'

export interface AnchorPlan {
  readonly logId: string
  readonly treeSize: number
  readonly rootHash: Uint8Array
  /** The newest final one of this log on this chain by then; null when there was none. */
  readonly previousId: number | null
  readonly chain: string
  readonly scheme: string
  readonly attester: string
  readonly schema: string
  readonly plannedAt: Instant
}

/** Where it is on the chain, in a block that stays. */
export interface Landing {
  readonly uid: string
  readonly txHash: string
  readonly blockNumber: number
  /** Unix seconds. */
  readonly blockTime: number
  /** In the chain's smallest unit, as decimal text. */
  readonly cost: string
  readonly gasUsed: number
}

export interface AnchorRow extends AnchorPlan {
  readonly id: number
  readonly state: AnchorState
  /** Oldest first. None of one that was found on the chain: another copy of this database has made it. */
  readonly signed: readonly SignedAnchor[]
  readonly problem: AnchoringProblem | null
  /** Or by when it was. */
  readonly sentAt: Instant | null
  /** Of a final one. */
  readonly landing: Landing | null
}

export interface FinalAnchor extends AnchorRow {
  readonly landing: Landing
}

export const ANCHORS: Columns = {
  id: 'integer',
  log_id: 'text',
  tree_size: 'bigint',
  root_hash: 'bytes',
  previous_id: 'integer',
  chain: 'text',
  scheme: 'text',
  attester: 'text',
  schema: 'text',
  state: 'text',
  signed: 'text',
  problem: 'text',
  planned_at: 'bigint',
  sent_at: 'bigint',
  uid: 'text',
  tx_hash: 'text',
  block_number: 'bigint',
  block_time: 'bigint',
  cost: 'text',
  gas_used: 'bigint',
}

type Nulls<T> = { readonly [Name in keyof T]: null }

export const NOWHERE: Nulls<Landing> = {
  uid: null,
  txHash: null,
  blockNumber: null,
  blockTime: null,
  cost: null,
  gasUsed: null,
}

export function toCells(row: AnchorRow): Cells {
  const { uid, txHash, blockNumber, blockTime, cost, gasUsed } = row.landing ?? NOWHERE
  return [
    row.id,
    row.logId,
    row.treeSize,
    row.rootHash,
    row.previousId,
    row.chain,
    row.scheme,
    row.attester,
    row.schema,
    row.state,
    JSON.stringify(row.signed),
    row.problem,
    row.plannedAt,
    row.sentAt,
    uid,
    txHash,
    blockNumber,
    blockTime,
    cost,
    gasUsed,
  ]
}

export function toAnchorRow(row: Row): AnchorRow {
  return {
    id: Number(row.id),
    logId: String(row.log_id),
    treeSize: Number(row.tree_size),
    rootHash: row.root_hash as Uint8Array,
    previousId: nullableNumber(row.previous_id),
    chain: String(row.chain),
    scheme: String(row.scheme),
    attester: String(row.attester),
    schema: String(row.schema),
    state: String(row.state) as AnchorState,
    signed: JSON.parse(String(row.signed)),
    problem: nullableText(row.problem) as AnchoringProblem | null,
    plannedAt: Number(row.planned_at),
    sentAt: nullableNumber(row.sent_at),
    landing: row.state === 'final' ? toLanding(row) : null,
  }
}

function toLanding(row: Row): Landing {
  return {
    uid: String(row.uid),
    txHash: String(row.tx_hash),
    blockNumber: Number(row.block_number),
    blockTime: Number(row.block_time),
    cost: String(row.cost),
    gasUsed: Number(row.gas_used),
  }
}

export function toAnchor(row: Row): Anchor {
  const { uid, txHash, blockNumber, blockTime } = toLanding(row)
  return {
    chain: String(row.chain),
    scheme: String(row.scheme),
    uid,
    txHash,
    treeSize: Number(row.tree_size),
    rootHash: Buffer.from(row.root_hash as Uint8Array).toString('base64url'),
    blockNumber,
    blockTime,
  }
}
