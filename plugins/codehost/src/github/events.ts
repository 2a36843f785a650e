/**
 * GitHub's events of an issue or a pull request: its own log, with times by its own clock that nobody can set. The list is oldest first, and a
 * busy one has many pages: then the timeline is asked for the events that count, or the list is read from its end, in several checks if need be.
 */
import type { CheckContext } from '@claimcheck/core/plugin'
import type { NumberQuery } from '../code-host.ts'
import { isInWindow } from '../forgetting.ts'
import { type IssueEvent, IssueEventsAnswer } from './answers.ts'
import { lastPage } from './api.ts'
import type { ClaimedRepository } from './repository.ts'
import { readTimeline, type Thread } from './timeline.ts'

export interface EventLog {
  /** The changes of state, base and head: oldest first, without a gap until now. */
  readonly events: readonly IssueEvent[]
  /** There are no older ones. */
  readonly isFromStart: boolean
  /** The time of the oldest event that was read, of whatever kind. */
  readonly since: string | undefined
}

const PAGE = 100
/** In one check, which stays within the limits of its requests. */
const MOST_PAGES = 20
const MOST_NEWER = 4

/** By hand, and by GitHub where it deleted the old one. */
export const BASE_CHANGES: ReadonlySet<string> = new Set(['base_ref_changed', 'automatic_base_change_succeeded'])
export const FORCED = 'head_ref_force_pushed'
const COUNTED: ReadonlySet<string> = new Set(['closed', 'reopened', FORCED, ...BASE_CHANGES])

/** Full pages of the list, which never change, and which of their events count. */
interface ReadPages {
  readonly from: number
  readonly to: number
  readonly events: readonly IssueEvent[]
  readonly since: string
}

/**
 * Events from before the window are not needed, and some of them are read.
 * @returns `cut` where these credentials may not read them, or where there are too many since then
 */
export async function readEvents(
  { access, api, repository }: ClaimedRepository,
  kind: Thread['kind'],
  query: NumberQuery,
  context: CheckContext,
): Promise<EventLog | 'cut'> {
  const { number } = query
  const isOld = (event: IssueEvent) => !isInWindow(event, repository, query)
  const path = `${repository.root}/issues/${number}/events?per_page=${PAGE}`
  const first = await api.find(`${path}&page=1`, IssueEventsAnswer, [403, 404, 410])
  if ('refused' in first) return 'cut'
  const { value: oldestPage } = first
  const linked = lastPage(first.link)
  const isLong = linked !== 1 || oldestPage.length >= PAGE
  const isUntold = oldestPage.some(
    (event) => (BASE_CHANGES.has(event.event) || event.event === FORCED) && !isOld(event),
  )
  if (isLong || isUntold) {
    const told = await readTimeline(access, { kind, number, repository }, context, isOld)
    if (told) return { ...told, since: told.events[0]?.created_at }
  }
  if (!isLong) return { events: counted(oldestPage), isFromStart: true, since: oldestPage[0]?.created_at }
  return linked === undefined ? 'cut' : readFromEnd(linked)

  async function readFromEnd(linked: number): Promise<EventLog | 'cut'> {
    const end = await endFrom(linked)
    if (end === undefined) return 'cut'
    const key = `github ${repository.id} events ${number}`
    const known = context.cache.get(key) as ReadPages | undefined
    let since = end.events[0]?.created_at
    let full: readonly IssueEvent[] = []
    let [page, left] = [end.page, MOST_PAGES]
    // All of the page that is not full, and of those before it what was read up to `page`.
    const isEnough = () => page === 1 || (since !== undefined && isOld({ event: '', created_at: since }))
    while (!isEnough() && left > 0) {
      if (known && page - 1 === known.to) {
        ;[full, since, page] = [[...known.events, ...full], known.since, known.from]
        continue
      }
      const older = page === 2 ? oldestPage : await read(page - 1)
      if (older === undefined) return 'cut'
      ;[full, since] = [[...counted(older), ...full], older[0]?.created_at ?? since]
      page--
      left--
    }
    if (page < end.page && since !== undefined) {
      const pages: ReadPages = { from: page, to: end.page - 1, events: full, since }
      context.cache.set(key, pages)
    }
    return isEnough() ? { events: [...full, ...counted(end.events)], isFromStart: page === 1, since } : 'cut'
  }

  async function read(page: number): Promise<readonly IssueEvent[] | undefined> {
    const answer = await api.find(`${path}&page=${page}`, IssueEventsAnswer, [403, 404, 410])
    return 'refused' in answer ? undefined : answer.value
  }

  /** The page that is not full. An unchanged first page is answered with the link that it had once: pages may have come since. */
  async function endFrom(linked: number) {
    for (let page = linked; page < linked + MOST_NEWER; page++) {
      const events = page === 1 ? oldestPage : await read(page)
      if (events === undefined) return undefined
      if (events.length < PAGE) return { page, events }
    }
    return undefined
  }
}

function counted(events: readonly IssueEvent[]): readonly IssueEvent[] {
  return events.filter(({ event }) => COUNTED.has(event))
}
