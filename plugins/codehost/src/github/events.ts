/**
 * Reads GitHub's events of an issue or a pull request: its own log, with times by its own clock that nobody can set. The list is oldest first, and a
 * busy one has many pages: then the timeline is asked for the events that count, or the list is read from its end, in several checks if need be.
 */
import type { CheckCache, CheckContext } from '@claimcheck/core/plugin'
import type { NumberQuery } from '../code-host.ts'
import { isInWindow } from '../forgetting.ts'
import { type IssueEvent, IssueEventsAnswer } from './answers.ts'
import { lastPage } from './api.ts'
import type { ClaimedRepository } from './repository.ts'
import { readTimeline, type Thread } from './timeline.ts'

export interface EventLog {
  /** The changes of state, base and head: oldest first, without a gap until now. */
  readonly events: readonly IssueEvent[]
  /** Tells that there are no older events. */
  readonly isFromStart: boolean
  /** The time of the oldest event that was read, of whatever kind. */
  readonly since: string | undefined
}

const PAGE = 100
/** Limit of the pages of a long list that one check reads, within its limit of requests. */
const MOST_PAGES = 20
/** Limit of the pages that may have come since a list told its last one. */
const MOST_NEWER = 4

/** Changes of a base by hand, and by GitHub where it deleted the old one. */
export const BASE_CHANGES: ReadonlySet<string> = new Set(['base_ref_changed', 'automatic_base_change_succeeded'])
export const FORCED = 'head_ref_force_pushed'
/** Changes of which the list of events does not tell the value before. */
const UNTOLD: ReadonlySet<string> = new Set([FORCED, ...BASE_CHANGES])
const COUNTED: ReadonlySet<string> = new Set(['closed', 'reopened', ...UNTOLD])

/** The part of the list that was read: full pages, which never change, and those of their events that count. */
interface ReadPages {
  readonly from: number
  readonly to: number
  readonly events: readonly IssueEvent[]
  readonly since: string
}

/**
 * Reads the events since the window began, and some before.
 * @returns `cut` where these credentials may not read them, or where there are too many since then
 */
export async function readEvents(
  { access, api, repository }: ClaimedRepository,
  kind: Thread['kind'],
  query: NumberQuery,
  context: CheckContext,
): Promise<EventLog | 'cut'> {
  const { number } = query
  const isOld = (event: Pick<IssueEvent, 'created_at'>) => !isInWindow(event, repository, query)
  const find = (page: number) =>
    api.find(
      `${repository.root}/issues/${number}/events?per_page=${PAGE}&page=${page}`,
      IssueEventsAnswer,
      [403, 404, 410],
    )
  const first = await find(1)
  if ('refused' in first) return 'cut'
  const { value: oldestPage } = first
  const linked = lastPage(first.link)
  const isLong = linked !== 1 || oldestPage.length >= PAGE
  const isUntold = oldestPage.some((event) => UNTOLD.has(event.event) && !isOld(event))
  if (isLong || isUntold) {
    const told = await readTimeline(access, { kind, number, repository }, context, isOld)
    if (told) return { ...told, since: told.events[0]?.created_at }
  }
  if (!isLong) return { events: countedOf(oldestPage), isFromStart: true, since: oldestPage[0]?.created_at }
  if (linked === undefined) return 'cut'
  return readFromEnd(linked, isOld, { cache: context.cache, key: `github ${repository.id} events ${number}` }, read)

  async function read(page: number): Promise<readonly IssueEvent[] | undefined> {
    if (page === 1) return oldestPage
    const answer = await find(page)
    return 'refused' in answer ? undefined : answer.value
  }
}

type ReadPage = (page: number) => Promise<readonly IssueEvent[] | undefined>

/** Reads the page that is not full, and as much of those before it as is needed, on from what earlier checks read. */
async function readFromEnd(
  linked: number,
  isOld: (event: Pick<IssueEvent, 'created_at'>) => boolean,
  { cache, key }: { readonly cache: CheckCache; readonly key: string },
  read: ReadPage,
): Promise<EventLog | 'cut'> {
  const end = await findEnd(linked, read)
  if (end === undefined) return 'cut'
  const known = cache.get(key) as ReadPages | undefined
  let since = end.events[0]?.created_at
  let full: readonly IssueEvent[] = []
  let [page, left] = [end.page, MOST_PAGES]
  const isEnough = () => page === 1 || (since !== undefined && isOld({ created_at: since }))
  while (!isEnough() && left > 0) {
    if (known && page - 1 === known.to) {
      ;[full, since, page] = [[...known.events, ...full], known.since, known.from]
      continue
    }
    const older = await read(page - 1)
    if (older === undefined) return 'cut'
    ;[full, since] = [[...countedOf(older), ...full], older[0]?.created_at ?? since]
    page--
    left--
  }
  if (page < end.page && since !== undefined) {
    const pages: ReadPages = { from: page, to: end.page - 1, events: full, since }
    cache.set(key, pages)
  }
  return isEnough() ? { events: [...full, ...countedOf(end.events)], isFromStart: page === 1, since } : 'cut'
}

/** Finds the page that is not full. An unchanged first page is answered with the link that it had once: pages may have come since. */
async function findEnd(linked: number, read: ReadPage) {
  for (let page = linked; page < linked + MOST_NEWER; page++) {
    const events = await read(page)
    if (events === undefined) return undefined
    if (events.length < PAGE) return { page, events }
  }
  return undefined
}

function countedOf(events: readonly IssueEvent[]): readonly IssueEvent[] {
  return events.filter(({ event }) => COUNTED.has(event))
}
