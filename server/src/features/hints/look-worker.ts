/** The worker that makes the looks which hints ask for. Every host runs one; each look is handed to one host at a time. */
import { type Instant, isRead, PROMPT_MS } from '@claimcheck/core/rules'
import type { FastifyBaseLogger } from 'fastify'
import type { Meters } from '../../base/meters.ts'
import { createLoop, type Worker } from '../../base/worker.ts'
import type { Clock } from '../../clock/clock.ts'
import type { Counters } from '../../http/counters.ts'
import type { ClaimRow } from '../../storage/claim-row.ts'
import { laneOf } from '../../storage/claims.ts'
import type { HintRow } from '../../storage/hints.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Adjudication } from '../claims/adjudication.ts'
import type { Admission, Entry } from '../claims/admission.ts'
import type { LogGuard } from '../log/log-guard.ts'
import { type Hints, MOST_LOOKS } from './hints.ts'

interface LookWorkerOptions {
  readonly storage: Storage
  readonly hints: Pick<Hints, 'onAsked'>
  readonly adjudication: Pick<Adjudication, 'lookOnHint'>
  readonly admission: Pick<Admission, 'enter'>
  readonly logGuard: Pick<LogGuard, 'maySign'>
  readonly clock: Pick<Clock, 'doubt'>
  readonly counters: Counters
  readonly meters: Meters
  readonly now: () => Instant
  readonly logger: Pick<FastifyBaseLogger, 'error'>
}

const PAUSE_MS = 1000
const LOOKS_AT_ONCE = 16
/** The time for which a host has its looks, longer than a check takes. */
const LEASE_MS = 90_000
/** The time between two looks at one claim. Hints that come meanwhile are joined. */
const APART_MS = 10_000
/** The time before the next check of the schedule in which no look begins. */
const CLOSE_MS = 5000
/** The time after which a hint is too old for a look. */
const STALE_MS = 60_000
/** The time after which a look is tried again that was too close to the next check, and one for which there was no slot or budget. */
const AGAIN_MS = { close: 1000, refused: 5000 } as const
/** The most looks in a minute: through one connection, and of one workspace. */
const MOST_A_MINUTE = { connection: 30, workspace: 60 } as const
const SWEEP_EVERY_MS = 60_000
const SWEPT_AT_ONCE = 1000

/** The outcomes of looks. `stored`: the receipt lists it. `unstored`: it could not read, or told nothing. `dropped`: it was not made. */
const OUTCOMES = ['decided', 'stored', 'unstored', 'dropped'] as const

interface MadeLook {
  readonly outcome: (typeof OUTCOMES)[number]
  /** The time until which the destination asked to be left alone. */
  readonly retryAt?: Instant | undefined
}

export function createLookWorker(parts: LookWorkerOptions): Worker {
  const { storage, hints, adjudication, admission, logGuard, clock, counters, meters, now, logger } = parts
  const { inc } = meters.counterOf('hinted_looks_total', 'Looks that hints asked for, by outcome', 'outcome', OUTCOMES)
  const running = new Set<Promise<void>>()
  let sweptAt = 0

  /** Counts a look. False beyond the most of a minute. */
  async function isWithin({ workspaceId, connectionId }: ClaimRow): Promise<boolean> {
    const [ofConnection, ofWorkspace] = await Promise.all([
      counters.add('looks of connection', connectionId ?? `none of ${workspaceId}`),
      counters.add('looks of workspace', workspaceId),
    ])
    return ofConnection.count <= MOST_A_MINUTE.connection && ofWorkspace.count <= MOST_A_MINUTE.workspace
  }

  /** Makes a look that was admitted, unless it is beyond the most of a minute. */
  async function makeLook(claim: ClaimRow, entry: Entry): Promise<MadeLook> {
    const reading = Promise.all([isWithin(claim), storage.read.claims.history(claim.claimId)])
    const [isRoom, history] = await reading.catch((error: unknown) => {
      entry.end(undefined)
      throw error
    })
    if (!isRoom) {
      entry.end(undefined)
      return { outcome: 'dropped' }
    }
    const { stored, retryAt } = await adjudication.lookOnHint(claim, history, entry)
    if (!stored) return { outcome: 'unstored', retryAt }
    return { outcome: stored.verdict === null ? 'stored' : 'decided' }
  }

  async function look(row: HintRow): Promise<void> {
    const [claim] = await storage.read.claims.byIds([row.claimId])
    const at = now()
    const when = claim && timeOfLook(claim, row, at)
    if (!claim || when === undefined) return drop(row)
    if (when > at) return storage.write((tx) => tx.hints.postpone(row, when))
    const { claimId, target, deadlineAt } = claim
    const entry = admission.enter({ claimId, target, lane: laneOf(claim), deadlineAt }, 'hinted')
    if (!entry) return storage.write((tx) => tx.hints.postpone(row, at + AGAIN_MS.refused))
    const { outcome, retryAt = 0 } = await makeLook(claim, entry)
    if (outcome === 'dropped') return drop(row)
    inc(outcome)
    await storage.write((tx) => tx.hints.looked(row, Math.max(at + APART_MS, retryAt), MOST_LOOKS))
  }

  async function drop(row: HintRow): Promise<void> {
    inc('dropped')
    await storage.write((tx) => tx.hints.drop(row))
  }

  /** Starts the due looks, and returns their number. */
  async function takeDue(): Promise<number> {
    const at = now()
    if (!(await storage.read.hints.anyDue(at))) return 0
    const rows = await storage.write((tx) => tx.hints.lease(at, at + LEASE_MS, LOOKS_AT_ONCE))
    for (const row of rows) {
      const looking = look(row)
        .catch((error) => logger.error({ err: error, claimId: row.claimId }, 'a look on a hint failed'))
        .finally(() => running.delete(looking))
      running.add(looking)
    }
    return rows.length
  }

  async function sweep(): Promise<void> {
    if (now() - sweptAt < SWEEP_EVERY_MS) return
    sweptAt = now()
    await storage.write((tx) => tx.hints.removeDecided(SWEPT_AT_ONCE))
  }

  const loop = createLoop(async () => {
    try {
      // By a wrong time nothing is read, and a read-only host stores no check.
      if (clock.doubt() !== undefined || !(await logGuard.maySign())) return PAUSE_MS
      await sweep()
      return (await takeDue()) === LOOKS_AT_ONCE ? 0 : PAUSE_MS
    } catch (error) {
      logger.error({ err: error }, 'cannot take hints: they wait')
      return PAUSE_MS
    }
  })
  return {
    start() {
      hints.onAsked(loop.wake)
      loop.start()
    },
    async stop() {
      await loop.stop()
      await Promise.all(running)
    },
  }
}

/**
 * Finds the time of a look that a hint asked for; undefined where none is to be made: the claim's own schedule has looked since, or what it saw says
 * that a look is of no use, or not welcome.
 */
function timeOfLook(claim: ClaimRow, { askedAt }: HintRow, at: Instant): Instant | undefined {
  const { state, access, unsigned, attempts, lastCheck, submittedAt, deadlineAt, nextCheckAt } = claim
  const isReadable = access === 'connection' || access === 'anonymous'
  if (state === 'decided' || !isReadable || unsigned === 1 || attempts === 0 || nextCheckAt === null) return undefined
  if (at >= deadlineAt || at - askedAt > STALE_MS || !lastCheck || lastCheck.sentAt > askedAt) return undefined
  if (!isRead(lastCheck)) {
    const { retryAt = 0, endedProcess } = lastCheck.failure
    if (retryAt > at || endedProcess) return undefined
  }
  if (at < submittedAt + PROMPT_MS) return submittedAt + PROMPT_MS
  return nextCheckAt - at < CLOSE_MS ? at + AGAIN_MS.close : at
}
