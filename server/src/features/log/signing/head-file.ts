/** Remembers the newest head in one file, which several processes of a host use. */
import { closeSync, fstatSync, openSync, readFileSync, readSync, writeSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { bytesEqual } from '@claimcheck/core/receipts'
import { CodedError } from '../../../base/errors.ts'
import { writeNewFile } from '../../../base/files.ts'
import { following, fromRecord, type Head, isBefore, readRetired, retiredBy, toRecord } from './head-record.ts'

export type HeadFile = ReturnType<typeof headFile>

export class HeadMemoryError extends CodedError<'unreadable' | 'unwritable' | 'overtaken'> {
  override readonly name = 'HeadMemoryError'
}

/** Within a page, which file systems write at once. The length is fixed, so that a full disk can still store the next record. */
const RECORD_BYTES = 2048

/**
 * @param name of the file for operators
 * @param keep is given the head of another log before it is overwritten
 * @param isAlone one host has the log: a record that it has not read is another's, and is compared before it is overwritten
 */
export function headFile(
  path: string,
  name: string,
  { keep = () => {}, isAlone = false }: { readonly keep?: (last: Head) => void; readonly isAlone?: boolean } = {},
) {
  let latest: Head | undefined
  let isSynced = true

  return {
    /** @throws HeadMemoryError `unreadable` */
    recall(): Head | undefined {
      try {
        // Another thread or process of this host may have signed in the meantime.
        const stored = read(path, name)
        if (stored && !(latest && isBefore(stored, latest))) latest = stored
      } catch (error) {
        if (!latest) throw error
      }
      return latest
    },
    /** The last signed head of each key of the log before its present one. A file that cannot be read has none. */
    retired: () => retiredIn(path),
    /** @throws HeadMemoryError `unwritable`; `overtaken` by a record to compare first */
    remember(head: Head): void {
      const seen = latest
      if (!latest || !isBefore(head, latest)) latest = following(head, latest)
      const next = latest
      const check = (stored: Head) => {
        const isKnown = [next, ...(seen ? [seen] : [])].some((one) => isSame(one, stored))
        if (stored.logId !== next.logId) keep(stored)
        else if (!isKnown && (isAlone || stored.treeSize === next.treeSize)) {
          latest = stored
          throw new HeadMemoryError('overtaken', `another host has written ${name} meanwhile, which is compared first`)
        }
      }
      try {
        // Overwrites the file also when another process created it at the same moment.
        if (!overwrite(path, next, check)) {
          writeNewFile(path, write(next).toString())
          if (!overwrite(path, next, check)) throw new Error('the path is not a file')
        }
        isSynced = false
      } catch (cause) {
        if (cause instanceof HeadMemoryError) throw cause
        const message = `cannot write ${name}, where this host remembers the last head that it signed: ${reasonOf(cause)}`
        throw new HeadMemoryError('unwritable', message, { cause })
      }
    },
    /** Has what was written outlive a loss of power. */
    async sync(): Promise<void> {
      if (isSynced) return
      isSynced = true
      const file = await open(path, 'r+')
      await file.datasync().finally(() => file.close())
    },
  }
}

/** Leaves out the path, because the readiness endpoint shows this reason to anyone. */
function reasonOf(cause: unknown): string {
  const { code, message } = cause as NodeJS.ErrnoException
  return code ?? message
}

/** Returns false when the file does not exist. Keeps a later head, because commands use the same file while the server runs. */
function overwrite(path: string, given: Head, check: (stored: Head) => void): boolean {
  const file = openExisting(path, 'r+')
  if (file === undefined) return false
  try {
    const stored = fromRecord(readRecord(file))
    if (stored) check(stored)
    const isLater = stored && isBefore(given, stored)
    if (isLater && given.hosts?.every((host) => stored.hosts?.includes(host)) !== false) return true
    const head = isLater ? following({ ...stored, hosts: given.hosts }, stored) : following(given, stored)
    const retired = stored && retiredBy(head, stored)
    // Before its record is gone. The first line end closes a line that was written in part.
    if (retired !== undefined) writeAll(file, Buffer.from(`\n${retired}\n`), fstatSync(file).size)
    writeAll(file, write(head), 0)
    return true
  } finally {
    closeSync(file)
  }
}

function isSame(one: Head, other: Head): boolean {
  return one.logId === other.logId && one.treeSize === other.treeSize && bytesEqual(one.rootHash, other.rootHash)
}

function writeAll(file: number, bytes: Buffer, at: number): void {
  if (writeSync(file, bytes, 0, bytes.length, at) !== bytes.length) throw new Error('only a part was written')
}

function read(path: string, name: string): Head | undefined {
  try {
    const file = openExisting(path, 'r')
    if (file === undefined) return undefined
    try {
      // Reads it a second time when it is invalid: another process may have been writing it.
      const head = fromRecord(readRecord(file)) ?? fromRecord(readRecord(file))
      if (head) return head
    } finally {
      closeSync(file)
    }
  } catch (cause) {
    throw unreadable(name, reasonOf(cause), cause)
  }
  throw unreadable(name, 'the file is damaged')
}

function retiredIn(path: string): readonly string[] {
  try {
    return readRetired(readFileSync(path).toString('utf8', RECORD_BYTES))
  } catch {
    return []
  }
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

/** Of more hosts than find room, those that wrote last. */
function write(head: Head): Buffer {
  const record = toRecord(head)
  if (record.length >= RECORD_BYTES && head.hosts?.length) return write({ ...head, hosts: head.hosts.slice(0, -1) })
  return Buffer.from(`${record.padEnd(RECORD_BYTES - 1)}\n`)
}
