/** Remembers the newest head in one file, which several processes of a host use. */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { writeNewFile } from '../../../base/files.ts'
import { following, fromRecord, type Head, isBefore, isSame, readRetired, retiredBy, toRecord } from './head-record.ts'
import { HeadMemoryError, RESTORE_FILE } from './memory.ts'

export type HeadFile = ReturnType<typeof headFile>

/** Within a page, which file systems write at once. The length is fixed, so that a full disk can still store the next record. */
const RECORD_BYTES = 2048

interface HeadFileOptions {
  /** Is given the head of another log before it is overwritten. */
  readonly keep?: (last: Head) => void
  /** One host has the log: a record that it has not read is another's, and is compared before it is overwritten. */
  readonly isAlone?: boolean
}

/** @param name of the file for operators */
export function headFile(path: string, name: string, { keep = () => {}, isAlone = false }: HeadFileOptions = {}) {
  let latest: Head | undefined
  let isSynced = true

  /** Keeps a later head, because commands use the same file while the server runs. @returns false where the file does not exist */
  function overwrite(next: Head, seen: Head | undefined): boolean {
    const file = unlessMissing(() => openSync(path, 'r+'))
    if (file === undefined) return false
    try {
      const bytes = readFileSync(file)
      const stored = headIn(bytes)
      if (stored && stored.logId !== next.logId) keep(stored)
      else if (stored && isUnread(stored, next, seen)) {
        latest = stored
        throw new HeadMemoryError('overtaken', `another host has written ${name} meanwhile, which is compared first`)
      }
      const head = mergeRecords(next, stored)
      const retired = head && stored && retiredBy(head, stored)
      // Before its record is gone. The first line end closes a line that was written in part.
      if (retired !== undefined) writeAt(file, Buffer.from(`\n${retired}\n`), bytes.length)
      if (head) writeAt(file, toBytes(head), 0)
      return true
    } finally {
      closeSync(file)
    }
  }

  /** Tells whether a record may be of another history than this process knows. */
  function isUnread(stored: Head, next: Head, seen: Head | undefined): boolean {
    const isKnown = isSame(stored, next) || (seen !== undefined && isSame(stored, seen))
    return !isKnown && (isAlone || stored.treeSize === next.treeSize)
  }

  return {
    /** The head that was read or written last. */
    latest: () => latest,
    /** @throws HeadMemoryError `unreadable` */
    recall(): Head | undefined {
      try {
        // Another thread or process of this host may have signed in the meantime.
        const stored = read(path)
        if (stored && !(latest && isBefore(stored, latest))) latest = stored
      } catch (cause) {
        const reason = `cannot read ${name}, where this host remembers the last head that it signed: ${reasonOf(cause)}`
        if (!latest) throw new HeadMemoryError('unreadable', `${reason}. ${RESTORE_FILE}`, cause)
      }
      return latest
    },
    /** The last signed head of each key of the log before its present one. A file that cannot be read has none. */
    retired(): readonly string[] {
      try {
        return readRetired(readFileSync(path).toString('utf8', RECORD_BYTES))
      } catch {
        return []
      }
    },
    /** @throws HeadMemoryError `unwritable`; `overtaken` by a record to compare first */
    remember(head: Head): void {
      const seen = latest
      const next = latest && isBefore(head, latest) ? latest : following(head, latest)
      latest = next
      try {
        // Overwrites the file also when another process created it at the same moment.
        if (!overwrite(next, seen)) {
          writeNewFile(path, toBytes(next).toString())
          if (!overwrite(next, seen)) throw new Error('the path is not a file')
        }
        isSynced = false
      } catch (cause) {
        if (cause instanceof HeadMemoryError) throw cause
        const reason = `cannot write ${name}, where this host remembers the last head that it signed: ${reasonOf(cause)}`
        throw new HeadMemoryError('unwritable', reason, cause)
      }
    },
    /** Has what was written outlive a loss of power. @throws Error after which it is tried again */
    async sync(): Promise<void> {
      if (isSynced) return
      isSynced = true
      try {
        const file = await open(path, 'r+')
        await file.datasync().finally(() => file.close())
      } catch (error) {
        isSynced = false
        throw error
      }
    },
  }
}

/** @returns what to write over the stored record; undefined where that stays, as it says more */
function mergeRecords(next: Head, stored: Head | undefined): Head | undefined {
  if (!stored || !isBefore(next, stored)) return following(next, stored)
  const isNamed = !next.hosts || next.hosts.every((host) => stored.hosts?.includes(host))
  return isNamed ? undefined : following({ ...stored, hosts: next.hosts }, stored)
}

/** Leaves out the path, because the readiness endpoint shows this reason to anyone. */
function reasonOf(cause: unknown): string {
  const { code, message } = cause as NodeJS.ErrnoException
  return code ?? message
}

function read(path: string): Head | undefined {
  // Reads it a second time when it is invalid: another process may have been writing it.
  for (let times = 0; times < 2; times++) {
    const bytes = unlessMissing(() => readFileSync(path))
    const head = bytes && headIn(bytes)
    if (!bytes || head) return head
  }
  throw new Error('the file is damaged')
}

/** @returns undefined where there is no file */
function unlessMissing<T>(open: () => T): T | undefined {
  try {
    return open()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function headIn(bytes: Buffer): Head | undefined {
  return fromRecord(bytes.toString('utf8', 0, RECORD_BYTES))
}

function writeAt(file: number, bytes: Buffer, at: number): void {
  if (writeSync(file, bytes, 0, bytes.length, at) !== bytes.length) throw new Error('only a part was written')
}

/** Of more hosts than find room, those that wrote last. */
function toBytes(head: Head): Buffer {
  const record = toRecord(head)
  if (record.length >= RECORD_BYTES && head.hosts?.length) return toBytes({ ...head, hosts: head.hosts.slice(0, -1) })
  return Buffer.from(`${record.padEnd(RECORD_BYTES - 1)}\n`)
}
