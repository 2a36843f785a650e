/** All that remembers the log outside of the database. What is elsewhere is read before the first signature, and after each change of the database. */
import type { FastifyBaseLogger } from 'fastify'
import { isSharedDatabase } from '../../../config/database-url.ts'
import type { LogState } from '../../../storage/log-state.ts'
import type { Reads, Storage } from '../../../storage/storage.ts'
import type { LogConfig } from '../config.ts'
import { includes } from '../log-comparison.ts'
import { attestedProblem, behind, readOnly } from '../standing.ts'
import { dataDirMemory, type FolderSettings, folderMemory } from './folder-memories.ts'
import { type Head, isSame } from './head-record.ts'
import type { HostIdentity } from './host-identity.ts'
import { createLogMoves } from './log-moves.ts'
import { HeadMemoryError, type Memory, type MovedLog, tolerate } from './memory.ts'
import { objectMemory } from './object-memory.ts'

export type LogMemories = ReturnType<typeof createLogMemories>

/** Where the configuration has the log remembered. */
export type MemorySettings = FolderSettings & Partial<Pick<LogConfig, 'remoteMemory'>>

interface MemoriesOptions {
  readonly config: MemorySettings
  readonly storage: Pick<Storage, 'read'>
  readonly logger?: Pick<FastifyBaseLogger, 'warn' | 'info'>
}

interface LogMemoriesOptions extends MemoriesOptions {
  readonly chainMemory: Memory
  readonly hostIdentity: Pick<HostIdentity, 'entry'>
}

/** The memories of an installation, in the order in which they are written: DATA_DIR, which is of this host alone, comes last. */
export function openMemories({ config, storage, logger }: MemoriesOptions): readonly Memory[] {
  const { dataDir, remoteMemory } = config
  const elsewhere = remoteMemory && objectMemory(remoteMemory, { storage, logger })
  return [folderMemory(config), elsewhere, dataDirMemory(dataDir)].filter((memory) => memory !== undefined)
}

export function createLogMemories({ config, storage, logger, chainMemory, hostIdentity }: LogMemoriesOptions) {
  const { anchors, log: rows } = storage.read
  const memories = openMemories({ config, storage, ...(logger && { logger }) })
  const prompt = memories.filter(({ isPrompt }) => isPrompt)
  /** These prove. */
  const apart = prompt.filter(({ isApart }) => isApart)
  const named = memories.find((memory) => memory.named)?.named
  /** What the database was, and which log it had, when the memories were loaded. */
  let loadedFor: string | undefined
  /** The log that each was loaded for at least once. */
  const loaded = new Map<Memory, string>()
  /** It could not be loaded, and others proved the newest head: it may know a move that they do not. */
  let unread: Memory | undefined
  let isAskingChain = false
  /** Heads that the chain attests, and that were found in the log. */
  const included = new WeakSet<Head>()
  /** The open log as it was read last. */
  let seen: MovedLog | undefined
  const moves = createLogMoves(memories)

  const recallIn = (some: readonly Memory[], logId: string) => some.flatMap((memory) => memory.recall(logId))

  function recall(log: MovedLog): readonly Head[] {
    seen = log
    return recallIn(prompt, log.logId)
  }

  function recallReadable(logId: string): readonly Head[] {
    return memories.flatMap((memory) => tolerate(() => memory.recall(logId)) ?? [])
  }

  /** The log is read after the memories: it may grow in between. */
  async function remembered(log: MovedLog) {
    seen = log
    return { heads: recallIn(memories, log.logId), apart: recallIn(apart, log.logId), log: (await rows.state())! }
  }

  async function load(log: LogState, memory: Memory): Promise<void> {
    const { logId, treeSize } = log
    try {
      await memory.load(log, true)
      loaded.set(memory, logId)
      if (unread === memory) unread = undefined
    } catch (error) {
      if (!(error instanceof HeadMemoryError)) throw error
      // A host that has read it before goes on and warns, and so does one that knows the newest state from elsewhere: not from DATA_DIR, which
      // may have been restored with the database.
      const isNewest = (head: Head) => head.logId === logId && head.treeSize === treeSize
      const isProven = loaded.get(memory) === logId || recallIn(apart, logId).some(isNewest)
      if (!isProven) throw error
      unread = memory
    }
  }

  /** An anchor of a larger tree is a witness, too. @throws ServiceError */
  async function requireAnchored(logId: string): Promise<void> {
    const anchor = await anchors.newest(logId)
    const state = (await rows.state())!
    if (anchor && anchor.treeSize > state.treeSize && state.logId === logId)
      throw readOnly(behind(state, anchor.treeSize, ': they are anchored'))
  }

  /** Before the first signature this host waits for the answer. Later it knows the log by itself, and claims do not wait for a chain. */
  function askChain(log: LogState): void {
    isAskingChain = loadedFor === undefined
    const isKnown = recallReadable(log.logId).some((head) => head.logId === log.logId)
    void chainMemory.load(log, isKnown).finally(() => {
      isAskingChain = false
    })
  }

  const problem = () => memories.map((memory) => memory.problem()).find((text) => text !== undefined)

  return {
    moves,
    /** @throws ServiceError `read_only` where a memory cannot be read that has to be */
    async read() {
      const log = (await rows.state())!
      const database = `${log.logId} ${log.answersAs}`
      if (loadedFor !== database) {
        for (const memory of memories) await load(log, memory)
        await requireAnchored(log.logId)
        askChain(log)
        loadedFor = database
      } else if (unread && unread.problem() === undefined) await load(log, unread)
      else if (chainMemory.problem() !== undefined) void chainMemory.load(log, false)
      return remembered(log)
    },
    /** Reads all now, and waits for the chain. @throws ServiceError `read_only`; HeadMemoryError */
    async readNow() {
      const log = await rows.state()
      if (!log) return undefined
      for (const memory of [chainMemory, ...memories]) await memory.load(log, false)
      return remembered(log)
    },
    /** The heads that this host knows of. @throws ServiceError `read_only` where a file cannot be read */
    recall,
    /** The same; of a file that cannot be read, none. */
    recallReadable,
    /** All that is apart from DATA_DIR, also of other data folders of this machine. @throws ServiceError `read_only` where one cannot be read */
    everyApart: (logId: string) => apart.flatMap((memory) => memory.recallAll(logId)),
    /** Tells whether all memories have exactly this head, and no move of its log since. */
    isRemembered: (head: Head): boolean =>
      tolerate(() => {
        const heads = recallIn(prompt, head.logId)
        return heads.length > 0 && heads.every((one) => isSame(one, head)) && !(seen && moves.elsewhere(seen))
      }) ?? false,
    /** HEAD_MEMORY has no record of the log, and had one, as another memory remembers: it was not named just now. */
    isGone(logId: string): boolean {
      if (named?.isThere(logId) !== false) return false
      const own = memories.filter(({ isApart }) => !isApart)
      return recallIn(own, logId).some((head) => head.logId === logId && head.memory === named.id)
    },
    /** The signed heads that are remembered of the log, by all of its keys. */
    signed(logId: string): readonly string[] {
      const newest = recallReadable(logId).flatMap(({ signed }) => signed ?? [])
      return [...new Set([...newest, ...memories.flatMap((memory) => memory.retired(logId))])]
    },
    /** @throws ServiceError `read_only` where it cannot be written, or the log went on elsewhere */
    remember(given: Head): void {
      const entry = isSharedDatabase(config.databaseUrl ?? '') ? hostIdentity.entry() : undefined
      const head = entry === undefined ? given : { ...given, hosts: [entry] }
      for (const memory of memories)
        memory.remember(!memory.isApart && named?.isThere(head.logId) ? { ...head, memory: named.id } : head)
      // Who moves the log writes that before it reads what is remembered.
      if (seen?.logId === head.logId) moves.requireHere(seen)
    },
    /** Has memories know it that follow behind. */
    follow(head: Head): void {
      for (const memory of memories) if (!memory.isPrompt) memory.remember(head)
    },
    /** Has outlive a loss of power what was remembered. */
    async sync(): Promise<void> {
      await Promise.allSettled(memories.map((memory) => memory.sync()))
    },
    /** Writes what waits: the host ends. */
    async close(): Promise<void> {
      await Promise.allSettled(memories.map((memory) => memory.close()))
    },
    /** Why the newest head is not remembered where it should be, where that stops no host. */
    problem,
    /** What the chain answered and the log lacks, in words; nothing before it answered. */
    async attestedProblem(log: LogState, rows: Reads['log']): Promise<string | undefined> {
      for (const head of chainMemory.recall(log.logId)) {
        if (!included.has(head) && !(await includes(log, head, rows))) return attestedProblem(log, head)
        included.add(head)
      }
      return undefined
    },
    /** The chain is asked for the first time, and the time that the answer may take is not over. */
    isAskingChain: () => isAskingChain,
    /** The reason why it is not known what the chain has. */
    chainProblem: () => chainMemory.problem(),
  }
}
