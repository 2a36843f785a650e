/** The worker that erases the content that workspaces keep no longer, on one host at a time. */
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
  /** The pause after the start: the machine may still have a wrong clock, which nothing has contradicted yet, and erased content is lost. */
  firstMs: 10 * 60_000,
  /** The pause after a pass that left nothing to erase. */
  idleMs: 10 * 60_000,
  /** The pause after a pass that left more to erase: claims go first. */
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
      // Content that is erased by a wrong clock is lost, and so is what the settings of an old database erase.
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
    /** Returns the time when this host last saw that nothing more is to be erased; at first, when it started. Unix time in milliseconds. */
    completedAt: () => completedAt,
  }
}
