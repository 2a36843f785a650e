/** The worker that asks for the revisits which workspaces have scheduled, on one host at a time. */
import type { Instant } from '@claimcheck/core/rules'
import type { FastifyBaseLogger } from 'fastify'
import { createLoop, type Loop } from '../../base/worker.ts'
import type { Clock } from '../../clock/clock.ts'
import { createLease } from '../../host/lease.ts'
import type { RevisitScheduleRow } from '../../storage/revisits.ts'
import type { Storage } from '../../storage/storage.ts'
import { DAY_MS, MOST_WAITING, type Revisits } from './revisits.ts'

interface ScheduleParts {
  readonly storage: Pick<Storage, 'read' | 'write'>
  readonly revisits: Pick<Revisits, 'askBySchedule'>
  readonly clock: Pick<Clock, 'doubt'>
  readonly now: () => Instant
  readonly logger: Pick<FastifyBaseLogger, 'error'>
}

const PAUSE_MS = 60_000
const CLAIMS_A_BATCH = 200

export function createRevisitSchedule({ storage, revisits, clock, now, logger }: ScheduleParts): Loop {
  const lease = createLease('revisits', { storage })

  /** Asks for the next claims of a schedule, and returns how far it has come; undefined where there are no more. */
  async function askNext(schedule: RevisitScheduleRow): Promise<RevisitScheduleRow | undefined> {
    const { workspaceId, days } = schedule
    const claims = await storage.read.revisits.submitted(workspaceId, schedule, now() - days * DAY_MS, CLAIMS_A_BATCH)
    const last = claims.at(-1)
    if (!last) return undefined
    // Claims that come of age while the most wait are passed over.
    let room = MOST_WAITING - (await storage.read.revisits.waiting(workspaceId, MOST_WAITING))
    for (const { claimId, verdict } of claims) {
      if (room <= 0 || (verdict !== 'verified' && verdict !== 'late')) continue
      if (await storage.write((tx) => revisits.askBySchedule(tx, claimId))) room--
    }
    // A host that ends before this asks again: a revisit that waits is joined, and none is asked for beyond the most of a claim.
    await storage.write((tx) => tx.revisits.cameTo(schedule, last))
    return { ...schedule, submittedAt: last.submittedAt, claimId: last.claimId }
  }

  /** Asks for all claims of a schedule that have come of age. Its failure leaves the other schedules alone. */
  async function askAll(schedule: RevisitScheduleRow, end: AbortSignal): Promise<void> {
    try {
      let next: RevisitScheduleRow | undefined = schedule
      while (next && !end.aborted) next = await askNext(next)
    } catch (error) {
      const { workspaceId, days } = schedule
      if (!end.aborted) logger.error({ err: error, workspaceId, days }, 'cannot ask for the revisits of a schedule')
    }
  }

  const round = async (stopping: AbortSignal) => {
    try {
      if (clock.doubt() !== undefined) return PAUSE_MS
      await lease.hold(async (lost) => {
        const end = AbortSignal.any([stopping, lost])
        for (const schedule of await storage.read.revisits.schedules()) await askAll(schedule, end)
      })
    } catch (error) {
      if (!stopping.aborted) logger.error({ err: error }, 'cannot ask for scheduled revisits')
    }
    return PAUSE_MS
  }
  return createLoop(round, { end: () => lease.release().catch(() => {}) })
}
