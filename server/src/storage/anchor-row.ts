/** An anchor as it is stored, from its plan to its block on the chain. */
import type { Anchor } from '@claimcheck/core/hosting'
import type { AnchorerErrorCode, SignedAnchor } from '@claimcheck/core/plugin'
import { bigint, bytes, instant, integer, json, nullable, part, type RowOf, table, text } from './table.ts'

export const OPEN_STATES = ['planned', 'signed', 'sent', 'mined'] as const
export type AnchorState = (typeof OPEN_STATES)[number] | 'final' | 'dropped'

/** The reason that an anchor is held up, or was dropped. */
export type AnchoringProblem =
  | AnchorerErrorCode
  /** The anchor was planned for another chain or account than the one that is configured. */
  | 'anchorer_changed'
  /** The log that the anchor was planned for ended, and another one followed. */
  | 'log_ended'
  /** The anchorer failed in a way that is not in its contract. */
  | 'anchorer_error'

export const anchors = table('anchors', ['id'], {
  id: integer('id'),
  logId: text('log_id'),
  treeSize: bigint('tree_size'),
  rootHash: bytes('root_hash'),
  /** The newest final anchor of this log on this chain when the row's anchor was planned; null when there was none. */
  previousId: nullable(integer('previous_id')),
  chain: text('chain'),
  scheme: text('scheme'),
  attester: text('attester'),
  schema: text('schema'),
  state: text<AnchorState>('state'),
  /**
   * Every transaction that was signed for the anchor, oldest first. Empty when the anchor was found on the chain: another copy of this database made
   * it.
   */
  signed: json<readonly SignedAnchor[]>('signed'),
  problem: nullable(text<AnchoringProblem>('problem')),
  plannedAt: instant('planned_at'),
  /** The time when the transaction was sent, or by which it had been. */
  sentAt: nullable(instant('sent_at')),
  // The anchor's place on the chain. All columns are null until it is final.
  uid: nullable(text('uid')),
  txHash: nullable(text('tx_hash')),
  blockNumber: nullable(bigint('block_number')),
  /** The time of the anchor's block, in Unix seconds. */
  blockTime: nullable(bigint('block_time')),
  /** The cost in the chain's smallest unit, as decimal text. */
  cost: nullable(text('cost')),
  gasUsed: nullable(bigint('gas_used')),
})

const LANDING = ['uid', 'txHash', 'blockNumber', 'blockTime', 'cost', 'gasUsed'] as const

const plan = part(
  anchors,
  'logId',
  'treeSize',
  'rootHash',
  'previousId',
  'chain',
  'scheme',
  'attester',
  'schema',
  'plannedAt',
)
const landing = part(anchors, ...LANDING)

/** The columns that change once an anchor is planned. */
export const fate = part(anchors, 'state', 'signed', 'problem', 'sentAt', ...LANDING)

/** The columns of a final anchor that receipts show. */
export const landed = part(
  anchors,
  'chain',
  'scheme',
  'uid',
  'txHash',
  'treeSize',
  'rootHash',
  'blockNumber',
  'blockTime',
)

type StoredAnchor = RowOf<typeof anchors>
type StoredLanding = RowOf<typeof landing>

export type AnchorPlan = RowOf<typeof plan>

/** The anchor's place on the chain, in a block that stays. */
export type Landing = { readonly [Name in keyof StoredLanding]: NonNullable<StoredLanding[Name]> }

export interface AnchorRow extends Omit<StoredAnchor, keyof Landing> {
  /** The anchor's place on the chain; null until it is final. */
  readonly landing: Landing | null
}

export interface FinalAnchor extends AnchorRow {
  readonly landing: Landing
}

const NOWHERE = { uid: null, txHash: null, blockNumber: null, blockTime: null, cost: null, gasUsed: null }

export function toStored({ landing, ...anchor }: AnchorRow): StoredAnchor {
  return { ...anchor, ...(landing ?? NOWHERE) }
}

export function toAnchorRow(stored: StoredAnchor): AnchorRow {
  const { uid, txHash, blockNumber, blockTime, cost, gasUsed, ...anchor } = stored
  const landing = { uid, txHash, blockNumber, blockTime, cost, gasUsed }
  return { ...anchor, landing: anchor.state === 'final' ? (landing as Landing) : null }
}

/**
 * Makes the anchor that receipts show.
 * @param anchor the row of a final anchor
 */
export function toAnchor(anchor: RowOf<typeof landed>): Anchor {
  return { ...(anchor as typeof anchor & Landing), rootHash: Buffer.from(anchor.rootHash).toString('base64url') }
}
