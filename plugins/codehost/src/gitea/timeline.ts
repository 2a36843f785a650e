/**
 * Reads the log that Gitea and Forgejo keep of an issue or a pull request. The server narrows it to what changed since a time. Forgejo lets the
 * administrators of a repository choose some of these times: there the log is read whole.
 */
import { DestinationError, type Instant } from '@claimcheck/core/plugin'
import type { Log, NumberQuery } from '../code-host.ts'
import { byHostsClock, unlessCut } from '../forgetting.ts'
import { TimelineAnswer, type TimelineEntry } from './answers.ts'
import type { Repository } from './repository.ts'

const PAGE = 50
/** The most pages in one check, which stays within the limits of its requests. */
const MOST_PAGES = 40
/** The number of empty pages that mean the end: a server takes entries, such as comments on single lines, out of a page once it is read. */
const EMPTY_AT_END = 2

/**
 * Reads all entries of the window, at least. Undefined where an older server has no timeline; `cut` where the timeline may not be read, or is too
 * long.
 */
export async function readTimeline(
  repository: Pick<Repository, 'find' | 'found' | 'letsChooseTimes'>,
  { number, windowFrom }: Pick<NumberQuery, 'number' | 'windowFrom'>,
): Promise<Log<TimelineEntry> | undefined> {
  const entries = new Map<number, TimelineEntry>()
  const since = sinceQuery(repository, windowFrom)
  let empty = 0
  for (let page = 1; page <= MOST_PAGES; page++) {
    const path = `/issues/${number}/timeline?page=${page}&limit=${PAGE}${since}`
    const read = await unlessCut(() => repository.find(path, TimelineAnswer), ['forbidden'])
    if (read === 'cut') return read
    if (read.status === 404) {
      // The issue itself was shown with the same right.
      if (page === 1) return undefined
      throw new DestinationError('unexpected_response', { status: 404 })
    }
    const before = entries.size
    for (const entry of read.value ?? []) entries.set(entry.id, entry)
    // The server says how long its pages are at most: a short one is not the end.
    empty = entries.size === before ? empty + 1 : 0
    if (empty === EMPTY_AT_END) return [...entries.values()]
  }
  return 'cut'
}

/** The part of the query that leaves out older entries. The server takes whole seconds. */
function sinceQuery({ found, letsChooseTimes }: Pick<Repository, 'found' | 'letsChooseTimes'>, windowFrom: Instant) {
  const from = byHostsClock(windowFrom, found)
  if (letsChooseTimes || !Number.isFinite(from)) return ''
  return `&since=${new Date(from - 1000).toISOString().slice(0, 19)}Z`
}
