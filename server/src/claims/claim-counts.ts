/** Sums up the claims of a workspace: how many have which verdict, by hour and by day, and which actions they claim. */
import type { Instant, VerdictValue } from '@claimcheck/core'
import { LRUCache } from 'lru-cache'
import type { Reads } from '../storage/storage.ts'

/** The spans of time, each divided into stretches that begin at whole hours or days in UTC. The last stretch includes now. */
export const SPANS = {
  day: { stretchMs: 60 * 60_000, stretches: 24 },
  month: { stretchMs: 24 * 60 * 60_000, stretches: 30 },
} as const
export type Span = keyof typeof SPANS

/** The verdict of a decided claim, or `queued`. */
export type Standing = VerdictValue | 'queued'

export interface Stretch {
  readonly start: Instant
  readonly counts: Readonly<Partial<Record<Standing, number>>>
}

export interface ClaimCounts {
  /** Counts by the time of submission; oldest stretch first, including empty stretches. The counts may be some seconds old. */
  count(workspaceId: string, span: Span): Promise<readonly Stretch[]>
  /** The actions of the newest claims. Some seconds old. */
  actions(workspaceId: string): Promise<readonly string[]>
}

interface ClaimCountsOptions {
  readonly storage: { readonly read: { readonly claims: Pick<Reads['claims'], 'counts' | 'actions'> } }
  readonly now: () => Instant
}

// An open page asks every few seconds, and many people may open the same page: they share one query.
const CACHED_MS = { day: 10_000, month: 60_000, actions: 10_000 } as const
const MAX_CACHED = 1000
/** Reading the actions of all claims of a large workspace would take the database's time from claims. */
const MAX_READ_FOR_ACTIONS = 10_000

interface Cached {
  readonly at: Instant
  readonly found: Promise<readonly unknown[]>
}

export function createClaimCounts({ storage, now }: ClaimCountsOptions): ClaimCounts {
  const cache = new LRUCache<string, Cached>({ max: MAX_CACHED })

  async function read(workspaceId: string, span: Span, at: Instant): Promise<readonly Stretch[]> {
    const { stretchMs, stretches } = SPANS[span]
    const first = Math.floor(at / stretchMs) - stretches + 1
    const found = await storage.read.claims.counts(workspaceId, first * stretchMs, stretchMs)
    return Array.from({ length: stretches }, (_, index) => {
      const ofStretch = found.filter(({ bucket }) => bucket === first + index)
      const counts = Object.fromEntries(ofStretch.map(({ verdict, count }) => [verdict ?? 'queued', count]))
      return { start: (first + index) * stretchMs, counts }
    })
  }

  /** Caches what a read found. Failures are not cached, and neither are empty results, so that the first claim shows at once. */
  function remembered<T>(
    what: keyof typeof CACHED_MS,
    workspaceId: string,
    isNothing: (found: readonly T[]) => boolean,
    read: (at: Instant) => Promise<readonly T[]>,
  ): Promise<readonly T[]> {
    const name = `${what} ${workspaceId}`
    const at = now()
    const known = cache.get(name)
    if (known && at - known.at < CACHED_MS[what]) return known.found as Promise<readonly T[]>
    const found = read(at)
    const entry = { at, found }
    cache.set(name, entry)
    const forget = () => cache.get(name) === entry && cache.delete(name)
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
        () => storage.read.claims.actions(workspaceId, MAX_READ_FOR_ACTIONS),
      ),
  }
}

function isEmpty({ counts }: Stretch): boolean {
  return Object.keys(counts).length === 0
}
