/**
 * Remembers the newest head of the log outside of the database, so that a restored backup is recognized: in DATA_DIR, and in a folder that
 * does not share the fate of DATA_DIR.
 */
import { accessSync, constants, mkdirSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { sha256Text } from '../../../base/sha256.ts'
import type { HostConfig } from '../../../config/config.ts'
import { isSharedDatabase } from '../../../config/database-url.ts'
import type { LogConfig } from '../config.ts'
import { type HeadFile, HeadMemoryError, headFile } from './head-file.ts'
import type { Head } from './head-record.ts'

export interface CheckpointStore {
  /**
   * The newest head of each place that remembers one, which may be of another log; none when this host has not signed yet.
   * @throws HeadMemoryError `unreadable`
   */
  recall(logId: string): readonly Head[]
  /** Of these, what does not share the fate of DATA_DIR. */
  recallApart(logId: string): readonly Head[]
  /** What other data folders of this machine remember of the log, in the folder that is apart from DATA_DIR. @throws HeadMemoryError `unreadable` */
  others(logId: string): readonly Head[]
  /** The log goes on here: no host of another data folder signs it any more. @throws HeadMemoryError */
  takeOver(logId: string): void
  /** The last signed head of each key of the log before its present one. A file that cannot be read has none. */
  retired(logId: string): readonly string[]
  /**
   * Never goes back within a log. The files survive the end of the process. After a loss of power they may contain the head before, which
   * protects slightly less until the next head is written.
   * @throws HeadMemoryError `unwritable`
   */
  remember(head: Head): void
  /** Why the default folder apart from DATA_DIR, which stops no host, did not remember the last head. */
  problem(): string | undefined
}

type HeadFiles = Pick<CheckpointStore, 'recall' | 'retired' | 'remember'>

const FILE = 'log-head.json'

interface CheckpointStoreOptions {
  readonly config: Pick<HostConfig, 'dataDir'> &
    Partial<Pick<HostConfig, 'databaseUrl'> & Pick<LogConfig, 'headMemory'>>
}

export function createCheckpointStore({ config }: CheckpointStoreOptions): CheckpointStore {
  const own = inDataDir(config.dataDir)
  const apart = apartFrom(config)
  if (!apart) return { ...own, recallApart: () => [], others: () => [], takeOver: () => {}, problem: () => undefined }
  const { folder, isDefault } = config.headMemory!
  const folderId = folderIdOf(config.dataDir)
  const others = (logId: string) => otherFiles(folder, logId, isDefault ? `${logId}-${folderId}.json` : `${logId}.json`)
  return {
    recallApart: (logId) => apart.recall(logId),
    problem: () => apart.problem(),
    others: (logId) => known(...others(logId).map((file) => file.recall())),
    takeOver(logId) {
      for (const file of others(logId)) {
        const head = file.recall()
        if (head) file.remember({ ...head, movedTo: folderId })
      }
    },
    retired: (logId) => [...own.retired(logId), ...apart.retired(logId)],
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
    retired: (logId) => [...newest.retired(), ...before(logId).retired()],
    remember: (head) => newest.remember(head),
  }
}

/**
 * The default folder is used where one host has the database, and where it can be. A copy of DATA_DIR, as for a trial, has
 * separate files there.
 */
function apartFrom(config: CheckpointStoreOptions['config']) {
  const folder = apartFolderOf(config)
  if (folder === undefined) return undefined
  if (!config.headMemory!.isDefault)
    return { ...eachInFile(perLog(folder, 'HEAD_MEMORY', (logId) => logId)), problem: () => undefined }
  const folderId = folderIdOf(config.dataDir)
  const { recall, retired, remember } = eachInFile(perLog(folder, 'HEAD_MEMORY', (logId) => `${logId}-${folderId}`))
  let problem: string | undefined
  /** @returns undefined where the file cannot be used */
  function quietly<T>(use: () => T): T | undefined {
    try {
      return use()
    } catch (error) {
      if (!(error instanceof HeadMemoryError)) throw error
      problem = error.message
      return undefined
    }
  }
  return {
    recall: (logId: string) => quietly(() => recall(logId)) ?? [],
    retired,
    remember(head: Head) {
      // What can be read may still be no place to write.
      problem = undefined
      return quietly(() => remember(head))
    },
    problem: () => problem,
  }
}

/** Undefined: there is none. */
export function apartFolderOf({ databaseUrl = '', headMemory }: CheckpointStoreOptions['config']): string | undefined {
  if (!headMemory) return undefined
  const { folder, isDefault } = headMemory
  return isDefault && (isSharedDatabase(databaseUrl) || !isUsable(folder)) ? undefined : folder
}

/** Distinguishes the files of several data folders in one folder. */
export function folderIdOf(dataDir: string): string {
  return sha256Text(resolve(dataDir)).slice(0, 8)
}

function eachInFile(fileOf: (logId: string) => HeadFile): HeadFiles {
  return {
    recall: (logId) => known(fileOf(logId).recall()),
    retired: (logId) => fileOf(logId).retired(),
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

function otherFiles(folder: string, logId: string, own: string): readonly HeadFile[] {
  const isOf = (name: string) => name === `${logId}.json` || (name.startsWith(`${logId}-`) && name.endsWith('.json'))
  try {
    const names = readdirSync(folder).filter((name) => isOf(name) && name !== own)
    return names.map((name) => headFile(join(folder, name), `HEAD_MEMORY/${name}`))
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw new HeadMemoryError('unreadable', `cannot read the folder of HEAD_MEMORY: ${(cause as Error).message}`, {
      cause,
    })
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
