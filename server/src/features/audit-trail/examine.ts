/** Checks the audit trail: its numbering, its hash chain, and that an entry tells of the entries that were removed at its beginning. */

import { sameBytes } from '../../base/same-bytes.ts'
import { CHAIN_START, chainHash } from '../../storage/audit-chain.ts'
import type { AuditTrailEnds, AuditTrailRow } from '../../storage/audit-trail.ts'
import type { Examination } from '../../storage/schema.ts'
import type { Reads } from '../../storage/storage.ts'

type Audit = Pick<Reads['audit'], 'ends' | 'after'>

const ENTRIES_PER_READ = 1000
/** The number of walks. While entries are removed, the walk begins again at the new beginning. */
const MOST_WALKS = 5

interface AuditExamination extends Pick<Examination, 'problems'> {
  readonly read: { readonly audit: Audit }
}

export async function examineAuditTrail({ read: { audit }, problems }: AuditExamination): Promise<void> {
  for (let walks = 1; ; walks++) {
    const ends = await audit.ends()
    const problem = ends ? await walk(audit, ends) : await withoutHead(audit)
    if (problem === undefined) return
    const isCutSince = ends !== undefined && (await audit.ends())?.first !== ends.first
    if (isCutSince && walks < MOST_WALKS) continue
    problems.add(`audit_trail ${problem}`)
    return
  }
}

async function withoutHead(audit: Audit): Promise<string | undefined> {
  const [row] = await audit.after(0, 1)
  // A server may have written the first entry since.
  if (!row || (await audit.ends())) return undefined
  return `${row.position}: there are entries, and audit_trail_head has no row`
}

/** Walks through the trail, and returns the first problem. */
async function walk(audit: Audit, { first, beforeHash, last, lastHash }: AuditTrailEnds): Promise<string | undefined> {
  if (first < 1 || last < first - 1) return `${first}: audit_trail_head says that it goes from ${first} to ${last}`
  if (first === 1 && !sameBytes(beforeHash, CHAIN_START)) return '1: the hash before the first entry is not all zeros'
  let [position, hash] = [first - 1, beforeHash]
  // Each cut appends an entry, so that the newest cut is among the entries that are left.
  let isCutRecorded = first === 1
  for await (const row of entriesBetween(audit, first, last)) {
    if (row === UNREADABLE) return `${position + 1}: its details are not JSON`
    if (row.position !== position + 1) return `${position + 1}: the entry is missing`
    const computed = hashOf(hash, row)
    if (!computed || !sameBytes(computed, row.hash))
      return `${row.position}: its hash does not follow from it and the entry before it`
    isCutRecorded ||= recordsCut(row, first, beforeHash)
    position = row.position
    hash = computed
  }
  if (position < last) return `${position + 1}: the entry is missing`
  if (!sameBytes(hash, lastHash)) return `${last}: audit_trail_head has another hash for it`
  if (!isCutRecorded) return `${first}: the entries before it are missing, and no entry tells that they were removed`
  return beyond(audit, last)
}

const UNREADABLE = 'unreadable'

/** Reads the entries in order, until one is missing or cannot be read. */
async function* entriesBetween(
  audit: Audit,
  first: number,
  last: number,
): AsyncGenerator<AuditTrailRow | typeof UNREADABLE, void> {
  for (let next = first; next <= last; ) {
    const rows = await readAfter(audit, next - 1)
    if (!rows) return yield UNREADABLE
    const due = rows.filter(({ position }) => position <= last)
    if (due.length === 0) return
    yield* due
    next = due.at(-1)!.position + 1
  }
}

/** Computes an entry's hash; undefined when a column holds a value that no entry can have. */
function hashOf(previous: Uint8Array, row: AuditTrailRow): Uint8Array | undefined {
  try {
    return chainHash(previous, row)
  } catch {
    return undefined
  }
}

/** Reads the next entries; undefined when the first of them cannot be read. */
async function readAfter(audit: Audit, position: number): Promise<AuditTrailRow[] | undefined> {
  for (const limit of [ENTRIES_PER_READ, 1]) {
    try {
      return await audit.after(position, limit)
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
    }
  }
  return undefined
}

function recordsCut({ event, details }: AuditTrailRow, first: number, beforeHash: Uint8Array): boolean {
  const { through, through_hash: hash } = details ?? {}
  return event === 'audit_trail.cut' && through === first - 1 && hash === Buffer.from(beforeHash).toString('hex')
}

/** Finds an entry that the head does not know, or one before the first that it knows. */
async function beyond(audit: Audit, last: number): Promise<string | undefined> {
  const [oldest] = (await readAfter(audit, 0)) ?? []
  const [newer] = (await readAfter(audit, last)) ?? []
  const ends = (await audit.ends())!
  if (oldest && oldest.position < ends.first) return `${oldest.position}: it is older than the first entry that is kept`
  if (newer && newer.position > ends.last) return `${newer.position}: audit_trail_head does not know the entry`
  return undefined
}
