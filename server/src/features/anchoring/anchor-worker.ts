/** The worker that anchors the log, on one host at a time. Claims do not wait for it. */
import type { FastifyBaseLogger } from 'fastify'
import { ServiceError } from '../../base/errors.ts'
import { createLoop, IDLE, type Worker } from '../../base/worker.ts'
import { createLease, RENEW_MS } from '../../host/lease.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Advance } from './advance.ts'
import type { Anchoring } from './anchoring.ts'

const IDLE_PAUSE_MS = 1000
/** The first pause is short, because the chain may react soon after a step. */
const MIN_PAUSE_MS = 200
/** The longest pauses. While an anchor waits, the host must take its lease again before the lease ends. */
const MAX_PAUSE_MS = { waiting: RENEW_MS, blocked: 5 * 60_000 } as const
const PAUSE_AFTER_ERROR_MS = 2000

interface AnchorWorkerParts {
  readonly anchoring: Anchoring | undefined
  readonly storage: Pick<Storage, 'write'>
  readonly logger: Pick<FastifyBaseLogger, 'error' | 'warn'>
}

export function createAnchorWorker({ anchoring, storage, logger }: AnchorWorkerParts): Worker {
  if (!anchoring) return IDLE
  const lease = createLease('anchoring', { storage })
  /** The outcome of the last step, and how many steps in a row repeated it. */
  let outcome: Advance['outcome'] = 'moved'
  let repeats = 0
  let isExamined = false

  function pauseAfter(next: Advance['outcome'], atLeastMs = 0): number {
    repeats = next === outcome ? repeats + 1 : 0
    outcome = next
    return next === 'moved' ? 0 : Math.max(atLeastMs, Math.min(MIN_PAUSE_MS * 2 ** repeats, MAX_PAUSE_MS[next]))
  }

  /** Releases the lease, so that another host can try, which may not have this host's problem. */
  async function releaseLease(): Promise<void> {
    await lease.release().catch((error) => logger.warn({ err: error }, 'cannot release the lease'))
  }

  /** Advances the open anchor. Returns undefined when there is none, or another host has the lease. */
  const step = async (stopping: AbortSignal): Promise<Advance | undefined> => {
    if (!isExamined) await anchoring.examine(stopping)
    isExamined = true
    if (!(await anchoring.isNeeded())) return undefined
    return lease.hold(async (lost) => {
      const anchor = await anchoring.take()
      return anchor && anchoring.advance(anchor, AbortSignal.any([stopping, lost]))
    })
  }

  async function round(stopping: AbortSignal): Promise<number> {
    try {
      const advance = await step(stopping)
      if (!advance) return IDLE_PAUSE_MS
      if (advance.outcome !== 'blocked') return pauseAfter(advance.outcome)
      await releaseLease()
      return pauseAfter('blocked', advance.retryAfterMs)
    } catch (error) {
      if (stopping.aborted) return 0
      if (error instanceof ServiceError) {
        // A read-only host steps aside; the log guard has logged the reason.
        await releaseLease()
        return pauseAfter('blocked', PAUSE_AFTER_ERROR_MS)
      }
      logger.error({ err: error }, 'anchoring failed: it continues from the stored state')
      return PAUSE_AFTER_ERROR_MS
    }
  }

  return createLoop(round, { end: releaseLease })
}
