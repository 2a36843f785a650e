/** The log's signed heads in their order, as the chunks of leaves that they stand for. What is wrong with a head itself is said here. */
import { canonicalize, DOMAINS, isTreeHead, type SignedTreeHead, treeHeadBody } from '@claimcheck/core'
import type { SigningKeyRow, TreeHeadRow } from '../../storage/log.ts'
import type { LogState } from '../../storage/log-state.ts'
import type { Reads } from '../../storage/storage.ts'
import { parseJson } from './check-record.ts'
import type { Segment } from './chunk.ts'
import { createKeyRing } from './key-ring.ts'
import type { Problems } from './problems.ts'

export interface Step extends Segment {
  /** The head that these leaves end at; undefined when more of its leaves follow. */
  readonly head: SoundHead | undefined
}

/** A head whose row is what was signed. */
export interface SoundHead {
  readonly row: TreeHeadRow
  readonly signed: SignedTreeHead
}

/** How it all stood when no more heads followed. */
export interface Ending {
  readonly state: LogState | undefined
  readonly keys: readonly SigningKeyRow[]
  readonly newest: SoundHead | undefined
  /** The first head by each key. */
  readonly firstHeads: ReadonlyMap<string, TreeHeadRow>
}

const HEADS_PER_READ = 500
const LEAVES_PER_STRETCH = 1024

/** A server may go on appending meanwhile: what is new is gone through, too. `onEnd` is called once, before the last chunk. */
export async function* walkHeads(
  { log, audit }: Pick<Reads, 'log' | 'audit'>,
  problems: Problems,
  onEnd: (ending: Ending) => void,
): AsyncGenerator<readonly Step[]> {
  const firstHeads = new Map<string, TreeHeadRow>()
  let newest: SoundHead | undefined
  let last: TreeHeadRow | undefined
  let steps: Step[] = []
  let leaves = 0
  for (;;) {
    // Read before the heads: when none follow, all of it is of one moment.
    const [state, keys] = [await log.state(), await log.signingKeys()]
    const rows = await log.headsAfter(last, HEADS_PER_READ)
    if (rows.length === 0) {
      onEnd({ state, keys, newest, firstHeads })
      if (steps.length > 0) yield steps
      return
    }
    for (const head of await readHeads({ log, audit }, rows, problems)) {
      const { row, signed } = head
      const keyId = signed.signature.key_id
      if (!firstHeads.has(keyId)) firstHeads.set(keyId, row)
      const under = { keyId, notBefore: newest?.row.issuedAt ?? 0, notAfter: row.issuedAt }
      for (let start = newest?.row.treeSize ?? 0, end = start; ; start = end) {
        end = Math.min(row.treeSize, start + LEAVES_PER_STRETCH)
        steps.push({ ...under, start, end, head: end === row.treeSize ? head : undefined })
        leaves += end - start
        if (leaves >= LEAVES_PER_STRETCH) {
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
  { log, audit }: Pick<Reads, 'log' | 'audit'>,
  rows: readonly TreeHeadRow[],
  problems: Problems,
): Promise<SoundHead[]> {
  // Read after the heads: the keys that signed them, and the log that they are of, are there.
  const keys = createKeyRing(await log.signingKeys())
  const logIds = new Set(
    [...(await log.retiredLogs()), ...[(await log.state()) ?? []].flat()].map(({ logId }) => logId),
  )
  const reach = await audit.reach()
  const read = rows.map(async (row) => {
    const complain = (problem: string) => problems.complain(`tree head ${row.treeSize}: ${problem}`)
    const signed = readSigned(row)
    if (!signed) {
      complain('what was signed is not this head')
      return []
    }
    if (!logIds.has(signed.body.log_id)) complain('it is not of this log')
    for (const problem of await keys.check(DOMAINS.treeHead, signed, row.issuedAt)) complain(problem)
    if (row.treeSize <= reach) return { row, signed }
    complain('the log does not reach so far')
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
    // A time that no date has.
    return undefined
  }
}
