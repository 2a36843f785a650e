/**
 * Memories in folders: DATA_DIR, and one that does not share its fate. The files survive the end of the process. After a loss of power they
 * may contain the head before, which protects slightly less until the next head is written.
 */
import { accessSync, constants, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { syncFolder, writeNewFile } from '../../../base/files.ts'
import { sha256Text } from '../../../base/sha256.ts'
import type { HostConfig } from '../../../config/config.ts'
import { isSharedDatabase } from '../../../config/database-url.ts'
import type { LogConfig } from '../config.ts'
import { type HeadFile, headFile } from './head-file.ts'
import type { Head } from './head-record.ts'
import {
  HeadMemoryError,
  isClosing,
  type Lock,
  type Memory,
  moveIn,
  PASSIVE,
  RESTORE_FILE,
  type Taking,
  textOfMove,
  tolerate,
} from './memory.ts'

export type FolderSettings = Pick<HostConfig, 'dataDir'> &
  Partial<Pick<HostConfig, 'databaseUrl'>> &
  Partial<Pick<LogConfig, 'headMemory'>>

const FILE = 'log-head.json'

/** DATA_DIR: in one file the newest head of all, and in others that of each log before its last. */
export function dataDirMemory(dataDir: string): Memory {
  const folder = join(dataDir, 'log-heads')
  const before = perLog(folder, 'DATA_DIR/log-heads', (logId) => logId)
  const keep = (last: Head) => before(last.logId).remember(last)
  const newest = headFile(join(dataDir, FILE), `DATA_DIR/${FILE}`, { keep })
  const lock = (move: string) => fileLock(join(folder, `${move}.next`))
  return {
    ...PASSIVE,
    isPrompt: true,
    isApart: false,
    recall(logId) {
      const head = newest.recall()
      return known(head, head?.logId === logId ? undefined : before(logId).recall())
    },
    retired: (logId) => [...newest.retired(), ...before(logId).retired()],
    remember: newest.remember,
    sync: newest.sync,
    close: newest.sync,
    lock,
    moveAfter: (move) => lock(move).read(),
  }
}

/**
 * HEAD_MEMORY. The default folder remembers heads where one host has the database, and where it can be used; moves always. A copy of
 * DATA_DIR, as for a trial, has separate files there.
 */
export function folderMemory({ dataDir, databaseUrl = '', headMemory }: FolderSettings): Memory | undefined {
  if (!headMemory) return undefined
  const { folder, isDefault } = headMemory
  const isUsed = apartFolderOf({ dataDir, databaseUrl, headMemory }) !== undefined
  const ownName = (logId: string) => (isDefault ? `${logId}-${folderIdOf(dataDir)}` : logId)
  const fileOf = perLog(folder, 'HEAD_MEMORY', ownName, !isSharedDatabase(databaseUrl))
  let problem: string | undefined
  let last: HeadFile | undefined

  /** Notes why the default folder does not remember a head, which stops no host. What another host wrote there counts. */
  function noteProblem(error: unknown): boolean {
    if (!isDefault || !(error instanceof HeadMemoryError) || error.kind === 'overtaken') return false
    problem = error.message
    return true
  }

  /** Nobody can use the default folder. A place in one that can be used, and cannot be read, may say that the log moved. */
  const isUnusable = () => isDefault && !isUsable(folder)

  function lock(move: string) {
    const place = fileLock(join(folder, isClosing(move) ? `${move}.json` : `${move}.next`))
    // Versions before wrote beside the head from which the log was moved.
    const earlier = fileLock(join(folder, `${ownName(move)}.moved`))
    return {
      ...place,
      read: () => tolerate(() => place.read() ?? earlier.read(), isUnusable),
      take: (next: string): Taking => (isUnusable() ? 'had' : place.take(next)),
      release: (next: string) => tolerate(() => place.release(next), isUnusable),
    }
  }

  const recall = (logId: string) => (isUsed ? known(tolerate(() => fileOf(logId).recall(), noteProblem)) : [])
  return {
    ...PASSIVE,
    isPrompt: true,
    isApart: true,
    ...(isDefault
      ? {}
      : { named: { id: idOf(folder), isThere: (logId: string) => fileOf(logId).latest() !== undefined } }),
    recall,
    recallAll: (logId) =>
      isUsed
        ? known(...[fileOf(logId), ...otherFiles(folder, logId, `${ownName(logId)}.json`)].map((file) => file.recall()))
        : [],
    retired: (logId) => (isUsed ? fileOf(logId).retired() : []),
    remember(head) {
      if (!isUsed) return
      // What can be read may still be no place to write.
      problem = undefined
      last = fileOf(head.logId)
      tolerate(() => last!.remember(head), noteProblem)
    },
    sync: async () => last?.sync(),
    close: async () => last?.sync(),
    lock,
    moveAfter: (move) => lock(move).read(),
    problem: () => problem,
  }
}

/** The folder that remembers heads apart from DATA_DIR, if any. */
export function apartFolderOf({ databaseUrl = '', headMemory }: FolderSettings): string | undefined {
  if (!headMemory) return undefined
  const { folder, isDefault } = headMemory
  return isDefault && (isSharedDatabase(databaseUrl) || !isUsable(folder)) ? undefined : folder
}

/** Distinguishes the files of several data folders in one folder. */
export function folderIdOf(dataDir: string): string {
  return idOf(resolve(dataDir))
}

export function idOf(name: string): string {
  return sha256Text(name).slice(0, 8)
}

/** The place of one text in a file, which who comes first makes. */
export function fileLock(path: string) {
  function read(): string | undefined {
    try {
      // Each signature asks. An error that is thrown costs as much as twenty such looks.
      return statSync(path, { throwIfNoEntry: false }) && moveIn(readFileSync(path, 'utf8'))
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException
      if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
      throw new HeadMemoryError('unreadable', `cannot read where the log goes on: ${code}. ${RESTORE_FILE}`, cause)
    }
  }
  return {
    read,
    take(next): Taking {
      if (writeNewFile(path, textOfMove(next))) return 'taken'
      return read() === next ? 'had' : undefined
    },
    release(next) {
      if (read() !== next) return
      rmSync(path, { force: true })
      // After a power loss it would keep the host from a log that goes on here.
      syncFolder(dirname(path))
    },
  } satisfies Lock
}

/** @param name of the folder for operators */
function perLog(folder: string, name: string, fileName: (logId: string) => string, isAlone = false) {
  const files = new Map<string, HeadFile>()
  return (logId: string): HeadFile => {
    const file = `${fileName(logId)}.json`
    const made = files.get(file) ?? headFile(join(folder, file), `${name}/${file}`, { isAlone })
    files.set(file, made)
    return made
  }
}

function otherFiles(folder: string, logId: string, own: string): readonly HeadFile[] {
  const isOf = (name: string) => name === `${logId}.json` || (name.startsWith(`${logId}-`) && name.endsWith('.json'))
  try {
    const names = readdirSync(folder).filter((name) => isOf(name) && name !== own)
    return names.map((name) => headFile(join(folder, name), `HEAD_MEMORY/${name}`))
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return []
    const reason = `cannot read the folder of HEAD_MEMORY: ${(cause as Error).message}`
    throw new HeadMemoryError('unreadable', `${reason}. ${RESTORE_FILE}`, cause)
  }
}

function known(...heads: readonly (Head | undefined)[]): readonly Head[] {
  return heads.filter((head) => head !== undefined)
}

/** A service without a home, or with a read-only one, cannot write there. */
function isUsable(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}
