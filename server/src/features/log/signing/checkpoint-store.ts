/**
 * Remembers the newest head of the log outside of the database, so that a restored backup is recognized: in DATA_DIR, and in a folder that
 * does not share the fate of DATA_DIR.
 */
import { accessSync, constants, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { sha256Text } from '../../../base/sha256.ts'
import type { HostConfig } from '../../../config/config.ts'
import { isSharedDatabase } from '../../../config/database-url.ts'
import type { LogConfig } from '../config.ts'
import { type HeadFile, HeadMemoryError, headFile } from './head-file.ts'
import type { Head } from './head-record.ts'
import type { HostIdentity } from './host-identity.ts'
import { type FileLock, fileLock, isClosing } from './moves.ts'
import type { RemoteMemory } from './remote-memory.ts'

export type CheckpointStore = ReturnType<typeof createCheckpointStore>

/** Where the configuration has the log remembered. */
export type MemorySettings = Pick<HostConfig, 'dataDir'> &
  Partial<Pick<HostConfig, 'databaseUrl'>> &
  Partial<Pick<LogConfig, 'headMemory' | 'remoteMemory'>>

const FILE = 'log-head.json'

interface CheckpointStoreOptions {
  readonly config: MemorySettings
  readonly remoteMemory?: Pick<RemoteMemory, 'isThere'>
  readonly hostIdentity?: Pick<HostIdentity, 'entry'>
}

export function createCheckpointStore({ config, remoteMemory, hostIdentity }: CheckpointStoreOptions) {
  const { dataDir, databaseUrl = '', headMemory } = config
  const own = inDataDir(dataDir)
  const apart = apartFrom(config)
  const named = config.remoteMemory?.url ?? (headMemory?.isDefault === false ? headMemory.folder : undefined)
  const memory = named && sha256Text(named).slice(0, 8)
  const locks = new Map<string, readonly FileLock[]>()
  return {
    /**
     * The newest head of each place that remembers one, which may be of another log; none when this host has not signed yet.
     * @throws HeadMemoryError `unreadable`
     */
    recall: (logId: string): readonly Head[] => [...own.recall(logId), ...(apart?.recall(logId) ?? [])],
    /** Of these, what does not share the fate of DATA_DIR. */
    recallApart: (logId: string): readonly Head[] => apart?.recall(logId) ?? [],
    /** Every record of the log in the folder that is apart from DATA_DIR. @throws HeadMemoryError `unreadable` */
    everyApart: (logId: string): readonly Head[] => apart?.everyRecord(logId) ?? [],
    /** The last signed head of each key of the log before its present one. A file that cannot be read has none. */
    retired: (logId: string): readonly string[] => [...own.retired(logId), ...(apart?.retired(logId) ?? [])],
    /**
     * Never goes back within a log. The files survive the end of the process. After a loss of power they may contain the head before, which
     * protects slightly less until the next head is written.
     * @throws HeadMemoryError `unwritable`; `overtaken` by a record to compare first
     */
    remember(given: Head): void {
      const entry = isSharedDatabase(databaseUrl) ? hostIdentity?.entry() : undefined
      const head = entry === undefined ? given : { ...given, hosts: [entry] }
      apart?.remember(head)
      const isThere = config.remoteMemory ? remoteMemory?.isThere(head.logId) : memory
      own.remember(isThere ? { ...head, memory } : head)
    },
    /** Has what was remembered outlive a loss of power. */
    sync: async (): Promise<void> => void (await Promise.allSettled([own.sync(), apart?.sync()])),
    /** The places in which it is written how a log was moved. @param move the last that is known; before the first, the id of the log */
    locks(move: string): readonly FileLock[] {
      const known = locks.get(move) ?? locksIn(config, move)
      locks.set(move, known)
      return known
    },
    /** HEAD_MEMORY has no record of the log, and had one, as DATA_DIR remembers: it was not named just now. */
    isGone(logId: string): boolean {
      const had = own.recall(logId).some((head) => head.logId === logId && head.memory === memory)
      if (memory === undefined || !had) return false
      return config.remoteMemory ? remoteMemory?.isThere(logId) === false : !apart || apart.recall(logId).length === 0
    },
    /** Why the default folder apart from DATA_DIR, which stops no host, did not remember the last head. */
    problem: () => apart?.problem(),
  }
}

/** In one file the newest head of all, and for each log before its last. */
function inDataDir(dataDir: string) {
  const before = perLog(join(dataDir, 'log-heads'), 'DATA_DIR/log-heads', (logId) => logId)
  const keep = (last: Head) => before(last.logId).remember(last)
  const newest = headFile(join(dataDir, FILE), `DATA_DIR/${FILE}`, { keep })
  return {
    recall(logId: string) {
      const head = newest.recall()
      return known(head, head?.logId === logId ? undefined : before(logId).recall())
    },
    retired: (logId: string) => [...newest.retired(), ...before(logId).retired()],
    remember: newest.remember,
    sync: newest.sync,
  }
}

/**
 * The default folder is used where one host has the database, and where it can be. A copy of DATA_DIR, as for a trial, has
 * separate files there.
 */
function apartFrom(config: MemorySettings) {
  const folder = apartFolderOf(config)
  if (folder === undefined) return undefined
  const { isDefault } = config.headMemory!
  const ownName = (logId: string) => (isDefault ? `${logId}-${folderIdOf(config.dataDir)}` : logId)
  const isAlone = !isSharedDatabase(config.databaseUrl ?? '')
  const fileOf = perLog(folder, 'HEAD_MEMORY', ownName, isAlone)
  let problem: string | undefined
  let last: HeadFile | undefined
  /** @returns undefined where the default folder cannot be used */
  function quietly<T>(use: () => T): T | undefined {
    try {
      return use()
    } catch (error) {
      // The folder can be used, and what is in it counts.
      const saysMore = error instanceof HeadMemoryError && error.code === 'overtaken'
      if (!(isDefault && error instanceof HeadMemoryError) || saysMore) throw error
      problem = error.message
      return undefined
    }
  }
  return {
    recall: (logId: string) => known(quietly(() => fileOf(logId).recall())),
    retired: (logId: string) => fileOf(logId).retired(),
    remember(head: Head) {
      // What can be read may still be no place to write.
      problem = undefined
      last = fileOf(head.logId)
      quietly(() => last!.remember(head))
    },
    sync: async () => last?.sync(),
    everyRecord: (logId: string) =>
      known(...[fileOf(logId), ...otherFiles(folder, logId, `${ownName(logId)}.json`)].map((file) => file.recall())),
    problem: () => problem,
  }
}

/** Undefined: there is none. */
export function apartFolderOf({ databaseUrl = '', headMemory }: MemorySettings): string | undefined {
  if (!headMemory) return undefined
  const { folder, isDefault } = headMemory
  return isDefault && (isSharedDatabase(databaseUrl) || !isUsable(folder)) ? undefined : folder
}

/** Distinguishes the files of several data folders in one folder. */
export function folderIdOf(dataDir: string): string {
  return sha256Text(resolve(dataDir)).slice(0, 8)
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
    throw new HeadMemoryError('unreadable', `cannot read the folder of HEAD_MEMORY: ${(cause as Error).message}`, {
      cause,
    })
  }
}

/** In DATA_DIR, and in the folder of HEAD_MEMORY: the default one also where hosts remember no heads there. */
export function locksIn({ dataDir, headMemory }: MemorySettings, move: string): readonly FileLock[] {
  const own = fileLock(join(dataDir, 'log-heads', `${move}.next`))
  if (!headMemory || (headMemory.isDefault && !isUsable(headMemory.folder))) return [own]
  const lock = fileLock(join(headMemory.folder, isClosing(move) ? `${move}.json` : `${move}.next`))
  if (!headMemory.isDefault) return [own, lock]
  // Written by versions before, which had a file for each data folder.
  const earlier = join(headMemory.folder, `${move}-${folderIdOf(dataDir)}.moved`)
  return [
    own,
    { ...lock, read: () => lock.read() ?? (existsSync(earlier) ? readFileSync(earlier, 'utf8') : undefined) },
  ]
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
