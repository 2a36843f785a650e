/** The worker that sends webhooks. Every host runs one; a delivery is handed to one host at a time. */
import { setTimeout } from 'node:timers/promises'
import type { Meters } from '../../base/meters.ts'
import { createLoop, type Worker } from '../../base/worker.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Decisions } from '../claims/decisions.ts'
import { createBrake } from './brake.ts'
import type { DrivingParts } from './driving.ts'
import { createRounds, OUTCOMES } from './rounds.ts'
import type { Webhooks } from './webhooks.ts'

const IDLE_PAUSE_MS = 1000
const PAUSE_AFTER_ERROR_MS = 2000
/** The shortest time between rounds: what happens within it shares a transaction. */
const GAP_MS = 25

interface WebhookWorkerParts extends DrivingParts {
  readonly storage: Pick<Storage, 'read' | 'write' | 'onEvents'>
  readonly webhooks: Pick<Webhooks, 'openTarget' | 'send' | 'onChanged'>
  /** Says why this host may not sign: its database may be an old one. */
  readonly logGuard: { mayBeRehearsal(): Promise<boolean> }
  /** Tells how many claims this host has decided. */
  readonly decisions: Pick<Decisions, 'all'>
  readonly meters: Meters
}

/** Makes the worker. It looks at once after events of a workspace with webhooks were stored here and when a lane is free, else after a pause. */
export function createWebhookWorker(parts: WebhookWorkerParts): Worker {
  const { storage, webhooks, logGuard, meters, logger } = parts
  const tries = meters.counterOf('webhook_tries_total', 'Tries to deliver an event, by outcome', 'outcome', OUTCOMES)
  const rounds = createRounds(parts, tries.inc, () => loop.wake())
  const brake = createBrake(parts.decisions.all)
  let watched: ReadonlySet<string> = new Set()
  let watchedAt = -Infinity

  async function watch(): Promise<void> {
    if (performance.now() - watchedAt < IDLE_PAUSE_MS) return
    watched = new Set(await storage.read.webhooks.workspaces())
    watchedAt = performance.now()
  }

  const loop = createLoop(
    async (stopping) => {
      try {
        // On a database that may be an old one, as in a rehearsal, nothing is sent, so that nobody is told again of what was told.
        if (await logGuard.mayBeRehearsal()) return IDLE_PAUSE_MS
        await watch()
        const { deliveries, isMore } = await rounds.run(brake.isOn())
        const restMs = Math.max(GAP_MS, brake.restAfter(deliveries))
        await setTimeout(restMs, undefined, { signal: stopping }).catch(() => {})
        return isMore ? 0 : IDLE_PAUSE_MS
      } catch (error) {
        logger.error({ err: error }, 'cannot send webhooks: they wait')
        return PAUSE_AFTER_ERROR_MS
      }
    },
    { end: () => rounds.end().catch((error) => logger.error({ err: error }, 'some webhooks will be sent again')) },
  )
  return {
    ...loop,
    start() {
      webhooks.onChanged(loop.wake)
      storage.onEvents((workspaceIds) => {
        for (const id of workspaceIds) if (watched.has(id)) return loop.wake()
      })
      loop.start()
    },
  }
}
