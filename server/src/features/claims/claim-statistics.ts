/** Counts the claims of a workspace: by verdict, by hour and by day, and by action. */
import type { Instant, VerdictValue } from '@claimcheck/core/rules'
import { LRUCache } from 'lru-cache'
import type { Reads } from '../../storage/storage.ts'
import { type ClaimChoice, isBounded, MOST_EXAMINED, scopeOf } from './claim-choice.ts'

/** The spans of time, each divided into stretches that begin at whole hours or days in UTC. The last stretch includes now. */
export const SPANS = {
  day: { stretchMs: 60 * 60_000, stretches: 24 },
  month: { stretchMs: 24 * 60 * 60_000, stretches: 30 },
} as const
export type Span = keyof typeof SPANS

/** The verdict of a decided claim, or `queued`. */
export type Standing = VerdictValue | 'queued'

export type Counts = Readonly<Partial<Record<Standing, number>>>

export interface Stretch {
  readonly start: Instant
  readonly counts: Counts
}

export interface Counted {
  /** The stretches of the span, oldest first, including empty ones. */
  readonly stretches: readonly Stretch[]
  /** The number of claims that ended because their connection was removed, counted only for a choice. */
  readonly removed: number
  /** True when only the newest claims of the choice were counted. */
  readonly cutShort: boolean
}

/** Counts by action, those with the most claims first. */
export interface CountedActions {
  readonly actions: readonly { readonly action: string; readonly counts: Counts }[]
  readonly cutShort: boolean
}

interface ClaimStatisticsOptions {
  readonly storage: {
    readonly read: { readonly claims: Pick<Reads['claims'], 'counts' | 'countsByAction' | 'actions' | 'position'> }
  }
  readonly now: () => Instant
}

// Pages ask every few seconds while they are open, and many people may open the same one: they share one query.
const CACHED_MS = { day: 10_000, month: 60_000, actions: 10_000 } as const
const MAX_CACHED = 1000
/** The time after its end when a stretch gets no further claims, as a claim is stored some seconds after it was submitted. */
const COMPLETE_AFTER_MS = 60 * 60_000

interface Cached {
  readonly at: Instant
  readonly found: Promise<unknown>
}

export type ClaimStatistics = ReturnType<typeof createClaimStatistics>

export function createClaimStatistics({
  storage: {
    read: { claims },
  },
  now,
}: ClaimStatisticsOptions) {
  const cache = new LRUCache<string, Cached>({ max: MAX_CACHED })
  /**
   * Stretches that cannot change any more, by workspace and span: they are complete, and all of their claims are decided. So a workspace with
   * millions of claims is counted once.
   */
  const settled = new LRUCache<string, ReadonlyMap<number, Counts>>({ max: MAX_CACHED })

  /** Caches the result of a read. Failures are not cached, and neither are empty results, where the first claim is to show at once. */
  function remembered<T>(
    what: keyof typeof CACHED_MS,
    of: readonly unknown[],
    isNothing: (found: T) => boolean,
    read: (at: Instant) => Promise<T>,
  ): Promise<T> {
    const name = JSON.stringify([what, ...of])
    const at = now()
    const known = cache.get(name)
    if (known && at - known.at < CACHED_MS[what]) return known.found as Promise<T>
    const found = read(at)
    const entry = { at, found }
    cache.set(name, entry)
    const forget = () => cache.get(name) === entry && cache.delete(name)
    found.then((all) => isNothing(all) && forget(), forget)
    return found
  }

  async function read(
    workspaceId: string,
    span: Span,
    choice: ClaimChoice,
    most: number,
    at: Instant,
  ): Promise<Counted> {
    const { stretchMs, stretches } = SPANS[span]
    const first = firstStretch(span, Math.min(at, (choice.until ?? Number.POSITIVE_INFINITY) - 1))
    if (Object.keys(choice).length === 0)
      return { stretches: await readAll(workspaceId, span, first, at), removed: 0, cutShort: false }
    const since = Math.max(first * stretchMs, choice.since ?? 0)
    const { query, cutShort } = await bounded(workspaceId, { ...choice, since }, most)
    const found = await claims.counts(query, stretchMs)
    const all = Array.from({ length: stretches }, (_, index) => {
      const ofStretch = found.filter(({ bucket }) => bucket === first + index)
      return { start: (first + index) * stretchMs, counts: countsOf(ofStretch) }
    })
    const removed = found.reduce((sum, one) => sum + one.removed, 0)
    return { stretches: all, removed, cutShort }
  }

  /** Counts all claims of a workspace, in the stretches from `first` on. */
  async function readAll(workspaceId: string, span: Span, first: number, at: Instant): Promise<Stretch[]> {
    const { stretchMs, stretches } = SPANS[span]
    const name = `${span} ${workspaceId}`
    const known = settled.get(name) ?? new Map<number, Counts>()
    const buckets = Array.from({ length: stretches }, (_, index) => first + index)
    const gaps = gapsOf(buckets, (bucket) => known.has(bucket))
    const found = await Promise.all(
      gaps.map(([start, end]) =>
        claims.counts({ workspaceId, since: start * stretchMs, until: end * stretchMs }, stretchMs),
      ),
    )
    const all = buckets.map((bucket) => ({
      bucket,
      counts: known.get(bucket) ?? countsOf(found.flat().filter((one) => one.bucket === bucket)),
    }))
    const isSettled = ({ bucket, counts }: (typeof all)[number]) =>
      (bucket + 1) * stretchMs + COMPLETE_AFTER_MS <= at && !counts.queued
    settled.set(name, new Map(all.filter(isSettled).map(({ bucket, counts }) => [bucket, counts])))
    return all.map(({ bucket, counts }) => ({ start: bucket * stretchMs, counts }))
  }

  async function readActions(workspaceId: string, agentId: string, at: Instant): Promise<CountedActions> {
    const since = firstStretch('month', at) * SPANS.month.stretchMs
    const { query, cutShort } = await bounded(workspaceId, { agentId, since }, MOST_EXAMINED)
    const counts = new Map<string, Counts>()
    for (const { action, ...one } of await claims.countsByAction(query))
      counts.set(action, { ...counts.get(action), ...countsOf([one]) })
    const actions = [...counts].map(([action, ofAction]) => ({ action, counts: ofAction }))
    return { actions: actions.toSorted((one, other) => sumOf(other.counts) - sumOf(one.counts)), cutShort }
  }

  /** Bounds the claims of a choice that are read. */
  async function bounded(workspaceId: string, choice: ClaimChoice, most: number) {
    const { since: _, until: __, ...narrowing } = choice
    const isNarrowed = Object.keys(narrowing).length > 0 && isBounded(choice, most)
    const end = isNarrowed ? await claims.position(scopeOf(workspaceId, choice), most) : undefined
    return { query: { workspaceId, ...choice, ...(end ? { from: end } : {}) }, cutShort: end !== undefined }
  }

  return {
    /**
     * Counts claims by the time of submission, up to now or the end of the choice. The counts may be some seconds old.
     * @param most the number of the newest claims that are read for a choice
     */
    count: (workspaceId: string, span: Span, choice: ClaimChoice = {}, most = MOST_EXAMINED): Promise<Counted> =>
      remembered(
        span,
        [workspaceId, choice, most],
        // Empty results of a choice stay cached: finding nothing takes a look at many claims each time.
        ({ stretches }) => Object.keys(choice).length === 0 && stretches.every(({ counts }) => sumOf(counts) === 0),
        (at) => read(workspaceId, span, choice, most, at),
      ),
    /** Counts an agent's claims of the last month by action. The counts may be some seconds old. */
    countActions: (workspaceId: string, agentId: string): Promise<CountedActions> =>
      remembered(
        'actions',
        [workspaceId, agentId],
        () => false,
        (at) => readActions(workspaceId, agentId, at),
      ),
    /** Finds the actions of the newest claims. The list may be some seconds old. */
    actions: (workspaceId: string): Promise<readonly string[]> =>
      remembered(
        'actions',
        [workspaceId],
        (actions) => actions.length === 0,
        () => claims.actions(workspaceId, MOST_EXAMINED),
      ),
  }
}

/** Returns the number of the first stretch, counted from the Unix epoch, if the last one includes this moment. */
function firstStretch(span: Span, last: Instant): number {
  const { stretchMs, stretches } = SPANS[span]
  return Math.floor(last / stretchMs) - stretches + 1
}

/** Lists the runs of unknown buckets, each from its first to before its end. */
function gapsOf(buckets: readonly number[], isKnown: (bucket: number) => boolean): (readonly [number, number])[] {
  const gaps: [number, number][] = []
  for (const bucket of buckets) {
    const last = gaps.at(-1)
    if (isKnown(bucket)) continue
    if (last?.[1] === bucket) last[1]++
    else gaps.push([bucket, bucket + 1])
  }
  return gaps
}

function countsOf(found: readonly { readonly verdict: VerdictValue | null; readonly count: number }[]): Counts {
  return Object.fromEntries(found.map(({ verdict, count }) => [verdict ?? 'queued', count]))
}

export function sumOf(counts: Counts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}
