/**
 * Keeps hosts from signing a fork, that is two contradicting trees of one log, such as after the database was restored from an old backup. It
 * compares the log in the database with the head that this host remembers outside of the database. A host that finds the database behind
 * writes the head into it, which stops all hosts.
 */

import { rootAt, TileError } from '@claimcheck/core/log'
import type { AttestedRoot } from '@claimcheck/core/plugin'
import { bytesEqual } from '@claimcheck/core/receipts'
import { formatInstant } from '@claimcheck/core/rules'
import type { FastifyBaseLogger } from 'fastify'
import { ServiceError } from '../../base/errors.ts'
import { pick } from '../../base/pick.ts'
import type { Clock } from '../../clock/clock.ts'
import type { LogState, RestoredFrom } from '../../storage/log-state.ts'
import type { LostReceiptRow } from '../../storage/lost-receipts.ts'
import { type Reads, type Storage, StorageError, type Writes } from '../../storage/storage.ts'
import { type LogAgreement, OTHER_DATABASE } from './agreement.ts'
import type { ChainWitness } from './chain-witness.ts'
import { OTHER_FILE } from './file-binding.ts'
import type { LostReceipts } from './lost-receipts.ts'
import { type CheckpointStore, type Head, HeadMemoryError } from './signing/checkpoint-store.ts'
import type { RemoteMemory } from './signing/remote-memory.ts'
import { headOf, isSigned, toHead } from './signing/signed-heads.ts'
import { SHA256_TREE, tileReader } from './stored-log.ts'

export interface LogGuard {
  /** Why this host is read-only, and how to recover; undefined while it may sign. */
  problem(): string | undefined
  /** Checks the whole log and remembers its head. A mistake becomes the `problem`; without one the `problem` ends. */
  examine(): Promise<void>
  /** The `problem` is that it waits for other hosts: it ends within seconds. */
  isWaiting(): boolean
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
  /** Call it before storing what is not signed, with the log locked. @throws ServiceError `read_only` where nothing may be stored */
  checkOpen(log: LogState): void
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
  /** In the transaction that ends the log: the receipts that are known to be lost. */
  lost(tx: Writes, logId: string): Promise<readonly LostReceiptRow[]>
  /** What is remembered or anchored of the log, and is not in the database: a sentence each. Changes nothing. */
  findLacking(): Promise<{ readonly lacking: readonly string[]; readonly notices: readonly string[] }>
  /** The file that a new log is bound to; undefined: the database says what it is. */
  file(): string | undefined
}

interface LogGuardOptions {
  readonly checkpointStore: CheckpointStore
  readonly remoteMemory: RemoteMemory
  readonly chainWitness: ChainWitness
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
/** How long the chain of the anchors may take: where a host remembers the log, and where it does not. */
const CHAIN_MS = { known: 5000, unknown: 30_000 }
const RECOVERY = 'Restore the newest database, or begin another log with: claimcheck log new'
const OTHER_LOG = `the database has another log than the one that this host signed last: check DATABASE_URL and DATA_DIR. ${RECOVERY}`
const FORKED = `the entries in the database differ from those that were signed. ${RECOVERY}`
const UNBOUND =
  'the database was restarted or replaced, and hosts have not compared it with what they remember yet: a host that runs does so within seconds'
const ASK_CHAIN =
  'nothing else remembers the log: this host signs as soon as the chain answers, or a host runs that remembers. Where the chain is gone for good, take its plugin out of the configuration'
const DAMAGED = 'the root of the stored tree differs from the signed root: run claimcheck doctor to find the damage'

interface Guard extends LogGuardOptions {
  problem: string | undefined
  isWaiting: boolean
  /** What the database was, and which log it had, when the memory elsewhere was read. */
  loadedFor: string | undefined
  /** The log that it was read for at least once. */
  hasLoaded: string | undefined
  /** Transactions of attestations that were found in the database. */
  readonly attested: Set<string>
  examining: Promise<void> | undefined
  /** When the log was last compared, in the time of this process. */
  checkedAt: number
}

export function createLogGuard(options: LogGuardOptions): LogGuard {
  const { checkpointStore, lostReceipts, logAgreement } = options
  const guard: Guard = {
    ...pick(
      options,
      'checkpointStore',
      'remoteMemory',
      'chainWitness',
      'lostReceipts',
      'storage',
      'clock',
      'logger',
      'logAgreement',
    ),
    loadedFor: undefined,
    hasLoaded: undefined,
    attested: new Set(),
    problem: undefined,
    isWaiting: false,
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
    isWaiting: () => guard.isWaiting,
    async check(log, rows) {
      checkOpen(guard, log)
      await compareAll(guard, recall(guard, log.logId), log, rows)
      // The chain may have answered since this host began.
      await compareAttested(guard, log, rows)
    },
    checkOpen: (log) => checkOpen(guard, log),
    lost: (tx, logId) => lostReceipts.end(tx, logId),
    findLacking: () => findLacking(guard),
    file: () => logAgreement.file(),
    checkRoot: (log, storedRoot) => checkRoot(guard, log, storedRoot),
    checkStored: (log, rows) => checkStored(guard, log, rows),
    remember: (head) => remember(guard, head),
    isRemembered({ logId, treeSize, rootHash }) {
      const heads = recallReadable(checkpointStore, logId)
      const isSame = (head: Head) =>
        head.logId === logId && head.treeSize === treeSize && bytesEqual(head.rootHash, rootHash)
      return heads.length > 0 && heads.every(isSame)
    },
    rememberedOther({ logId }) {
      return recallReadable(checkpointStore, logId).find((head) => head.logId !== logId)
    },
  }
}

function refuse(guard: Guard, reason: string, cause?: unknown): never {
  if (reason !== guard.problem) guard.logger.error({ problem: reason }, 'this host is read-only: it signs nothing')
  guard.problem = reason
  guard.isWaiting = false
  throw new ServiceError('read_only', reason, { cause })
}

function wait(guard: Guard, reason: string): never {
  if (!guard.isWaiting) guard.logger.warn({ problem: reason }, 'this host waits before it signs')
  guard.problem = reason
  guard.isWaiting = true
  throw new ServiceError('read_only', reason)
}

/** The database refuses an append where this does, and does not say why. */
function checkOpen(guard: Guard, log: LogState): void {
  checkContradiction(guard, log)
  if (log.restoredFrom !== null) refuse(guard, restoredProblem(log, log.restoredFrom))
  if (!guard.logAgreement.isBound(log)) wait(guard, UNBOUND)
}

function recall(guard: Guard, logId: string): readonly Head[] {
  try {
    return guard.checkpointStore.recall(logId)
  } catch (error) {
    if (!(error instanceof HeadMemoryError)) throw error
    return refuse(guard, `${error.message}. Restore the file, or begin another log with: claimcheck log new`, error)
  }
}

/** The remembered heads; none where one cannot be read. */
function recallReadable(checkpointStore: CheckpointStore, logId: string): readonly Head[] {
  try {
    return checkpointStore.recall(logId)
  } catch (error) {
    if (!(error instanceof HeadMemoryError)) throw error
    return []
  }
}

function remember(guard: Guard, head: Head): void {
  try {
    guard.checkpointStore.remember(head)
    guard.remoteMemory.follow(head)
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

/** Compares the log with the head that another host found to be missing, and with those that this host remembers. */
async function compareAll(guard: Guard, heads: readonly Head[], log: LogState, rows: Reads['log']): Promise<void> {
  guard.clock.logged(log.issuedAt)
  checkContradiction(guard, log)
  for (const head of heads) await compare(guard, head, log, rows)
  if (log.restoredFrom !== null) refuse(guard, restoredProblem(log, log.restoredFrom))
}

/** Why a log waits that was restored from a backup, and that nothing contradicts. */
export function restoredProblem({ treeSize }: LogState, { madeAt }: RestoredFrom): string {
  const at = formatInstant(madeAt)
  return `the database was restored from the backup of ${at}, with ${treeSize} entries: claims and receipts since then may be missing. Decide how it goes on, with claimcheck log resume or claimcheck log new`
}

function checkContradiction(guard: Guard, log: LogState): void {
  if (log.contradictedBy === null) return
  const { treeSize } = toHead(log.contradictedBy)
  refuse(guard, log.treeSize < treeSize ? `${behind(log, treeSize)}. ${RECOVERY}` : FORKED)
}

async function compare(guard: Guard, head: Head, log: LogState, rows: Reads['log']): Promise<void> {
  if (head.logId !== log.logId) {
    const all = await rows.all()
    if (!all.some(({ logId, endedAt }) => logId === head.logId && endedAt !== null)) refuse(guard, OTHER_LOG)
    return
  }
  if (log.treeSize < head.treeSize) refuse(guard, `${behind(log, head.treeSize)}. ${RECOVERY}`)
  if (!(await includes(guard, log, head, rows))) refuse(guard, FORKED)
}

function behind({ treeSize }: LogState, signed: number): string {
  return `the database is an old one: its log has ${treeSize} entries, and ${signed} were signed`
}

/** Whether the log has all that was signed in a head. */
async function includes(
  guard: Guard,
  log: LogState,
  { treeSize, rootHash }: Pick<Head, 'treeSize' | 'rootHash'>,
  rows: Reads['log'],
): Promise<boolean> {
  if (log.treeSize < treeSize) return false
  const root = log.treeSize === treeSize ? log.rootHash : await rootOf(guard, log.logId, treeSize, rows)
  return bytesEqual(root, rootHash)
}

/**
 * Writes a remembered head into a database that lacks it, so that no host appends. Only what verifies under a key of the log counts: one bad
 * file stops nobody else. Takes a written head away again where the database has it after all.
 * @returns the log as it is stored then
 */
async function settle(guard: Guard, heads: readonly Head[], log: LogState): Promise<LogState> {
  const { storage, logger } = guard
  const rows = storage.read.log
  const written = log.contradictedBy
  if (written !== null) {
    if (!(await includes(guard, log, toHead(written), rows))) return log
    await storage.write(async (tx) => {
      await tx.log.agree(log.logId, written)
      await tx.lost.forget(log.logId)
    })
    logger.info('the database has again what was signed')
    return { ...log, contradictedBy: null }
  }
  for (const signed of heads.flatMap(({ signed, earlier }) => [signed, earlier])) {
    const head = signed === undefined ? undefined : headOf(signed, log.logId)
    if (signed === undefined || !head || (await includes(guard, log, head, rows))) continue
    if (!isSigned(signed, await rows.signingKeys())) continue
    return storage.write((tx) => contradict(guard, tx.log, log, signed))
  }
  return log
}

/** Looks once more, at what no other host changes meanwhile: a read may come from a standby that lags. */
async function contradict(guard: Guard, rows: Writes['log'], read: LogState, signed: string): Promise<LogState> {
  const log = await rows.lock()
  if (log?.logId !== read.logId || (await includes(guard, log, toHead(signed), rows))) return log ?? read
  await rows.contradict(log.logId, signed)
  return { ...log, contradictedBy: signed }
}

/** Without the write where the database takes none: this host stops all the same. */
async function settled(guard: Guard, heads: readonly Head[], log: LogState): Promise<LogState> {
  try {
    return await settle(guard, heads, log)
  } catch (error) {
    if (!(error instanceof StorageError)) throw error
    guard.logger.error({ err: error }, 'cannot write down what the database lacks')
    return log
  }
}

/** With its signature. */
async function remembered(log: LogState, rows: Reads['log']): Promise<Head> {
  const [head] = await rows.headsAfter(log.logId, log.number - 1, 1)
  return { ...log, signed: head?.signed }
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
  try {
    await compareOnce(guard)
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
  try {
    await compareOnce(guard, true)
    if (guard.problem !== undefined) guard.logger.info('this host signs again')
    guard.problem = undefined
    guard.isWaiting = false
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
  }
}

/** @param isWhole also derives the root of the stored tree @throws ServiceError */
async function compareOnce(guard: Guard, isWhole = false): Promise<void> {
  const { remoteMemory, chainWitness, lostReceipts, logAgreement, storage } = guard
  const rows = storage.read.log
  const round = await logAgreement.begin()
  const { heads, apart, log } = await readAll(guard)
  const seen = await settled(guard, heads, log)
  // What this host signed last is in a log that ended, or is lacking.
  if (seen.contradictedBy !== null || heads.some(({ logId }) => logId !== log.logId)) await lostReceipts.report()
  await compareAll(guard, heads, seen, rows)
  // After what this host remembers, which stops all hosts.
  await compareAttested(guard, seen, rows).catch(async (error: unknown) => {
    await lostReceipts.report()
    throw error
  })
  if (isWhole) await checkStored(guard, log, rows)
  const has = (head: Head) => head.logId === log.logId && head.treeSize === log.treeSize
  const knowNewest = heads.some(has)
  const proveNewest = apart.some(has)
  const knowLog = heads.some(({ logId }) => logId === log.logId)
  const waitsFor = await logAgreement.settle(round, log, { knowLog, knowNewest, proveNewest })
  if (waitsFor !== undefined) (FOR_OPERATOR.has(waitsFor) ? refuse : wait)(guard, waitsFor)
  const silent = chainWitness.problem()
  if (silent !== undefined && !knowLog && round.isAlone) wait(guard, `${silent}, and ${ASK_CHAIN}`)
  const newest = heads.find((head) => has(head) && head.signed !== undefined)
  const head = isWhole || !newest ? await remembered(log, rows) : newest
  if (isWhole || !knowNewest) remember(guard, head)
  else remoteMemory.follow(head)
}

interface Remembered {
  readonly heads: readonly Head[]
  /** Those that do not share the fate of DATA_DIR. */
  readonly apart: readonly Head[]
  readonly log: LogState
}

/** Reads the memory elsewhere before the first signature, and after each change of the database. */
async function readAll(guard: Guard): Promise<Remembered> {
  const { checkpointStore, remoteMemory, chainWitness, storage } = guard
  const { logId, answersAs, treeSize } = (await storage.read.log.state())!
  const loadedFor = `${logId} ${answersAs}`
  if (guard.loadedFor !== loadedFor) {
    try {
      await remoteMemory.load(logId)
      guard.hasLoaded = logId
    } catch (error) {
      if (!(error instanceof HeadMemoryError)) throw error
      // A host that has read it before goes on and warns, and so does one that knows the newest state from elsewhere: not from DATA_DIR, which
      // may have been restored with the database.
      const isNewest = (head: Head) => head.logId === logId && head.treeSize === treeSize
      const isProven = guard.hasLoaded === logId || checkpointStore.recallApart(logId).some(isNewest)
      if (!isProven) refuse(guard, `${error.message}. This host signs as soon as it can be read`, error)
    }
    await requireAnchored(guard, logId)
    await askChain(guard, logId)
    guard.loadedFor = loadedFor
  } else if (chainWitness.problem() !== undefined) void chainWitness.ask(logId, CHAIN_MS.unknown)
  // Recalls before it reads the log, which may grow in between: the log then includes what is recalled.
  const remote = remoteMemory.recall(logId)
  const heads = [...recall(guard, logId), ...remote]
  const apart = [...checkpointStore.recallApart(logId), ...remote]
  return { heads, apart, log: (await storage.read.log.state())! }
}

/** Before the first signature it waits for the answer. Later it knows the log by itself, and claims do not wait for a chain. */
async function askChain(
  { chainWitness, checkpointStore, remoteMemory, loadedFor, attested }: Guard,
  logId: string,
): Promise<void> {
  attested.clear()
  const known = [...recallReadable(checkpointStore, logId), ...remoteMemory.recall(logId)]
  const asking = chainWitness.ask(logId, known.some((head) => head.logId === logId) ? CHAIN_MS.known : CHAIN_MS.unknown)
  if (loadedFor === undefined) await asking
}

/**
 * What the account of the anchors signed is its own evidence, and names no key of the log: it stops this host, and is not written into the
 * database. Other hosts ask the chain themselves.
 */
async function compareAttested(guard: Guard, log: LogState, rows: Reads['log']): Promise<void> {
  const { chainWitness, attested } = guard
  for (const root of chainWitness.recall(log.logId)) {
    if (attested.has(root.txHash)) continue
    if (!(await includes(guard, log, root, rows))) refuse(guard, attestedProblem(log, root))
    attested.add(root.txHash)
  }
}

function attestedProblem(log: LogState, { treeSize, txHash, time }: AttestedRoot): string {
  const where = `by the transaction ${txHash} of ${formatInstant(time * 1000)}`
  if (log.treeSize < treeSize) return `${behind(log, treeSize)} and anchored ${where}. ${RECOVERY}`
  return `the entries in the database differ from those that were anchored ${where}. ${RECOVERY}`
}

/** What memories have that the database lacks, in words. Changes nothing. */
async function findLacking(guard: Guard) {
  const { storage, remoteMemory, chainWitness } = guard
  const rows = storage.read.log
  const before = await rows.state()
  if (!before) return { lacking: [], notices: [] }
  await chainWitness.ask(before.logId, CHAIN_MS.unknown)
  const silent = chainWitness.problem()
  const notices = silent === undefined ? [] : [`Notice: ${silent}: the log was not compared with its anchors there.`]
  try {
    await remoteMemory.load(before.logId)
    // First: the log may grow meanwhile.
    const heads = [...guard.checkpointStore.recall(before.logId), ...remoteMemory.recall(before.logId)]
    const log = (await rows.state())!
    for (const head of heads) await compare(guard, head, log, rows)
    await compareAttested(guard, log, rows)
    return { lacking: [], notices }
  } catch (error) {
    if (error instanceof HeadMemoryError || error instanceof ServiceError)
      return { lacking: [`log: ${error.message}`], notices }
    throw error
  }
}

/** An anchor of a larger tree is a witness, too. @throws ServiceError */
async function requireAnchored(guard: Guard, logId: string): Promise<void> {
  const { anchors, log } = guard.storage.read
  const anchor = await anchors.newest(logId)
  const state = (await log.state())!
  if (anchor && anchor.treeSize > state.treeSize && state.logId === logId)
    refuse(guard, `${behind(state, anchor.treeSize)}: they are anchored. ${RECOVERY}`)
}
