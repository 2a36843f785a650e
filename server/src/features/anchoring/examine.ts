/** Checks anchors against their log, against each other, and against their signed transactions. */

import { sameBytes } from '../../base/same-bytes.ts'
import type { Row } from '../../storage/db.ts'
import { inBatches, problemIf } from '../../storage/row-checks.ts'
import type { Examination } from '../../storage/schema.ts'
import { readSigned, signatureProblems } from './anchor-signatures.ts'

/** The anchors before the current one. */
interface EarlierAnchors {
  readonly ids: Set<number>
  /** The newest final anchor by log, chain and scheme. */
  readonly finals: Map<string, Row>
  /** The tree size of the newest final anchor by log. */
  readonly sizes: Map<string, number>
  openId: number | undefined
}

const ROWS_PER_READ = 500
const OPEN: readonly unknown[] = ['planned', 'signed', 'sent', 'mined']
const STATES: readonly unknown[] = [...OPEN, 'final', 'dropped']
const LANDING = ['uid', 'tx_hash', 'block_number', 'block_time', 'cost', 'gas_used'] as const
const AMOUNT = /^[0-9]+$/
const CODE = /^[a-z]+(_[a-z]+)*$/

export async function examineAnchors({ read: { doctor, log }, problems, examineAnchor }: Examination): Promise<void> {
  const before: EarlierAnchors = { ids: new Set(), finals: new Map(), sizes: new Map(), openId: undefined }
  const read = (after: number) => doctor.anchors(after, ROWS_PER_READ)
  for await (const rows of inBatches(read, Number.MIN_SAFE_INTEGER, ({ id }) => Number(id))) {
    // Logs are read after the anchors, so that the logs of all these anchors are among them.
    const isArchived = new Map<unknown, boolean>()
    for (const { logId, archivedAt } of await log.all()) isArchived.set(logId, archivedAt !== null)
    for (const row of rows) {
      const found = [
        ...rootProblems(row, isArchived.get(row.log_id)),
        ...stateProblems(row),
        ...orderProblems(row, before),
        ...signatureProblems(row, before.finals.get(seriesOf(row)), examineAnchor),
      ]
      for (const problem of found) problems.add(`anchor ${row.id}: ${problem}`)
      remember(row, before)
    }
  }
}

/**
 * Checks the anchor's root against the signed heads.
 * @param isArchived undefined if there is no such log. The tree head of an archived log may be in its archive alone
 */
function rootProblems(row: Row, isArchived: boolean | undefined): string[] {
  const mayBeOut = isArchived === true && row.signed_root === null
  return [
    ...problemIf(isArchived === undefined, 'log_id is not the id of a log'),
    ...problemIf(
      !mayBeOut && !sameBytes(row.signed_root, row.root_hash),
      'root_hash is not the root of the tree head of its tree_size',
    ),
  ]
}

/** Checks the columns that depend on the state. */
function stateProblems(row: Row): string[] {
  const { state, problem, sent_at: sentAt } = row
  if (!STATES.includes(state)) return [`state is not one of ${STATES.join(', ')}`]
  const isFinal = state === 'final'
  const wrong = LANDING.filter((column) => (row[column] === null) === isFinal)
  const wrongWords = isFinal ? 'missing, although it is final' : 'set, although it is not final'
  const isPlanned = state === 'planned'
  const count = readSigned(row)?.length
  // A landed anchor without signed transactions was found on the chain after another copy of this database sent it.
  const lacksSigned = count === 0 && (state === 'signed' || state === 'sent')
  const lacksSentAt = sentAt === null && (state === 'sent' || state === 'mined' || isFinal)
  return [
    ...problemIf(wrong.length > 0, `${wrong.join(', ')}: ${wrongWords}`),
    ...problemIf(problem !== null && !CODE.test(String(problem)), 'problem is not a code'),
    ...problemIf(state === 'dropped' && problem === null, 'it was dropped without a problem'),
    ...problemIf(isFinal && problem !== null, 'it is final and has a problem'),
    ...problemIf(isFinal && !AMOUNT.test(String(row.cost)), 'cost is not an amount'),
    ...problemIf(lacksSigned, `it is ${state} without a signed transaction`),
    ...problemIf(isPlanned && count !== 0, 'it is planned and has a signed transaction'),
    ...problemIf(isPlanned && sentAt !== null, 'it is planned and has sent_at'),
    ...problemIf(lacksSentAt, 'sent_at is missing'),
    ...problemIf(sentAt !== null && Number(sentAt) < Number(row.planned_at), 'sent_at is before planned_at'),
  ]
}

/** Compares the anchor with those before it. */
function orderProblems(row: Row, { ids, finals, sizes, openId }: EarlierAnchors): string[] {
  const previous = finals.get(seriesOf(row))
  const isOtherPrevious = (row.previous_id ?? null) !== (previous?.id ?? null)
  const isCovered = Number(row.tree_size) <= (sizes.get(String(row.log_id)) ?? 0)
  const isBlockEarlier =
    row.state === 'final' && previous !== undefined && Number(row.block_number) < Number(previous.block_number)
  return [
    ...problemIf(Number(row.id) !== ids.size + 1, `id should be ${ids.size + 1}`),
    ...problemIf(openId !== undefined, `it was planned while anchor ${openId} was open`),
    ...problemIf(isOtherPrevious, 'previous_id is not the id of the newest final anchor before it'),
    ...problemIf(isCovered, 'an earlier anchor covers its tree_size'),
    ...problemIf(isBlockEarlier, 'block_number is lower than that of the previous anchor'),
  ]
}

function remember(row: Row, before: EarlierAnchors): void {
  before.ids.add(Number(row.id))
  if (OPEN.includes(row.state)) before.openId = Number(row.id)
  if (row.state !== 'final') return
  before.finals.set(seriesOf(row), row)
  before.sizes.set(String(row.log_id), Number(row.tree_size))
}

/** Names the series of an anchor: each anchor refers to the one before it in the same log, on the same chain, by the same scheme. */
function seriesOf({ log_id, chain, scheme }: Row): string {
  return JSON.stringify([log_id, chain, scheme])
}
