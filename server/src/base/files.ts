/** Durable private files: written whole or not at all, readable by their owner only. */
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'

const OWNER_ONLY_FILE = 0o600
const OWNER_ONLY_FOLDER = 0o700
const GROUP_AND_OTHERS = 0o077

/**
 * Writes a new file that only its owner can read. The file is whole on disk when this returns.
 *
 * @returns false when the file exists; it then stays unchanged. When two processes start together, one creates the file and both
 * read the same content.
 */
export function writeNewFile(path: string, content: string): boolean {
  const folder = dirname(path)
  mkdirSync(folder, { recursive: true, mode: OWNER_ONLY_FOLDER })
  const draft = draftOf(path)
  try {
    writeWhole(draft, content)
    // Unlike a rename, a link never replaces an existing file.
    linkSync(draft, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    rmSync(draft, { force: true })
  }
  syncFolder(folder)
  return true
}

/**
 * Gives a file this content, readable by its owner only: after a crash, the file is the old one or the new one, whole. It is on disk
 * when this returns.
 */
export function replaceFile(path: string, content: string): void {
  replaceBy(path, content)
}

/**
 * Gives a file of the operator's another content as `replaceFile` does, with the same mode and owner. A link to the file stays one.
 * @throws Error of the file system
 */
export function replaceContent(path: string, content: string): void {
  const file = realpathSync(path)
  const { mode, uid, gid } = statSync(file)
  replaceBy(file, content, (draft) => {
    const made = statSync(draft)
    if (made.uid !== uid || made.gid !== gid) chownSync(draft, uid, gid)
    chmodSync(draft, mode & 0o7777)
  })
}

function replaceBy(path: string, content: string, prepare: (draft: string) => void = () => {}): void {
  const draft = draftOf(path)
  try {
    writeWhole(draft, content)
    prepare(draft)
    renameSync(draft, path)
  } finally {
    rmSync(draft, { force: true })
  }
  syncFolder(dirname(path))
}

/**
 * Reads a file that only its owner may read.
 * @throws Error when users other than its owner have access to the file, or when this process cannot read it
 */
export function readPrivateFile(path: string): string {
  if (statSync(path).mode & GROUP_AND_OTHERS) {
    throw new Error('other users have access to the file: run chmod 600 on it')
  }
  return readFileSync(path, 'utf8')
}

function draftOf(path: string): string {
  return `${path}.${randomBytes(6).toString('hex')}.tmp`
}

function writeWhole(path: string, content: string): void {
  const file = openSync(path, 'wx', OWNER_ONLY_FILE)
  try {
    writeFileSync(file, content)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Flushes a folder to disk: what was created or renamed in it then outlives a loss of power. */
export function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
