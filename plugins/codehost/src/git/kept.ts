/** What stays on this machine's disk between checks: a folder for each key, the least recently used ones removed beyond a total size. */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { type OwnFolder, removeFolder } from './own-folder.ts'

/** Something that lives in a folder. */
export interface Kept {
  readonly sizeBytes: number
  /** Its folder must not be used again. */
  readonly isSpoiled: boolean
}

/** A folder takes a little of the disk also where what is in it is small. */
const MAX_FOLDERS = 1_000

interface Entry<T> {
  readonly folder: string
  readonly kept: T
  users: number
}

export function createKeptFolders<T extends Kept>(own: OwnFolder, maxBytes: number) {
  /** The least recently used one first. */
  const entries = new Map<string, Entry<T>>()

  async function take(key: string, open: (folder: string) => T): Promise<Entry<T>> {
    const path = await own.path()
    const found = entries.get(key)
    const entry = found && !found.kept.isSpoiled ? found : make(join(path, randomUUID()), open)
    entries.delete(key)
    entries.set(key, entry)
    entry.users++
    return entry
  }

  function make(folder: string, open: (folder: string) => T): Entry<T> {
    return { folder, kept: open(folder), users: 0 }
  }

  async function leave(key: string, entry: Entry<T>): Promise<void> {
    entry.users--
    // With nothing in it, such as for a branch that is missing, it is not worth keeping.
    const isEmpty = entry.users === 0 && entry.kept.sizeBytes === 0
    if ((isEmpty || entry.kept.isSpoiled) && entries.get(key) === entry) entries.delete(key)
    if (entry.users === 0 && entries.get(key) !== entry) await removeFolder(entry.folder)
    await evict()
  }

  async function evict(): Promise<void> {
    let total = [...entries.values()].reduce((sum, { kept }) => sum + kept.sizeBytes, 0)
    for (const [key, { folder, kept, users }] of [...entries]) {
      if (total <= maxBytes && entries.size <= MAX_FOLDERS) return
      if (users > 0) continue
      total -= kept.sizeBytes
      entries.delete(key)
      await removeFolder(folder)
    }
  }

  return {
    /** Nothing is removed while a work uses it. @param open takes a folder that is to be made */
    async use<R>(key: string, open: (folder: string) => T, work: (kept: T) => Promise<R>): Promise<R> {
      const entry = await take(key, open)
      try {
        return await work(entry.kept)
      } finally {
        await leave(key, entry)
      }
    },
  }
}
