/** The worker that looks at queued claims again when they are due. */
import type { Instant } from '@claimcheck/core'
import type { FastifyBaseLogger } from 'fastify'
import type { Worker } from '../base/worker.ts'
import type { Config } from '../config/config.ts'
import type { LogGuard } from '../log/log-guard.ts'
import type { ClaimRow } from '../storage/claim-row.ts'
import type { DueClaim } from '../storage/claims.ts'
import type { Storage } from '../storage/storage.ts'
import type { Adjudication } from './adjudication.ts'
import type { DueClaims } from './due-claims.ts'

interface RecheckOptions {
  readonly storage: Storage
  readonly dueClaims: DueClaims
  readonly adjudication: Adjudication
  readonly logGuard: Pick<LogGuard, 'maySign'>
  readonly now: () => Instant
  readonly config: Pick<Config, 'checks'>
  readonly logger: Pick<FastifyBaseLogger, 'error'>
}

/** The pause between two looks at the queue; the pairs of checks around a deadline leave room for it. */
const POLL_MS = 200
const PAUSE_AFTER_ERROR_MS = 2000

export function createRecheckWorker(options: RecheckOptions): Worker {
  const { storage, dueClaims, adjudication, logGuard, now, logger } = options
  const { concurrency } = options.config.checks
  const { slots } = adjudication
  const underWay = new Set<Promise<void>>()
  let isStopping = false
  /** More may be due than there was room for. */
  let isFull = false
  /** Ends the pause, when there is one. */
  let wake = () => {}
  let loop: Promise<void> | undefined

  async function recheck(claim: ClaimRow): Promise<void> {
    try {
      const advanced = await adjudication.advance(claim, await storage.read.claims.history(claim.claimId))
      if (advanced !== claim) dueClaims.recorded(claim.claimId)
    } catch (error) {
      logger.error({ err: error, claimId: claim.claimId }, 'could not record a check: it is made again')
    }
  }

  /** Those that there is room for, each lane's longest due first. */
  function choose(due: readonly DueClaim[]): string[] {
    const chosen = new Map<string, number>()
    return due
      .filter(({ lane }) => {
        const count = (chosen.get(lane) ?? 0) + 1
        chosen.set(lane, count)
        return count <= slots.room(lane)
      })
      .map(({ claimId }) => claimId)
  }

  /** How many it took. */
  async function takeDue(): Promise<number> {
    // What it would find could not be recorded.
    if (!(await logGuard.maySign())) return 0
    const free = Math.min(slots.free(), concurrency - underWay.size)
    const busy = slots.busy()
    isFull = free === 0 || busy.length > 0
    if (free === 0) return 0
    const at = now()
    const request = { at, leaseEnd: adjudication.leaseEnd(at), most: free, busyLanes: busy, choose }
    const { claims, mayBeMore } = await dueClaims.take(request)
    if (claims.length === 0) return 0
    isFull ||= mayBeMore
    for (const claim of claims) {
      const check = recheck(claim).finally(() => {
        underWay.delete(check)
        if (isFull) wake()
      })
      underWay.add(check)
    }
    return claims.length
  }

  /** Until the time is over, or a check has made room: then there may be more that waits for it. */
  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  async function run(): Promise<void> {
    while (!isStopping) {
      try {
        if ((await takeDue()) === 0) await pause(POLL_MS)
      } catch (error) {
        logger.error({ err: error }, 'could not take due claims')
        await pause(PAUSE_AFTER_ERROR_MS)
      }
    }
  }

  return {
    start() {
      loop ??= run()
    },
    async stop() {
      isStopping = true
      wake()
      await loop
      await Promise.all(underWay)
    },
  }
}
