/** Reads the signed heads of a log in order, checks them, and divides their leaves into chunks. */

import { type SignedTreeHead, treeHeadBody } from '@claimcheck/core/log'
import { canonicalize, DOMAINS, isTreeHead } from '@claimcheck/core/receipts'
import { jsonIn } from '@claimcheck/core/rules'
import type { Problems } from '../../../base/problems.ts'
import type { SigningKeyRow } from '../../../storage/log.ts'
import type { LogRow, TreeHeadRow } from '../../../storage/log-state.ts'
import type { Reads } from '../../../storage/storage.ts'
import type { Segment } from './chunk.ts'
import { createKeyRing } from './key-ring.ts'

export interface Step extends Segment {
  /** The head that ends with these leaves; undefined when more leaves of the head follow. */
  readonly head: SoundHead | undefined
}

/** A head, after its row was compared with its signed text. */
export interface SoundHead {
  readonly row: TreeHeadRow
  readonly signed: SignedTreeHead
}

/** What there is after the last head. */
export interface Ending {
  readonly first: TreeHeadRow | undefined
  readonly keys: readonly SigningKeyRow[]
  readonly newest: TreeHeadRow | undefined
}

const HEADS_PER_READ = 500
const LEAVES_PER_CHUNK = 1024

/**
 * Walks all heads of a log, including those that a server appends at the same time, and yields their leaves in chunks.
 * @param firstHeads takes the first head that each key signed
 * @param onEnd called once, before the last chunk
 */
export async function* walkHeads(
  { log }: Pick<Reads, 'log'>,
  { logId }: Pick<LogRow, 'logId'>,
  problems: Problems,
  firstHeads: Map<string, TreeHeadRow>,
  onEnd: (ending: Ending) => void,
): AsyncGenerator<readonly Step[]> {
  let newest: TreeHeadRow | undefined
  let steps: Step[] = []
  let leaves = 0
  for await (const head of soundHeads(log, logId, problems, onEnd)) {
    const keyId = head.signed.signature.key_id
    if (!firstHeads.has(keyId)) firstHeads.set(keyId, head.row)
    for (const step of stepsTo(head, newest)) {
      steps.push(step)
      leaves += step.end - step.start
      if (leaves < LEAVES_PER_CHUNK) continue
      yield steps
      steps = []
      leaves = 0
    }
    newest = head.row
  }
  if (steps.length > 0) yield steps
}

/** Reads the heads in order, and yields those whose row is what was signed. */
async function* soundHeads(
  log: Reads['log'],
  logId: string,
  problems: Problems,
  onEnd: (ending: Ending) => void,
): AsyncGenerator<SoundHead> {
  let first: TreeHeadRow | undefined
  let last: TreeHeadRow | undefined
  for (;;) {
    // Reads the keys before the heads: when no head follows, the keys and the heads are of the same state.
    const keys = await log.signingKeys()
    const rows = await log.headsAfter(logId, last?.number ?? -1, HEADS_PER_READ)
    if (rows.length === 0) return onEnd({ keys, first, newest: last })
    first ??= rows[0]
    for (const row of rows) {
      const due = (last?.number ?? -1) + 1
      if (row.number !== due)
        problems.add(`tree head ${row.treeSize}: its number is ${row.number}, and should be ${due}`)
      last = row
    }
    yield* await readHeads(log, rows, problems)
  }
}

/** Divides the leaves between two heads into steps of one chunk at most. The last one ends with the head. */
function* stepsTo(head: SoundHead, before: TreeHeadRow | undefined): Generator<Step> {
  const { row, signed } = head
  const bounds = { keyId: signed.signature.key_id, notBefore: before?.issuedAt ?? 0, notAfter: row.issuedAt }
  let start = before?.treeSize ?? 0
  for (; start + LEAVES_PER_CHUNK < row.treeSize; start += LEAVES_PER_CHUNK)
    yield { ...bounds, start, end: start + LEAVES_PER_CHUNK, head: undefined }
  yield { ...bounds, start, end: row.treeSize, head }
}

export async function readHeads(
  log: Reads['log'],
  rows: readonly TreeHeadRow[],
  problems: Pick<Problems, 'add'>,
): Promise<SoundHead[]> {
  // Reads the keys after the heads, so that those of all these heads are among them.
  const keys = createKeyRing(await log.signingKeys())
  const read = rows.map(async (row) => {
    const addProblem = (problem: string) => problems.add(`tree head ${row.treeSize}: ${problem}`)
    const signed = readSigned(row)
    if (!signed) {
      addProblem('what was signed differs from this row')
      return []
    }
    if (signed.signature.key_id !== row.keyId) addProblem('key_id is not the key of its signature')
    for (const problem of await keys.check(DOMAINS.treeHead, signed, row.issuedAt)) addProblem(problem)
    return { row, signed }
  })
  return (await Promise.all(read)).flat()
}

function readSigned(row: TreeHeadRow): SignedTreeHead | undefined {
  const signed = jsonIn(row.signed)
  if (signed === undefined || !isTreeHead(signed) || JSON.stringify(signed) !== row.signed) return undefined
  try {
    const body = treeHeadBody(row)
    return canonicalize(body) === canonicalize(signed.body) ? signed : undefined
  } catch {
    // The time is outside the range of dates.
    return undefined
  }
}
