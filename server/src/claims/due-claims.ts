/**
 * Leases due claims to workers, each claim to one worker at a time: in memory for a single host, in the database when several hosts
 * share it. Claims whose checks decide come first.
 */
import type { Instant } from '@claimcheck/core'
import type { ClaimRow } from '../storage/claim-row.ts'
import type { DueClaim, DueKind } from '../storage/claims.ts'
import type { Storage } from '../storage/storage.ts'
import type { Admission, Entry } from './admission.ts'

export interface DueClaims {
  /** Leases due claims whose checks may begin now, each with its entry. */
  take(request: DueRequest): Promise<readonly TakenClaim[]>
  /** Ends the lease of a claim whose outcome is stored: the stored `dueAt` counts from now on. */
  recorded(claimId: string): void
  /** Ends the lease of a claim that was not checked: it is due as before. */
  putBack(claim: ClaimRow): Promise<void>
  /** How many claims are due that no check is under way for. */
  waiting(at: Instant): Promise<Readonly<Record<DueKind, number>>>
}

export interface TakenClaim {
  readonly claim: ClaimRow
  readonly entry: Entry
}

export interface DueRequest {
  readonly at: Instant
  readonly leaseEnd: Instant
  /** The most claims of each kind. */
  readonly limit: number
}

interface DueClaimsOptions {
  readonly storage: Storage
  readonly admission: Pick<Admission, 'enter' | 'busyLanes'>
}

const KINDS: readonly DueKind[] = ['deciding', 'looking']
/** Each round passes over the lanes that the earlier ones found busy. */
const MOST_ROUNDS = 8

export function createDueClaims({ storage, admission }: DueClaimsOptions): DueClaims {
  const { lease, isLeased, leasedCount, recorded, putBack } = storage.shared
    ? leasesInDatabase(storage)
    : leasesInMemory(storage)

  /** Due claims of one kind that are admitted, by id. */
  async function admitted(kind: DueKind, { at, limit }: DueRequest): Promise<Map<string, Entry>> {
    const found = new Map<string, Entry>()
    const { claims } = storage.read
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const asked = limit + leasedCount()
      const due = await claims.due(kind, at, asked, admission.busyLanes(kind))
      const isNew = ({ claimId }: DueClaim) => !found.has(claimId) && !isLeased(claimId, at)
      const refused = new Set<string>()
      for (const { claimId, lane } of due.filter(isNew)) {
        if (found.size === limit) return found
        const entry = refused.has(lane) ? undefined : admission.enter(lane, kind)
        if (entry) found.set(claimId, entry)
        else refused.add(lane)
      }
      // Behind claims of lanes that are busy there may be claims of others.
      if (refused.size === 0 || due.length < asked) return found
    }
    return found
  }

  async function takeKind(kind: DueKind, request: DueRequest): Promise<TakenClaim[]> {
    const entries = await admitted(kind, request)
    if (entries.size === 0) return []
    const leave = (claimIds: Iterable<string>) => {
      for (const claimId of claimIds) entries.get(claimId)!.end(undefined)
    }
    try {
      const claims = await lease([...entries.keys()], request)
      const taken = new Set(claims.map(({ claimId }) => claimId))
      leave([...entries.keys()].filter((claimId) => !taken.has(claimId)))
      return claims.map((claim) => ({ claim, entry: entries.get(claim.claimId)! }))
    } catch (error) {
      leave(entries.keys())
      throw error
    }
  }

  return {
    async take(request) {
      const taken: TakenClaim[] = []
      for (const kind of KINDS) taken.push(...(await takeKind(kind, request)))
      return taken
    },
    recorded,
    putBack,
    async waiting(at) {
      const { deciding, looking } = await storage.read.claims.dueCounts(at)
      // A lease in memory leaves the claim due in the database.
      return { deciding, looking: Math.max(0, looking - leasedCount()) }
    },
  }
}

interface Leases {
  /** Those of these claims that are still due. */
  lease(claimIds: readonly string[], request: DueRequest): Promise<readonly ClaimRow[]>
  isLeased(claimId: string, at: Instant): boolean
  /** How many claims are leased, and look due in the database. */
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

/** Writes nothing to the database: the leases of a single host may end with its process, and the next process finds the claims due. */
function leasesInMemory(storage: Storage): Leases {
  const leases = new Map<string, Instant>()

  return {
    async lease(claimIds, { at, leaseEnd }) {
      for (const [claimId, end] of leases) if (end <= at) leases.delete(claimId)
      for (const claimId of claimIds) leases.set(claimId, leaseEnd)
      // A claim whose outcome was stored between the two reads is not due any more.
      const rows = await storage.read.claims.byIds(claimIds)
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
