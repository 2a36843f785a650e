/** The quotas of a workspace: how many claims it may submit a minute, over all its keys and hosts, and how many may wait for a decision. */
import type { Instant } from '@claimcheck/core/rules'
import { LRUCache } from 'lru-cache'
import { ServiceError } from '../../base/errors.ts'
import type { Meters } from '../../base/meters.ts'
import type { Counters } from '../../http/counters.ts'
import type { Reads } from '../../storage/storage.ts'
import type { ClaimsConfig, QuotaSettings } from './config.ts'

export interface Quotas {
  /** Counts a submission. Returns why a new claim is refused, if it is. @throws StorageError `unavailable` */
  refusal(workspaceId: string): Promise<ServiceError | undefined>
  /** For people. */
  state(workspaceId: string): Promise<QuotaState>
}

export interface QuotaState extends QuotaSettings {
  readonly waiting: number
}

interface QuotasOptions {
  readonly storage: { readonly read: { readonly claims: Pick<Reads['claims'], 'queuedCount'> } }
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

interface Waiting {
  readonly at: Instant
  readonly counted: Promise<number>
  /** Submitted since. */
  added: number
}

export function createQuotas({ storage, counters, config, now, meters }: QuotasOptions): Quotas {
  const refused = meters.counterOf(
    'claims_refused_total',
    'New claims refused beyond a quota of their workspace, by quota',
    'quota',
    ['claims_per_minute', 'waiting_claims'],
  )
  const { claimsPerMinute, waitingClaims } = config.quotas
  const counts = new LRUCache<string, Waiting>({ max: MAX_COUNTS })

  function waitingOf(workspaceId: string): Waiting {
    const known = counts.get(workspaceId)
    if (known && now() - known.at < COUNT_AGE_MS) return known
    const counted = storage.read.claims.queuedCount(workspaceId, waitingClaims)
    const waiting: Waiting = { at: now(), counted, added: 0 }
    counts.set(workspaceId, waiting)
    // Those who wait get the error; the next submission counts again.
    counted.catch(() => counts.get(workspaceId) === waiting && counts.delete(workspaceId))
    return waiting
  }

  async function rateRefusal(workspaceId: string): Promise<ServiceError | undefined> {
    if (claimsPerMinute === 0) return undefined
    const { count, leftMs } = await counters.add('claims', workspaceId)
    if (count <= claimsPerMinute) return undefined
    refused.inc('claims_per_minute')
    return tooMany(`this workspace may submit at most ${claimsPerMinute} a minute`, leftMs)
  }

  async function waitingRefusal(workspaceId: string): Promise<ServiceError | undefined> {
    if (waitingClaims === 0) return undefined
    const waiting = waitingOf(workspaceId)
    const place = (await waiting.counted) + waiting.added++
    if (place < waitingClaims) return undefined
    refused.inc('waiting_claims')
    return tooMany(`at most ${waitingClaims} of this workspace may wait for a decision`, RETRY_WAITING_MS)
  }

  return {
    async refusal(workspaceId) {
      if (claimsPerMinute === 0 && waitingClaims === 0) return undefined
      const [rate, waiting] = await Promise.all([rateRefusal(workspaceId), waitingRefusal(workspaceId)])
      return rate ?? waiting
    },
    async state(workspaceId) {
      const most = waitingClaims || MOST_COUNTED
      return { ...config.quotas, waiting: await storage.read.claims.queuedCount(workspaceId, most) }
    },
  }
}

function tooMany(rule: string, retryAfterMs: number): ServiceError {
  return new ServiceError('too_many', `too many claims: ${rule}. Try again later.`, { retryAfterMs })
}
