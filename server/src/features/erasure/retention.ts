/** How long a workspace keeps the content of its receipts: its owners or the operator set it, and a worker erases what is older. */
import type { Instant } from '@claimcheck/core/rules'
import type { Acting } from '../../base/actor.ts'
import { retentionReference } from '../../base/erasure-rules.ts'
import { ServiceError } from '../../base/errors.ts'
import type { ClaimPosition } from '../../storage/claim-query.ts'
import { isErased } from '../../storage/claim-row.ts'
import type { RetentionRow } from '../../storage/retentions.ts'
import type { Storage } from '../../storage/storage.ts'
import type { LogArchives } from '../log/log-archives.ts'
import type { LogGuard } from '../log/log-guard.ts'
import type { ErasureConfig } from './config.ts'
import { eraseIn } from './erasure.ts'

export interface RetentionOptions {
  readonly storage: Storage
  readonly archives: Pick<LogArchives, 'erase'>
  readonly logGuard: Pick<LogGuard, 'checkOpen'>
  readonly now: () => Instant
  readonly config: ErasureConfig
}

export const DAY_MS = 86_400_000
export const MOST_DAYS = 36_500
/** A transaction of so many takes some milliseconds, in which others wait to write. */
const RECEIPTS_A_BATCH = 100
/** The batches of one workspace before the next has its turn. */
const BATCHES_A_TURN = 100

interface Progress {
  readonly after: ClaimPosition
  /** A claim before it has to wait: how far the erasure came is not stored any more. */
  readonly isBehind: boolean
}

export class RetentionService {
  readonly #storage: Storage
  readonly #with: Pick<RetentionOptions, 'archives' | 'logGuard'>
  readonly #now: () => Instant
  readonly #leastDays: number
  /** Where a turn ended that had more to do. */
  readonly #progress = new Map<string, Progress>()

  constructor({ storage, archives, logGuard, now, config }: RetentionOptions) {
    this.#storage = storage
    this.#with = { archives, logGuard }
    this.#now = now
    this.#leastDays = config.retention.leastDays
  }

  /** @throws ServiceError `bad_request` for days out of the limits of this installation */
  check(days: number): void {
    if (Number.isSafeInteger(days) && days >= this.#leastDays && days <= MOST_DAYS) return
    const detail = `receipts are kept for a whole number of days, from ${this.#leastDays} to ${MOST_DAYS}`
    throw new ServiceError('bad_request', detail)
  }

  /** How many days a workspace keeps the content of its receipts; null: for ever. */
  async days(workspaceId: string): Promise<number | null> {
    return (await this.#storage.read.retentions.of(workspaceId))?.days ?? null
  }

  /** How many receipts of a workspace are older, counted up to `most`. */
  olderThan(workspaceId: string, days: number, most: number): Promise<number> {
    return this.#storage.read.erasures.agedCount(workspaceId, this.#now() - days * DAY_MS, most)
  }

  /** @param days null: for ever @throws ServiceError `bad_request` */
  async set(workspaceId: string, days: number | null, by: Acting): Promise<void> {
    if (days !== null) this.check(days)
    const at = this.#now()
    await this.#storage.write(async (tx) => {
      const before = (await tx.retentions.lock(workspaceId))?.days ?? null
      if (before === days) return
      if (days === null) await tx.retentions.remove(workspaceId)
      else await tx.retentions.set({ workspaceId, days, changedAt: at, erasedBefore: 0 })
      const details = { days, before }
      tx.audit.record({ event: 'workspace.retention_changed', at, by, workspaceId, details })
    })
  }

  /** Whether any workspace has a retention. */
  async isNeeded(): Promise<boolean> {
    return (await this.#storage.read.retentions.list()).length > 0
  }

  /** Erases what is older than its workspace keeps, in small transactions. Returns true when there is more to erase. */
  async pass(by: Acting, signal: AbortSignal): Promise<boolean> {
    let isMore = false
    for (const retention of await this.#storage.read.retentions.list()) {
      if (signal.aborted) return isMore
      isMore = (await this.#turn(retention, by, signal)) || isMore
    }
    return isMore
  }

  /** Erases the next batch after a progress. Undefined: there are no older claims after it. */
  async #eraseNext(
    { workspaceId, days, erasedBefore }: RetentionRow,
    { after, isBehind }: Progress,
    by: Acting,
  ): Promise<Progress | undefined> {
    const at = this.#now()
    const cutoff = at - days * DAY_MS
    return this.#storage.write(async (tx) => {
      const current = await tx.retentions.lock(workspaceId)
      // It has just been changed: the next pass goes by what it is now.
      if (current?.days !== days) return undefined
      const claims = await tx.erasures.aged(workspaceId, after, cutoff, RECEIPTS_A_BATCH)
      const last = claims.at(-1)
      if (!last) return undefined
      const isOld = (issuedAt: Instant | null) => issuedAt !== null && issuedAt < cutoff
      const old = claims.flatMap((claim) =>
        !isErased(claim) && isOld(claim.issuedAt) && claim.receiptId !== null ? [claim.receiptId] : [],
      )
      const reason = { rule: 'retention', reference: retentionReference(days) } as const
      const erased = await eraseIn(tx, this.#with, old, reason, at)
      if (erased.length > 0) {
        const details = { receipts: erased.length, days }
        tx.audit.record({ event: 'workspace.receipts_erased', at, by, workspaceId, details })
      }
      // A claim that is not decided, or was decided later than it was submitted, waits for a later pass, which begins with it.
      const waiting = claims.find((claim) => !isErased(claim) && !isOld(claim.issuedAt))
      const cameTo = waiting?.submittedAt ?? last.submittedAt
      if (!isBehind && cameTo > erasedBefore) await tx.retentions.cameTo(workspaceId, cameTo)
      return { after: last, isBehind: isBehind || waiting !== undefined }
    })
  }

  /** Returns true when there is more. */
  async #turn(retention: RetentionRow, by: Acting, signal: AbortSignal): Promise<boolean> {
    const { workspaceId, erasedBefore } = retention
    // The claims of that very millisecond are looked at again.
    let progress = this.#progress.get(workspaceId) ?? {
      after: { submittedAt: erasedBefore, claimId: '' },
      isBehind: false,
    }
    this.#progress.delete(workspaceId)
    for (let batch = 0; batch < BATCHES_A_TURN && !signal.aborted; batch++) {
      const next = await this.#eraseNext(retention, progress, by)
      if (!next) return false
      progress = next
    }
    this.#progress.set(workspaceId, progress)
    return true
  }
}
