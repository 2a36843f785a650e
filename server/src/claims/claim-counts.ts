/** Counts a workspace's claims by verdict, over the last day by hour and over the last month by day. */
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
}

interface ClaimCountsOptions {
  readonly storage: { readonly read: { readonly claims: Pick<Reads['claims'], 'counts'> } }
  readonly now: () => Instant
}

// An open page asks every few seconds, and many people may open the same page: they share one query.
const CACHED_MS = { day: 10_000, month: 60_000 } as const
const MAX_CACHED = 1000

interface Cached {
  readonly at: Instant
  readonly stretches: Promise<readonly Stretch[]>
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

  return {
    count(workspaceId, span) {
      const key = `${span} ${workspaceId}`
      const at = now()
      const known = cache.get(key)
      if (known && at - known.at < CACHED_MS[span]) return known.stretches
      const stretches = read(workspaceId, span, at)
      const entry = { at, stretches }
      cache.set(key, entry)
      const forget = () => cache.get(key) === entry && cache.delete(key)
      // Failures are not cached. Neither are empty counts, so that the first claim shows at once; counting no claims is cheap.
      stretches.then((counted) => counted.every(isEmpty) && forget(), forget)
      return stretches
    },
  }
}

function isEmpty({ counts }: Stretch): boolean {
  return Object.keys(counts).length === 0
}
