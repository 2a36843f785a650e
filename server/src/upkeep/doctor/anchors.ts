/** Anchors held against the log that they are of, against each other, and against the transactions that were signed for them. */
import { toBase64url } from '@claimcheck/core'
import type { Row } from '../../storage/db.ts'
import type { Reads } from '../../storage/storage.ts'
import { readSigned, signatureProblems } from './anchor-signatures.ts'
import type { Problems } from './problems.ts'

/** What an anchor that is final leaves for those that follow. */
interface Before {
  readonly ids: Set<number>
  /** The newest final one, of each log on each chain. */
  readonly finals: Map<string, Row>
  /** The newest final one's tree, of each log. */
  readonly sizes: Map<string, number>
  openId: number | undefined
}

const ROWS_PER_READ = 500
const OPEN: readonly unknown[] = ['planned', 'signed', 'sent', 'mined']
const STATES: readonly unknown[] = [...OPEN, 'final', 'dropped']
const LANDING = ['uid', 'tx_hash', 'block_number', 'block_time', 'cost', 'gas_used'] as const
const AMOUNT = /^[0-9]+$/
const CODE = /^[a-z]+(_[a-z]+)*$/

export async function checkAnchors({ audit, log }: Pick<Reads, 'audit' | 'log'>, problems: Problems): Promise<void> {
  const before: Before = { ids: new Set(), finals: new Map(), sizes: new Map(), openId: undefined }
  for (let after = Number.MIN_SAFE_INTEGER; ; ) {
    const rows = await audit.anchors(after, ROWS_PER_READ)
    if (rows.length === 0) return
    // Read after the anchors: the logs that they are of are there.
    const logIds = new Set<unknown>([await log.state(), ...(await log.retiredLogs())].map((log) => log?.logId))
    for (const row of rows) {
      const complain = (problem: string) => problems.complain(`anchor ${row.id}: ${problem}`)
      if (!logIds.has(row.log_id)) complain('log_id is of no log of ours')
      if (!isSame(row.signed_root, row.root_hash))
        complain('root_hash is not the root of the tree head of its tree_size')
      for (const problem of [
        ...stateProblems(row),
        ...orderProblems(row, before),
        ...signatureProblems(row, before.finals.get(placeOf(row))),
      ]) {
        complain(problem)
      }
      remember(row, before)
    }
    after = Number(rows.at(-1)!.id)
  }
}

/** That its columns are as its state wants them. */
function stateProblems(row: Row): string[] {
  const { state, problem } = row
  const problems: string[] = []
  if (!STATES.includes(state)) return ['state is none that there is']
  const isFinal = state === 'final'
  const wrong = LANDING.filter((column) => (row[column] === null) === isFinal)
  if (wrong.length > 0)
    problems.push(`${wrong.join(', ')}: ${isFinal ? 'missing, and it is final' : 'there, and it is not final'}`)
  if (problem !== null && !CODE.test(String(problem))) problems.push('problem is no code')
  if (state === 'dropped' && problem === null) problems.push('it was dropped without a problem')
  if (isFinal && problem !== null) problems.push('it is final and has a problem')
  if (isFinal && !AMOUNT.test(String(row.cost))) problems.push('cost is no amount')
  const count = readSigned(row)?.length
  // One that landed may have been found on the chain, where another copy of this database had brought it.
  if (count === 0 && (state === 'signed' || state === 'sent')) problems.push('nothing was signed for it')
  if (count !== 0 && state === 'planned') problems.push('it is planned and signed')
  if (state === 'planned' && row.sent_at !== null) problems.push('it is planned and was sent')
  if (['sent', 'mined', 'final'].includes(String(state)) && row.sent_at === null) problems.push('sent_at is missing')
  if (row.sent_at !== null && Number(row.sent_at) < Number(row.planned_at))
    problems.push('it was sent before it was planned')
  return problems
}

/** That it follows those before it. */
function orderProblems(row: Row, { ids, finals, sizes, openId }: Before): string[] {
  const problems: string[] = []
  const id = Number(row.id)
  if (id !== ids.size + 1) problems.push(`id is not the next, which is ${ids.size + 1}`)
  if (openId !== undefined) problems.push(`it was planned while anchor ${openId} was under way`)
  const previous = finals.get(placeOf(row))
  if ((row.previous_id ?? null) !== (previous?.id ?? null))
    problems.push('previous_id is not the newest final anchor before it')
  if (Number(row.tree_size) <= (sizes.get(String(row.log_id)) ?? 0)) problems.push('tree_size is anchored already')
  if (row.state === 'final' && previous && Number(row.block_number) < Number(previous.block_number)) {
    problems.push('block_number is before that of its previous')
  }
  return problems
}

function remember(row: Row, before: Before): void {
  before.ids.add(Number(row.id))
  if (OPEN.includes(row.state)) before.openId = Number(row.id)
  if (row.state !== 'final') return
  before.finals.set(placeOf(row), row)
  before.sizes.set(String(row.log_id), Number(row.tree_size))
}

function placeOf({ log_id, chain, scheme }: Row): string {
  return JSON.stringify([log_id, chain, scheme])
}

function isSame(one: unknown, other: unknown): boolean {
  return one instanceof Uint8Array && other instanceof Uint8Array && toBase64url(one) === toBase64url(other)
}
