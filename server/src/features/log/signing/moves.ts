/**
 * Moves of a log: to where its last backup is restored, to a copy, to another data folder. Whatever remembers the log writes down which move
 * followed the one before, once: the first wins. A database whose log does not know the move that followed is one from before it.
 */
import { readFileSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { objectIn } from '@claimcheck/core/rules'
import { syncFolder, writeNewFile } from '../../../base/files.ts'
import type { LogState } from '../../../storage/log-state.ts'
import { HeadMemoryError } from './head-file.ts'

export type Awaitable<T> = T | Promise<T>

/** The place of one text, which who comes first writes, and others find. */
export interface Lock {
  /** Undefined while nobody has it. */
  read(): Awaitable<string | undefined>
  /** @returns false where another has it */
  take(next: string): Awaitable<boolean>
  /** Takes back what was taken in vain. */
  release(next: string): Awaitable<void>
}

export interface FileLock extends Lock {
  read(): string | undefined
}

export type MovedLog = Pick<LogState, 'logId' | 'moves'>

export function fileLock(path: string): FileLock {
  function read(): string | undefined {
    try {
      // Each signature asks. An error that is thrown costs as much as twenty such looks.
      return statSync(path, { throwIfNoEntry: false }) && moveIn(readFileSync(path, 'utf8'))
    } catch (cause) {
      if (['ENOENT', 'ENOTDIR'].includes(String((cause as NodeJS.ErrnoException).code))) return undefined
      const message = `cannot read where the log goes on: ${(cause as NodeJS.ErrnoException).code}`
      throw new HeadMemoryError('unreadable', message, { cause })
    }
  }
  return {
    read,
    take: (next) => writeNewFile(path, textOfMove(next)) || read() === next,
    release(next) {
      if (read() !== next) return
      rmSync(path, { force: true })
      // After a power loss it would keep the host from a log that goes on here.
      syncFolder(dirname(path))
    },
  }
}

/** @param next null: it was released, where nothing is removed */
export function textOfMove(next: string | null): string {
  return JSON.stringify({ restore: next })
}

/** What cannot be read is a move of its own, which no log knows. */
export function moveIn(text: string): string | undefined {
  const { restore = text } = objectIn(text)
  return restore === null ? undefined : String(restore)
}

/** The moves by which a log goes on after the last that a database knows of it, as one of the memories has them. */
export async function movesAfter(last: string, locksOf: (move: string) => readonly Lock[]): Promise<readonly string[]> {
  for (const { read } of locksOf(last)) {
    const next = await read()
    if (next !== undefined) return [next, ...(await movesAfter(next, locksOf))]
  }
  return []
}

/** The names of all moves by which the log came here, and of the one before the first. */
export function lineageOf({ logId, moves }: MovedLog): readonly [string, ...string[]] {
  return [logId, ...(moves ?? [])]
}

/** Tells a last backup or a copy from what `claimcheck log resume` does. */
export function isClosing(move: string): boolean {
  return move.startsWith('bkp_')
}
