/** The time for which a workspace keeps the content of its receipts: its owners or the operator set it, and a worker erases what is older. */
import type { Instant } from '@claimcheck/core/rules'
import type { Acting } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import type { ClaimPosition } from '../../storage/claim-query.ts'
import { isErased } from '../../storage/claim-row.ts'
import { retentionReference } from '../../storage/erasure-rules.ts'
import type { AgedClaim } from '../../storage/erasures.ts'
import type { RetentionRow } from '../../storage/retentions.ts'
import type { Storage } from '../../storage/storage.ts'
import type { ErasureConfig } from './config.ts'
import { archiveIsElsewhere, type ErasableLog, eraseIn, logsElsewhere } from './erasure.ts'

interface RetentionParts extends ErasableLog {
  readonly storage: Storage
  readonly now: () => Instant
  readonly config: ErasureConfig
}

export const DAY_MS = 86_400_000
export const MOST_DAYS = 36_500
/** The most receipts that one transaction erases: it takes some milliseconds, in which others wait to write. */
const RECEIPTS_A_BATCH = 100
/** The most batches of one workspace before the next has its turn. */
const BATCHES_A_TURN = 100

/** The place at which the erasure of a workspace has arrived. */
interface Progress {
  readonly after: ClaimPosition
  /** True once an earlier claim has to wait: the place is not stored from then on. */
  readonly isBehind: boolean
  /** The first claim that only a host with the archive of its log can erase. */
  readonly elsewhere?: AgedClaim | undefined
}

/**
 * Finds what a host may erase of claims that a retention examines.
 * @param logs the logs whose archive the host does not have
 * @returns `cameTo`, the time of the first claim that waits for a later pass, or of the last one; `elsewhere`, the first that is left to another host
 */
function erasableIn(claims: readonly AgedClaim[], cutoff: Instant, logs: ReadonlySet<string>) {
  const unerased = claims.filter((claim) => !isErased(claim))
  const old = unerased.filter(({ issuedAt }) => (issuedAt ?? cutoff) < cutoff)
  const here = old.filter(({ logId }) => !logs.has(logId!))
  const isLeft = (claim: AgedClaim) => !here.includes(claim)
  const waiting = unerased.find(isLeft)
  const cameTo = (waiting ?? claims.at(-1)!).submittedAt
  return { here, elsewhere: old.find(isLeft), waits: waiting !== undefined, cameTo }
}

export type RetentionService = ReturnType<typeof createRetentionService>

export function createRetentionService({ storage, archives, logGuard, now, config }: RetentionParts) {
  const { leastDays } = config.retention
  const { read } = storage
  /** The places where turns ended that had more to do, by workspace. */
  const unfinished = new Map<string, Progress>()

  /**
   * Checks a number of days.
   * @throws ServiceError `bad_request` for days out of the limits of this installation
   */
  function check(days: number): void {
    if (Number.isSafeInteger(days) && days >= leastDays && days <= MOST_DAYS) return
    const detail = `receipts are kept for a whole number of days, from ${leastDays} to ${MOST_DAYS}`
    throw new ServiceError('bad_request', detail)
  }

  /** Erases the batch after a place; undefined when there are no older claims after it. */
  async function eraseNext(retention: RetentionRow, progress: Progress, by: Acting): Promise<Progress | undefined> {
    const { workspaceId, days, erasedBefore } = retention
    const at = now()
    const cutoff = at - days * DAY_MS
    return storage.write(async (tx) => {
      const current = await tx.retentions.lock(workspaceId)
      // The retention has just been changed: the next pass goes by the new one.
      if (current?.days !== days) return undefined
      const claims = await tx.erasures.aged(workspaceId, progress.after, cutoff, RECEIPTS_A_BATCH)
      const last = claims.at(-1)
      if (!last) return undefined
      const { here, elsewhere, waits, cameTo } = erasableIn(claims, cutoff, await logsElsewhere(tx, archives))
      const reason = { rule: 'retention', reference: retentionReference(days) } as const
      const receiptIds = here.flatMap(({ receiptId }) => receiptId ?? [])
      const erased = await eraseIn(tx, { archives, logGuard }, receiptIds, reason, at)
      if (erased.length > 0) {
        const details = { receipts: erased.length, days }
        tx.audit.record({ event: 'workspace.receipts_erased', at, by, workspaceId, details })
      }
      // A claim that is not decided, was decided later than it was submitted, or is archived elsewhere, waits for a later pass, which begins with it.
      if (!progress.isBehind && cameTo > erasedBefore) await tx.retentions.cameTo(workspaceId, cameTo)
      return { after: last, isBehind: progress.isBehind || waits, elsewhere: progress.elsewhere ?? elsewhere }
    })
  }

  /**
   * Erases the batches of one workspace. Returns true when there is more.
   * @throws ServiceError `unavailable` at the end, where receipts were left to a host that has the archive of their log
   */
  async function turn(retention: RetentionRow, by: Acting, signal: AbortSignal): Promise<boolean> {
    const { workspaceId, erasedBefore } = retention
    // Claims of the first millisecond are examined again.
    const beginning: Progress = { after: { submittedAt: erasedBefore, claimId: '' }, isBehind: false }
    let progress = unfinished.get(workspaceId) ?? beginning
    unfinished.delete(workspaceId)
    for (let batch = 0; batch < BATCHES_A_TURN && !signal.aborted; batch++) {
      const next = await eraseNext(retention, progress, by)
      if (!next) {
        const { receiptId, logId } = progress.elsewhere ?? {}
        if (receiptId && logId) throw archiveIsElsewhere(receiptId, logId)
        return false
      }
      progress = next
    }
    unfinished.set(workspaceId, progress)
    return true
  }

  return {
    check,

    /** Returns the number of days for which a workspace keeps the content of its receipts; null for ever. */
    async days(workspaceId: string): Promise<number | null> {
      return (await read.retentions.of(workspaceId))?.days ?? null
    },

    /** Counts the receipts of a workspace that are older than some days, up to `most`. */
    olderThan: (workspaceId: string, days: number, most: number) =>
      read.erasures.agedCount(workspaceId, now() - days * DAY_MS, most),

    /**
     * Sets the retention of a workspace.
     * @param days the number of days; null for ever
     * @throws ServiceError `bad_request`
     */
    async set(workspaceId: string, days: number | null, by: Acting): Promise<void> {
      if (days !== null) check(days)
      const at = now()
      await storage.write(async (tx) => {
        const before = (await tx.retentions.lock(workspaceId))?.days ?? null
        if (before === days) return
        if (days === null) await tx.retentions.remove(workspaceId)
        else await tx.retentions.set({ workspaceId, days, changedAt: at, erasedBefore: 0 })
        const details = { days, before }
        tx.audit.record({ event: 'workspace.retention_changed', at, by, workspaceId, details })
      })
    },

    /** Tells whether any workspace has a retention. */
    async isNeeded(): Promise<boolean> {
      return (await read.retentions.list()).length > 0
    },

    /**
     * Erases content that is older than its workspace keeps it, in small transactions. Returns true when there is more to erase.
     * @throws ServiceError the first refusal, once every workspace had its turn
     */
    async pass(by: Acting, signal: AbortSignal): Promise<boolean> {
      let isMore = false
      let refusal: ServiceError | undefined
      for (const retention of await read.retentions.list()) {
        if (signal.aborted) return isMore
        try {
          isMore = (await turn(retention, by, signal)) || isMore
        } catch (error) {
          if (!(error instanceof ServiceError)) throw error
          refusal ??= error
        }
      }
      if (refusal) throw refusal
      return isMore
    },
  }
}
