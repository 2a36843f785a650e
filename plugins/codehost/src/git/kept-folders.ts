/** Keeps folders on this machine's disk between checks: one for each key, the least recently used ones removed beyond a total size. */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { type OwnFolder, removeFolder } from './own-folder.ts'

/** The content of a kept folder. */
export interface FolderContent {
  readonly sizeBytes: number
  /** Tells that the folder must not be used again. */
  readonly isSpoiled: boolean
}

/** Limit of the folders: each takes a little of the disk also where its content is small. */
const MAX_FOLDERS = 1_000

interface KeptFolder<T> {
  readonly folder: string
  readonly content: T
  users: number
}

export function createKeptFolders<T extends FolderContent>(own: OwnFolder, maxBytes: number) {
  /** The folders by their keys, the least recently used one first. */
  const entries = new Map<string, KeptFolder<T>>()

  async function take(key: string, open: (folder: string) => T): Promise<KeptFolder<T>> {
    const path = await own.path()
    const found = entries.get(key)
    const folder = join(path, randomUUID())
    const entry = found && !found.content.isSpoiled ? found : { folder, content: open(folder), users: 0 }
    entries.delete(key)
    entries.set(key, entry)
    entry.users++
    return entry
  }

  async function leave(key: string, entry: KeptFolder<T>): Promise<void> {
    entry.users--
    // An empty folder, such as for a branch that is missing, is not worth keeping.
    const isEmpty = entry.users === 0 && entry.content.sizeBytes === 0
    if ((isEmpty || entry.content.isSpoiled) && entries.get(key) === entry) entries.delete(key)
    if (entry.users === 0 && entries.get(key) !== entry) await removeFolder(entry.folder)
    await evict()
  }

  async function evict(): Promise<void> {
    let total = [...entries.values()].reduce((sum, { content }) => sum + content.sizeBytes, 0)
    for (const [key, { folder, content, users }] of [...entries]) {
      if (total <= maxBytes && entries.size <= MAX_FOLDERS) return
      if (users > 0) continue
      total -= content.sizeBytes
      entries.delete(key)
      await removeFolder(folder)
    }
  }

  return {
    /** Works with the content of a folder, which is not removed meanwhile. @param open makes the content of a new folder */
    async use<R>(key: string, open: (folder: string) => T, work: (content: T) => Promise<R>): Promise<R> {
      const entry = await take(key, open)
      try {
        return await work(entry.content)
      } finally {
        await leave(key, entry)
      }
    },
  }
}
