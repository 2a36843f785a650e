/**
 * The quotas of who pays: how many claims its workspaces may submit a minute, over all keys and hosts, and how many may wait for a decision.
 * Guests, and workspaces of an account, take a part each.
 */
import type { Instant } from '@claimcheck/core/rules'
import { LRUCache } from 'lru-cache'
import { ServiceError } from '../../base/errors.ts'
import type { Meters } from '../../base/meters.ts'
import type { Counters } from '../../http/counters.ts'
import { allowanceOf, type Payer, partOf, type Taker, takersOf, WHO } from '../../storage/payers.ts'
import type { Reads } from '../../storage/storage.ts'
import type { ClaimsConfig, QuotaSettings } from './config.ts'

export interface Quotas {
  /** Counts a submission. Returns why a new claim is refused, if it is. @throws StorageError `unavailable` */
  refusal(user: QuotaUser): Promise<ServiceError | undefined>
  /** Of the workspace: its part. */
  state(user: QuotaUser): Promise<QuotaState>
}

export interface QuotaUser {
  readonly workspaceId: string
  readonly payer: Payer
}

export interface QuotaState extends QuotaSettings {
  /** Claims of the workspace that wait. */
  readonly waiting: number
}

interface QuotasOptions {
  readonly storage: { readonly read: { readonly claims: Pick<Reads['claims'], 'queuedCounts'> } }
  readonly counters: Counters
  readonly config: Pick<ClaimsConfig, 'quotas'>
  readonly now: () => Instant
  readonly meters: Meters
}

/** So old may the count of waiting claims be; what is submitted meanwhile is added to it. */
const COUNT_AGE_MS = 1000
const MAX_COUNTS = 10_000
/** Where there is no limit. */
const MOST_COUNTED = 100_000
/** A waiting claim is decided by its deadline at the latest, many much earlier. */
const RETRY_WAITING_MS = 10_000

/** Of one allowance, by the names of its takers. */
interface Waiting {
  readonly at: Instant
  readonly counted: Promise<ReadonlyMap<string, number>>
  /** Submitted since. */
  readonly added: Map<string, number>
}

export function createQuotas({ storage, counters, config, now, meters }: QuotasOptions): Quotas {
  const refused = meters.counterOf('claims_refused_total', 'New claims refused beyond a quota, by quota', 'quota', [
    'claims_per_minute',
    'waiting_claims',
  ])
  const { claimsPerMinute, waitingClaims } = config.quotas
  const counts = new LRUCache<string, Waiting>({ max: MAX_COUNTS })

  function waitingOf(payer: Payer): Waiting {
    const allowance = allowanceOf(payer)
    const known = counts.get(allowance)
    if (known && now() - known.at < COUNT_AGE_MS) return known
    const counted = count(allowance, waitingClaims)
    const waiting: Waiting = { at: now(), counted, added: new Map() }
    counts.set(allowance, waiting)
    // Those who wait get the error; the next submission counts again.
    counted.catch(() => counts.get(allowance) === waiting && counts.delete(allowance))
    return waiting
  }

  async function count(allowance: string, most: number): Promise<ReadonlyMap<string, number>> {
    const ofTakers = new Map<string, number>()
    for (const { payer, workspaceId, count } of await storage.read.claims.queuedCounts(allowance, most)) {
      add(ofTakers, takersOf(payer, workspaceId), count)
    }
    return ofTakers
  }

  async function rateRefusal(takers: readonly Taker[]): Promise<ServiceError | undefined> {
    if (claimsPerMinute === 0) return undefined
    const limits = takers.map((taker) => ({ ...taker, most: partOf(claimsPerMinute, taker) }))
    // Beyond its own part, a taker counts no more against the others.
    const last = limits.map((limit) => ({ ...limit, ...counters.last('claims', limit.name) }))
    let over = last.find(({ count, most }) => count >= most)
    if (!over) {
      const counted = await Promise.all(
        limits.map(async (limit) => ({ ...limit, ...(await counters.add('claims', limit.name)) })),
      )
      over = counted.find(({ count, most }) => count > most)
    }
    if (!over) return undefined
    refused.inc('claims_per_minute')
    return tooMany(`${WHO[over.level]} may submit at most ${over.most} a minute`, over.leftMs)
  }

  async function waitingRefusal(payer: Payer, takers: readonly Taker[]): Promise<ServiceError | undefined> {
    if (waitingClaims === 0) return undefined
    const { counted, added } = waitingOf(payer)
    const stored = await counted
    const over = takers.find(
      (taker) => (stored.get(taker.name) ?? 0) + (added.get(taker.name) ?? 0) >= partOf(waitingClaims, taker),
    )
    if (over) {
      refused.inc('waiting_claims')
      const rule = `${WHO[over.level]} may have at most ${partOf(waitingClaims, over)} that wait for a decision`
      return tooMany(rule, RETRY_WAITING_MS)
    }
    add(added, takers, 1)
    return undefined
  }

  return {
    async refusal({ payer, workspaceId }) {
      if (claimsPerMinute === 0 && waitingClaims === 0) return undefined
      const smallestFirst = takersOf(payer, workspaceId).toReversed()
      const [rate, waiting] = await Promise.all([rateRefusal(smallestFirst), waitingRefusal(payer, smallestFirst)])
      return rate ?? waiting
    },
    async state({ payer, workspaceId }) {
      const own = takersOf(payer, workspaceId).at(-1)!
      const counted = await count(allowanceOf(payer), waitingClaims || MOST_COUNTED)
      return {
        claimsPerMinute: partOf(claimsPerMinute, own),
        waitingClaims: partOf(waitingClaims, own),
        waiting: counted.get(own.name) ?? 0,
      }
    },
  }
}

function add(counts: Map<string, number>, takers: readonly Taker[], count: number): void {
  for (const { name } of takers) counts.set(name, (counts.get(name) ?? 0) + count)
}

function tooMany(rule: string, retryAfterMs: number): ServiceError {
  return new ServiceError('too_many', `too many claims: ${rule}. Try again later.`, { retryAfterMs })
}
