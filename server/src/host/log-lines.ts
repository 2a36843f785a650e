/**
 * Keeps a fault that repeats from filling the log: its first line appears at once, then a summary with a count at most once a minute, and a
 * line after a minute without it. Refused and anonymous requests are treated like faults: anyone may send any number. A fault that is logged at its
 * beginning alone may go on then.
 */
import type { LogFn, Logger, LoggerOptions } from 'pino'

type Fields = Readonly<Record<string, unknown>>

/** A line of the log that appeared once, and the number of its repetitions since. */
interface RepeatedLine {
  readonly write: (fields: Fields, message: string) => void
  readonly message: string
  /** The fields of the line's latest repetition. */
  fields: Fields
  /** The number of repetitions since the line was last logged. */
  count: number
  total: number
  timer?: NodeJS.Timeout
}

export const SUMMARY_EVERY_MS = 60_000
/** The number of keys beyond which faults of one message are counted together: their details may differ endlessly. */
const MOST_KEYS = 1000
const WARN = 40
/** Log fields that distinguish faults with the same message. */
const DETAILS = ['problem', 'reason', 'warning', 'doubt', 'code', 'error', 'action', 'limit', 'client']

export function createLogLines(everyMs = SUMMARY_EVERY_MS) {
  const known = new Map<string, RepeatedLine>()

  function watch(key: string, repeated: RepeatedLine): void {
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
    // Each plugin has a logger of its own, whose faults are counted apart.
    let key = `${fault} ${this.bindings().plugin ?? ''}`
    if (!known.has(key) && known.size >= MOST_KEYS) key = `${level} ${message}`
    const repeated = known.get(key)
    if (repeated) {
      repeated.count++
      repeated.total++
      repeated.fields = fields
      return
    }
    const write: RepeatedLine['write'] = (summary, text) => method.call(this, summary, text)
    write(fields, message)
    const first: RepeatedLine = { write, message, fields, count: 0, total: 0 }
    known.set(key, first)
    watch(key, first)
  }

  return {
    hooks: { logMethod } satisfies LoggerOptions['hooks'],
    /** Logs the repetitions that were counted and not logged yet. */
    flush(): void {
      for (const repeated of known.values()) {
        clearTimeout(repeated.timer)
        if (repeated.count > 0) summarize(repeated)
      }
      known.clear()
    },
  }
}

function summarize(repeated: RepeatedLine): void {
  repeated.write({ ...repeated.fields, repeated: repeated.count }, repeated.message)
  repeated.count = 0
}

/** Finds the key of a fault; undefined for a line that is logged each time. */
function faultOf(fields: Fields, message: string, level: number): string | undefined {
  const { status, route, anonymous } = fields
  if (typeof status === 'number' && (status >= 400 || route === null || anonymous === true))
    return `${message} ${fields.method} ${route} ${status}`
  if (level < WARN) return undefined
  const { err } = fields
  const details = [err instanceof Error ? err.message : undefined, ...DETAILS.map((name) => fields[name])]
  return `${level} ${message} ${JSON.stringify(details)}`
}
