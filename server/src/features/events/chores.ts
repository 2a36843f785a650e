/** The worker that tells of connections which recovered and of credentials which end soon, and removes old events, on one host at a time. */
import { formatInstant, type Instant } from '@claimcheck/core/rules'
import type { FastifyBaseLogger } from 'fastify'
import { createLoop, type Worker } from '../../base/worker.ts'
import type { Clock } from '../../clock/clock.ts'
import { createLease } from '../../host/lease.ts'
import type { Storage } from '../../storage/storage.ts'
import type { LogGuard } from '../log/log-guard.ts'
import { recordEvent } from '../workspaces/connection-notes.ts'
import type { EventsConfig } from './config.ts'

interface ChoresParts {
  readonly storage: Pick<Storage, 'read' | 'write'>
  readonly clock: Pick<Clock, 'doubt'>
  readonly logGuard: Pick<LogGuard, 'maySign'>
  readonly now: () => Instant
  readonly config: EventsConfig
  readonly logger: Pick<FastifyBaseLogger, 'error'>
}

const DAY_MS = 24 * 60 * 60_000
/** The time before the end of credentials at which an event tells of it. */
const EXPIRING_MS = 7 * DAY_MS
/** The time for which a connection that was told as failing has to be read without a failure: one that is refused now and then is told once. */
const STEADY_MS = 10 * 60_000
const FIRST_MS = 60_000
const PAUSE_MS = 10 * 60_000

export function createEventChores({ storage, clock, logGuard, now, config, logger }: ChoresParts) {
  const lease = createLease('events', { storage })

  async function tellConnections(): Promise<void> {
    const at = now()
    await storage.write(async (tx) => {
      for (const connection of await tx.connectionHealth.tellRecovered(at - STEADY_MS))
        recordEvent(tx, connection, { type: 'connection.recovered', at, detail: null })
      for (const connection of await tx.connectionHealth.tellExpiring(at, at + EXPIRING_MS)) {
        const details = { expires_at: formatInstant(connection.expiresAt!) }
        recordEvent(tx, connection, { type: 'connection.expiring', at, detail: null, details })
      }
    })
  }

  async function removeOld(stopping: AbortSignal): Promise<void> {
    const before = now() - config.events.retentionDays * DAY_MS
    for (const workspaceId of await storage.read.events.workspaces()) {
      while (await storage.write((tx) => tx.events.removeBefore(workspaceId, before))) stopping.throwIfAborted()
      stopping.throwIfAborted()
    }
  }

  async function round(stopping: AbortSignal): Promise<number> {
    try {
      // By a wrong clock, or on an old database, it would tell what is not so, and remove what is not old.
      if (clock.doubt() !== undefined || !(await logGuard.maySign())) return PAUSE_MS
      await lease.hold(async (lost) => {
        await tellConnections()
        await removeOld(AbortSignal.any([stopping, lost]))
      })
    } catch (error) {
      if (!stopping.aborted) logger.error({ err: error }, 'old events stay for now')
    }
    return PAUSE_MS
  }
  const loop: Worker = createLoop(round, { firstMs: FIRST_MS, end: () => lease.release().catch(() => {}) })
  return { ...loop, round }
}
