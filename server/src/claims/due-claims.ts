/** Hands out claims that are due, each to one worker until its lease ends: in memory where there is one host, else in the database that the hosts share. */
import type { Instant } from '@claimcheck/core'
import type { ClaimRow } from '../storage/claim-row.ts'
import type { DueClaim } from '../storage/claims.ts'
import type { Storage } from '../storage/storage.ts'

export interface DueClaims {
  /** Those that were chosen and are due still, and whether there were as many due as were asked for. */
  take(request: DueRequest): Promise<{ readonly claims: readonly ClaimRow[]; readonly mayBeMore: boolean }>
  /** What its check found is recorded: from now on the claim's own `dueAt` holds. */
  recorded(claimId: string): void
}

export interface DueRequest {
  readonly at: Instant
  readonly leaseEnd: Instant
  readonly most: number
  /** Lanes that have no room. */
  readonly busyLanes: readonly string[]
  /** Those that there is room for. */
  readonly choose: (due: readonly DueClaim[]) => readonly string[]
}

export function createDueClaims({ storage }: { readonly storage: Storage }): DueClaims {
  return storage.shared ? leasedClaims(storage) : heldClaims(storage)
}

function leasedClaims(storage: Storage): DueClaims {
  return {
    async take({ at, leaseEnd, most, busyLanes, choose }) {
      const due = await storage.read.claims.due(at, most, busyLanes)
      const chosen = choose(due)
      const claims = chosen.length === 0 ? [] : await storage.write((tx) => tx.claims.lease(chosen, at, leaseEnd))
      return { claims, mayBeMore: due.length === most }
    },
    recorded() {},
  }
}

/** Nothing is written: a process that ends was alone with its leases, and the next one finds the claims due. */
function heldClaims(storage: Storage): DueClaims {
  const held = new Map<string, Instant>()

  return {
    async take({ at, leaseEnd, most, busyLanes, choose }) {
      for (const [claimId, until] of held) if (until <= at) held.delete(claimId)
      const due = await storage.read.claims.due(at, most + held.size, busyLanes)
      const chosen = choose(due.filter(({ claimId }) => !held.has(claimId)).slice(0, most))
      if (chosen.length === 0) return { claims: [], mayBeMore: false }
      for (const claimId of chosen) held.set(claimId, leaseEnd)
      // What was recorded between the two reads is not due any more.
      const rows = await storage.read.claims.byIds(chosen)
      const claims = rows.filter(({ state, dueAt }) => state === 'queued' && dueAt !== null && dueAt <= at)
      const taken = new Set(claims.map(({ claimId }) => claimId))
      for (const claimId of chosen) if (!taken.has(claimId)) held.delete(claimId)
      return { claims, mayBeMore: due.length >= most }
    },
    recorded(claimId) {
      held.delete(claimId)
    },
  }
}
