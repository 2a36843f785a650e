/**
 * Keeps this host from signing a fork, that is two contradicting trees of one log, such as after the database was restored from an old
 * backup. It compares the log in the database with the head that this host remembers outside of the database.
 */

import { rootAt, TileError } from '@claimcheck/core/log'
import { bytesEqual } from '@claimcheck/core/receipts'
import type { FastifyBaseLogger } from 'fastify'
import { ServiceError } from '../../base/errors.ts'
import type { Clock } from '../../clock/clock.ts'
import type { LogState } from '../../storage/log-state.ts'
import type { Reads, Storage } from '../../storage/storage.ts'
import { type CheckpointStore, type Head, HeadMemoryError } from './signing/checkpoint-store.ts'
import { SHA256_TREE, tileReader } from './stored-log.ts'

export interface LogGuard {
  /** Why this host is read-only, and how to recover; undefined while it may sign. */
  problem(): string | undefined
  /** Checks the whole log and remembers its head. A mistake becomes the `problem`; without one the `problem` ends. */
  examine(): Promise<void>
  /**
   * Whether this host may sign, by the state of the log at most one second ago. A read-only host examines the log again, so that it
   * recovers by itself.
   */
  maySign(): Promise<boolean>
  /**
   * Call it before signing a head, with the log locked. Entries that other hosts appended are not a fork.
   * @throws ServiceError `read_only` when this log does not continue what this host signed, or when that cannot be determined
   */
  check(log: LogState, rows: Reads['log']): Promise<void>
  /** Compares the root of the stored tree with the signed root. @throws ServiceError `read_only` */
  checkRoot(log: LogState, storedRoot: Uint8Array): void
  /** Reads the root of the stored tree, and compares it with the signed root. @throws ServiceError `read_only` */
  checkStored(log: LogState, rows: Reads['log']): Promise<void>
  /** Call it for each signed head when it is on disk, before anyone else learns of it. @throws ServiceError `read_only` */
  remember(head: Head): void
  /** True when this host remembers exactly this head. */
  isRemembered(head: Head): boolean
  /** The head of another log than this one, which this host remembers: that log ends, too, when the next begins. */
  rememberedOther(log: LogState): Head | undefined
}

interface LogGuardOptions {
  readonly checkpointStore: CheckpointStore
  readonly storage: Pick<Storage, 'read'>
  /** Learns the newest time in the log. */
  readonly clock: Pick<Clock, 'logged'>
  readonly logger: Pick<FastifyBaseLogger, 'info' | 'error'>
}

const CHECK_EVERY_MS = 1000
const RECOVERY = 'Restore the newest database, or begin another log with: claimcheck log new'
const OTHER_LOG = `the database has another log than the one that this host signed last: check DATABASE_URL and DATA_DIR. ${RECOVERY}`
const FORKED = `the entries in the database differ from those that this host signed. ${RECOVERY}`
const DAMAGED = 'the root of the stored tree differs from the signed root: run claimcheck doctor to find the damage'

interface Guard extends LogGuardOptions {
  problem: string | undefined
  examining: Promise<void> | undefined
  /** When the log was last compared, in the time of this process. */
  checkedAt: number
}

export function createLogGuard({ checkpointStore, storage, clock, logger }: LogGuardOptions): LogGuard {
  const guard: Guard = {
    checkpointStore,
    storage,
    clock,
    logger,
    problem: undefined,
    examining: undefined,
    checkedAt: Number.NEGATIVE_INFINITY,
  }
  return {
    problem: () => guard.problem,
    examine: () => examine(guard),
    async maySign() {
      await (guard.problem === undefined ? checkRecently(guard) : examine(guard))
      return guard.problem === undefined
    },
    check: (log, rows) => compare(guard, recall(guard), log, rows),
    checkRoot: (log, storedRoot) => checkRoot(guard, log, storedRoot),
    checkStored: (log, rows) => checkStored(guard, log, rows),
    remember: (head) => remember(guard, head),
    isRemembered({ logId, treeSize, rootHash }) {
      const last = recallReadable(checkpointStore)
      return last?.logId === logId && last.treeSize === treeSize && bytesEqual(last.rootHash, rootHash)
    },
    rememberedOther({ logId }) {
      const last = recallReadable(checkpointStore)
      return last?.logId === logId ? undefined : last
    },
  }
}

function refuse(guard: Guard, reason: string, cause?: unknown): never {
  if (reason !== guard.problem) guard.logger.error({ problem: reason }, 'this host is read-only: it signs nothing')
  guard.problem = reason
  throw new ServiceError('read_only', reason, { cause })
}

function recall(guard: Guard): Head | undefined {
  try {
    return guard.checkpointStore.recall()
  } catch (error) {
    if (!(error instanceof HeadMemoryError)) throw error
    return refuse(guard, `${error.message}. Restore the file, or begin another log with: claimcheck log new`, error)
  }
}

/** The remembered head; undefined when there is none or it cannot be read. */
function recallReadable(checkpointStore: CheckpointStore): Head | undefined {
  try {
    return checkpointStore.recall()
  } catch (error) {
    if (!(error instanceof HeadMemoryError)) throw error
    return undefined
  }
}

function remember(guard: Guard, head: Head): void {
  try {
    guard.checkpointStore.remember(head)
  } catch (error) {
    if (!(error instanceof HeadMemoryError)) throw error
    refuse(guard, error.message, error)
  }
}

async function rootOf(guard: Guard, logId: string, treeSize: number, rows: Reads['log']): Promise<Uint8Array> {
  try {
    return await rootAt(treeSize, tileReader(rows, logId), SHA256_TREE)
  } catch (error) {
    if (!(error instanceof TileError)) throw error
    return refuse(guard, DAMAGED, error)
  }
}

async function compare(guard: Guard, last: Head | undefined, log: LogState, rows: Reads['log']): Promise<void> {
  guard.clock.logged(log.issuedAt)
  if (!last) return
  if (last.logId !== log.logId) {
    const all = await rows.all()
    if (!all.some(({ logId, endedAt }) => logId === last.logId && endedAt !== null)) refuse(guard, OTHER_LOG)
    return
  }
  if (log.treeSize < last.treeSize) {
    const reason = `the database is an old one: its log has ${log.treeSize} entries, and this host signed ${last.treeSize}. ${RECOVERY}`
    refuse(guard, reason)
  }
  const rootHash = log.treeSize === last.treeSize ? log.rootHash : await rootOf(guard, log.logId, last.treeSize, rows)
  if (!bytesEqual(rootHash, last.rootHash)) refuse(guard, FORKED)
}

function checkRoot(guard: Guard, { rootHash }: LogState, storedRoot: Uint8Array): void {
  if (!bytesEqual(storedRoot, rootHash)) refuse(guard, DAMAGED)
}

async function checkStored(guard: Guard, log: LogState, rows: Reads['log']): Promise<void> {
  checkRoot(guard, log, await rootOf(guard, log.logId, log.treeSize, rows))
}

/** Also remembers heads that other hosts signed, so that a backup from before them is recognized as old. */
async function checkRecently(guard: Guard): Promise<void> {
  if (performance.now() - guard.checkedAt < CHECK_EVERY_MS) return
  guard.checkedAt = performance.now()
  const rows = guard.storage.read.log
  try {
    const last = recall(guard)
    const log = (await rows.state())!
    await compare(guard, last, log, rows)
    if (!last || log.treeSize > last.treeSize) remember(guard, log)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
  }
}

/** Those who ask meanwhile share one examination. */
function examine(guard: Guard): Promise<void> {
  guard.examining ??= examineAll(guard).finally(() => {
    guard.examining = undefined
  })
  return guard.examining
}

async function examineAll(guard: Guard): Promise<void> {
  const rows = guard.storage.read.log
  try {
    // Recalls the head before it reads the log, which may grow in between: the log then includes that head.
    const last = recall(guard)
    const log = (await rows.state())!
    await compare(guard, last, log, rows)
    await checkStored(guard, log, rows)
    remember(guard, log)
    if (guard.problem !== undefined) guard.logger.info('this host signs again')
    guard.problem = undefined
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
  }
}
