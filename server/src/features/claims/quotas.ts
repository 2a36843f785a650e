/**
 * The quotas of a payer: how many claims its workspaces may submit a minute, over all keys and hosts, and how many may wait for a decision.
 * One workspace of an account takes most of them, so that the others keep some.
 */
import type { Instant } from '@claimcheck/core/rules'
import { LRUCache } from 'lru-cache'
import { ServiceError } from '../../base/errors.ts'
import type { Meters } from '../../base/meters.ts'
import type { Counters } from '../../http/counters.ts'
import type { Reads } from '../../storage/storage.ts'
import type { ClaimsConfig, QuotaSettings } from './config.ts'

export interface Quotas {
  /** Counts a submission. Returns why a new claim is refused, if it is. @throws StorageError `unavailable` */
  refusal(user: QuotaUser): Promise<ServiceError | undefined>
  /** For people. */
  state(user: QuotaUser): Promise<QuotaState>
}

export interface QuotaUser {
  readonly workspaceId: string
  readonly payer: string
}

export interface QuotaState extends QuotaSettings {
  /** Claims of the payer that wait. */
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

/** Alone, one of an account's workspaces takes so much of a quota. */
const PART_OF_WORKSPACE = 3 / 4

/** Of one payer. */
interface Waiting {
  readonly at: Instant
  readonly counted: Promise<ReadonlyMap<string, number>>
  /** Submitted since, by workspace. */
  readonly added: Map<string, number>
}

export function createQuotas({ storage, counters, config, now, meters }: QuotasOptions): Quotas {
  const refused = meters.counterOf('claims_refused_total', 'New claims refused beyond a quota, by quota', 'quota', [
    'claims_per_minute',
    'waiting_claims',
  ])
  const { claimsPerMinute, waitingClaims } = config.quotas
  const counts = new LRUCache<string, Waiting>({ max: MAX_COUNTS })

  function waitingOf(payer: string): Waiting {
    const known = counts.get(payer)
    if (known && now() - known.at < COUNT_AGE_MS) return known
    const counted = storage.read.claims.queuedCounts(payer, waitingClaims)
    const waiting: Waiting = { at: now(), counted, added: new Map() }
    counts.set(payer, waiting)
    // Those who wait get the error; the next submission counts again.
    counted.catch(() => counts.get(payer) === waiting && counts.delete(payer))
    return waiting
  }

  async function rateRefusal({ payer, workspaceId }: QuotaUser): Promise<ServiceError | undefined> {
    if (claimsPerMinute === 0) return undefined
    const most = partOf(claimsPerMinute, payer, workspaceId)
    const isShared = most < claimsPerMinute
    // A workspace beyond its part counts no more against the others.
    const before = isShared ? counters.last('claims_of_workspace', workspaceId) : undefined
    const isOver = before !== undefined && before.count >= most
    const [ofWorkspace, ofPayer] = await Promise.all([
      isOver || !isShared ? before : counters.add('claims_of_workspace', workspaceId),
      isOver ? undefined : counters.add('claims', payer),
    ])
    if (isOver || (ofWorkspace && ofWorkspace.count > most)) {
      refused.inc('claims_per_minute')
      return tooMany(`this workspace may submit at most ${most} a minute`, ofWorkspace!.leftMs)
    }
    if (ofPayer!.count <= claimsPerMinute) return undefined
    refused.inc('claims_per_minute')
    return tooMany(`${nameOf(payer, workspaceId)} may submit at most ${claimsPerMinute} a minute`, ofPayer!.leftMs)
  }

  async function waitingRefusal({ payer, workspaceId }: QuotaUser): Promise<ServiceError | undefined> {
    if (waitingClaims === 0) return undefined
    const { counted, added } = waitingOf(payer)
    const stored = await counted
    const ofWorkspace = (stored.get(workspaceId) ?? 0) + (added.get(workspaceId) ?? 0)
    const most = partOf(waitingClaims, payer, workspaceId)
    if (ofWorkspace >= most) {
      refused.inc('waiting_claims')
      return tooMany(`at most ${most} of this workspace may wait for a decision`, RETRY_WAITING_MS)
    }
    if (sum(stored) + sum(added) >= waitingClaims) {
      refused.inc('waiting_claims')
      const rule = `at most ${waitingClaims} of ${nameOf(payer, workspaceId)} may wait for a decision`
      return tooMany(rule, RETRY_WAITING_MS)
    }
    added.set(workspaceId, (added.get(workspaceId) ?? 0) + 1)
    return undefined
  }

  return {
    async refusal(user) {
      if (claimsPerMinute === 0 && waitingClaims === 0) return undefined
      const [rate, waiting] = await Promise.all([rateRefusal(user), waitingRefusal(user)])
      return rate ?? waiting
    },
    async state({ payer }) {
      const most = waitingClaims || MOST_COUNTED
      return { ...config.quotas, waiting: sum(await storage.read.claims.queuedCounts(payer, most)) }
    },
  }
}

/** How much of a quota a workspace may take: all of it, where it pays for itself. */
function partOf(quota: number, payer: string, workspaceId: string): number {
  return payer === workspaceId ? quota : Math.ceil(quota * PART_OF_WORKSPACE)
}

function nameOf(payer: string, workspaceId: string): string {
  return payer === workspaceId ? 'this workspace' : 'the account that made this workspace'
}

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((total, count) => total + count, 0)
}

function tooMany(rule: string, retryAfterMs: number): ServiceError {
  return new ServiceError('too_many', `too many claims: ${rule}. Try again later.`, { retryAfterMs })
}
