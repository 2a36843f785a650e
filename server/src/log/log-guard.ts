/**
 * Keeps this host from signing a fork: two trees of one log that cannot both be true, as a database restored from an older backup
 * would make it do. The log in the database is held against the head that this host remembers outside of it.
 */
import { bytesEqual, rootAt, TileError } from '@claimcheck/core'
import type { FastifyBaseLogger } from 'fastify'
import { ServiceError } from '../base/errors.ts'
import type { LogState } from '../storage/log-state.ts'
import type { Reads, Storage } from '../storage/storage.ts'
import { type Head, type HeadMemory, HeadMemoryError } from './signing/head-memory.ts'
import { SHA256_TREE, tileReader } from './stored-log.ts'

export interface LogGuard {
  /** Why this host is read-only, and the way out; undefined while it may sign. */
  problem(): string | undefined
  /** Looks at everything, and remembers the head that it finds; what it finds wrong is the `problem` from then on. */
  examine(): Promise<void>
  /** Whether this host may sign, by the log of the last second. One that is read-only is examined again, so that it goes on when what was wrong is put right. */
  maySign(): Promise<boolean>
  /**
   * To be asked before a head is signed, with the log locked. What other hosts have appended is no fork.
   * @throws ServiceError `read_only` when this log does not go on from what this host signed, or when that cannot be told
   */
  check(log: LogState, rows: Reads['log']): Promise<void>
  /** Holds the root of the tree that is stored against the one that was signed. @throws ServiceError `read_only` */
  checkRoot(log: LogState, storedRoot: Uint8Array): void
  /** The same, for who has not the tree's root. @throws ServiceError `read_only` */
  checkStored(log: LogState, rows: Reads['log']): Promise<void>
  /** To be told of each head when it is on disk, and before anybody else is. @throws ServiceError `read_only` */
  remember(head: Head): void
  /** Whether this head, and no other, is what this host remembers. */
  isRemembered(head: Head): boolean
  /** The logs that end when another follows this one: itself, and one that only this host knows of. */
  ending(log: LogState, rows: Reads['log']): Promise<readonly Pick<Head, 'logId' | 'name'>[]>
}

interface LogGuardOptions {
  readonly headMemory: HeadMemory
  readonly storage: Pick<Storage, 'read'>
  readonly logger: Pick<FastifyBaseLogger, 'info' | 'error'>
}

const LOOK_EVERY_MS = 1000
const WAY_OUT = 'Bring the newest database back, or begin another log: claimcheck log new'
const OTHER_LOG = `the database holds another log than this host signed last: are DATABASE_URL and DATA_DIR right? ${WAY_OUT}`
const FORKED = `the database holds other entries than this host signed. ${WAY_OUT}`
const DAMAGED = 'the stored tree has not the root that was signed: claimcheck doctor tells what is damaged'

export function createLogGuard({ headMemory, storage, logger }: LogGuardOptions): LogGuard {
  let problem: string | undefined

  function refuse(why: string, cause?: unknown): never {
    if (why !== problem) logger.error({ problem: why }, 'this host is read-only: it signs nothing')
    problem = why
    throw new ServiceError('read_only', why, { cause })
  }

  function recall(): Head | undefined {
    try {
      return headMemory.recall()
    } catch (error) {
      if (!(error instanceof HeadMemoryError)) throw error
      refuse(`${error.message}. Bring it back, or begin another log: claimcheck log new`, error)
    }
  }

  function remember(head: Head): void {
    try {
      headMemory.remember(head)
    } catch (error) {
      if (!(error instanceof HeadMemoryError)) throw error
      refuse(error.message, error)
    }
  }

  async function rootOf(treeSize: number, rows: Reads['log']): Promise<Uint8Array> {
    try {
      return await rootAt(treeSize, tileReader(rows), SHA256_TREE)
    } catch (error) {
      if (!(error instanceof TileError)) throw error
      return refuse(DAMAGED, error)
    }
  }

  async function compare(last: Head | undefined, log: LogState, rows: Reads['log']): Promise<void> {
    if (!last) return
    if (last.logId !== log.logId) {
      const retired = await rows.retiredLogs()
      if (!retired.some(({ logId }) => logId === last.logId)) refuse(OTHER_LOG)
      return
    }
    if (log.treeSize < last.treeSize) {
      refuse(
        `the database's log has ${log.treeSize} entries, of ${last.treeSize} that this host signed: it is an older one. ${WAY_OUT}`,
      )
    }
    const rootHash = log.treeSize === last.treeSize ? log.rootHash : await rootOf(last.treeSize, rows)
    if (!bytesEqual(rootHash, last.rootHash)) refuse(FORKED)
  }

  function checkRoot({ rootHash }: LogState, storedRoot: Uint8Array): void {
    if (!bytesEqual(storedRoot, rootHash)) refuse(DAMAGED)
  }

  async function checkStored(log: LogState, rows: Reads['log']): Promise<void> {
    checkRoot(log, await rootOf(log.treeSize, rows))
  }

  let examining: Promise<void> | undefined

  function examine(): Promise<void> {
    examining ??= examineAll().finally(() => {
      examining = undefined
    })
    return examining
  }

  let lookedAt = Number.NEGATIVE_INFINITY

  /** Remembers what other hosts have signed, too: no backup from before that is taken for the newest. */
  async function look(): Promise<void> {
    if (performance.now() - lookedAt < LOOK_EVERY_MS) return
    lookedAt = performance.now()
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
      // Before the log is read, which may grow meanwhile: what is remembered is in it by then.
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
      await (problem === undefined ? look() : examine())
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
    async ending(log, rows) {
      const retired = new Set((await rows.retiredLogs()).map(({ logId }) => logId))
      return [log, ...lastOther(log)].filter(({ logId }) => !retired.has(logId))
    },
  }

  /** Whatever it was: a log that follows is none of it. */
  function lastOther({ logId }: LogState): Head[] {
    const last = recallReadable()
    return last && last.logId !== logId ? [last] : []
  }

  function recallReadable(): Head | undefined {
    try {
      return headMemory.recall()
    } catch (error) {
      if (!(error instanceof HeadMemoryError)) throw error
      return undefined
    }
  }
}
