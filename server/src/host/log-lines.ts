/**
 * Keeps a fault that repeats from filling the log: its first line appears at once, then a summary with a count at most once a minute, and a
 * line after a minute without it. Refused requests are treated like faults. A fault that is logged at its beginning alone may go on then.
 */
import type { LogFn, Logger, LoggerOptions } from 'pino'

export interface LogLines {
  readonly hooks: NonNullable<LoggerOptions['hooks']>
  /** Logs what was counted and not logged yet. */
  flush(): void
}

type Fields = Readonly<Record<string, unknown>>

/** A line that came once, and how often it came since. */
interface Repeated {
  readonly write: (fields: Fields, message: string) => void
  readonly message: string
  /** Of the latest line. */
  fields: Fields
  /** Since the last line that was logged. */
  count: number
  total: number
  timer?: NodeJS.Timeout
}

export const SUMMARY_EVERY_MS = 60_000
/** Beyond this, faults of one message are counted together: their details may be endless. */
const MOST_KEYS = 1000
const WARN = 40
/** What tells faults of one message apart. */
const DETAILS = ['problem', 'reason', 'warning', 'doubt', 'code', 'error', 'action', 'limit', 'client']

export function createLogLines(everyMs = SUMMARY_EVERY_MS): LogLines {
  const known = new Map<string, Repeated>()

  function watch(key: string, repeated: Repeated): void {
    repeated.timer = setTimeout(() => {
      if (repeated.count > 0) {
        summarize(repeated)
        watch(key, repeated)
        return
      }
      known.delete(key)
      if (repeated.total > 0)
        repeated.write({ ...repeated.fields, total: repeated.total + 1 }, `quiet: ${repeated.message}`)
    }, everyMs).unref()
  }

  function logMethod(this: Logger, args: Parameters<LogFn>, method: LogFn, level: number): void {
    const [fields, message] = args as unknown as [Fields, string | undefined]
    const fault = typeof message === 'string' ? faultOf(fields, message, level) : undefined
    if (fault === undefined || message === undefined) {
      method.apply(this, args)
      return
    }
    // Each plugin has a logger.
    const key = `${fault} ${this.bindings().plugin ?? ''}`
    const isOneTooMany = !known.has(key) && known.size >= MOST_KEYS
    const ownKey = isOneTooMany ? `${level} ${message}` : key
    const repeated = known.get(ownKey)
    if (repeated) {
      repeated.count++
      repeated.total++
      repeated.fields = fields
      return
    }
    const write: Repeated['write'] = (summary, text) => method.call(this, summary, text)
    write(fields, message)
    const first: Repeated = { write, message, fields, count: 0, total: 0 }
    known.set(ownKey, first)
    watch(ownKey, first)
  }

  return {
    hooks: { logMethod },
    flush() {
      for (const repeated of known.values()) {
        clearTimeout(repeated.timer)
        if (repeated.count > 0) summarize(repeated)
      }
      known.clear()
    },
  }
}

function summarize(repeated: Repeated): void {
  repeated.write({ ...repeated.fields, repeated: repeated.count }, repeated.message)
  repeated.count = 0
}

/** Undefined for what is logged each time. */
function faultOf(fields: Fields, message: string, level: number): string | undefined {
  if (typeof fields.status === 'number' && (fields.status >= 400 || fields.route === null))
    return `${message} ${fields.method} ${fields.route} ${fields.status}`
  if (level < WARN) return undefined
  const { err } = fields
  const details = [err instanceof Error ? err.message : undefined, ...DETAILS.map((name) => fields[name])]
  return `${level} ${message} ${JSON.stringify(details)}`
}
