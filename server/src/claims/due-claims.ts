/**
 * Leases due claims to workers, each claim to one worker at a time: in memory for a single host, in the database when several hosts
 * share it.
 */
import type { Instant } from '@claimcheck/core'
import type { ClaimRow } from '../storage/claim-row.ts'
import type { DueClaim } from '../storage/claims.ts'
import type { Storage } from '../storage/storage.ts'
import type { Slots } from './slots.ts'

export interface DueClaims {
  /** Leases due claims, the longest due first, of those for which there are free slots. */
  take(request: DueRequest): Promise<{
    readonly claims: readonly ClaimRow[]
    /** True when more claims may be due. */
    readonly mayBeMore: boolean
  }>
  /** Ends the lease of a claim whose outcome is stored: the stored `dueAt` counts from now on. */
  recorded(claimId: string): void
}

export interface DueRequest {
  readonly at: Instant
  readonly leaseEnd: Instant
  readonly limit: number
  readonly slots: Pick<Slots, 'busyLanes' | 'choose'>
}

export function createDueClaims({ storage }: { readonly storage: Storage }): DueClaims {
  return storage.shared ? leasesInDatabase(storage) : leasesInMemory(storage)
}

function leasesInDatabase(storage: Storage): DueClaims {
  return {
    async take({ at, leaseEnd, limit, slots }) {
      const due = await storage.read.claims.due(at, limit, slots.busyLanes())
      const chosen = slots.choose(due).map(idOf)
      const claims = chosen.length === 0 ? [] : await storage.write((tx) => tx.claims.lease(chosen, at, leaseEnd))
      return { claims, mayBeMore: due.length === limit }
    },
    recorded() {},
  }
}

/** Writes nothing to the database: the leases of a single host may end with its process, and the next process finds the claims due. */
function leasesInMemory(storage: Storage): DueClaims {
  const leases = new Map<string, Instant>()

  return {
    async take({ at, leaseEnd, limit, slots }) {
      for (const [claimId, end] of leases) if (end <= at) leases.delete(claimId)
      const due = await storage.read.claims.due(at, limit + leases.size, slots.busyLanes())
      const chosen = slots.choose(due.filter(({ claimId }) => !leases.has(claimId)).slice(0, limit)).map(idOf)
      if (chosen.length === 0) return { claims: [], mayBeMore: false }
      for (const claimId of chosen) leases.set(claimId, leaseEnd)
      // A claim whose outcome was stored between the two reads is not due any more.
      const rows = await storage.read.claims.byIds(chosen)
      const claims = rows.filter(({ state, dueAt }) => state === 'queued' && dueAt !== null && dueAt <= at)
      const taken = new Set(claims.map(idOf))
      for (const claimId of chosen) if (!taken.has(claimId)) leases.delete(claimId)
      return { claims, mayBeMore: due.length >= limit }
    },
    recorded(claimId) {
      leases.delete(claimId)
    },
  }
}

function idOf({ claimId }: Pick<DueClaim, 'claimId'>): string {
  return claimId
}
