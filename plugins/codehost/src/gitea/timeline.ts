/**
 * What Gitea and Forgejo log of an issue or a pull request. Forgejo lets the administrators of a repository choose the time of a change, so
 * that no time is taken from it: what is in it since the window's start says what may have been.
 */
import { DestinationError, isDestinationError } from '@claimcheck/core/plugin'
import type { Log, NumberQuery } from '../code-host.ts'
import { TimelineAnswer, type TimelineEntry } from './answers.ts'
import type { Repository } from './repository.ts'

const PAGE = 50
const MOST_PAGES = 8

/** The entries since the window's start. Undefined where an older server has no timeline; `cut` where it may not be read, or is too long. */
export async function readTimeline(
  { find, found: { clockBehindMs } }: Repository,
  { number, windowFrom }: NumberQuery,
): Promise<Log<TimelineEntry> | undefined> {
  // A server that does not tell its time is asked for everything. Its times are whole seconds.
  const from = clockBehindMs === undefined ? 0 : windowFrom - Math.max(clockBehindMs, 0) - 1000
  const since = encodeURIComponent(new Date(from).toISOString())
  const entries = new Map<number, TimelineEntry>()
  for (let page = 1; page <= MOST_PAGES; page++) {
    const path = `/issues/${number}/timeline?since=${since}&page=${page}&limit=${PAGE}`
    const read = await find(path, TimelineAnswer).catch((error: unknown) => {
      if (isDestinationError(error) && error.code === 'forbidden') return undefined
      throw error
    })
    if (read === undefined) return 'cut'
    // The issue itself was shown with the same right.
    if (read.status === 404 && page === 1) return undefined
    if (read.status === 404) throw new DestinationError('unexpected_response', { status: 404 })
    const before = entries.size
    for (const entry of read.value ?? []) entries.set(entry.id, entry)
    // The server says how long its pages are at most: a short one is not the end.
    if (entries.size === before) return [...entries.values()]
  }
  return 'cut'
}
