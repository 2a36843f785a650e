/** Watches writes, so that readiness rests on what writes came to. */
import type { Dialect } from './dialect.ts'
import { StorageError, type Writing } from './storage.ts'

export interface WriteWatch extends Writing {
  /** Runs a write. @param proves that claims can be stored: it is as large as they are @throws what it throws */
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
        // On a full disk there may be room for less.
        if (proves || last?.problem === undefined) ended(undefined)
        return result
      } catch (error) {
        if (error instanceof StorageError && error.code === 'unavailable') ended(reasonOf(error.cause, reasons))
        throw error
      } finally {
        pending.delete(own)
      }
    },
    // In the order in which they began.
    pendingSince: () => pending.values().next().value?.since,
    last: () => last,
  }
}

function reasonOf(cause: unknown, reasons: Dialect['reasons']): string {
  const code = String((cause as { code?: unknown } | undefined)?.code ?? '')
  return reasons[code] ?? (code === '' ? 'it does not answer' : `it answers ${code}`)
}
