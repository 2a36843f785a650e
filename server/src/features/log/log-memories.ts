/**
 * All that remembers the log outside of the database: the files of this host, HEAD_MEMORY, the chain of the anchors. What is elsewhere is
 * read before the first signature, and after each change of the database.
 */
import { ServiceError } from '../../base/errors.ts'
import type { LogState } from '../../storage/log-state.ts'
import type { Reads, Storage } from '../../storage/storage.ts'
import type { ChainWitness } from './chain-witness.ts'
import { behind, movedProblem, RECOVERY, readOnly } from './log-comparison.ts'
import type { CheckpointStore } from './signing/checkpoint-store.ts'
import { HeadMemoryError } from './signing/head-file.ts'
import type { Head } from './signing/head-record.ts'
import { type Lock, lineageOf, type MovedLog, movesAfter } from './signing/moves.ts'
import type { RemoteMemory } from './signing/remote-memory.ts'

export type LogMemories = ReturnType<typeof createLogMemories>

interface LogMemoriesOptions {
  readonly checkpointStore: CheckpointStore
  readonly remoteMemory: RemoteMemory
  readonly chainWitness: ChainWitness
  readonly storage: Pick<Storage, 'read'>
}

/** How long the chain may take: where a host remembers the log, and where it does not. */
const CHAIN_MS = { known: 5000, unknown: 20_000 }

export function createLogMemories({ checkpointStore, remoteMemory, chainWitness, storage }: LogMemoriesOptions) {
  const { anchors, log: rows } = storage.read
  /** What the database was, and which log it had, when the memory elsewhere was read. */
  let loadedFor: string | undefined
  /** The log that it was read for at least once. */
  let hasLoaded: string | undefined
  /** The memory elsewhere could not be read, and others proved the newest head: it may know a move that they do not. */
  let isUnread = false
  let isAskingChain = false
  /** The open log as it was read last. */
  let seen: MovedLog | undefined
  let learned = ''
  let learning: Promise<void> | undefined

  const locksOf = (move: string): readonly Lock[] => [...checkpointStore.locks(move), ...remoteMemory.locks(move)]

  function recall(log: MovedLog): readonly Head[] {
    seen = log
    return reading(() => checkpointStore.recall(log.logId))
  }

  function recallReadable(logId: string): readonly Head[] {
    try {
      return checkpointStore.recall(logId)
    } catch (error) {
      if (!(error instanceof HeadMemoryError)) throw error
      return []
    }
  }

  /** The log is read after the memories: it may grow in between. */
  async function remembered(log: MovedLog) {
    const heads = [...recall(log), ...remoteMemory.recall(log.logId)]
    return { heads, apart: checkpointStore.recallApart(log.logId), log: (await rows.state())! }
  }

  async function loadRemote(log: LogState): Promise<void> {
    const { logId, treeSize } = log
    try {
      await remoteMemory.load(log)
      hasLoaded = logId
      isUnread = false
    } catch (error) {
      if (!(error instanceof HeadMemoryError)) throw error
      // A host that has read it before goes on and warns, and so does one that knows the newest state from elsewhere: not from DATA_DIR, which
      // may have been restored with the database.
      const isNewest = (head: Head) => head.logId === logId && head.treeSize === treeSize
      const isProven = hasLoaded === logId || checkpointStore.recallApart(logId).some(isNewest)
      if (!isProven) throw readOnly(`${error.message}. This host signs as soon as it can be read`, error)
      isUnread = true
    }
  }

  /** An anchor of a larger tree is a witness, too. @throws ServiceError */
  async function requireAnchored(logId: string): Promise<void> {
    const anchor = await anchors.newest(logId)
    const state = (await rows.state())!
    if (anchor && anchor.treeSize > state.treeSize && state.logId === logId)
      throw readOnly(`${behind(state, anchor.treeSize)}: they are anchored. ${RECOVERY}`)
  }

  /** Before the first signature this host waits for the answer. Later it knows the log by itself, and claims do not wait for a chain. */
  function askChain(logId: string): void {
    const isKnown = [...recallReadable(logId), ...remoteMemory.recall(logId)].some((head) => head.logId === logId)
    isAskingChain = loadedFor === undefined
    void chainWitness.ask(logId, isKnown ? CHAIN_MS.known : CHAIN_MS.unknown).finally(() => {
      isAskingChain = false
    })
  }

  function movedTo(log: MovedLog | undefined = seen): string | undefined {
    if (!log) return undefined
    const lineage = lineageOf(log)
    const written = lineage.flatMap((move) => checkpointStore.locks(move).map(({ read }) => reading(read)))
    return [...written, ...remoteMemory.movesAfter(lineage)].find(
      (move) => move !== undefined && !lineage.includes(move),
    )
  }

  /** @throws ServiceError `read_only` where a memory has that the log went on elsewhere */
  function requireHere(log?: MovedLog): void {
    const move = movedTo(log)
    if (move !== undefined) throw readOnly(movedProblem(move))
  }

  /** Takes back in each memory that the log goes on by this move. */
  async function release(log: MovedLog, next: string): Promise<void> {
    // The first last: where another one cannot be released, the same command finds the move in it, and goes on.
    for (const lock of locksOf(lineageOf(log).at(-1)!).toReversed()) await lock.release(next)
  }

  return {
    /** @throws ServiceError `read_only` where a memory cannot be read that has to be */
    async read() {
      const log = (await rows.state())!
      const next = `${log.logId} ${log.answersAs}`
      if (loadedFor !== next) {
        await loadRemote(log)
        await requireAnchored(log.logId)
        askChain(log.logId)
        loadedFor = next
      } else if (isUnread && remoteMemory.problem() === undefined) await loadRemote(log)
      else if (chainWitness.problem() !== undefined) void chainWitness.ask(log.logId, CHAIN_MS.unknown)
      return remembered(log)
    },
    /** Reads all now, and waits for the chain. @throws ServiceError `read_only`; HeadMemoryError */
    async readNow() {
      const log = await rows.state()
      if (!log) return undefined
      await chainWitness.ask(log.logId, CHAIN_MS.unknown)
      await remoteMemory.load(log)
      return remembered(log)
    },
    /** The heads in the files of this host. @throws ServiceError `read_only` where one cannot be read */
    recall,
    /** The same; none where one cannot be read. */
    recallReadable,
    /** All that is apart from DATA_DIR, also of other data folders of this machine. @throws ServiceError `read_only` where one cannot be read */
    everyApart: (logId: string) => reading(() => checkpointStore.everyApart(logId)),
    /** The move by which the log went on elsewhere, as a memory has it. */
    movedTo,
    requireHere,
    /** The moves that memories know after the last one of this log. */
    movesAfter: (log: MovedLog) => movesAfter(lineageOf(log).at(-1)!, locksOf),
    /**
     * Writes into each memory that the log goes on by this move: who appends where it was sees that after the next write.
     * @throws ServiceError `read_only` where it went on by another one, `unavailable` where that cannot be written
     */
    async move(log: MovedLog, next: string): Promise<void> {
      try {
        for (const lock of locksOf(lineageOf(log).at(-1)!))
          if (!(await lock.take(next))) throw readOnly(movedProblem((await lock.read()) ?? next))
      } catch (error) {
        await release(log, next).catch(() => {})
        if (error instanceof ServiceError) throw error
        const reason = (error as Error).message
        throw new ServiceError('unavailable', `cannot write down where the log goes on: ${reason}`, { cause: error })
      }
    },
    release,
    /** Has memories know how the log came here, such as one that is named for the first time. */
    learn(log: MovedLog): void {
      const lineage = lineageOf(log)
      const known = lineage.join()
      if (lineage.length === 1 || learned === known || learning) return
      const write = async () => {
        for (const [index, next] of lineage.slice(1).entries())
          for (const lock of locksOf(lineage[index]!)) await lock.take(next)
        learned = known
      }
      // It is tried again with the next comparison.
      learning = write()
        .catch(() => {})
        .finally(() => {
          learning = undefined
        })
    },
    /** HEAD_MEMORY has lost its record of the log: it, or DATA_DIR, is another one than before. */
    isGone: (logId: string) => reading(() => checkpointStore.isGone(logId)),
    /** The signed heads that are remembered of the log, by all of its keys. */
    signed(logId: string): readonly string[] {
      const newest = [...recallReadable(logId), ...remoteMemory.recall(logId)]
      const retired = [...checkpointStore.retired(logId), ...remoteMemory.retired(logId)]
      return [...new Set([...newest.flatMap(({ signed }) => signed ?? []), ...retired])]
    },
    /** @throws ServiceError `read_only` where it cannot be written, or the log went on elsewhere */
    remember(head: Head): void {
      try {
        checkpointStore.remember(head)
      } catch (error) {
        if (!(error instanceof HeadMemoryError)) throw error
        throw readOnly(error.message, error)
      }
      remoteMemory.follow(head)
      // Who moves the log writes that before it reads what is remembered.
      if (seen?.logId === head.logId) requireHere()
    },
    /** Has HEAD_MEMORY follow. */
    follow: (head: Head) => remoteMemory.follow(head),
    /** Has what was remembered outlive a loss of power. */
    sync: () => checkpointStore.sync(),
    /** Compares the log with what the chain answered. @throws ServiceError `read_only` */
    compareChain: (log: LogState, rows: Reads['log']) => chainWitness.compare(log, rows),
    /** The chain is asked for the first time, and the time that the answer may take is not over. */
    isAskingChain: () => isAskingChain,
    /** Why it is not known what the chain has. */
    chainProblem: () => chainWitness.problem(),
  }
}

function reading<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof HeadMemoryError)) throw error
    throw readOnly(`${error.message}. Restore the file, or begin another log with: claimcheck log new`, error)
  }
}
