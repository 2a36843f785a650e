/** Watches writes, so that readiness rests on their results. */
import type { Dialect } from './dialect.ts'
import { StorageError, type Writing } from './storage.ts'

export interface WriteWatch extends Writing {
  /**
   * Runs a write.
   * @param proves true for a write as large as claims, which proves that these can be stored
   * @throws the error of the write
   */
  watch<T>(write: () => Promise<T>, proves: boolean): Promise<T>
}

export function watchWrites({ reasons }: Pick<Dialect, 'reasons'>): WriteWatch {
  const pending = new Set<{ readonly since: number }>()
  let last: ReturnType<Writing['last']>
  const ended = (problem: string | undefined) => {
    last = { at: performance.now(), problem }
  }
  return {
    async watch(write, proves) {
      const own = { since: performance.now() }
      pending.add(own)
      try {
        const result = await write()
        // On a full disk there may be room for a small write, which proves nothing after a failure.
        if (proves || last?.problem === undefined) ended(undefined)
        return result
      } catch (error) {
        if (error instanceof StorageError && error.code === 'unavailable') ended(reasonOf(error.cause, reasons))
        throw error
      } finally {
        pending.delete(own)
      }
    },
    // Pending writes are in the order in which they began.
    pendingSince: () => pending.values().next().value?.since,
    last: () => last,
  }
}

function reasonOf(cause: unknown, reasons: Dialect['reasons']): string {
  const code = String((cause as { code?: unknown } | undefined)?.code ?? '')
  return reasons[code] ?? (code === '' ? 'it does not answer' : `it answers ${code}`)
}
