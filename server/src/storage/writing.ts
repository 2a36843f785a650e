/** Watches writes, so that readiness rests on what writes came to. */
import { StorageError, type Writing } from './storage.ts'

export interface WriteWatch extends Writing {
  /** Runs a write. @throws what it throws */
  watch<T>(write: () => Promise<T>): Promise<T>
}

export function watchWrites(): WriteWatch {
  const pending = new Set<{ readonly since: number }>()
  let last: ReturnType<Writing['last']>
  const ended = (problem: string | undefined) => {
    last = { at: performance.now(), problem }
  }
  return {
    async watch(write) {
      const own = { since: performance.now() }
      pending.add(own)
      try {
        const result = await write()
        ended(undefined)
        return result
      } catch (error) {
        // Otherwise the database could have taken the write.
        const isUnavailable = error instanceof StorageError && error.code === 'unavailable'
        ended(isUnavailable ? reasonOf(error.cause) : undefined)
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

/** By the drivers' codes. */
const REASONS: Readonly<Record<string, string>> = {
  SQLITE_FULL: 'its disk is full',
  SQLITE_READONLY: 'it is read-only',
  SQLITE_BUSY: 'another program holds it',
  SQLITE_CORRUPT: 'its file is damaged',
  '25006': 'it is read-only, as a standby is',
  '28P01': 'it refuses the password',
  '3D000': 'it is gone',
  '42501': 'it refuses the permission',
  '53100': 'its disk is full',
  '53300': 'it has too many connections',
  '55P03': 'another program holds it',
  '57P03': 'it is starting or stopping',
}

/** Names no address and no path: anybody may read it. */
function reasonOf(cause: unknown): string {
  const code = String((cause as { code?: unknown } | undefined)?.code ?? '')
  return REASONS[code] ?? (code === '' ? 'it does not answer' : `it answers ${code}`)
}
