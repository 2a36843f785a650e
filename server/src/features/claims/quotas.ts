/**
 * The quotas of who pays: how many claims its workspaces may submit a minute, over all keys and hosts, and how many may wait for a decision.
 * Each party of an allowance has its equal part in any case (`mayAdd`).
 */
import type { Instant } from '@claimcheck/core/rules'
import { LRUCache } from 'lru-cache'
import { ServiceError } from '../../base/errors.ts'
import type { Meters } from '../../base/meters.ts'
import { allowanceOf, type Payer } from '../../base/payers.ts'
import { holdingsOf, mayAdd, sharersOf } from '../../base/stock.ts'
import { type Counters, countParties } from '../../http/counters.ts'
import type { QueuedCount } from '../../storage/claims.ts'
import type { Reads } from '../../storage/storage.ts'
import type { ClaimsConfig, QuotaSettings } from './config.ts'

interface QuotaUser {
  readonly workspaceId: string
  readonly payer: Payer
}

export interface QuotaState extends QuotaSettings {
  /** The number of the workspace's waiting claims. */
  readonly waiting: number
}

/** The greatest age of a count of waiting claims; later submissions are added to it. */
const COUNT_AGE_MS = 1000
const MAX_COUNTS = 10_000
/** The most waiting claims that are counted where there is no limit. */
const MOST_COUNTED = 100_000
/**
 * The factor of the limit up to which waiting claims are counted, as parties have their parts beyond it: the sum of 1/n for some thousands of them.
 */
const BEYOND = 10
/** The time after which to try again beyond the quota of waiting claims. Each is decided by its deadline at the latest, many much earlier. */
const RETRY_WAITING_MS = 10_000

const QUOTAS = ['claims_per_minute', 'waiting_claims'] as const

/** The waiting claims of one allowance. */
interface WaitingClaims {
  readonly at: Instant
  readonly counted: Promise<readonly QueuedCount[]>
  /** Claims submitted since, by payer. */
  readonly added: Map<Payer, number>
}

export type Quotas = ReturnType<typeof createQuotas>

export function createQuotas(parts: {
  storage: { readonly read: { readonly claims: Pick<Reads['claims'], 'queuedCounts'> } }
  counters: Counters
  config: Pick<ClaimsConfig, 'quotas'>
  now: () => Instant
  meters: Meters
}) {
  const { storage, counters, config, now, meters } = parts
  const refused = meters.counterOf(
    'claims_refused_total',
    'New claims refused beyond a quota, by quota',
    'quota',
    QUOTAS,
  )
  const { claimsPerMinute, waitingClaims } = config.quotas
  const ofParties = countParties(counters)
  const waitingOf = new LRUCache<string, WaitingClaims>({ max: MAX_COUNTS })

  function countWaiting(payer: Payer): WaitingClaims {
    const allowance = allowanceOf(payer)
    const known = waitingOf.get(allowance)
    if (known && now() - known.at < COUNT_AGE_MS) return known
    const counted = storage.read.claims.queuedCounts(allowance, BEYOND * waitingClaims)
    const waiting: WaitingClaims = { at: now(), counted, added: new Map() }
    waitingOf.set(allowance, waiting)
    // A failed count reaches the requests that wait for it; the next submission counts again.
    counted.catch(() => waitingOf.get(allowance) === waiting && waitingOf.delete(allowance))
    return waiting
  }

  function refuse(quota: (typeof QUOTAS)[number], user: QuotaUser, rule: string, retryAfterMs: number): ServiceError {
    refused.inc(quota)
    const message = `too many claims: ${sharersOf(user.payer, user.workspaceId)} ${rule}. Try again later.`
    return new ServiceError('too_many', message, { retryAfterMs })
  }

  /** Counts a submission in this minute, unless its party has had its part: then it counts no more against the others. */
  async function rateRefusal(user: QuotaUser): Promise<ServiceError | undefined> {
    if (claimsPerMinute === 0) return undefined
    let used = ofParties.last('claims', user.payer)
    if (mayAdd(used, claimsPerMinute)) used = await ofParties.add('claims', user.payer)
    if (mayAdd(used, claimsPerMinute)) return undefined
    return refuse('claims_per_minute', user, `may submit at most ${claimsPerMinute} a minute`, used.leftMs)
  }

  async function waitingRefusal(user: QuotaUser): Promise<ServiceError | undefined> {
    const { payer } = user
    if (waitingClaims === 0) return undefined
    const { counted, added } = countWaiting(payer)
    const stored = (await counted).map((one) => [one.payer, one.count] as const)
    if (!mayAdd(holdingsOf(payer, [...stored, ...added]), waitingClaims)) {
      const rule = `may have at most ${waitingClaims} that wait for a decision`
      return refuse('waiting_claims', user, rule, RETRY_WAITING_MS)
    }
    added.set(payer, (added.get(payer) ?? 0) + 1)
    return undefined
  }

  return {
    /**
     * Counts a submission. Returns the reason to refuse a new claim, if there is one.
     * @throws StorageError `unavailable`
     */
    async refusal(user: QuotaUser): Promise<ServiceError | undefined> {
      const [rate, waiting] = await Promise.all([rateRefusal(user), waitingRefusal(user)])
      return rate ?? waiting
    },
    async state({ payer, workspaceId }: QuotaUser): Promise<QuotaState> {
      const most = waitingClaims === 0 ? MOST_COUNTED : BEYOND * waitingClaims
      const counts = await storage.read.claims.queuedCounts(allowanceOf(payer), most)
      const ofWorkspace = counts.filter((one) => one.workspaceId === workspaceId)
      return { ...config.quotas, waiting: ofWorkspace.reduce((sum, { count }) => sum + count, 0) }
    },
  }
}
