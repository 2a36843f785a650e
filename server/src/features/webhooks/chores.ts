/** The worker that removes old deliveries and replaced secrets, and ends what waits at removed webhooks, on one host at a time. */
import type { Instant } from '@claimcheck/core/rules'
import type { FastifyBaseLogger } from 'fastify'
import { newId } from '../../base/ids.ts'
import { createLoop, type Worker } from '../../base/worker.ts'
import type { Clock } from '../../clock/clock.ts'
import { createLease } from '../../host/lease.ts'
import type { Storage, Writes } from '../../storage/storage.ts'
import type { EventsConfig } from '../events/config.ts'

interface ChoresParts {
  readonly storage: Pick<Storage, 'write'>
  readonly clock: Pick<Clock, 'doubt'>
  readonly now: () => Instant
  readonly config: EventsConfig
  readonly logger: Pick<FastifyBaseLogger, 'error'>
}

const DAY_MS = 24 * 60 * 60_000
const FIRST_MS = 60_000
const PAUSE_MS = 10 * 60_000
/** The most deliveries that one transaction removes or ends. */
const MOST_REMOVED = 2000

export function createWebhookChores({ storage, clock, now, config, logger }: ChoresParts): Worker {
  const lease = createLease('webhooks', { storage })

  async function inBatches(work: (tx: Writes) => Promise<number>, stopping: AbortSignal): Promise<void> {
    while ((await storage.write(work)) === MOST_REMOVED) stopping.throwIfAborted()
  }

  const round = async (stopping: AbortSignal) => {
    try {
      // By a wrong clock it would remove what is not old.
      if (clock.doubt() !== undefined) return PAUSE_MS
      await lease.hold(async (lost) => {
        // Deliveries are removed at the age at which events are.
        const before = newId('msg_', now() - config.events.retentionDays * DAY_MS)
        const ending = AbortSignal.any([stopping, lost])
        await storage.write((tx) => tx.webhooks.forgetFormer(now()))
        await inBatches((tx) => tx.webhooks.endRemoved(MOST_REMOVED), ending)
        await inBatches((tx) => tx.webhooks.removeBefore(before, MOST_REMOVED), ending)
      })
    } catch (error) {
      if (!stopping.aborted) logger.error({ err: error }, 'old deliveries stay for now')
    }
    return PAUSE_MS
  }
  return createLoop(round, { firstMs: FIRST_MS, end: () => lease.release().catch(() => {}) })
}
