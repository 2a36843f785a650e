/** The audit trail as JSON lines: each entry with the two hashes by which anyone can check it. */

import { chainedDocument } from '../../storage/audit-chain.ts'
import type { AuditFilter, AuditTrailRow } from '../../storage/audit-trail.ts'
import type { Reads } from '../../storage/storage.ts'
import { toHex } from '../../storage/table.ts'

/** The number of entries to read at a time, which bounds memory. */
const PAGE_SIZE = 500

/** Yields some lines at a time, oldest first, up to the entry that is the newest when it begins. */
export async function* exportLines({ audit }: Pick<Reads, 'audit'>, filter: AuditFilter): AsyncGenerator<string, void> {
  const last = (await audit.ends())?.last ?? 0
  for (let beyond = 0; ; ) {
    const rows = await audit.list(filter, { order: 'oldest first', beyond, limit: PAGE_SIZE })
    const due = rows.filter(({ position }) => position <= last)
    const previous = await previousHashes(audit, due)
    const lines = due.flatMap((row) => lineOf(row, previous.get(row.position - 1)) ?? [])
    if (lines.length > 0) yield lines.join('')
    if (rows.length < PAGE_SIZE || due.length < rows.length) return
    beyond = rows.at(-1)!.position
  }
}

/** Reads the hashes of the entries before these, by their positions. */
async function previousHashes(audit: Reads['audit'], rows: readonly AuditTrailRow[]): Promise<Map<number, Uint8Array>> {
  const hashes = new Map(await audit.hashesOf(rows.map(({ position }) => position - 1)))
  const ends = await audit.ends()
  return ends ? hashes.set(ends.first - 1, ends.beforeHash) : hashes
}

/** Makes a line of the export; undefined where the previous entry was removed since it was read, as then this one was removed, too. */
function lineOf(row: AuditTrailRow, previous: Uint8Array | undefined): string | undefined {
  if (!previous) return undefined
  const hashes = { previous_hash: toHex(previous), hash: toHex(row.hash) }
  return `${JSON.stringify({ ...chainedDocument(row), ...hashes })}\n`
}
