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
import { type LogAgreement, OTHER_DATABASE } from './agreement.ts'
import { settleContradiction } from './contradiction.ts'
import { contradictionWriter } from './contradiction-file.ts'
import { OTHER_FILE } from './file-binding.ts'
import {
  closedProblem,
  compareHead,
  compareRoot,
  compareStored,
  compareWritten,
  includes,
  isStoppedByClient,
  readOnly,
} from './log-comparison.ts'
import type { LostReceipts } from './lost-receipts.ts'
import type { Head } from './memory/head-record.ts'
import type { LogMemories } from './memory/memories.ts'
import { HeadMemoryError } from './memory/memory.ts'

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

/** These end by a command. */
const FOR_OPERATOR: ReadonlySet<string> = new Set([OTHER_DATABASE, OTHER_FILE])
const CHECK_EVERY_MS = 1000
const COMPARED_AGAIN = 3
const COMPARING = 'this host compares the log with what is remembered of it'
const ASKING_CHAIN = 'this host asks the chain of the anchors what it has of the log'
const UNBOUND =
  'the database was restarted or replaced, and hosts have not compared it with what they remember yet: a host that runs does so within seconds'
const MEMORY_GONE =
  'HEAD_MEMORY had a record of the log, and has none: it, or DATA_DIR with the database, was replaced or restored. This host signs as soon as the record is there again, or another host runs that remembers the log. Where HEAD_MEMORY is lost and the database is the newest, name another folder or URL. Otherwise restore the newest database, or begin another log with: claimcheck log new'
const NOTHING_ELSE =
  'nothing else remembers the log: this host signs when the chain has answered, or another host runs that remembers. Where the chain cannot answer for good, start this host once without the plugin of the anchors'

/** Ends by itself, when others have answered. */
class Waits extends ServiceError {
  constructor(reason: string) {
    super('read_only', reason)
  }
}

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
    isOwn = error.cause instanceof HeadMemoryError
  }

  async function noting<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      note(error)
      throw error
    }
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
  async function checkOpen(log: LogState, rows: Reads['log']): Promise<void> {
    clock.logged(log.issuedAt)
    compareWritten(log)
    if (log.closedBy !== null) throw readOnly(closedProblem(log, log.closedBy))
    logMemories.requireHere(log)
    if (!logAgreement.isBound(log)) throw new Waits(UNBOUND)
    // The chain may have answered since this host began.
    await logMemories.compareChain(log, rows)
  }

  /** @param isWhole also derives the root of the stored tree @returns false where something is wrong, which is noted then */
  async function compare(isWhole: boolean): Promise<boolean> {
    try {
      await noting(() => compareAgain(isWhole))
      return true
    } catch (error) {
      if (error instanceof ServiceError) return false
      throw error
    }
  }

  /** Where another process of this host signs meanwhile, what that remembered is compared, too. @throws ServiceError */
  async function compareAgain(isWhole: boolean, times = COMPARED_AGAIN): Promise<void> {
    try {
      await compareOnce(isWhole)
    } catch (error) {
      if (times === 0 || !isOvertaken(error)) throw error
      // The stored tree was derived before the record was found.
      await compareAgain(false, times - 1)
    }
  }

  /** @throws ServiceError */
  async function compareOnce(isWhole: boolean): Promise<void> {
    const rows = storage.read.log
    const round = await logAgreement.begin()
    const { heads, apart, log } = await logMemories.read()
    const seen = await settle(heads, log)
    // What this host signed last is in a log that ended, or is lacking.
    if (seen.contradictedBy !== null || heads.some(({ logId }) => logId !== log.logId)) await lostReceipts.report()
    clock.logged(seen.issuedAt)
    // What this host remembers says more than the head of a client.
    for (const head of heads) await compareHead(head, seen, rows)
    if (isStoppedByClient(seen)) await writeContradiction(seen.witnessed!)
    compareWritten(seen)
    if (seen.closedBy?.last === 'made') logMemories.learn(seen)
    if (seen.closedBy !== null) throw readOnly(closedProblem(seen, seen.closedBy))
    logMemories.requireHere(seen)
    // After what this host remembers, which stops all hosts.
    await logMemories.compareChain(seen, rows).catch(async (error: unknown) => {
      await lostReceipts.report()
      throw error
    })
    if (logMemories.isAskingChain()) throw new Waits(ASKING_CHAIN)
    if (isWhole) await compareStored(log, rows)
    const has = (head: Head) => head.logId === log.logId && head.treeSize === log.treeSize
    const isGone = logMemories.isGone(log.logId)
    const knowNewest = !isGone && heads.some(has)
    const proveNewest = apart.some(has)
    const knowLog = !isGone && heads.some(({ logId }) => logId === log.logId)
    const waitsFor = await logAgreement.settle(round, log, { knowLog, knowNewest, proveNewest })
    requireProof(waitsFor, { isGone, knowLog, isKnownElsewhere: round.isKnownElsewhere(log.logId) })
    agreedFor = databaseOf(log)
    const remembered = isWhole ? undefined : heads.find((head) => has(head) && head.signed !== undefined)
    const head = remembered ?? (await withSignature(log))
    if (isWhole || !knowNewest) logMemories.remember(head)
    else logMemories.follow(head)
    logMemories.learn(log)
    // What was signed meanwhile stays.
    if (newest?.logId !== head.logId || newest.treeSize <= head.treeSize) newest = head
  }

  /** @throws ServiceError, or what the host waits for, while nothing proves that the database has the newest head */
  function requireProof(
    waitsFor: string | undefined,
    { isGone, knowLog, isKnownElsewhere }: Readonly<Record<'isGone' | 'knowLog' | 'isKnownElsewhere', boolean>>,
  ): void {
    // Where the database was restarted, too, this says what helps.
    if (isGone && !isKnownElsewhere && (waitsFor === undefined || waitsFor === OTHER_DATABASE))
      throw readOnly(MEMORY_GONE)
    if (waitsFor !== undefined) throw FOR_OPERATOR.has(waitsFor) ? readOnly(waitsFor) : new Waits(waitsFor)
    const unknown = logMemories.chainProblem()
    if (unknown !== undefined && !knowLog && !isKnownElsewhere) throw new Waits(`${unknown}, and ${NOTHING_ELSE}`)
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

  /** What is remembered or anchored of the log, and is not in the database: a sentence each. Changes nothing. */
  async function findLacking(): Promise<{ readonly lacking: readonly string[]; readonly notices: readonly string[] }> {
    const lacking: string[] = []
    try {
      const remembered = await logMemories.readNow()
      if (!remembered) return { lacking, notices: [] }
      const { heads, log } = remembered
      for (const head of heads) await compareHead(head, log, storage.read.log)
      if (log.closedBy === null) logMemories.requireHere(log)
      await logMemories.compareChain(log, storage.read.log)
    } catch (error) {
      if (!(error instanceof HeadMemoryError || error instanceof ServiceError)) throw error
      lacking.push(`log: ${error.message}`)
    }
    const unknown = logMemories.chainProblem()
    if (unknown === undefined) return { lacking, notices: [] }
    return { lacking, notices: [`Notice: ${unknown}: the log was not compared with its anchors there.`] }
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
      noting(async () => {
        await checkOpen(log, rows)
        for (const head of logMemories.recall(log)) await compareHead(head, log, rows)
      }),
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
    /** Call it in a command that changes what an old database would bring back. @throws ServiceError `read_only` where something is lacking */
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
  return error instanceof ServiceError && error.cause instanceof HeadMemoryError && error.cause.code === 'overtaken'
}
