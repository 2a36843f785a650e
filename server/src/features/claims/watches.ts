/**
 * Watches: claims that are looked at every 15 seconds because blame rests on such looks. They are the first twenty of a workspace, and none where
 * everybody's reads share one budget.
 */
import { LRUCache } from 'lru-cache'
import type { RateLimitBudgets } from '../../outbound/rate-limit-budget.ts'
import type { ClaimRow } from '../../storage/claim-row.ts'
import type { Reads } from '../../storage/storage.ts'

interface WatchesOptions {
  readonly storage: { readonly read: { readonly claims: Pick<Reads['claims'], 'watchedCount'> } }
  readonly budgets: Pick<RateLimitBudgets, 'isSharedByAll'>
}

export const MOST_WATCHED = 20
/** The greatest age of a count of watched claims; claims taken meanwhile are added to it. */
const COUNT_AGE_MS = 1000
const MAX_COUNTS = 10_000

export type Watches = ReturnType<typeof createWatches>

export function createWatches({ storage, budgets }: WatchesOptions) {
  const counts = new LRUCache<string, { readonly stored: Promise<number>; taken: number }>({
    max: MAX_COUNTS,
    ttl: COUNT_AGE_MS,
  })

  function countOf(workspaceId: string) {
    const known = counts.get(workspaceId)
    if (known) return known
    const count = { stored: storage.read.claims.watchedCount(workspaceId), taken: 0 }
    counts.set(workspaceId, count)
    count.stored.catch(() => counts.delete(workspaceId))
    return count
  }

  return {
    /** Takes a place for the claim among those that are watched. False when it may not be watched. */
    async take(claim: ClaimRow): Promise<boolean> {
      if (budgets.isSharedByAll(claim)) return false
      const count = countOf(claim.workspaceId)
      if ((await count.stored) + count.taken >= MOST_WATCHED) return false
      count.taken++
      return true
    },
  }
}
