/** Checks anchors against their log, against each other, and against their signed transactions. */

import { sameBytes } from '../../base/same-bytes.ts'
import type { Row } from '../../storage/db.ts'
import type { Examination } from '../../storage/schema.ts'
import { readSigned, signatureProblems } from './anchor-signatures.ts'

/** The anchors before the current one. */
interface Before {
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

export async function examineAnchors({ read, problems, examineAnchor: examine }: Examination): Promise<void> {
  const { doctor, log } = read
  const before: Before = { ids: new Set(), finals: new Map(), sizes: new Map(), openId: undefined }
  for (let after = Number.MIN_SAFE_INTEGER; ; ) {
    const rows = await doctor.anchors(after, ROWS_PER_READ)
    if (rows.length === 0) return
    // Reads the logs after the anchors, so that the logs of all these anchors are among them.
    const archived = new Set<unknown>()
    const logIds = new Set<unknown>()
    for (const { logId, archivedAt } of await log.all()) {
      logIds.add(logId)
      if (archivedAt !== null) archived.add(logId)
    }
    for (const row of rows) {
      const addProblem = (problem: string) => problems.add(`anchor ${row.id}: ${problem}`)
      if (!logIds.has(row.log_id)) addProblem('log_id is not the id of a log')
      const mayBeOut = archived.has(row.log_id) && row.signed_root === null
      if (!mayBeOut && !sameBytes(row.signed_root, row.root_hash))
        addProblem('root_hash is not the root of the tree head of its tree_size')
      for (const problem of [
        ...stateProblems(row),
        ...orderProblems(row, before),
        ...signatureProblems(row, before.finals.get(seriesOf(row)), examine),
      ]) {
        addProblem(problem)
      }
      remember(row, before)
    }
    after = Number(rows.at(-1)!.id)
  }
}

/** Checks the columns that depend on the state. */
function stateProblems(row: Row): string[] {
  const { state, problem } = row
  const problems: string[] = []
  if (!STATES.includes(state)) return [`state is not one of ${STATES.join(', ')}`]
  const isFinal = state === 'final'
  const wrong = LANDING.filter((column) => (row[column] === null) === isFinal)
  if (wrong.length > 0)
    problems.push(`${wrong.join(', ')}: ${isFinal ? 'missing, although it is final' : 'set, although it is not final'}`)
  if (problem !== null && !CODE.test(String(problem))) problems.push('problem is not a code')
  if (state === 'dropped' && problem === null) problems.push('it was dropped without a problem')
  if (isFinal && problem !== null) problems.push('it is final and has a problem')
  if (isFinal && !AMOUNT.test(String(row.cost))) problems.push('cost is not an amount')
  const count = readSigned(row)?.length
  // A landed anchor may have no signed transaction: it was found on the chain after another copy of this database sent it.
  if (count === 0 && (state === 'signed' || state === 'sent'))
    problems.push(`it is ${state} without a signed transaction`)
  if (count !== 0 && state === 'planned') problems.push('it is planned and has a signed transaction')
  if (state === 'planned' && row.sent_at !== null) problems.push('it is planned and has sent_at')
  if (['sent', 'mined', 'final'].includes(String(state)) && row.sent_at === null) problems.push('sent_at is missing')
  if (row.sent_at !== null && Number(row.sent_at) < Number(row.planned_at))
    problems.push('sent_at is before planned_at')
  return problems
}

/** Compares the anchor with those before it. */
function orderProblems(row: Row, { ids, finals, sizes, openId }: Before): string[] {
  const problems: string[] = []
  const id = Number(row.id)
  if (id !== ids.size + 1) problems.push(`id should be ${ids.size + 1}`)
  if (openId !== undefined) problems.push(`it was planned while anchor ${openId} was open`)
  const previous = finals.get(seriesOf(row))
  if ((row.previous_id ?? null) !== (previous?.id ?? null))
    problems.push('previous_id is not the id of the newest final anchor before it')
  if (Number(row.tree_size) <= (sizes.get(String(row.log_id)) ?? 0))
    problems.push('an earlier anchor covers its tree_size')
  if (row.state === 'final' && previous && Number(row.block_number) < Number(previous.block_number)) {
    problems.push('block_number is lower than that of the previous anchor')
  }
  return problems
}

function remember(row: Row, before: Before): void {
  before.ids.add(Number(row.id))
  if (OPEN.includes(row.state)) before.openId = Number(row.id)
  if (row.state !== 'final') return
  before.finals.set(seriesOf(row), row)
  before.sizes.set(String(row.log_id), Number(row.tree_size))
}

/** Each anchor refers to the one before it in the same log, on the same chain, by the same scheme. */
function seriesOf({ log_id, chain, scheme }: Row): string {
  return JSON.stringify([log_id, chain, scheme])
}
