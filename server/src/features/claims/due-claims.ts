/**
 * Leases due claims to workers, each claim to one worker at a time: in memory for a single host, in the database when several hosts
 * share it. Claims with a check that decides come first.
 */
import type { Instant } from '@claimcheck/core/rules'
import type { ClaimRow } from '../../storage/claim-row.ts'
import type { DueClaim, DueKind } from '../../storage/claims.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Admission, Entry } from './admission.ts'

export interface Waiting extends Readonly<Record<DueKind, number>> {
  /** The time when the check that decides became due, for the claim that waits the longest for it. */
  readonly decidingSince: Instant | null
}

export interface TakenClaim {
  readonly claim: ClaimRow
  readonly entry: Entry
}

export interface DueRequest {
  readonly at: Instant
  readonly leaseEnd: Instant
  readonly limit: number
}

interface DueClaimsOptions {
  readonly storage: Storage
  readonly admission: Pick<Admission, 'enter' | 'busy'>
}

/** The most rounds of one search. Each passes over those whom the earlier ones found busy. */
const MOST_ROUNDS = 8

export type DueClaims = ReturnType<typeof createDueClaims>

export function createDueClaims({ storage, admission }: DueClaimsOptions) {
  const { lease, isLeased, leasedCount, recorded, putBack } = storage.shared
    ? leasesInDatabase(storage)
    : leasesInMemory(storage)

  /** Enters claims, each lane until it refuses one, and adds their entries to `found`. @returns the lanes that refused */
  function enterEach(
    claims: readonly DueClaim[],
    kind: DueKind,
    found: Map<string, Entry>,
    limit: number,
  ): ReadonlySet<string> {
    const refused = new Set<string>()
    for (const claim of claims) {
      if (found.size === limit) break
      if (refused.has(claim.lane)) continue
      const entry = admission.enter(claim, kind)
      if (entry) found.set(claim.claimId, entry)
      else refused.add(claim.lane)
    }
    return refused
  }

  /** Finds due claims of one kind that are admitted, and adds them to `found`, by id. */
  async function admit(found: Map<string, Entry>, kind: DueKind, { at, limit }: DueRequest): Promise<void> {
    const { claims } = storage.read
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const asked = limit + leasedCount()
      const due = await claims.due(kind, at, asked, admission.busy(kind))
      const free = due.filter(({ claimId }) => !found.has(claimId) && !isLeased(claimId, at))
      const refused = enterEach(free, kind, found, limit)
      // Claims of others may stand behind those of busy payers and destinations.
      if (found.size === limit || refused.size === 0 || due.length < asked) return
    }
  }

  return {
    /** Leases due claims of one kind that admission lets begin now, each with its entry. */
    async take(kind: DueKind, request: DueRequest): Promise<readonly TakenClaim[]> {
      const entries = new Map<string, Entry>()
      try {
        await admit(entries, kind, request)
        const claims = entries.size === 0 ? [] : await lease([...entries.keys()], request)
        const taken = claims.map((claim) => ({ claim, entry: entries.get(claim.claimId)! }))
        for (const { claim } of taken) entries.delete(claim.claimId)
        return taken
      } finally {
        // A claim that was admitted and is not taken must not keep its slot.
        for (const entry of entries.values()) entry.end(undefined)
      }
    },
    /** Ends the lease of a claim after its outcome is stored: the stored `dueAt` counts from now on. */
    recorded,
    /** Ends the lease of a claim that was not checked, which is due as before. */
    putBack,
    /** Counts the due claims without a check under way. */
    async waiting(at: Instant): Promise<Waiting> {
      const { deciding, first, watching, looking, decidingSince } = await storage.read.claims.dueCounts(at)
      // A lease in memory leaves the claim due in the database.
      let leased = leasedCount()
      const [ofFirst, ofWatching, ofLooking] = [first, watching, looking].map((due) => {
        const waiting = Math.max(0, due - leased)
        leased = Math.max(0, leased - due)
        return waiting
      })
      return { deciding, first: ofFirst!, watching: ofWatching!, looking: ofLooking!, decidingSince }
    },
  }
}

interface Leases {
  /** Leases those of these claims that are still due, and returns them. */
  lease(claimIds: readonly string[], request: DueRequest): Promise<readonly ClaimRow[]>
  isLeased(claimId: string, at: Instant): boolean
  /** Counts the claims that are leased, and look due in the database. */
  leasedCount(): number
  recorded(claimId: string): void
  putBack(claim: ClaimRow): Promise<void>
}

function leasesInDatabase(storage: Storage): Leases {
  return {
    lease: (claimIds, { at, leaseEnd }) => storage.write((tx) => tx.claims.lease(claimIds, at, leaseEnd)),
    isLeased: () => false,
    leasedCount: () => 0,
    recorded() {},
    putBack: (claim) => storage.write((tx) => tx.claims.putBack(claim)),
  }
}

/** Leases that are not written to the database: those of a single host may end with its process, and the next process finds the claims due. */
function leasesInMemory(storage: Storage): Leases {
  const leases = new Map<string, Instant>()

  return {
    async lease(claimIds, { at, leaseEnd }) {
      for (const [claimId, end] of leases) if (end <= at) leases.delete(claimId)
      for (const claimId of claimIds) leases.set(claimId, leaseEnd)
      // A claim is not due any more if its outcome was stored between the two reads.
      const rows = await storage.read.claims.byIds(claimIds).catch((error: unknown) => {
        for (const claimId of claimIds) leases.delete(claimId)
        throw error
      })
      const claims = rows.filter(({ state, dueAt }) => state === 'queued' && dueAt !== null && dueAt <= at)
      const taken = new Set(claims.map(({ claimId }) => claimId))
      for (const claimId of claimIds) if (!taken.has(claimId)) leases.delete(claimId)
      return claims
    },
    isLeased: (claimId, at) => (leases.get(claimId) ?? 0) > at,
    leasedCount: () => leases.size,
    recorded(claimId) {
      leases.delete(claimId)
    },
    async putBack({ claimId }) {
      leases.delete(claimId)
    },
  }
}
