/**
 * GitHub's events of an issue or a pull request: its own log, with times by its own clock that nobody can set. The list is oldest first, and a
 * busy one has many pages, so that it is read from its end.
 */
import type { NumberQuery } from '../code-host.ts'
import { isInWindow } from '../forgetting.ts'
import { type IssueEvent, IssueEventsAnswer } from './answers.ts'
import { type GitHubApi, lastPage } from './api.ts'
import type { Repository } from './repository.ts'

export interface EventLog {
  /** Oldest first, without a gap until now. */
  readonly events: readonly IssueEvent[]
  /** There are no older ones. */
  readonly isFromStart: boolean
}

const PAGE = 100
/** A check stays within the limits of its requests, and events can be made by the hundred. */
const MOST_PAGES = 12
const MOST_NEWER = 4

/**
 * Events from before the window are not needed, and some of them are read.
 * @returns `cut` where these credentials may not read them, or where there are too many since then
 */
export async function readEvents(
  api: GitHubApi,
  repository: Pick<Repository, 'root' | 'clockBehindMs'>,
  query: NumberQuery,
): Promise<EventLog | 'cut'> {
  const path = `${repository.root}/issues/${query.number}/events?per_page=${PAGE}`
  const first = await api.find(`${path}&page=1`, IssueEventsAnswer, [403, 404, 410])
  if ('refused' in first) return 'cut'
  const { value: oldestPage } = first
  const linked = lastPage(first.link)
  if (linked === undefined) return 'cut'
  const last = await endFrom(linked)
  if (last === undefined) return 'cut'
  let { events } = last
  for (let page = last.page; page > 1; page--) {
    if (last.page - page >= MOST_PAGES) return 'cut'
    const older = page === last.page ? [] : await read(page)
    if (older === undefined) return 'cut'
    events = [...older, ...events]
    const [oldest] = events
    if (oldest && !isInWindow(oldest, repository, query)) return { events, isFromStart: false }
  }
  return { events: last.page > 1 ? [...oldestPage, ...events] : events, isFromStart: true }

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
