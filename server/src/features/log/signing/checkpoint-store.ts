/**
 * Remembers the newest head of the log outside of the database, so that a restored backup is recognized: in DATA_DIR, and in a folder that
 * does not share the fate of DATA_DIR.
 */
import { randomUUID } from 'node:crypto'
import { accessSync, constants, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { takeFirst, writeNewFile } from '../../../base/files.ts'
import { sha256Text } from '../../../base/sha256.ts'
import type { HostConfig } from '../../../config/config.ts'
import { isSharedDatabase } from '../../../config/database-url.ts'
import type { LogConfig } from '../config.ts'
import { type HeadFile, HeadMemoryError, headFile } from './head-file.ts'
import { type Head, shortHostId } from './head-record.ts'
import { type RemoteMemory, takeFirstObject } from './remote-memory.ts'

export type CheckpointStore = ReturnType<typeof createCheckpointStore>

/** Where the configuration has the log remembered. */
export type MemorySettings = Partial<Pick<LogConfig, 'headMemory' | 'remoteMemory'>>

const FILE = 'log-head.json'
/** The folder can be used, and what is in it counts. */
const SAYS_MORE: ReadonlySet<HeadMemoryError['code']> = new Set(['moved', 'overtaken'])

interface CheckpointStoreOptions {
  readonly config: Pick<HostConfig, 'dataDir'> & Partial<Pick<HostConfig, 'databaseUrl'>> & MemorySettings
  readonly remoteMemory?: Pick<RemoteMemory, 'isThere'>
}

export function createCheckpointStore({ config, remoteMemory }: CheckpointStoreOptions) {
  const { dataDir, databaseUrl = '', headMemory } = config
  const own = inDataDir(dataDir)
  const apart = apartFrom(config)
  const named = config.remoteMemory?.url ?? (headMemory?.isDefault === false ? headMemory.folder : undefined)
  const memory = named && sha256Text(named).slice(0, 8)
  const hosts = isSharedDatabase(databaseUrl) ? [shortHostId(hostIdIn(dataDir))] : undefined
  return {
    /**
     * The newest head of each place that remembers one, which may be of another log; none when this host has not signed yet.
     * @throws HeadMemoryError `unreadable`
     */
    recall: (logId: string): readonly Head[] => [...own.recall(logId), ...apart.recall(logId)],
    /** Of these, what does not share the fate of DATA_DIR. */
    recallApart: apart.recall,
    /** Every record of the log in the folder that is apart from DATA_DIR. @throws HeadMemoryError `unreadable` */
    everyApart: apart.everyRecord,
    /** No host of another data folder of this machine signs the log any more. @returns lets those go on that did before */
    takeOver: apart.takeOver,
    /** The log goes on here. */
    stay: apart.stay,
    /** The last signed head of each key of the log before its present one. A file that cannot be read has none. */
    retired: (logId: string): readonly string[] => [...own.retired(logId), ...apart.retired(logId)],
    /**
     * Never goes back within a log. The files survive the end of the process. After a loss of power they may contain the head before, which
     * protects slightly less until the next head is written.
     * @throws HeadMemoryError `unwritable`; `moved` where the log goes on elsewhere by now; `overtaken` by a record to compare first
     */
    remember(given: Head): void {
      const head = hosts ? { ...given, hosts } : given
      apart.remember(head)
      const isThere = config.remoteMemory ? remoteMemory?.isThere(head.logId) : memory
      own.remember(isThere ? { ...head, memory } : head)
    },
    /** HEAD_MEMORY has no record of the log, and had one, as DATA_DIR remembers: it was not named just now. */
    isGone(logId: string): boolean {
      const had = own.recall(logId).some((head) => head.logId === logId && head.memory === memory)
      if (memory === undefined || !had) return false
      return config.remoteMemory ? remoteMemory?.isThere(logId) === false : apart.recall(logId).length === 0
    },
    /** Why the default folder apart from DATA_DIR, which stops no host, did not remember the last head. */
    problem: apart.problem,
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
  }
}

/**
 * The default folder is used where one host has the database, and where it can be. A copy of DATA_DIR, as for a trial, has
 * separate files there.
 */
function apartFrom(config: CheckpointStoreOptions['config']): typeof NOWHERE {
  const folder = apartFolderOf(config)
  if (folder === undefined) return NOWHERE
  const { isDefault } = config.headMemory!
  const folderId = folderIdOf(config.dataDir)
  const ownName = (logId: string) => (isDefault ? `${logId}-${folderId}` : logId)
  const isAlone = !isSharedDatabase(config.databaseUrl ?? '')
  const fileOf = perLog(folder, 'HEAD_MEMORY', ownName, isAlone)
  const others = (logId: string) => otherFiles(folder, logId, `${ownName(logId)}.json`)
  let problem: string | undefined
  /** @returns undefined where the default folder cannot be used */
  function quietly<T>(use: () => T): T | undefined {
    try {
      return use()
    } catch (error) {
      if (!(isDefault && error instanceof HeadMemoryError) || SAYS_MORE.has(error.code)) throw error
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
      quietly(() => fileOf(head.logId).remember(head))
    },
    everyRecord: (logId: string) => known(...[fileOf(logId), ...others(logId)].map((file) => file.recall())),
    takeOver(logId: string) {
      const moved = others(logId).filter((file) => file.move(folderId))
      return () => {
        for (const file of moved) file.stay()
      }
    },
    stay: (logId: string) => fileOf(logId).stay(),
    problem: () => problem,
  }
}

const NOWHERE = {
  recall: (_logId: string): readonly Head[] => [],
  retired: (_logId: string): readonly string[] => [],
  remember(_head: Head): void {},
  everyRecord: (_logId: string): readonly Head[] => [],
  takeOver: (_logId: string) => (): void => {},
  stay(_logId: string): void {},
  problem: (): string | undefined => undefined,
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

/** The same after a restart: no host waits for what this one was before. */
export function hostIdIn(dataDir: string): string {
  const path = join(dataDir, 'host-id')
  try {
    writeNewFile(path, randomUUID())
    return readFileSync(path, 'utf8')
  } catch {
    return randomUUID()
  }
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

/**
 * Writes something down once for all installations that have this HEAD_MEMORY: the default folder also where hosts remember nothing there.
 * @returns false where another has written another text under that name before
 */
export async function takeFirstRemembered(
  { headMemory, remoteMemory }: MemorySettings,
  name: string,
  text: string,
): Promise<boolean> {
  if (remoteMemory) return takeFirstObject(remoteMemory, name, text)
  if (!headMemory || (headMemory.isDefault && !isUsable(headMemory.folder))) return true
  return takeFirst(join(headMemory.folder, `${name}.json`), text)
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
