/**
 * Keeps hosts from signing a fork, that is two contradicting trees of one log, such as after the database was restored from an old backup. It
 * compares the log in the database with what is remembered outside of it. A host that finds the database behind writes the signed head into
 * it, which stops all hosts.
 */
import type { FastifyBaseLogger } from 'fastify'
import { ServiceError } from '../../base/errors.ts'
import type { Clock } from '../../clock/clock.ts'
import type { HostConfig } from '../../config/config.ts'
import type { LogState } from '../../storage/log-state.ts'
import type { LostReceiptRow } from '../../storage/lost-receipts.ts'
import type { Reads, Storage, Writes } from '../../storage/storage.ts'
import type { LogAgreement } from './agreement.ts'
import { settleContradiction } from './contradiction.ts'
import { contradictionWriter } from './contradiction-file.ts'
import { compareRoot, compareStored, includes, lackingOf } from './log-comparison.ts'
import type { LostReceipts } from './lost-receipts.ts'
import type { Head } from './memory/head-record.ts'
import type { LogMemories } from './memory/memories.ts'
import { HeadMemoryError } from './memory/memory.ts'
import {
  type Findings,
  isStoppedByClient,
  MEMORY_GONE,
  movedProblem,
  readOnly,
  requireStanding,
  Waits,
} from './standing.ts'

export type LogGuard = ReturnType<typeof createLogGuard>

interface LogGuardOptions {
  readonly logMemories: LogMemories
  readonly lostReceipts: LostReceipts
  readonly logAgreement: LogAgreement
  readonly storage: Pick<Storage, 'read' | 'write'>
  readonly config: Pick<HostConfig, 'dataDir'>
  /** Learns the newest time in the log. */
  readonly clock: Pick<Clock, 'logged'>
  readonly logger: Pick<FastifyBaseLogger, 'info' | 'warn' | 'error'>
}

const CHECK_EVERY_MS = 1000
const COMPARED_AGAIN = 3
const COMPARING = 'this host compares the log with what is remembered of it'

export function createLogGuard(options: LogGuardOptions) {
  const { logMemories, lostReceipts, logAgreement, storage, clock, logger } = options
  const writeContradiction = contradictionWriter(options)
  let newest: Head | undefined
  let problem: string | undefined
  let isWaiting = false
  /** The problem is one of what this host remembers by, and says nothing of the database. */
  let isOwn = false
  /** The log, and what its database was, when nothing kept this host from signing there but itself. */
  let agreedFor: string | undefined
  let examining: Promise<void> | undefined
  let hasExamined = false
  /** When the log was last compared, in the time of this process. */
  let checkedAt = Number.NEGATIVE_INFINITY

  function note(error: unknown): void {
    if (!(error instanceof ServiceError)) return
    const waits = error instanceof Waits
    const found = { problem: error.message }
    if (waits && (!isWaiting || problem === COMPARING)) logger.warn(found, 'this host waits before it signs')
    if (!waits && problem !== error.message) logger.error(found, 'this host is read-only: it signs nothing')
    problem = error.message
    isWaiting = waits
    isOwn = error instanceof HeadMemoryError && error.kind !== 'overtaken'
  }

  async function noting<T>(work: () => Promise<T>): Promise<T> {
    return work().catch((error) => {
      note(error)
      throw error
    })
  }

  function notingNow(work: () => void): void {
    try {
      work()
    } catch (error) {
      note(error)
      throw error
    }
  }

  /** The database refuses an append where this does, and does not say why. */
  async function checkOpen(log: LogState, rows: Reads['log'], more: Partial<Findings> = {}): Promise<void> {
    clock.logged(log.issuedAt)
    const stored = { ...more, log, move: logMemories.moves.elsewhere(log), isBound: logAgreement.isBound(log) }
    // The chain may have answered since this host began.
    requireStanding({ ...stored, attested: await logMemories.attestedProblem(log, rows) })
  }

  /**
   * Compares the log with what is remembered of it, and again where another process of this host signs meanwhile.
   * @param isWhole also derives the root of the stored tree @returns false where something is wrong, which is noted then
   */
  async function compare(isWhole: boolean, times = COMPARED_AGAIN): Promise<boolean> {
    try {
      await compareOnce(isWhole)
      return true
    } catch (error) {
      // The stored tree was derived before the record was found.
      if (isOvertaken(error) && times > 0) return compare(false, times - 1)
      note(error)
      if (error instanceof ServiceError) return false
      throw error
    }
  }

  /** @throws ServiceError */
  async function compareOnce(isWhole: boolean): Promise<void> {
    const round = await logAgreement.begin()
    const { heads, apart, log } = await logMemories.read()
    const found = await compareRemembered(heads, log)
    if (isWhole) await compareStored(log, storage.read.log)
    const isGone = logMemories.isGone(log.logId)
    const own = isGone ? [] : heads
    const has = (head: Head) => head.logId === log.logId && head.treeSize === log.treeSize
    const knowLog = own.some(({ logId }) => logId === log.logId)
    const knowNewest = own.some(has)
    const waitsFor = await logAgreement.settle(round, log, { knowLog, knowNewest, proveNewest: apart.some(has) })
    const isKnownElsewhere = round.isKnownElsewhere(log.logId)
    const chainProblem = logMemories.chainProblem()
    const proof = { waitsFor, isGone: isGone && !isKnownElsewhere, knowLog, isKnownElsewhere, chainProblem }
    requireStanding({ ...found, proof })
    agreedFor = databaseOf(log)
    const remembered = isWhole ? undefined : heads.find((head) => has(head) && head.signed !== undefined)
    const head = remembered ?? (await withSignature(log))
    if (isWhole || !knowNewest) logMemories.remember(head)
    else logMemories.follow(head)
    logMemories.moves.learn(log)
    // What was signed meanwhile stays.
    if (newest?.logId !== head.logId || newest.treeSize <= head.treeSize) newest = head
  }

  /**
   * Compares the log with the heads that are remembered of it and with what the chain attests, and writes into the database what it lacks.
   * @throws ServiceError
   */
  async function compareRemembered(heads: readonly Head[], log: LogState): Promise<Findings> {
    const rows = storage.read.log
    const seen = await settle(heads, log)
    // The entry that this host signed last is in a log that ended, or is lacking.
    if (seen.contradictedBy !== null || heads.some(({ logId }) => logId !== log.logId)) await lostReceipts.report()
    clock.logged(seen.issuedAt)
    const lacking = await lackingOf(heads, seen, rows)
    if (lacking === undefined && isStoppedByClient(seen)) await writeContradiction(seen.witnessed!)
    if (lacking === undefined && seen.closedBy?.last === 'made') logMemories.moves.learn(seen)
    const found = { log: seen, lacking, move: logMemories.moves.elsewhere(seen) }
    requireStanding(found)
    const attested = await logMemories.attestedProblem(seen, rows)
    if (attested !== undefined) await lostReceipts.report()
    requireStanding({ ...found, attested, isAskingChain: logMemories.isAskingChain() })
    return found
  }

  /** Writes into the database what it lacks. @returns the log as it is stored then */
  async function settle(heads: readonly Head[], log: LogState): Promise<LogState> {
    for (const head of heads) {
      const isLacking = head.logId === log.logId && !(await includes(log, head, storage.read.log))
      if (isLacking) return settleContradiction(options, log, logMemories.signed(log.logId))
    }
    return log.contradictedBy === null ? log : settleContradiction(options, log, [])
  }

  async function withSignature(log: LogState): Promise<Head> {
    const [head] = await storage.read.log.headsAfter(log.logId, log.number - 1, 1)
    return { ...log, signed: head?.signed }
  }

  async function examineAll(): Promise<void> {
    if (!hasExamined && problem === undefined) {
      problem = COMPARING
      isWaiting = true
    }
    if (!(await compare(true))) return
    hasExamined = true
    if (problem !== undefined && problem !== COMPARING) logger.info('this host signs again')
    problem = undefined
    isWaiting = false
  }

  /** Checks the whole log and remembers its head. A mistake becomes the `problem`; without one the `problem` ends. Those who ask meanwhile share one examination. */
  function examine(): Promise<void> {
    examining ??= examineAll().finally(() => {
      examining = undefined
    })
    return examining
  }

  /** Finds what is remembered or anchored of the log, and is not in the database, or remembered no more, in words. Changes nothing. */
  async function findReason(): Promise<string | undefined> {
    const round = await logAgreement.begin()
    const remembered = await logMemories.readNow()
    if (!remembered) return undefined
    const { heads, log } = remembered
    const rows = storage.read.log
    const move = log.closedBy === null ? logMemories.moves.elsewhere(log) : undefined
    const isGone = logMemories.isGone(log.logId) && !round.isKnownElsewhere(log.logId)
    const reasons = [
      await lackingOf(heads, log, rows),
      move === undefined ? undefined : movedProblem(move),
      await logMemories.attestedProblem(log, rows),
      isGone ? MEMORY_GONE : undefined,
    ]
    return reasons.find((text) => text !== undefined)
  }

  /** The same with what cannot be read, and a notice where the chain was not asked: a sentence each. */
  async function findLacking(): Promise<{ readonly lacking: readonly string[]; readonly notices: readonly string[] }> {
    const reason = await findReason().catch((error: unknown) => {
      if (error instanceof ServiceError) return error.message
      throw error
    })
    const unknown = logMemories.chainProblem()
    return {
      lacking: reason === undefined ? [] : [`log: ${reason}`],
      notices: unknown === undefined ? [] : [`Notice: ${unknown}: the log was not compared with its anchors there.`],
    }
  }

  return {
    /** The newest signed head that this host knows to be on disk; undefined before it has compared the log. */
    newest: () => newest,
    /** Why this host is read-only, and how to recover; undefined while it may sign. */
    problem: () => problem,
    /**
     * Tells whether the database may be an older one, or a copy, as in a rehearsal: nobody is to be told again what others told before. A host
     * that cannot remember or read what it remembers signs nothing, and tells all the same.
     */
    async mayBeRehearsal(): Promise<boolean> {
      if (problem === undefined) return false
      const log = isOwn ? await storage.read.log.state() : undefined
      const isSame = log && agreedFor === databaseOf(log) && logAgreement.isBound(log)
      return !isSame || log.closedBy !== null || log.contradictedBy !== null
    },
    examine,
    /** The `problem` is that it waits for others: it ends by itself. */
    isWaiting: () => isWaiting,
    /**
     * Whether this host may sign, by the state of the log at most one second ago. A read-only host examines the log again, so that it
     * recovers by itself. It also remembers heads that other hosts signed, so that a backup from before them is recognized as old.
     */
    async maySign(): Promise<boolean> {
      if (problem !== undefined) await examine()
      else if (performance.now() - checkedAt >= CHECK_EVERY_MS) {
        checkedAt = performance.now()
        await compare(false)
      }
      return problem === undefined
    },
    /**
     * Call it before signing a head, with the log locked. Entries that other hosts appended are not a fork.
     * @throws ServiceError `read_only` when this log does not continue what this host signed, or when that cannot be determined
     */
    check: (log: LogState, rows: Reads['log']) =>
      noting(async () => checkOpen(log, rows, { lacking: await lackingOf(logMemories.recall(log), log, rows) })),
    /** Call it before storing what is not signed, with the log locked. @throws ServiceError `read_only` where nothing may be stored */
    checkOpen: (log: LogState, rows: Reads['log']) => noting(() => checkOpen(log, rows)),
    /** Compares the root of the stored tree with the signed root. @throws ServiceError `read_only` */
    checkRoot: (log: LogState, storedRoot: Uint8Array) => notingNow(() => compareRoot(log, storedRoot)),
    /** Reads the root of the stored tree, and compares it with the signed root. @throws ServiceError `read_only` */
    checkStored: (log: LogState, rows: Reads['log']) => noting(() => compareStored(log, rows)),
    /** Call it for each signed head when it is on disk, before anyone else learns of it. @throws ServiceError `read_only` */
    remember(head: Head): void {
      notingNow(() => logMemories.remember(head))
      if (head.signed !== undefined) newest = head
    },
    /**
     * The same in a command: a process of this host that runs may have signed and remembered more meanwhile, which is compared then.
     * @throws ServiceError `read_only`
     */
    async rememberBeside(head: Head): Promise<void> {
      try {
        logMemories.remember(head)
      } catch (error) {
        if (!isOvertaken(error)) throw error
        await examine()
        if (problem !== undefined) throw readOnly(problem, error)
      }
    },
    /** Remembers the log that this host begins, unless it remembers another: its database may be gone. @throws ServiceError `read_only` */
    rememberBegun: (log: LogState) =>
      notingNow(() => {
        if (logMemories.recall(log).length === 0) logMemories.remember(log)
      }),
    isRemembered: logMemories.isRemembered,
    /** The head of another log than this one, which this host remembers: that log ends, too, when the next begins. */
    rememberedOther: ({ logId }: LogState) => logMemories.recallReadable(logId).find((head) => head.logId !== logId),
    /** In the transaction that ends the log: the receipts that are known to be lost. */
    lost: (tx: Writes, logId: string): Promise<readonly LostReceiptRow[]> => lostReceipts.end(tx, logId),
    findLacking,
    /** Call it in a command by which an operator lets a log go on. @throws ServiceError `read_only` where something is lacking */
    async requireNewest(): Promise<void> {
      const { lacking } = await findLacking()
      if (lacking.length > 0) throw readOnly(lacking.join('\n'))
    },
    /** The file that a new log is bound to; undefined: the database says what it is. */
    file: () => logAgreement.file(),
  }
}

function databaseOf({ logId, answersAs }: LogState): string {
  return `${logId} ${answersAs}`
}

function isOvertaken(error: unknown): boolean {
  return error instanceof HeadMemoryError && error.kind === 'overtaken'
}
