/**
 * Remembers the newest head of the log outside of the database, so that a restored backup is recognized: in DATA_DIR, and in a folder that
 * does not share the fate of DATA_DIR.
 */
import { accessSync, closeSync, constants, mkdirSync, openSync, readSync, writeSync } from 'node:fs'
import { join, resolve } from 'node:path'
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
  /** The signed tree head as JSON, by which others believe it; of an earlier state, where this one came without. */
  readonly signed?: string | undefined
  /** The last that another key has signed. */
  readonly earlier?: string | undefined
}

export interface CheckpointStore {
  /**
   * The newest head of each place that remembers one, which may be of another log; none when this host has not signed yet.
   * @throws HeadMemoryError `unreadable`
   */
  recall(logId: string): readonly Head[]
  /** Of these, what does not share the fate of DATA_DIR. */
  recallApart(logId: string): readonly Head[]
  /**
   * Never goes back within a log. The files survive the end of the process. After a loss of power they may contain the head before, which
   * protects slightly less until the next head is written.
   * @throws HeadMemoryError `unwritable`
   */
  remember(head: Head): void
}

type HeadFiles = Omit<CheckpointStore, 'recallApart'>

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
const RECORD_BYTES = 2048

interface CheckpointStoreOptions {
  readonly config: Pick<HostConfig, 'dataDir'> &
    Partial<Pick<HostConfig, 'databaseUrl'> & Pick<LogConfig, 'headMemory'>>
}

export function createCheckpointStore({ config }: CheckpointStoreOptions): CheckpointStore {
  const own = inDataDir(config.dataDir)
  const apart = apartFrom(config)
  if (!apart) return { ...own, recallApart: () => [] }
  return {
    recallApart: (logId) => apart.recall(logId),
    recall: (logId) => [...own.recall(logId), ...apart.recall(logId)],
    remember(head) {
      own.remember(head)
      apart.remember(head)
    },
  }
}

/** In one file the newest head of all, and for each log before its last. */
function inDataDir(dataDir: string): HeadFiles {
  const before = perLog(join(dataDir, 'log-heads'), 'DATA_DIR/log-heads', (logId) => logId)
  const newest = headFile(join(dataDir, FILE), `DATA_DIR/${FILE}`, (last) => before(last.logId).remember(last))
  return {
    recall(logId) {
      const head = newest.recall()
      return known(head, head?.logId === logId ? undefined : before(logId).recall())
    },
    remember: (head) => newest.remember(head),
  }
}

/**
 * A folder that nobody named is used where one host has the database, and where it can be. A copy of DATA_DIR beside it, as for a trial, has
 * files of its own there.
 */
function apartFrom(config: CheckpointStoreOptions['config']) {
  const folder = apartFolderOf(config)
  if (folder === undefined) return undefined
  if (!config.headMemory!.isDefault) return eachInFile(perLog(folder, 'HEAD_MEMORY', (logId) => logId))
  const folderId = folderIdOf(config.dataDir)
  const { recall, remember } = eachInFile(perLog(folder, 'HEAD_MEMORY', (logId) => `${logId}-${folderId}`))
  return {
    recall: (logId: string) => quietly(() => recall(logId)) ?? [],
    remember: (head: Head) => quietly(() => remember(head)),
  }
}

/** Undefined: there is none. */
export function apartFolderOf({ databaseUrl = '', headMemory }: CheckpointStoreOptions['config']): string | undefined {
  if (!headMemory) return undefined
  const { folder, isDefault } = headMemory
  return isDefault && (isSharedDatabase(databaseUrl) || !isUsable(folder)) ? undefined : folder
}

/** Names apart the files that several folders have in one. */
export function folderIdOf(dataDir: string): string {
  return sha256Text(resolve(dataDir)).slice(0, 8)
}

function eachInFile(fileOf: (logId: string) => HeadFile): HeadFiles {
  return {
    recall: (logId) => known(fileOf(logId).recall()),
    remember: (head) => fileOf(head.logId).remember(head),
  }
}

/** @param name of the folder for operators */
function perLog(folder: string, name: string, fileName: (logId: string) => string): (logId: string) => HeadFile {
  const files = new Map<string, HeadFile>()
  return (logId) => {
    const file = `${fileName(logId)}.json`
    const made = files.get(file) ?? headFile(join(folder, file), `${name}/${file}`)
    files.set(file, made)
    return made
  }
}

function known(...heads: readonly (Head | undefined)[]): readonly Head[] {
  return heads.filter((head) => head !== undefined)
}

/** Undefined where the file cannot be used. */
function quietly<T>(use: () => T): T | undefined {
  try {
    return use()
  } catch (error) {
    if (!(error instanceof HeadMemoryError)) throw error
    return undefined
  }
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

/** @param name of the file for operators @param keep is given the head of another log before it is overwritten */
function headFile(path: string, name: string, keep: (last: Head) => void = () => {}): HeadFile {
  const parse = parseOnce()
  let latest: Head | undefined
  const replace = (head: Head, record: Buffer) =>
    overwrite(path, record, head, (text) => {
      const stored = parse(text)
      if (stored && stored.logId !== head.logId) keep(stored)
      return stored
    })

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
      if (!latest || !isBefore(head, latest)) latest = withSignatures(head, latest)
      const record = write(latest)
      try {
        if (replace(latest, record)) return
        writeNewFile(path, record.toString())
        // Overwrites the file also when another process created it at the same moment.
        if (!replace(latest, record)) throw new Error('the path is not a file')
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

/** Keeps what another key has signed last, because a backup from before a rotation does not have the new key. */
export function withSignatures(head: Head, before: Head | undefined): Head {
  if (before?.logId !== head.logId) return head
  const isRotated = head.signed && before.signed && keyOf(head.signed) !== keyOf(before.signed)
  return { ...head, signed: head.signed ?? before.signed, earlier: isRotated ? before.signed : before.earlier }
}

function keyOf(signed: string): unknown {
  return JSON.parse(signed).signature.key_id
}

export function isBefore(one: Head, other: Head): boolean {
  return one.logId === other.logId && one.treeSize < other.treeSize
}

/** Returns false when the file does not exist. Keeps a later head, because a command beside the server uses the same file. */
function overwrite(path: string, record: Buffer, head: Head, parse: (text: string) => Head | undefined): boolean {
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

/** @returns text in which a damage is found */
export function toRecord({ logId, name, treeSize, rootHash, issuedAt, signed, earlier }: Head): string {
  const fields = {
    log_id: logId,
    name,
    tree_size: treeSize,
    root_hash: toBase64url(rootHash),
    issued_at: formatInstant(issuedAt),
    ...(signed === undefined ? {} : { signed }),
    ...(earlier === undefined ? {} : { earlier }),
  }
  return JSON.stringify(Object.assign(fields, { digest: digestOf(fields) }))
}

function write(head: Head): Buffer {
  return Buffer.from(`${toRecord(head).padEnd(RECORD_BYTES - 1)}\n`)
}

type Parse = (text: string) => Head | undefined

/** The file is read each time, because others write it. Mostly it says what it said before. */
function parseOnce(): Parse {
  let known: { readonly text: string; readonly head: Head | undefined } | undefined
  return (text) => {
    if (known?.text !== text) known = { text, head: fromRecord(text) }
    return known.head
  }
}

/** Undefined where it is damaged. */
export function fromRecord(text: string): Head | undefined {
  try {
    const { digest, ...fields } = JSON.parse(text)
    const { log_id: logId, name, tree_size: treeSize, root_hash, issued_at, signed, earlier } = fields
    const rootHash = fromBase64url(root_hash, HASH_BYTES)
    const issuedAt = parseInstant(issued_at)
    if (digest !== digestOf(fields) || !rootHash || issuedAt === undefined) return undefined
    const signatures = { ...(signed === undefined ? {} : { signed }), ...(earlier === undefined ? {} : { earlier }) }
    return { logId, name, treeSize, rootHash, issuedAt, ...signatures }
  } catch {
    return undefined
  }
}

/** Detects a record that was partly written or read. It does not protect against deliberate changes. */
function digestOf(fields: object): string {
  return sha256Text(JSON.stringify(fields))
}
