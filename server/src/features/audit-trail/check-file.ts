/** Checks an exported audit trail: each entry must have its own hash and the hash of the one before it. Needs nothing but the file. */

import { parseStrictJson } from '@claimcheck/core/receipts'
import { isJsonObject, type JsonValue } from '@claimcheck/core/rules'
import { documentHash } from '../../storage/audit-chain.ts'

export interface FileReport {
  readonly ok: boolean
  readonly entries: number
  /** The positions of the first and the last entry; null without entries. */
  readonly first: number | null
  readonly last: number | null
  /** The hash of the last entry, which covers all entries before it. */
  readonly lastHash: string | null
  /** The number of gaps between positions: entries of other workspaces, entries that a filter left out, or entries removed from the file. */
  readonly gaps: number
  /** The first problem that was found; null without problems. */
  readonly problem: string | null
}

/** An entry of the file whose hash fits its content. */
export interface FileEntry {
  readonly position: number
  readonly previousHash: string
  readonly hash: string
}

const HASH = /^[0-9a-f]{64}$/

/**
 * Checks the lines of an export.
 * @param onEntry called for each entry whose hash fits, in order
 */
export async function checkLines(
  lines: AsyncIterable<string>,
  onEntry: (entry: FileEntry) => Promise<void> | void = () => {},
): Promise<FileReport> {
  let number = 0
  let entries = 0
  let gaps = 0
  let first: number | null = null
  let before: FileEntry | undefined
  const report = (problem: string | null): FileReport => {
    const { position: last = null, hash: lastHash = null } = before ?? {}
    return { ok: problem === null, entries, first, last, lastHash, gaps, problem }
  }
  for await (const line of lines) {
    number += 1
    if (line.trim() === '') continue
    const entry = readEntry(line)
    if (typeof entry === 'string') return report(`line ${number}: ${entry}`)
    const where = `line ${number}, position ${entry.position}`
    if (before && entry.position <= before.position) return report(`${where}: it does not follow ${before.position}`)
    const isNext = before !== undefined && entry.position === before.position + 1
    if (isNext && entry.previousHash !== before!.hash)
      return report(`${where}: it does not hold the hash of the entry before it`)
    if (before && !isNext) gaps += 1
    first ??= entry.position
    before = entry
    entries += 1
    await onEntry(entry)
  }
  return report(null)
}

/** Returns the entry, or what is wrong with the line. */
function readEntry(line: string): FileEntry | string {
  let parsed: JsonValue | undefined
  try {
    parsed = parseStrictJson(line).value
  } catch {
    // A line that is no JSON is no object, either.
  }
  if (!isJsonObject(parsed)) return 'it is not a JSON object'
  const { previous_hash: previousHash, hash, ...document } = parsed
  const { position } = document
  if (!Number.isSafeInteger(position) || (position as number) < 1) return 'it has no position'
  if (!isHash(previousHash) || !isHash(hash)) return 'it lacks a hash'
  const computed = Buffer.from(documentHash(Buffer.from(previousHash, 'hex'), document)).toString('hex')
  if (computed !== hash) return `position ${position}: its hash does not fit its content`
  return { position: position as number, previousHash, hash }
}

function isHash(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && HASH.test(value)
}
