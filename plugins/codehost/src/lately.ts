/** Answers of a host that are kept for later checks: what is no evidence of the claimed commit, and what a claim waits beside. */
import type { CheckCache, CheckContext, Instant } from '@claimcheck/core/plugin'
import type { Check, ChecksQuery, FoundChecks, Reader } from './code-host.ts'
import { isNamed } from './reporters.ts'

/** The time for which the reports on comparable commits, and a repository that a claim waits at, are kept. Milliseconds. */
export const LONG_MS = 10 * 60_000
/** The time for which a claim that waits does without a part of what is reported that is all green. Milliseconds. */
const SHORT_MS = 2 * 60_000

export type KeepingContext = { readonly cache: CheckCache; now(): Instant }

/** Reads once in ten minutes, for all checks that share the cache. @param isKept chooses what is kept; everything, when left out */
export async function keptForLong<T>(
  { cache, now }: KeepingContext,
  key: string,
  read: () => Promise<T>,
  { keptMs = LONG_MS, isKept = () => true }: { readonly keptMs?: number; isKept?(value: T): boolean } = {},
): Promise<T> {
  const recall = () => {
    const kept = cache.get(key) as { readonly at: Instant; readonly value: T } | undefined
    return kept && Math.abs(now() - kept.at) < keptMs ? kept : undefined
  }
  const readOnce = async () => {
    const known = recall()
    if (known) return known
    const entry = { at: now(), value: await read() }
    if (isKept(entry.value)) cache.set(key, entry)
    return entry
  }
  return (recall() ?? (await cache.share(key, readOnce))).value
}

/** Reads the parts of a look, of which some may be from an earlier one. */
export interface KeptParts {
  /** Reads what a pending check does not change: once in ten minutes. */
  long<T>(key: string, read: () => Promise<T>): Promise<T>
  /**
   * Reads a part of what is reported: once in two minutes, unless something in it is pending or red. What is red is no more when it has passed
   * since, and an older answer would say that it was taken away.
   */
  short<T>(key: string, read: () => Promise<T>, isOpen?: (value: T) => boolean): Promise<T>
}

/** Keeps parts of the looks of claims that wait. The looks of other claims keep nothing, and use nothing that was kept. */
export function keepParts(context: KeepingContext, isWaiting: boolean): KeptParts {
  if (!isWaiting) {
    const shared = <T>(key: string, read: () => Promise<T>) => context.cache.share(key, read)
    return { long: shared, short: shared }
  }
  const keyOf = (key: string) => `${key} lately`
  return {
    long: (key, read) => keptForLong(context, keyOf(key), read),
    short: (key, read, isOpen = () => false) =>
      keptForLong(context, keyOf(key), read, { keptMs: SHORT_MS, isKept: (value) => !isOpen(value) }),
  }
}

/**
 * Makes a reader of checks that spares requests while a claim waits for a check to end. Such a look decides nothing, so that it reads anew no more
 * than a part that has something pending or red. All is read, as soon as nothing is pending.
 *
 * @param isFresh tells of a pending check that its part was read anew; each was, when left out
 */
export function sparingWhileWaiting<A>(
  read: (access: A, query: ChecksQuery, context: CheckContext, isWaiting: boolean) => Promise<FoundChecks>,
  isFresh: (check: Check) => boolean = () => true,
): Reader<A, ChecksQuery, FoundChecks> {
  return async (access, query, context) => {
    const { previous, sentAt, inTimeUntil, checks: wanted } = query
    const pending = previous.at(-1)?.observation.facts.pending
    const isWaiting = typeof pending === 'number' && pending > 0 && sentAt < inTimeUntil
    const found = await read(access, query, context, isWaiting)
    if (!isWaiting) return found
    const isPending = found.checks?.some(
      (check) =>
        check.outcome === 'pending' && isFresh(check) && (!wanted || wanted.some((one) => isNamed(check, one))),
    )
    return isPending ? found : read(access, query, context, false)
  }
}
