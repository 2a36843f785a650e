/** Logs the lines of a plugin: without secrets and control characters, bounded in size and number, and under the plugin's name. */

import type { Logger } from '@claimcheck/core/plugin'
import type { Instant } from '@claimcheck/core/rules'
import { terminalText } from '@claimcheck/core/words/terminal'
import { finderOf, type LeakFinder, type SoughtNeedle } from '../outbound/leaks.ts'

export type PluginLogger = ReturnType<typeof createPluginLogger>

const MAX_TEXT = 4096
/** The length from which a text is left out: a part of it could begin within a secret. */
const TOO_LONG_TO_SEARCH = 16 * 1024
const MAX_ITEMS = 100
const MAX_DEPTH = 6
const LINES_PER_SECOND = 100
const SECOND_MS = 1000
const MAX_CONCEALED = 20_000
/** The most connections whose secrets are searched for one by one. */
const MOST_NEWER = 32

/** The host's own members of a line: a plugin that sets them would speak for others. */
const OWN_MEMBERS: ReadonlySet<string> = new Set([
  'level',
  'time',
  'pid',
  'hostname',
  'name',
  'plugin',
  'msg',
  'v',
  'reqId',
])

/**
 * Makes the logger of a plugin.
 * @param logger logs under the plugin's name
 */
export function createPluginLogger({ logger, now }: { readonly logger: Logger; readonly now: () => Instant }) {
  const concealed = createConcealed()
  let second = 0
  let lines = 0
  let dropped = 0

  function tellDropped(): void {
    if (dropped > 0) logger.warn({ dropped }, 'the plugin logged more lines than are kept')
    dropped = 0
  }

  function mayLog(): boolean {
    const current = Math.floor(now() / SECOND_MS)
    if (current !== second) {
      tellDropped()
      second = current
      lines = 0
    }
    if (lines++ < LINES_PER_SECOND) return true
    // Dropped lines are reported also when the plugin falls silent.
    if (dropped++ === 0) setTimeout(tellDropped, SECOND_MS).unref()
    return false
  }

  const at = (level: keyof Logger) => (fields: unknown, message: unknown) => {
    if (!mayLog()) return
    const writer = createWriter((text) => terminalText(concealed.redact(text)))
    const line = writer.text(message)
    const shown = writer.fields(fields)
    logger[level](writer.isCut() ? { ...shown, cut: true } : shown, line)
  }
  return {
    info: at('info'),
    warn: at('warn'),
    /** Keeps these secrets out of the log from now on, whichever check of the plugin saw them. */
    conceal: concealed.add,
    /** Removes secrets, and characters that a terminal would act on, from a text of the plugin. */
    redact: (text: string) => terminalText(concealed.redact(text)),
  }
}

/** Keeps the secrets of the connections that the plugin read lately: it may log in one check, or in none, what it saw in another. */
function createConcealed() {
  const known = new Set<LeakFinder>()
  let sought: SoughtNeedle[] = []
  let earlier: LeakFinder | undefined
  /** The finder of all secrets that were known when it was made. Making one takes longer the more there are. */
  let finder: LeakFinder | undefined
  /** Finders of the secrets that were added since `finder` was made. */
  let newer: LeakFinder[] = []
  return {
    add(leaks: LeakFinder) {
      if (known.has(leaks) || leaks.sought.length === 0) return
      if (sought.length > MAX_CONCEALED) {
        earlier = finderOf(sought)
        finder = undefined
        newer = []
        known.clear()
        sought = []
      }
      known.add(leaks)
      sought.push(...leaks.sought)
      newer.push(leaks)
    },
    redact(text: string): string {
      if (newer.length > MOST_NEWER) {
        finder = finderOf(sought)
        newer = []
      }
      return [earlier, finder, ...newer].reduce((shown, one) => one?.redact(shown) ?? shown, text)
    },
  }
}

/** Makes a copier of logged values, up to a size. Their getters may throw, and they may be circular. */
function createWriter(redact: (text: string) => string) {
  let left = MAX_TEXT
  let isCut = false

  function text(value: unknown): string {
    const given = String(value)
    if (given.length > TOO_LONG_TO_SEARCH) {
      isCut = true
      return `[a text of ${given.length} characters]`
    }
    const shown = redact(given)
    if (shown.length > left) isCut = true
    const kept = shown.slice(0, left)
    left -= kept.length
    return kept
  }

  function copy(value: unknown, depth: number): unknown {
    if (left <= 0 || depth > MAX_DEPTH) {
      isCut = true
      return undefined
    }
    left -= 8
    switch (typeof value) {
      case 'boolean':
        return value
      case 'number':
        return concealedNumber(value)
      case 'string':
      case 'bigint':
        return text(value)
      case 'object':
        return value && copyObject(value, depth)
    }
    return undefined
  }

  function copyObject(value: object, depth: number): unknown {
    if (value instanceof Error) return text(value.stack ?? value.message)
    return Array.isArray(value) ? first(value).map((item) => copy(item, depth + 1)) : members(value, depth)
  }

  function concealedNumber(value: number): number | string {
    const shown = redact(String(value))
    return shown === String(value) ? value : shown
  }

  function members(value: object, depth: number): Record<string, unknown> {
    const names = first(Object.keys(value))
    return Object.fromEntries(
      names.map((name) => [text(name), copy((value as Record<string, unknown>)[name], depth + 1)]),
    )
  }

  function first<T>(items: readonly T[]): readonly T[] {
    if (items.length > MAX_ITEMS) isCut = true
    return items.slice(0, MAX_ITEMS)
  }

  return {
    isCut: () => isCut,
    text: (value: unknown) => readable(() => text(value)) ?? '',
    fields(value: unknown): Record<string, unknown> {
      const shown = readable(() => (typeof value === 'object' && value !== null ? members(value, 0) : {})) ?? {}
      return Object.fromEntries(Object.entries(shown).filter(([name]) => !OWN_MEMBERS.has(name)))
    },
  }
}

function readable<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
