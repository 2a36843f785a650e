/** What the claims of a workspace are, in sum: how many came to which verdict over the last day and month, and their actions. */
import type { Instant, VerdictValue } from '@claimcheck/core'
import { LRUCache } from 'lru-cache'
import type { Reads } from '../storage/storage.ts'

/** What is counted back from now: so many stretches, the last of which is not over yet. They begin at whole hours and days, UTC. */
export const SPANS = {
  day: { stretchMs: 60 * 60_000, stretches: 24 },
  month: { stretchMs: 24 * 60 * 60_000, stretches: 30 },
} as const
export type Span = keyof typeof SPANS

export type Standing = VerdictValue | 'queued'

export interface Stretch {
  readonly start: Instant
  readonly counts: Readonly<Partial<Record<Standing, number>>>
}

export interface ClaimCounts {
  /** By the time of submission, oldest first, empty ones too. Some seconds old. */
  count(workspaceId: string, span: Span): Promise<readonly Stretch[]>
  /** The actions of the newest claims. Some seconds old. */
  actions(workspaceId: string): Promise<readonly string[]>
}

interface ClaimCountsOptions {
  readonly storage: { readonly read: { readonly claims: Pick<Reads['claims'], 'counts' | 'actions'> } }
  readonly now: () => Instant
}

// A page asks every few seconds, and many people may look at one: the database is asked once.
const KEPT_MS = { day: 10_000, month: 60_000, actions: 10_000 } as const
const MOST_KEPT = 1000
/** Reading the actions of a large workspace to its beginning would take the database's time from claims. */
const MOST_FOR_ACTIONS = 10_000

interface Kept {
  readonly at: Instant
  readonly found: Promise<readonly unknown[]>
}

export function createClaimCounts({ storage, now }: ClaimCountsOptions): ClaimCounts {
  const kept = new LRUCache<string, Kept>({ max: MOST_KEPT })

  async function read(workspaceId: string, span: Span, at: Instant): Promise<readonly Stretch[]> {
    const { stretchMs, stretches } = SPANS[span]
    const first = Math.floor(at / stretchMs) - stretches + 1
    const found = await storage.read.claims.counts(workspaceId, first * stretchMs, stretchMs)
    return Array.from({ length: stretches }, (_, index) => {
      const own = found.filter(({ bucket }) => bucket === first + index)
      const counts = Object.fromEntries(own.map(({ verdict, count }) => [verdict ?? 'queued', count]))
      return { start: (first + index) * stretchMs, counts }
    })
  }

  /** What was read a moment ago is not read again. What failed is; and so is what found nothing yet, so that the first claim shows at once. */
  function remembered<T>(
    what: keyof typeof KEPT_MS,
    workspaceId: string,
    isNothing: (found: readonly T[]) => boolean,
    read: (at: Instant) => Promise<readonly T[]>,
  ): Promise<readonly T[]> {
    const name = `${what} ${workspaceId}`
    const at = now()
    const known = kept.get(name)
    if (known && at - known.at < KEPT_MS[what]) return known.found as Promise<readonly T[]>
    const found = read(at)
    const entry = { at, found }
    kept.set(name, entry)
    const forget = () => kept.get(name) === entry && kept.delete(name)
    found.then((all) => isNothing(all) && forget(), forget)
    return found
  }

  return {
    count: (workspaceId, span) =>
      remembered(
        span,
        workspaceId,
        (stretches) => stretches.every(isEmpty),
        (at) => read(workspaceId, span, at),
      ),
    actions: (workspaceId) =>
      remembered(
        'actions',
        workspaceId,
        (actions) => actions.length === 0,
        () => storage.read.claims.actions(workspaceId, MOST_FOR_ACTIONS),
      ),
  }
}

function isEmpty({ counts }: Stretch): boolean {
  return Object.keys(counts).length === 0
}
