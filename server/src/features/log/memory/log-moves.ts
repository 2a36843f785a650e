/** The moves of a log, as all memories write them down: each follows the one before once, and a log that does not know the newest is an old one. */
import { ServiceError } from '../../../base/errors.ts'
import { movedProblem, readOnly } from '../standing.ts'
import { type Lock, lineageOf, type Memory, type MovedLog, type Taking } from './memory.ts'

/** The places of all memories where they write which move followed the given one. */
export function locksOf(memories: readonly Memory[], move: string): readonly Lock[] {
  return memories.flatMap((memory) => memory.lock(move) ?? [])
}

export function createLogMoves(memories: readonly Memory[]) {
  let learned = ''
  let learning: Promise<void> | undefined

  /** The moves by which the log goes on after the given one, as one of the memories has them. */
  async function movesAfter(move: string): Promise<readonly string[]> {
    for (const lock of locksOf(memories, move)) {
      const next = await lock.read()
      if (next !== undefined) return [next, ...(await movesAfter(next))]
    }
    return []
  }

  /** The move by which the log went on elsewhere, as a memory has it. @throws ServiceError `read_only` where that cannot be read */
  function elsewhere(log: MovedLog): string | undefined {
    const lineage = lineageOf(log)
    for (const memory of memories)
      for (const move of lineage) {
        const next = memory.moveAfter(move)
        if (next !== undefined && !lineage.includes(next)) return next
      }
    return undefined
  }

  /** Writes each move of a lineage after the first into all memories. @param written learns of what each lock answered */
  async function write(lineage: readonly string[], written: (lock: Lock, next: string, taking: Taking) => unknown) {
    for (const [index, next] of lineage.slice(1).entries())
      for (const lock of locksOf(memories, lineage[index]!)) await written(lock, next, await lock.take(next))
  }

  return {
    elsewhere,
    /** @throws ServiceError `read_only` where a memory has that the log went on elsewhere */
    requireHere(log: MovedLog): void {
      const move = elsewhere(log)
      if (move !== undefined) throw readOnly(movedProblem(move))
    },
    /** The moves that memories know after the last one of this log. */
    after: (log: MovedLog) => movesAfter(lineageOf(log).at(-1)!),
    /**
     * Writes into each memory that the log goes on by these moves: who appends where it was sees that after the next write.
     * @throws ServiceError `read_only` where it went on by another one, `unavailable` where that cannot be written
     */
    async take(log: MovedLog, ...moves: readonly string[]): Promise<{ release(): Promise<void> }> {
      const taken: (() => Promise<void>)[] = []
      /** The first last: where another one cannot be released, the same command finds the move in it, and goes on. */
      async function release(): Promise<void> {
        for (const free of taken.toReversed()) await free()
      }
      try {
        await write([lineageOf(log).at(-1)!, ...moves], async (lock, next, taking) => {
          if (taking === undefined) throw readOnly(movedProblem((await lock.read()) ?? next))
          if (taking === 'taken') taken.push(async () => lock.release(next))
        })
        return { release }
      } catch (error) {
        await release().catch(() => {})
        if (error instanceof ServiceError) throw error
        const reason = (error as Error).message
        throw new ServiceError('unavailable', `cannot write down where the log goes on: ${reason}`, { cause: error })
      }
    },
    /** Takes back in each memory that the log goes on by this move. */
    async release(log: MovedLog, next: string): Promise<void> {
      for (const lock of locksOf(memories, lineageOf(log).at(-1)!).toReversed()) await lock.release(next)
    },
    /** Has memories know how the log came here, such as one that is named for the first time. */
    learn(log: MovedLog): void {
      const lineage = lineageOf(log)
      const known = lineage.join()
      if (lineage.length === 1 || learned === known || learning) return
      // It is tried again with the next comparison.
      learning = write(lineage, () => {})
        .then(
          () => {
            learned = known
          },
          () => {},
        )
        .finally(() => {
          learning = undefined
        })
    },
  }
}
