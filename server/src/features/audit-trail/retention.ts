/** Removes entries of the audit trail that are older than the configuration keeps them. Each cut leaves an entry that tells of it. */
import { formatInstant, type Instant } from '@claimcheck/core/rules'
import type { FastifyBaseLogger } from 'fastify'
import { BY_SERVICE } from '../../base/actor.ts'
import { createLoop, IDLE, type Worker } from '../../base/worker.ts'
import { createLease } from '../../host/lease.ts'
import type { Storage } from '../../storage/storage.ts'
import type { AuditTrailConfig } from './config.ts'

interface AuditRetentionParts {
  readonly storage: Pick<Storage, 'write'>
  readonly now: () => Instant
  readonly config: AuditTrailConfig
  readonly logger: Pick<FastifyBaseLogger, 'error'>
}

const DAY_MS = 24 * 60 * 60_000
const PAUSE_MS = 60 * 60_000
/** The most entries that one transaction removes, which others wait for. */
const MOST_AT_ONCE = 5000

export function createAuditRetention({ storage, now, config, logger }: AuditRetentionParts): Worker {
  const days = config.auditTrail.retentionDays
  if (days === null) return IDLE
  const lease = createLease('audit retention', { storage })
  return createLoop(async (stopping) => {
    try {
      await lease.hold(async (lost) => {
        while (!(stopping.aborted || lost.aborted) && (await cutOnce(storage, days, now()))) {}
      })
      await lease.release()
    } catch (error) {
      logger.error({ err: error }, 'cannot remove old entries of the audit trail')
    }
    return PAUSE_MS
  })
}

/** Removes old entries once. False when there was nothing to remove. */
export function cutOnce(
  storage: Pick<Storage, 'write'>,
  days: number,
  at: Instant,
  most: number = MOST_AT_ONCE,
): Promise<boolean> {
  return storage.write(async (tx) => {
    const before = at - days * DAY_MS
    const cut = await tx.audit.cut(before, most)
    if (!cut) return false
    const details = {
      from: cut.from,
      through: cut.through,
      through_hash: Buffer.from(cut.throughHash).toString('hex'),
      retention_days: days,
      before: formatInstant(before),
    }
    tx.audit.record({ event: 'audit_trail.cut', at, by: BY_SERVICE, details })
    return true
  })
}
