/** The head that this host signed last, in a file beside the database: who restores an older backup does not restore this. */
import { createHash } from 'node:crypto'
import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { formatInstant, fromBase64url, HASH_BYTES, parseInstant, toBase64url } from '@claimcheck/core'
import { writeNewFile } from '../../base/files.ts'
import type { Config } from '../../config/config.ts'
import type { LogState } from '../../storage/log-state.ts'

export type Head = Pick<LogState, 'logId' | 'name' | 'treeSize' | 'rootHash' | 'issuedAt'>

export interface HeadMemory {
  /** undefined: this host has not signed yet. @throws HeadMemoryError `unreadable` */
  recall(): Head | undefined
  /**
   * Never goes back within a log. What it wrote survives the end of the process; a loss of power may leave the head before, which
   * is a head of the same log, and guards a little less until the next one.
   * @throws HeadMemoryError `unwritable`
   */
  remember(head: Head): void
}

export class HeadMemoryError extends Error {
  override readonly name = 'HeadMemoryError'
  readonly code: 'unreadable' | 'unwritable'

  constructor(code: HeadMemoryError['code'], message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options)
    this.code = code
  }
}

const FILE = 'log-head.json'
/** One sector, which disks write whole. Always as long, so that a full disk has room for the next one. */
const RECORD_BYTES = 512

export function createHeadMemory({ config }: { readonly config: Pick<Config, 'dataDir'> }): HeadMemory {
  const path = join(config.dataDir, FILE)
  let latest: Head | undefined

  return {
    recall() {
      try {
        // Another thread or process of this host may have signed since.
        const kept = read(path)
        if (kept && !(latest && isBefore(kept, latest))) latest = kept
      } catch (error) {
        if (!latest) throw error
      }
      return latest
    },
    remember(head) {
      if (!latest || !isBefore(head, latest)) latest = head
      const record = write(latest)
      try {
        if (overwrite(path, record, latest)) return
        writeNewFile(path, record.toString())
        // As another process does, when that made it at the same moment.
        if (!overwrite(path, record, latest)) throw new Error('what is there is no file')
      } catch (cause) {
        const message = `DATA_DIR/${FILE} cannot be written, in which this host remembers what it signed: ${reasonOf(cause)}`
        throw new HeadMemoryError('unwritable', message, { cause })
      }
    },
  }
}

/** Without the path, which is nobody's business who asks whether the service is ready. */
function reasonOf(cause: unknown): string {
  const { code, message } = cause as NodeJS.ErrnoException
  return code ?? message
}

function isBefore(one: Head, other: Head): boolean {
  return one.logId === other.logId && one.treeSize < other.treeSize
}

/** False when there is no file. A later head stays: a command that runs beside the server shares its folder. */
function overwrite(path: string, record: Buffer, head: Head): boolean {
  const file = openExisting(path, 'r+')
  if (file === undefined) return false
  try {
    const kept = parse(readRecord(file))
    if (kept && isBefore(head, kept)) return true
    if (writeSync(file, record, 0, RECORD_BYTES, 0) !== RECORD_BYTES) throw new Error('it was written in part')
    return true
  } finally {
    closeSync(file)
  }
}

function read(path: string): Head | undefined {
  try {
    const file = openExisting(path, 'r')
    if (file === undefined) return undefined
    try {
      // Twice: another process may be writing it.
      const head = parse(readRecord(file)) ?? parse(readRecord(file))
      if (head) return head
    } finally {
      closeSync(file)
    }
  } catch (cause) {
    throw unreadable(reasonOf(cause), cause)
  }
  throw unreadable('it is damaged')
}

function unreadable(why: string, cause?: unknown): HeadMemoryError {
  const message = `DATA_DIR/${FILE} cannot be read, in which this host remembers what it signed: ${why}`
  return new HeadMemoryError('unreadable', message, { cause })
}

function openExisting(path: string, flags: 'r' | 'r+'): number | undefined {
  try {
    return openSync(path, flags)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function readRecord(file: number): string {
  const record = Buffer.alloc(RECORD_BYTES)
  return record.toString('utf8', 0, readSync(file, record, 0, RECORD_BYTES, 0))
}

function write({ logId, name, treeSize, rootHash, issuedAt }: Head): Buffer {
  const fields = {
    log_id: logId,
    name,
    tree_size: treeSize,
    root_hash: toBase64url(rootHash),
    issued_at: formatInstant(issuedAt),
  }
  const text = JSON.stringify({ ...fields, digest: digestOf(fields) })
  return Buffer.from(`${text.padEnd(RECORD_BYTES - 1)}\n`)
}

function parse(text: string): Head | undefined {
  try {
    const { digest, ...fields } = JSON.parse(text)
    const { log_id: logId, name, tree_size: treeSize, root_hash, issued_at } = fields
    const rootHash = fromBase64url(root_hash, HASH_BYTES)
    const issuedAt = parseInstant(issued_at)
    if (digest !== digestOf(fields) || !rootHash || issuedAt === undefined) return undefined
    return { logId, name, treeSize, rootHash, issuedAt }
  } catch {
    return undefined
  }
}

/** Against a record of which only a part was written, or read; not against people. */
function digestOf(fields: object): string {
  return createHash('sha256').update(JSON.stringify(fields)).digest('base64url')
}
