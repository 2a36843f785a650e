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

export function createLogGuard({ checkpointStore, storage, clock, logger }: LogGuardOptions): LogGuard {
  let problem: string | undefined

  function refuse(reason: string, cause?: unknown): never {
    if (reason !== problem) logger.error({ problem: reason }, 'this host is read-only: it signs nothing')
    problem = reason
    throw new ServiceError('read_only', reason, { cause })
  }

  function recall(): Head | undefined {
    try {
      return checkpointStore.recall()
    } catch (error) {
      if (!(error instanceof HeadMemoryError)) throw error
      refuse(`${error.message}. Restore the file, or begin another log with: claimcheck log new`, error)
    }
  }

  function remember(head: Head): void {
    try {
      checkpointStore.remember(head)
    } catch (error) {
      if (!(error instanceof HeadMemoryError)) throw error
      refuse(error.message, error)
    }
  }

  async function rootOf(logId: string, treeSize: number, rows: Reads['log']): Promise<Uint8Array> {
    try {
      return await rootAt(treeSize, tileReader(rows, logId), SHA256_TREE)
    } catch (error) {
      if (!(error instanceof TileError)) throw error
      return refuse(DAMAGED, error)
    }
  }

  async function compare(last: Head | undefined, log: LogState, rows: Reads['log']): Promise<void> {
    clock.logged(log.issuedAt)
    if (!last) return
    if (last.logId !== log.logId) {
      const all = await rows.all()
      if (!all.some(({ logId, endedAt }) => logId === last.logId && endedAt !== null)) refuse(OTHER_LOG)
      return
    }
    if (log.treeSize < last.treeSize) {
      refuse(
        `the database is an old one: its log has ${log.treeSize} entries, and this host signed ${last.treeSize}. ${RECOVERY}`,
      )
    }
    const rootHash = log.treeSize === last.treeSize ? log.rootHash : await rootOf(log.logId, last.treeSize, rows)
    if (!bytesEqual(rootHash, last.rootHash)) refuse(FORKED)
  }

  function checkRoot({ rootHash }: LogState, storedRoot: Uint8Array): void {
    if (!bytesEqual(storedRoot, rootHash)) refuse(DAMAGED)
  }

  async function checkStored(log: LogState, rows: Reads['log']): Promise<void> {
    checkRoot(log, await rootOf(log.logId, log.treeSize, rows))
  }

  let examining: Promise<void> | undefined

  function examine(): Promise<void> {
    examining ??= examineAll().finally(() => {
      examining = undefined
    })
    return examining
  }

  let checkedAt = Number.NEGATIVE_INFINITY

  /** Also remembers heads that other hosts signed, so that a backup from before them is recognized as old. */
  async function checkRecently(): Promise<void> {
    if (performance.now() - checkedAt < CHECK_EVERY_MS) return
    checkedAt = performance.now()
    try {
      const last = recall()
      const log = (await storage.read.log.state())!
      await compare(last, log, storage.read.log)
      if (!last || log.treeSize > last.treeSize) remember(log)
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
    }
  }

  async function examineAll(): Promise<void> {
    const rows = storage.read.log
    try {
      // Recalls the head before it reads the log, which may grow in between: the log then includes that head.
      const last = recall()
      const log = (await rows.state())!
      await compare(last, log, rows)
      await checkStored(log, rows)
      remember(log)
      if (problem !== undefined) logger.info('this host signs again')
      problem = undefined
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
    }
  }

  return {
    problem: () => problem,
    examine,
    async maySign() {
      await (problem === undefined ? checkRecently() : examine())
      return problem === undefined
    },
    check: (log, rows) => compare(recall(), log, rows),
    checkRoot,
    checkStored,
    remember,
    isRemembered({ logId, treeSize, rootHash }) {
      const last = recallReadable()
      return last?.logId === logId && last.treeSize === treeSize && bytesEqual(last.rootHash, rootHash)
    },
    rememberedOther({ logId }) {
      const last = recallReadable()
      return last?.logId === logId ? undefined : last
    },
  }

  /** The remembered head; undefined when there is none or it cannot be read. */
  function recallReadable(): Head | undefined {
    try {
      return checkpointStore.recall()
    } catch (error) {
      if (!(error instanceof HeadMemoryError)) throw error
      return undefined
    }
  }
}
