/** The worker that erases what workspaces keep no longer, on one host at a time. */
import type { FastifyBaseLogger } from 'fastify'
import { BY_SERVICE } from '../../base/actor.ts'
import { createLoop } from '../../base/worker.ts'
import type { Clock } from '../../clock/clock.ts'
import { createLease } from '../../host/lease.ts'
import type { Storage } from '../../storage/storage.ts'
import type { LogGuard } from '../log/log-guard.ts'
import type { RetentionService } from './retention.ts'

interface RetentionWorkerParts {
  readonly retention: Pick<RetentionService, 'isNeeded' | 'pass'>
  readonly storage: Pick<Storage, 'write'>
  readonly clock: Pick<Clock, 'doubt'>
  readonly logGuard: Pick<LogGuard, 'maySign'>
  readonly logger: Pick<FastifyBaseLogger, 'error'>
}

const PAUSES = {
  /** The pause after the start: the machine may still have a wrong clock, which nothing has contradicted yet. What it erases is lost. */
  firstMs: 10 * 60_000,
  /** The pause between passes that find nothing more. */
  idleMs: 10 * 60_000,
  /** The pause between passes while there is more: claims go first. */
  busyMs: 1000,
}

export type RetentionWorker = ReturnType<typeof createRetentionWorker>

export function createRetentionWorker(
  { retention, storage, clock, logGuard, logger }: RetentionWorkerParts,
  pauses = PAUSES,
) {
  const lease = createLease('retention', { storage })
  let completedAt = Date.now()

  async function round(stopping: AbortSignal): Promise<number> {
    try {
      // What a wrong clock erases is lost, and what an old database's settings do.
      if (clock.doubt() !== undefined || !(await logGuard.maySign())) return pauses.idleMs
      const pass = (lost: AbortSignal) => retention.pass(BY_SERVICE, AbortSignal.any([stopping, lost]))
      const isMore = (await retention.isNeeded()) && (await lease.hold(pass))
      if (isMore === false) completedAt = Date.now()
      return isMore ? pauses.busyMs : pauses.idleMs
    } catch (error) {
      if (!stopping.aborted) logger.error({ err: error }, 'retention failed: it continues with the next pass')
      return pauses.idleMs
    }
  }

  const loop = createLoop(round, { firstMs: pauses.firstMs, end: () => lease.release().catch(() => {}) })
  return {
    ...loop,
    /** When this host last saw that nothing more is to be erased; at first, when it started. Unix time in milliseconds. */
    completedAt: () => completedAt,
  }
}
