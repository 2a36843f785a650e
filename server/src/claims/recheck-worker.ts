/** The worker that checks queued claims again when they are due. */
import type { Instant } from '@claimcheck/core'
import type { FastifyBaseLogger } from 'fastify'
import type { Worker } from '../base/worker.ts'
import type { Config } from '../config/config.ts'
import type { LogGuard } from '../log/log-guard.ts'
import type { ClaimRow } from '../storage/claim-row.ts'
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

/** The pause between two reads of the queue. The times of the checks around a deadline allow for it. */
const POLL_MS = 200
const PAUSE_AFTER_ERROR_MS = 2000

export function createRecheckWorker(options: RecheckOptions): Worker {
  const { storage, dueClaims, adjudication, logGuard, now, logger } = options
  const { concurrency } = options.config.checks
  const { slots } = adjudication
  const running = new Set<Promise<void>>()
  let isStopping = false
  /** True when due claims may wait for a slot. */
  let isFull = false
  /** Ends the current pause. */
  let wake = () => {}
  let loop: Promise<void> | undefined

  async function recheck(claim: ClaimRow): Promise<void> {
    try {
      const advanced = await adjudication.advance(claim, await storage.read.claims.history(claim.claimId))
      if (advanced !== claim) dueClaims.recorded(claim.claimId)
    } catch (error) {
      logger.error({ err: error, claimId: claim.claimId }, 'cannot store a check: the claim is checked again')
    }
  }

  /** Starts the checks of due claims, and returns how many. */
  async function takeDue(): Promise<number> {
    // A read-only host cannot store the outcome of a check.
    if (!(await logGuard.maySign())) return 0
    const limit = Math.min(slots.free(), concurrency - running.size)
    isFull = limit === 0 || slots.busyLanes().length > 0
    if (limit === 0) return 0
    const at = now()
    const { claims, mayBeMore } = await dueClaims.take({ at, leaseEnd: adjudication.leaseEnd(at), limit, slots })
    if (claims.length === 0) return 0
    isFull ||= mayBeMore
    for (const claim of claims) {
      const check = recheck(claim).finally(() => {
        running.delete(check)
        if (isFull) wake()
      })
      running.add(check)
    }
    return claims.length
  }

  /** Resolves when the time is over, or earlier through `wake`, when the end of a check frees a slot for which claims may wait. */
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
        logger.error({ err: error }, 'cannot take due claims')
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
      await Promise.all(running)
    },
  }
}
