/**
 * The folders of this process: its own one below the system's folder for temporary files, and those in it that are kept between checks. A process
 * that is killed leaves its folder behind, and the next one removes it.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export type OwnFolder = ReturnType<typeof createOwnFolder>

const PREFIX = 'claimcheck-git-'
/** The name of a socket that this process listens on. A process id would tell less: another process can get it, and containers count their own. */
const ALIVE = 'alive'
/** The time for which a process may have made its folder, and not listen yet. */
const YOUNG_MS = 60_000

export function createOwnFolder() {
  let made: Promise<{ readonly folder: string; readonly alive: Server }> | undefined

  async function make() {
    await removeStale()
    const folder = await mkdtemp(join(tmpdir(), PREFIX))
    // The socket must not keep the process from ending.
    const alive = createServer((socket) => socket.destroy())
      .listen(join(folder, ALIVE))
      .unref()
    await once(alive, 'listening')
    return { folder, alive }
  }

  /** Makes the folder when it is first needed, and returns its path. */
  async function path(): Promise<string> {
    made ??= make().catch((error: unknown) => {
      made = undefined
      throw error
    })
    return (await made).folder
  }

  return {
    path,
    /** Makes a new folder in the process's own, for as long as the work goes on. */
    async temporary<T>(work: (folder: string) => Promise<T>): Promise<T> {
      const folder = await mkdtemp(join(await path(), 'run-'))
      try {
        return await work(folder)
      } finally {
        await removeFolder(folder)
      }
    },
    async close(): Promise<void> {
      const closing = made
      made = undefined
      if (!closing) return
      const { folder, alive } = await closing
      alive.close()
      await removeFolder(folder)
    },
  }
}

/** Removes a folder, also while a process of git that was just killed may still write. */
function removeFolder(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true, maxRetries: 3 })
}

/** Removes the folders that this user's dead processes left behind. */
async function removeStale(): Promise<void> {
  const names = await readdir(tmpdir())
  const folders = names.filter((name) => name.startsWith(PREFIX)).map((name) => join(tmpdir(), name))
  for (const folder of folders) {
    // Other processes remove folders, too.
    if (await isStale(folder).catch(() => false)) await removeFolder(folder).catch(() => {})
  }
}

async function isStale(folder: string): Promise<boolean> {
  const found = await lstat(folder)
  // Folders and links of such a name can be made by everyone.
  if (!found.isDirectory() || found.uid !== process.getuid?.()) return false
  return Date.now() - found.mtimeMs > YOUNG_MS && !(await isListening(join(folder, ALIVE)))
}

async function isListening(socketPath: string): Promise<boolean> {
  const socket = connect(socketPath)
  try {
    await once(socket, 'connect')
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // Any other error leaves open whether the process lives.
    return code !== 'ECONNREFUSED' && code !== 'ENOENT'
  } finally {
    socket.destroy()
  }
}

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

/** Keeps folders between checks: one for each key, the least recently used ones removed beyond a total size. */
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
