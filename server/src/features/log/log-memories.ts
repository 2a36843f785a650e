/**
 * All that remembers the log outside of the database: the files of this host, HEAD_MEMORY, the chain of the anchors. What is elsewhere is
 * read before the first signature, and after each change of the database.
 */
import type { LogState } from '../../storage/log-state.ts'
import type { Reads, Storage } from '../../storage/storage.ts'
import type { ChainWitness } from './chain-witness.ts'
import { behind, RECOVERY, readOnly } from './log-comparison.ts'
import type { CheckpointStore } from './signing/checkpoint-store.ts'
import { HeadMemoryError } from './signing/head-file.ts'
import type { Head } from './signing/head-record.ts'
import type { RemoteMemory } from './signing/remote-memory.ts'

export interface Remembered {
  readonly heads: readonly Head[]
  /** Those that are written before anyone learns of what was signed, and do not share the fate of DATA_DIR: an object store lags. */
  readonly apart: readonly Head[]
  /** Read after them: it may grow in between. */
  readonly log: LogState
}

export type LogMemories = ReturnType<typeof createLogMemories>

interface LogMemoriesOptions {
  readonly checkpointStore: CheckpointStore
  readonly remoteMemory: RemoteMemory
  readonly chainWitness: ChainWitness
  readonly storage: Pick<Storage, 'read'>
}

interface State {
  readonly options: LogMemoriesOptions
  /** What the database was, and which log it had, when the memory elsewhere was read. */
  loadedFor: string | undefined
  /** The log that it was read for at least once. */
  hasLoaded: string | undefined
  isAskingChain: boolean
}

/** How long the chain may take: where a host remembers the log, and where it does not. */
const CHAIN_MS = { known: 5000, unknown: 20_000 }

export function createLogMemories(options: LogMemoriesOptions) {
  const { checkpointStore, remoteMemory, chainWitness } = options
  const state: State = { options, loadedFor: undefined, hasLoaded: undefined, isAskingChain: false }
  return {
    /** @throws ServiceError `read_only` where a memory cannot be read that has to be */
    read: () => read(state),
    /** Reads all now, and waits for the chain. @throws ServiceError `read_only`; HeadMemoryError */
    readNow: () => readNow(options),
    /** The heads in the files of this host. @throws ServiceError `read_only` where one cannot be read */
    recall: (logId: string) => recall(options, logId),
    /** The same; none where one cannot be read. */
    recallReadable: (logId: string) => recallReadable(options, logId),
    /** All that is apart from DATA_DIR, also of other data folders of this machine. @throws ServiceError `read_only` where one cannot be read */
    everyApart: (logId: string) => reading(() => checkpointStore.everyApart(logId)),
    /** No host of another data folder of this machine signs the log any more. @returns lets those go on that did before */
    takeOver: (logId: string) => reading(() => checkpointStore.takeOver(logId)),
    /** The log goes on here. */
    stay: (logId: string) => checkpointStore.stay(logId),
    /** HEAD_MEMORY has lost its record of the log: it, or DATA_DIR, is another one than before. */
    isGone: (logId: string) => reading(() => checkpointStore.isGone(logId)),
    /** The signed heads that are remembered of the log, by all of its keys. */
    signed(logId: string): readonly string[] {
      const newest = [...recallReadable(options, logId), ...remoteMemory.recall(logId)]
      const retired = [...checkpointStore.retired(logId), ...remoteMemory.retired(logId)]
      return [...new Set([...newest.flatMap(({ signed }) => signed ?? []), ...retired])]
    },
    /** @throws ServiceError `read_only` where it cannot be written */
    remember(head: Head): void {
      try {
        checkpointStore.remember(head)
        remoteMemory.follow(head)
      } catch (error) {
        if (!(error instanceof HeadMemoryError)) throw error
        throw readOnly(error.message, error)
      }
    },
    /** Has HEAD_MEMORY follow. */
    follow: (head: Head) => remoteMemory.follow(head),
    /** Compares the log with what the chain answered. @throws ServiceError `read_only` */
    compareChain: (log: LogState, rows: Reads['log']) => chainWitness.compare(log, rows),
    /** The chain is asked for the first time, and the time that the answer may take is not over. */
    isAskingChain: () => state.isAskingChain,
    /** Why it is not known what the chain has. */
    chainProblem: () => chainWitness.problem(),
  }
}

async function read(state: State): Promise<Remembered> {
  const { chainWitness, storage } = state.options
  const { logId, answersAs, treeSize } = (await storage.read.log.state())!
  const loadedFor = `${logId} ${answersAs}`
  if (state.loadedFor !== loadedFor) {
    await loadRemote(state, logId, treeSize)
    await requireAnchored(state.options, logId)
    askChain(state, logId)
    state.loadedFor = loadedFor
  } else if (chainWitness.problem() !== undefined) void chainWitness.ask(logId, CHAIN_MS.unknown)
  return remembered(state.options, logId)
}

async function readNow(options: LogMemoriesOptions): Promise<Remembered | undefined> {
  const { chainWitness, remoteMemory, storage } = options
  const log = await storage.read.log.state()
  if (!log) return undefined
  await chainWitness.ask(log.logId, CHAIN_MS.unknown)
  await remoteMemory.load(log.logId)
  return remembered(options, log.logId)
}

async function remembered(options: LogMemoriesOptions, logId: string): Promise<Remembered> {
  const { checkpointStore, remoteMemory, storage } = options
  const heads = [...recall(options, logId), ...remoteMemory.recall(logId)]
  return { heads, apart: checkpointStore.recallApart(logId), log: (await storage.read.log.state())! }
}

async function loadRemote(state: State, logId: string, treeSize: number): Promise<void> {
  try {
    await state.options.remoteMemory.load(logId)
    state.hasLoaded = logId
  } catch (error) {
    if (!(error instanceof HeadMemoryError)) throw error
    // A host that has read it before goes on and warns, and so does one that knows the newest state from elsewhere: not from DATA_DIR, which
    // may have been restored with the database.
    const isNewest = (head: Head) => head.logId === logId && head.treeSize === treeSize
    const isProven = state.hasLoaded === logId || state.options.checkpointStore.recallApart(logId).some(isNewest)
    if (!isProven) throw readOnly(`${error.message}. This host signs as soon as it can be read`, error)
  }
}

/** Before the first signature this host waits for the answer. Later it knows the log by itself, and claims do not wait for a chain. */
function askChain(state: State, logId: string): void {
  const { options } = state
  const heads = [...recallReadable(options, logId), ...options.remoteMemory.recall(logId)]
  const isKnown = heads.some((head) => head.logId === logId)
  state.isAskingChain = state.loadedFor === undefined
  void options.chainWitness.ask(logId, isKnown ? CHAIN_MS.known : CHAIN_MS.unknown).finally(() => {
    state.isAskingChain = false
  })
}

function recall({ checkpointStore }: LogMemoriesOptions, logId: string): readonly Head[] {
  return reading(() => checkpointStore.recall(logId))
}

function reading<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof HeadMemoryError)) throw error
    throw readOnly(`${error.message}. Restore the file, or begin another log with: claimcheck log new`, error)
  }
}

function recallReadable({ checkpointStore }: LogMemoriesOptions, logId: string): readonly Head[] {
  try {
    return checkpointStore.recall(logId)
  } catch (error) {
    if (!(error instanceof HeadMemoryError)) throw error
    return []
  }
}

/** An anchor of a larger tree is a witness, too. @throws ServiceError */
async function requireAnchored({ storage }: LogMemoriesOptions, logId: string): Promise<void> {
  const { anchors, log } = storage.read
  const anchor = await anchors.newest(logId)
  const state = (await log.state())!
  if (anchor && anchor.treeSize > state.treeSize && state.logId === logId)
    throw readOnly(`${behind(state, anchor.treeSize)}: they are anchored. ${RECOVERY}`)
}
