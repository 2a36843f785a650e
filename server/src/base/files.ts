/** Small files that must not be lost or half written: private keys. */

import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'

const OWNER_ONLY_FILE = 0o600
const OWNER_ONLY_FOLDER = 0o700
const ANYBODY_ELSE = 0o077

/**
 * Writes a new file, readable to its owner alone, that is whole on disk when this returns. False, and nothing changed, when there
 * is one of that name: of two processes that start together one makes it, and both read the same.
 */
export function writeNewFile(path: string, content: string): boolean {
  const folder = dirname(path)
  mkdirSync(folder, { recursive: true, mode: OWNER_ONLY_FOLDER })
  const draft = `${path}.${randomBytes(6).toString('hex')}.tmp`
  try {
    writeWhole(draft, content)
    // Unlike a rename, a link never replaces what is there.
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

/** @throws Error when others than its owner can read it, or nobody can */
export function readPrivateFile(path: string): string {
  if (statSync(path).mode & ANYBODY_ELSE) throw new Error('it is open to others than its owner: chmod 600 it')
  return readFileSync(path, 'utf8')
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

function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
