/** How many claims of a workspace came to which verdict, over the last day and over the last month. */
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
}

interface ClaimCountsOptions {
  readonly storage: { readonly read: { readonly claims: Pick<Reads['claims'], 'counts'> } }
  readonly now: () => Instant
}

// A page asks every few seconds, and many people may look at one: the database is asked once.
const KEPT_MS = { day: 10_000, month: 60_000 } as const
const MOST_KEPT = 1000

interface Kept {
  readonly at: Instant
  readonly stretches: Promise<readonly Stretch[]>
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

  return {
    count(workspaceId, span) {
      const name = `${span} ${workspaceId}`
      const at = now()
      const known = kept.get(name)
      if (known && at - known.at < KEPT_MS[span]) return known.stretches
      const stretches = read(workspaceId, span, at)
      const entry = { at, stretches }
      kept.set(name, entry)
      const forget = () => kept.get(name) === entry && kept.delete(name)
      // What failed is asked for again; and where nothing is yet, asking costs nothing, and the first claim shows at once.
      stretches.then((counted) => counted.every(isEmpty) && forget(), forget)
      return stretches
    },
  }
}

function isEmpty({ counts }: Stretch): boolean {
  return Object.keys(counts).length === 0
}
