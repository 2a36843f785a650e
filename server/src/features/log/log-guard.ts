/**
 * Keeps hosts from signing a fork, that is two contradicting trees of one log, such as after the database was restored from an old backup. It
 * compares the log in the database with what is remembered outside of it. A host that finds the database behind writes the signed head into
 * it, which stops all hosts.
 */
import { bytesEqual } from '@claimcheck/core/receipts'
import type { FastifyBaseLogger } from 'fastify'
import { ServiceError } from '../../base/errors.ts'
import type { Clock } from '../../clock/clock.ts'
import type { LogState } from '../../storage/log-state.ts'
import type { LostReceiptRow } from '../../storage/lost-receipts.ts'
import type { Reads, Storage, Writes } from '../../storage/storage.ts'
import { type LogAgreement, OTHER_DATABASE } from './agreement.ts'
import { settleContradiction } from './contradiction.ts'
import { OTHER_FILE } from './file-binding.ts'
import {
  closedProblem,
  compareHead,
  compareRoot,
  compareStored,
  compareWritten,
  includes,
  readOnly,
} from './log-comparison.ts'
import type { LogMemories } from './log-memories.ts'
import type { LostReceipts } from './lost-receipts.ts'
import { HeadMemoryError } from './signing/head-file.ts'
import type { Head } from './signing/head-record.ts'

export type LogGuard = ReturnType<typeof createLogGuard>

interface LogGuardOptions {
  readonly logMemories: LogMemories
  readonly lostReceipts: LostReceipts
  readonly logAgreement: LogAgreement
  readonly storage: Pick<Storage, 'read' | 'write'>
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

export function createLogGuard(options: LogGuardOptions) {
  const { logMemories, lostReceipts, logAgreement } = options
  const guard = { options, ...NOT_COMPARED }
  return {
    /** The newest signed head that this host knows to be on disk; undefined before it has compared the log. */
    newest: () => guard.newest,
    /** Why this host is read-only, and how to recover; undefined while it may sign. */
    problem: () => guard.problem,
    /** Checks the whole log and remembers its head. A mistake becomes the `problem`; without one the `problem` ends. */
    examine: () => examine(guard),
    /** The `problem` is that it waits for others: it ends by itself. */
    isWaiting: () => guard.isWaiting,
    /**
     * Whether this host may sign, by the state of the log at most one second ago. A read-only host examines the log again, so that it
     * recovers by itself.
     */
    async maySign(): Promise<boolean> {
      await (guard.problem === undefined ? checkRecently(guard) : examine(guard))
      return guard.problem === undefined
    },
    /**
     * Call it before signing a head, with the log locked. Entries that other hosts appended are not a fork.
     * @throws ServiceError `read_only` when this log does not continue what this host signed, or when that cannot be determined
     */
    check: (log: LogState, rows: Reads['log']) =>
      noting(guard, async () => {
        await checkOpen(guard, log, rows)
        for (const head of logMemories.recall(log.logId)) await compareHead(head, log, rows)
      }),
    /** Call it before storing what is not signed, with the log locked. @throws ServiceError `read_only` where nothing may be stored */
    checkOpen: (log: LogState, rows: Reads['log']) => noting(guard, () => checkOpen(guard, log, rows)),
    /** Compares the root of the stored tree with the signed root. @throws ServiceError `read_only` */
    checkRoot: (log: LogState, storedRoot: Uint8Array) => notingNow(guard, () => compareRoot(log, storedRoot)),
    /** Reads the root of the stored tree, and compares it with the signed root. @throws ServiceError `read_only` */
    checkStored: (log: LogState, rows: Reads['log']) => noting(guard, () => compareStored(log, rows)),
    /** Call it for each signed head when it is on disk, before anyone else learns of it. @throws ServiceError `read_only` */
    remember(head: Head): void {
      notingNow(guard, () => logMemories.remember(head))
      if (head.signed !== undefined) guard.newest = head
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
        await examine(guard)
        if (guard.problem !== undefined) throw readOnly(guard.problem, error)
      }
    },
    /** Remembers the log that this host begins, unless it remembers another: its database may be gone. @throws ServiceError `read_only` */
    rememberBegun: (head: Head) =>
      notingNow(guard, () => {
        if (logMemories.recall(head.logId).length === 0) logMemories.remember(head)
      }),
    /** True when this host remembers exactly this head. */
    isRemembered({ logId, treeSize, rootHash }: Head): boolean {
      const heads = logMemories.recallReadable(logId)
      const isSame = (head: Head) =>
        !head.movedTo && head.logId === logId && head.treeSize === treeSize && bytesEqual(head.rootHash, rootHash)
      return heads.length > 0 && heads.every(isSame)
    },
    /** The head of another log than this one, which this host remembers: that log ends, too, when the next begins. */
    rememberedOther: ({ logId }: LogState) => logMemories.recallReadable(logId).find((head) => head.logId !== logId),
    /** In the transaction that ends the log: the receipts that are known to be lost. */
    lost: (tx: Writes, logId: string): Promise<readonly LostReceiptRow[]> => lostReceipts.end(tx, logId),
    /** What is remembered or anchored of the log, and is not in the database: a sentence each. Changes nothing. */
    findLacking: () => findLacking(options),
    /** Call it in a command that changes what an old database would bring back. @throws ServiceError `read_only` where something is lacking */
    async requireNewest(): Promise<void> {
      const { lacking } = await findLacking(options)
      if (lacking.length > 0) throw readOnly(lacking.join('\n'))
    },
    /** The file that a new log is bound to; undefined: the database says what it is. */
    file: () => logAgreement.file(),
  }
}

interface Comparing {
  newest: Head | undefined
  problem: string | undefined
  isWaiting: boolean
  examining: Promise<void> | undefined
  hasExamined: boolean
  /** When the log was last compared, in the time of this process. */
  checkedAt: number
}

const NOT_COMPARED: Comparing = {
  newest: undefined,
  problem: undefined,
  isWaiting: false,
  examining: undefined,
  hasExamined: false,
  checkedAt: Number.NEGATIVE_INFINITY,
}

interface Guard extends Comparing {
  readonly options: LogGuardOptions
}

/** Ends by itself, when others have answered. */
class Waits extends ServiceError {
  constructor(reason: string) {
    super('read_only', reason)
  }
}

async function noting<T>(guard: Guard, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    note(guard, error)
    throw error
  }
}

function notingNow(guard: Guard, work: () => void): void {
  try {
    work()
  } catch (error) {
    note(guard, error)
    throw error
  }
}

function note(guard: Guard, error: unknown): void {
  if (!(error instanceof ServiceError)) return
  const { message: problem } = error
  const waits = error instanceof Waits
  if (waits && (!guard.isWaiting || guard.problem === COMPARING))
    guard.options.logger.warn({ problem }, 'this host waits before it signs')
  if (!waits && problem !== guard.problem)
    guard.options.logger.error({ problem }, 'this host is read-only: it signs nothing')
  guard.problem = problem
  guard.isWaiting = waits
}

/** The database refuses an append where this does, and does not say why. */
async function checkOpen(guard: Guard, log: LogState, rows: Reads['log']): Promise<void> {
  const { clock, logAgreement, logMemories } = guard.options
  clock.logged(log.issuedAt)
  compareWritten(log)
  if (log.closedBy !== null) throw readOnly(closedProblem(log, log.closedBy))
  if (!logAgreement.isBound(log)) throw new Waits(UNBOUND)
  // The chain may have answered since this host began.
  await logMemories.compareChain(log, rows)
}

/** Also remembers heads that other hosts signed, so that a backup from before them is recognized as old. */
async function checkRecently(guard: Guard): Promise<void> {
  if (performance.now() - guard.checkedAt < CHECK_EVERY_MS) return
  guard.checkedAt = performance.now()
  await compare(guard)
}

/** @param isWhole also derives the root of the stored tree @returns false where something is wrong, which is noted then */
async function compare(guard: Guard, isWhole = false): Promise<boolean> {
  try {
    await noting(guard, () => compareAgain(guard, isWhole))
    return true
  } catch (error) {
    if (error instanceof ServiceError) return false
    throw error
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
  if (!guard.hasExamined && guard.problem === undefined) {
    guard.problem = COMPARING
    guard.isWaiting = true
  }
  if (!(await compare(guard, true))) return
  guard.hasExamined = true
  if (guard.problem !== undefined && guard.problem !== COMPARING) guard.options.logger.info('this host signs again')
  guard.problem = undefined
  guard.isWaiting = false
}

/** Where another process of this host signs meanwhile, what that remembered is compared, too. @throws ServiceError */
async function compareAgain(guard: Guard, isWhole: boolean, times = COMPARED_AGAIN): Promise<void> {
  try {
    await compareOnce(guard, isWhole)
  } catch (error) {
    if (times === 0 || !isOvertaken(error)) throw error
    // The stored tree was derived before the record was found.
    await compareAgain(guard, false, times - 1)
  }
}

function isOvertaken(error: unknown): boolean {
  if (!(error instanceof ServiceError)) return false
  const { cause } = error
  return cause instanceof HeadMemoryError && cause.code === 'overtaken'
}

/** @throws ServiceError */
async function compareOnce(guard: Guard, isWhole: boolean): Promise<void> {
  const { logMemories, lostReceipts, logAgreement, clock, storage } = guard.options
  const rows = storage.read.log
  const round = await logAgreement.begin()
  const { heads, apart, log } = await logMemories.read()
  const seen = await settle(guard.options, heads, log)
  // What this host signed last is in a log that ended, or is lacking.
  if (seen.contradictedBy !== null || heads.some(({ logId }) => logId !== log.logId)) await lostReceipts.report()
  clock.logged(seen.issuedAt)
  // What this host remembers says more than the head of a client.
  for (const head of heads) await compareHead(head, seen, rows)
  compareWritten(seen)
  if (seen.closedBy !== null) throw readOnly(closedProblem(seen, seen.closedBy))
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
  const isLost = isGone && !round.isKnownElsewhere(log.logId)
  // Where the database was restarted, too, this says what helps.
  if (isLost && (waitsFor === undefined || waitsFor === OTHER_DATABASE)) throw readOnly(MEMORY_GONE)
  if (waitsFor !== undefined) throw FOR_OPERATOR.has(waitsFor) ? readOnly(waitsFor) : new Waits(waitsFor)
  const unknown = logMemories.chainProblem()
  if (unknown !== undefined && !knowLog && !round.isKnownElsewhere(log.logId))
    throw new Waits(`${unknown}, and ${NOTHING_ELSE}`)
  const newest = heads.find((head) => has(head) && head.signed !== undefined)
  const head = isWhole || !newest ? await withSignature(log, rows) : newest
  if (isWhole || !knowNewest) logMemories.remember(head)
  else logMemories.follow(head)
  // What was signed meanwhile stays.
  if (guard.newest?.logId !== head.logId || guard.newest.treeSize <= head.treeSize) guard.newest = head
}

/** Writes into the database what it lacks. @returns the log as it is stored then */
async function settle(options: LogGuardOptions, heads: readonly Head[], log: LogState): Promise<LogState> {
  const { logMemories, storage } = options
  const isLacking = async (head: Head) => head.logId === log.logId && !(await includes(log, head, storage.read.log))
  for (const head of heads)
    if (await isLacking(head)) return settleContradiction(options, log, logMemories.signed(log.logId))
  return log.contradictedBy === null ? log : settleContradiction(options, log, [])
}

async function withSignature(log: LogState, rows: Reads['log']): Promise<Head> {
  const [head] = await rows.headsAfter(log.logId, log.number - 1, 1)
  return { ...log, signed: head?.signed }
}

async function findLacking({
  logMemories,
  storage,
}: LogGuardOptions): Promise<{ readonly lacking: readonly string[]; readonly notices: readonly string[] }> {
  const rows = storage.read.log
  const lacking: string[] = []
  try {
    const remembered = await logMemories.readNow()
    if (!remembered) return { lacking, notices: [] }
    for (const head of remembered.heads) await compareHead(head, remembered.log, rows)
    await logMemories.compareChain(remembered.log, rows)
  } catch (error) {
    if (!(error instanceof HeadMemoryError || error instanceof ServiceError)) throw error
    lacking.push(`log: ${error.message}`)
  }
  const unknown = logMemories.chainProblem()
  if (unknown === undefined) return { lacking, notices: [] }
  return { lacking, notices: [`Notice: ${unknown}: the log was not compared with its anchors there.`] }
}
