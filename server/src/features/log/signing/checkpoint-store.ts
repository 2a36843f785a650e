/**
 * Remembers the newest head of the log outside of the database, so that a restored backup is recognized: in DATA_DIR, and in a folder that
 * does not share the fate of DATA_DIR.
 */
import { accessSync, closeSync, constants, mkdirSync, openSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { HASH_BYTES } from '@claimcheck/core/log'
import { fromBase64url, toBase64url } from '@claimcheck/core/receipts'
import { formatInstant, parseInstant } from '@claimcheck/core/rules'
import { CodedError } from '../../../base/errors.ts'
import { writeNewFile } from '../../../base/files.ts'
import { sha256Text } from '../../../base/sha256.ts'
import type { HostConfig } from '../../../config/config.ts'
import { isSharedDatabase } from '../../../config/database-url.ts'
import type { LogState } from '../../../storage/log-state.ts'
import type { LogConfig } from '../config.ts'

export interface Head extends Pick<LogState, 'logId' | 'name' | 'treeSize' | 'rootHash' | 'issuedAt'> {
  /** The signed tree head as JSON, by which others believe it. */
  readonly signed?: string | undefined
}

export interface CheckpointStore {
  /**
   * The newest head of each place that remembers one, which may be of another log; none when this host has not signed yet.
   * @throws HeadMemoryError `unreadable`
   */
  recall(logId: string): readonly Head[]
  /**
   * Never goes back within a log. The files survive the end of the process. After a loss of power they may contain the head before, which
   * protects slightly less until the next head is written.
   * @throws HeadMemoryError `unwritable`
   */
  remember(head: Head): void
}

/** Remembers in one file. */
interface HeadFile {
  recall(): Head | undefined
  remember(head: Head): void
}

export class HeadMemoryError extends CodedError<'unreadable' | 'unwritable'> {
  override readonly name = 'HeadMemoryError'
}

const FILE = 'log-head.json'
/** Within a page, which file systems write at once. The length is fixed, so that a full disk can still store the next record. */
const RECORD_BYTES = 1024

interface CheckpointStoreOptions {
  readonly config: Pick<HostConfig, 'dataDir'> &
    Partial<Pick<HostConfig, 'databaseUrl'> & Pick<LogConfig, 'headMemory'>>
}

export function createCheckpointStore({ config }: CheckpointStoreOptions): CheckpointStore {
  const { dataDir, headMemory } = config
  const own = headFile(join(dataDir, FILE), `DATA_DIR/${FILE}`)
  if (
    !headMemory ||
    (headMemory.isDefault && (isSharedDatabase(config.databaseUrl ?? '') || !isUsable(headMemory.folder)))
  )
    return { recall: () => known(own.recall()), remember: (head) => own.remember(head) }
  const apart = new Map<string, HeadFile>()
  const apartOf = (logId: string) => {
    const file = apart.get(logId) ?? headFile(join(headMemory.folder, `${logId}.json`), `HEAD_MEMORY/${logId}.json`)
    apart.set(logId, file)
    return file
  }
  return {
    recall: (logId) => known(own.recall(), apartOf(logId).recall()),
    remember(head) {
      own.remember(head)
      apartOf(head.logId).remember(head)
    },
  }
}

function known(...heads: readonly (Head | undefined)[]): readonly Head[] {
  return heads.filter((head) => head !== undefined)
}

/** As it is not where a service has no home of its own, or a read-only one. */
function isUsable(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** @param name of the file for operators */
function headFile(path: string, name: string): HeadFile {
  const parse = parseOnce()
  let latest: Head | undefined

  return {
    recall() {
      try {
        // Another thread or process of this host may have signed in the meantime.
        const stored = read(path, name, parse)
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
        const message = `cannot write ${name}, where this host remembers the last head that it signed: ${reasonOf(cause)}`
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

function read(path: string, name: string, parse: Parse): Head | undefined {
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
    throw unreadable(name, reasonOf(cause), cause)
  }
  throw unreadable(name, 'the file is damaged')
}

function unreadable(name: string, reason: string, cause?: unknown): HeadMemoryError {
  const message = `cannot read ${name}, where this host remembers the last head that it signed: ${reason}`
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

function write({ logId, name, treeSize, rootHash, issuedAt, signed }: Head): Buffer {
  const fields = {
    log_id: logId,
    name,
    tree_size: treeSize,
    root_hash: toBase64url(rootHash),
    issued_at: formatInstant(issuedAt),
    ...(signed === undefined ? {} : { signed }),
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
    const { log_id: logId, name, tree_size: treeSize, root_hash, issued_at, signed } = fields
    const rootHash = fromBase64url(root_hash, HASH_BYTES)
    const issuedAt = parseInstant(issued_at)
    if (digest !== digestOf(fields) || !rootHash || issuedAt === undefined) return undefined
    return { logId, name, treeSize, rootHash, issuedAt, ...(signed === undefined ? {} : { signed }) }
  } catch {
    return undefined
  }
}

/** Detects a record that was partly written or read. It does not protect against deliberate changes. */
function digestOf(fields: object): string {
  return sha256Text(JSON.stringify(fields))
}
