/** Remembers the head that this host signed last, in a file outside of the database, which restoring a database backup does not restore. */
import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { HASH_BYTES } from '@claimcheck/core/log'
import { fromBase64url, toBase64url } from '@claimcheck/core/receipts'
import { formatInstant, parseInstant } from '@claimcheck/core/rules'
import { CodedError } from '../../../base/errors.ts'
import { writeNewFile } from '../../../base/files.ts'
import { sha256Text } from '../../../base/sha256.ts'
import type { HostConfig } from '../../../config/config.ts'
import type { LogState } from '../../../storage/log-state.ts'

export type Head = Pick<LogState, 'logId' | 'name' | 'treeSize' | 'rootHash' | 'issuedAt'>

export interface CheckpointStore {
  /** Undefined when this host has not signed yet. @throws HeadMemoryError `unreadable` */
  recall(): Head | undefined
  /**
   * Never goes back within a log. The file survives the end of the process. After a loss of power it may contain the head before, which
   * protects slightly less until the next head is written.
   * @throws HeadMemoryError `unwritable`
   */
  remember(head: Head): void
}

export class HeadMemoryError extends CodedError<'unreadable' | 'unwritable'> {
  override readonly name = 'HeadMemoryError'
}

const FILE = 'log-head.json'
/** One sector, which disks write atomically. The length is fixed, so that a full disk can still store the next record. */
const RECORD_BYTES = 512

export function createCheckpointStore({ config }: { readonly config: Pick<HostConfig, 'dataDir'> }): CheckpointStore {
  const path = join(config.dataDir, FILE)
  const parse = parseOnce()
  let latest: Head | undefined

  return {
    recall() {
      try {
        // Another thread or process of this host may have signed in the meantime.
        const stored = read(path, parse)
        if (stored && !(latest && isBefore(stored, latest))) latest = stored
      } catch (error) {
        if (!latest) throw error
      }
      return latest
    },
    remember(head) {
      if (!latest || !isBefore(head, latest)) latest = head
      const record = write(latest)
      try {
        if (overwrite(path, record, latest, parse)) return
        writeNewFile(path, record.toString())
        // Overwrites the file also when another process created it at the same moment.
        if (!overwrite(path, record, latest, parse)) throw new Error('the path is not a file')
      } catch (cause) {
        const message = `cannot write DATA_DIR/${FILE}, where this host remembers the last head that it signed: ${reasonOf(cause)}`
        throw new HeadMemoryError('unwritable', message, { cause })
      }
    },
  }
}

/** Leaves out the path, because the readiness endpoint shows this reason to anyone. */
function reasonOf(cause: unknown): string {
  const { code, message } = cause as NodeJS.ErrnoException
  return code ?? message
}

function isBefore(one: Head, other: Head): boolean {
  return one.logId === other.logId && one.treeSize < other.treeSize
}

/** Returns false when the file does not exist. Keeps a later head, because a command beside the server uses the same file. */
function overwrite(path: string, record: Buffer, head: Head, parse: Parse): boolean {
  const file = openExisting(path, 'r+')
  if (file === undefined) return false
  try {
    const stored = parse(readRecord(file))
    if (stored && isBefore(head, stored)) return true
    if (writeSync(file, record, 0, RECORD_BYTES, 0) !== RECORD_BYTES) throw new Error('only a part was written')
    return true
  } finally {
    closeSync(file)
  }
}

function read(path: string, parse: Parse): Head | undefined {
  try {
    const file = openExisting(path, 'r')
    if (file === undefined) return undefined
    try {
      // Reads it a second time when it is invalid: another process may have been writing it.
      const head = parse(readRecord(file)) ?? parse(readRecord(file))
      if (head) return head
    } finally {
      closeSync(file)
    }
  } catch (cause) {
    throw unreadable(reasonOf(cause), cause)
  }
  throw unreadable('the file is damaged')
}

function unreadable(reason: string, cause?: unknown): HeadMemoryError {
  const message = `cannot read DATA_DIR/${FILE}, where this host remembers the last head that it signed: ${reason}`
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
  const text = JSON.stringify(Object.assign(fields, { digest: digestOf(fields) }))
  return Buffer.from(`${text.padEnd(RECORD_BYTES - 1)}\n`)
}

type Parse = (text: string) => Head | undefined

/** The file is read each time, because others write it. Mostly it says what it said before. */
function parseOnce(): Parse {
  let known: { readonly text: string; readonly head: Head | undefined } | undefined
  return (text) => {
    if (known?.text !== text) known = { text, head: parseRecord(text) }
    return known.head
  }
}

function parseRecord(text: string): Head | undefined {
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

/** Detects a record that was partly written or read. It does not protect against deliberate changes. */
function digestOf(fields: object): string {
  return sha256Text(JSON.stringify(fields))
}
