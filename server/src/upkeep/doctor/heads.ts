/** Reads the signed heads of the log in order, checks them, and divides their leaves into chunks. */
import { canonicalize, DOMAINS, isTreeHead, type SignedTreeHead, treeHeadBody } from '@claimcheck/core'
import type { SigningKeyRow, TreeHeadRow } from '../../storage/log.ts'
import type { LogState } from '../../storage/log-state.ts'
import type { Reads } from '../../storage/storage.ts'
import { parseJson } from './check-record.ts'
import type { Segment } from './chunk.ts'
import { createKeyRing } from './key-ring.ts'
import type { Problems } from './problems.ts'

export interface Step extends Segment {
  /** The head whose last leaves these are; undefined when more leaves of the head follow. */
  readonly head: SoundHead | undefined
}

/** A head whose row equals its signed text. */
export interface SoundHead {
  readonly row: TreeHeadRow
  readonly signed: SignedTreeHead
}

/** The state of the log after the last head. */
export interface Ending {
  readonly state: LogState | undefined
  readonly keys: readonly SigningKeyRow[]
  readonly newest: SoundHead | undefined
  /** The first head that each key signed. */
  readonly firstHeads: ReadonlyMap<string, TreeHeadRow>
}

const HEADS_PER_READ = 500
const LEAVES_PER_CHUNK = 1024

/**
 * Includes heads that a server appends at the same time.
 * @param onEnd called once, before the last chunk
 */
export async function* walkHeads(
  { log, doctor }: Pick<Reads, 'log' | 'doctor'>,
  problems: Problems,
  onEnd: (ending: Ending) => void,
): AsyncGenerator<readonly Step[]> {
  const firstHeads = new Map<string, TreeHeadRow>()
  let newest: SoundHead | undefined
  let last: TreeHeadRow | undefined
  let steps: Step[] = []
  let leaves = 0
  for (;;) {
    // Reads the log's row before the heads: when no head follows, the row and the heads are of the same state.
    const [state, keys] = [await log.state(), await log.signingKeys()]
    const rows = await log.headsAfter(last, HEADS_PER_READ)
    if (rows.length === 0) {
      onEnd({ state, keys, newest, firstHeads })
      if (steps.length > 0) yield steps
      return
    }
    for (const head of await readHeads({ log, doctor }, rows, problems)) {
      const { row, signed } = head
      const keyId = signed.signature.key_id
      if (!firstHeads.has(keyId)) firstHeads.set(keyId, row)
      const bounds = { keyId, notBefore: newest?.row.issuedAt ?? 0, notAfter: row.issuedAt }
      for (let start = newest?.row.treeSize ?? 0, end = start; ; start = end) {
        end = Math.min(row.treeSize, start + LEAVES_PER_CHUNK)
        steps.push({ ...bounds, start, end, head: end === row.treeSize ? head : undefined })
        leaves += end - start
        if (leaves >= LEAVES_PER_CHUNK) {
          yield steps
          steps = []
          leaves = 0
        }
        if (end === row.treeSize) break
      }
      newest = head
    }
    last = rows.at(-1)
  }
}

async function readHeads(
  { log, doctor }: Pick<Reads, 'log' | 'doctor'>,
  rows: readonly TreeHeadRow[],
  problems: Problems,
): Promise<SoundHead[]> {
  // Reads keys and logs after the heads, so that those of all these heads are among them.
  const keys = createKeyRing(await log.signingKeys())
  const logIds = new Set(
    [...(await log.retiredLogs()), ...[(await log.state()) ?? []].flat()].map(({ logId }) => logId),
  )
  const reach = await doctor.reach()
  const read = rows.map(async (row) => {
    const addProblem = (problem: string) => problems.add(`tree head ${row.treeSize}: ${problem}`)
    const signed = readSigned(row)
    if (!signed) {
      addProblem('what was signed differs from this row')
      return []
    }
    if (!logIds.has(signed.body.log_id)) addProblem('it belongs to another log')
    for (const problem of await keys.check(DOMAINS.treeHead, signed, row.issuedAt)) addProblem(problem)
    if (row.treeSize <= reach) return { row, signed }
    addProblem('the log has fewer entries')
    return []
  })
  return (await Promise.all(read)).flat()
}

function readSigned(row: TreeHeadRow): SignedTreeHead | undefined {
  const signed = parseJson(row.signed)
  if (signed === undefined || !isTreeHead(signed) || JSON.stringify(signed) !== row.signed) return undefined
  try {
    const body = treeHeadBody({ ...row, logId: signed.body.log_id })
    return canonicalize(body) === canonicalize(signed.body) ? signed : undefined
  } catch {
    // The time is outside the range of dates.
    return undefined
  }
}
