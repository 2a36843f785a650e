/**
 * The one form of what remembers the log outside of the database: DATA_DIR, a folder apart, an object store, the chain of the anchors. Each
 * can refute that a database is the newest. Memories also write down, once, which move of a log followed the one before: to where its last
 * backup is restored, to a copy, to another data folder. A database whose log does not know the move that followed is one from before it.
 */
import { objectIn } from '@claimcheck/core/rules'
import { ServiceError } from '../../../base/errors.ts'
import type { LogState } from '../../../storage/log-state.ts'
import type { Head } from './head-record.ts'

/** A host is read-only that cannot remember, or read what it remembers. `overtaken`: another has written what is to be compared first. */
export class HeadMemoryError extends ServiceError {
  readonly kind: 'unreadable' | 'unwritable' | 'overtaken'

  constructor(kind: HeadMemoryError['kind'], message: string, cause?: unknown) {
    super('read_only', message, { cause })
    this.kind = kind
  }
}

/** How the operator goes on where a file cannot be read. */
export const RESTORE_FILE = 'Restore the file, or begin another log with: claimcheck log new'

export interface Memory {
  /**
   * Each head is written here before anyone learns of it. Where the memory is also apart from DATA_DIR, it proves that a database with its
   * newest head is the newest one; all others can only refute.
   */
  readonly isPrompt: boolean
  /** It does not share the fate of DATA_DIR. */
  readonly isApart: boolean
  /** Given where the operator named it: another host's DATA_DIR may say that it had a record. */
  readonly named?: {
    readonly id: string
    /** Tells whether it had a record of the log when it was read last, of whomever; undefined: this host does not know. */
    isThere(logId: string): boolean | undefined
  }
  /**
   * Reads what is elsewhere; files are read each time that they are asked.
   * @param isKnown this host remembers the log, and does not wait long
   * @throws HeadMemoryError `unreadable`
   */
  load(log: MovedLog, isKnown: boolean): Promise<void>
  /** The newest heads as far as this host knows, also of other logs; none before the first. @throws HeadMemoryError `unreadable` */
  recall(logId: string): readonly Head[]
  /** All records of the log, also of other data folders. @throws HeadMemoryError `unreadable` */
  recallAll(logId: string): readonly Head[]
  /** The last signed head of each key of the log before its present one. What cannot be read has none. */
  retired(logId: string): readonly string[]
  /** Never goes back within a log. @throws HeadMemoryError `unwritable`; `overtaken` by a record to compare first */
  remember(head: Head): void
  /** Has what was written outlive a loss of power. */
  sync(): Promise<void>
  /** Writes what waits: the host ends. */
  close(): Promise<void>
  /** The place where it is written which move followed the given one; before the first, that is the id of the log. */
  lock(move: string): Lock | undefined
  /** The move that followed the given one, as it was read last. @throws HeadMemoryError `unreadable` */
  moveAfter(move: string): string | undefined
  /** The reason why it did not remember the last head, or what it has is not known, where that stops no host. */
  problem(): string | undefined
}

/** What a memory does not do. */
export const PASSIVE: Omit<Memory, 'isPrompt' | 'isApart' | 'recall'> = {
  load: async () => {},
  recallAll: () => [],
  retired: () => [],
  remember() {},
  sync: async () => {},
  close: async () => {},
  lock: () => undefined,
  moveAfter: () => undefined,
  problem: () => undefined,
}

/** The place of one text, which who comes first writes, and others find. */
export interface Lock {
  /** Undefined while nobody has it. */
  read(): Awaitable<string | undefined>
  /** @returns `had` where it had this text before; undefined where it has another */
  take(next: string): Awaitable<Taking>
  /** Takes back what was taken in vain. */
  release(next: string): Awaitable<void>
}

type Awaitable<T> = T | Promise<T>
export type Taking = 'taken' | 'had' | undefined

export type MovedLog = Pick<LogState, 'logId' | 'moves'>

/** The names of all moves by which the log came here, and of the one before the first. */
export function lineageOf({ logId, moves }: MovedLog): readonly [string, ...string[]] {
  return [logId, ...(moves ?? [])]
}

/** Tells a last backup or a copy from what `claimcheck log resume` does. */
export function isClosing(move: string): boolean {
  return move.startsWith('bkp_')
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

/**
 * Uses a memory, and returns undefined where that fails in a way that stops no host.
 * @param isTolerable tells such failures; by default each that a memory has
 */
export function tolerate<T>(
  use: () => T,
  isTolerable: (error: unknown) => boolean = (error) => error instanceof HeadMemoryError,
): T | undefined {
  try {
    return use()
  } catch (error) {
    if (isTolerable(error)) return undefined
    throw error
  }
}
