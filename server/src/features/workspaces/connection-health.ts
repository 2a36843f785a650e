/** The health of a connection: its state in words, and what went wrong since. */
import { formatInstant, type Instant } from '@claimcheck/core/rules'
import { type ConnectionState, REFUSALS, type StoredIdentity } from '../../storage/workspaces.ts'
import type { ConnectionSummary } from './connections.ts'

/** Words for the states of a connection in a table, without a sentence around them. */
export const STATE_WORDS: Readonly<Record<ConnectionState, string>> = {
  works: 'works',
  reached: 'reached, but not tried',
  refused: 'refused',
}

/** Tells whether the last read of the connection failed. */
export function isFailing({ lastReadAt, lastFailureAt }: ConnectionSummary): boolean {
  return lastFailureAt !== null && lastFailureAt >= (lastReadAt ?? 0)
}

/**
 * Returns the code of a failure that an owner has to do something about; null where there is none. A target that these credentials are not shown may
 * not exist at all: that says nothing of the connection. `refused` where a later failure has replaced the code of the refusal.
 */
export function failureOf(connection: ConnectionSummary): string | null {
  const { state, lastFailure } = connection
  if (state === 'refused') return lastFailure !== null && REFUSALS.has(lastFailure) ? lastFailure : 'refused'
  return isFailing(connection) && lastFailure !== 'forbidden' ? lastFailure : null
}

/** Says that the destination of a connection is another than before; the identity has a former one. */
export function anotherThan({ text, since, former }: StoredIdentity): string {
  return `Since ${formatInstant(since)} its destination is ${text}, another than before, which was ${former}.`
}

const WARNED_BEFORE_MS = 7 * 24 * 60 * 60_000

/** Returns the end of the credentials; undefined where it is more than a week away, or unknown. */
export function endingOf(
  { expiresAt }: Pick<ConnectionSummary, 'expiresAt'>,
  now: Instant,
): { readonly at: Instant; readonly isOver: boolean } | undefined {
  if (expiresAt === null || expiresAt - now > WARNED_BEFORE_MS) return undefined
  return { at: expiresAt, isOver: expiresAt <= now }
}
