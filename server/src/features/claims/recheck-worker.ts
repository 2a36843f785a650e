/** The worker that checks queued claims again when they are due. */
import type { Instant } from '@claimcheck/core/rules'
import type { FastifyBaseLogger } from 'fastify'
import type { Worker } from '../../base/worker.ts'
import type { Clock } from '../../clock/clock.ts'
import type { DueKind } from '../../storage/claims.ts'
import type { Storage } from '../../storage/storage.ts'
import type { LogGuard } from '../log/log-guard.ts'
import type { Adjudication } from './adjudication.ts'
import type { Admission } from './admission.ts'
import type { DueClaims, TakenClaim } from './due-claims.ts'

export interface RecheckWorker extends Worker {
  /** Looks at the queue without waiting for the end of the pause, after the clock was moved. */
  lookNow(): void
}

interface RecheckOptions {
  readonly storage: Storage
  readonly dueClaims: DueClaims
  readonly adjudication: Adjudication
  readonly admission: Pick<Admission, 'onFree'>
  readonly logGuard: Pick<LogGuard, 'maySign'>
  readonly clock: Pick<Clock, 'doubt'>
  readonly now: () => Instant
  readonly logger: Pick<FastifyBaseLogger, 'error'>
}

/** The pause between two reads of the queue. The times of the checks around a deadline allow for it. */
const POLL_MS = 200
/** The pause when checks end that others wait for. It doubles while that lets none of them begin. */
const SHORTEST_POLL_MS = 20
const PAUSE_AFTER_ERROR_MS = 2000
/** At a time: more than have slots, because checks that share an outcome take none. */
const MOST_TAKEN = 1000
/** Those that decide go first. */
const KINDS: readonly DueKind[] = ['deciding', 'first', 'watching', 'looking']

interface Rechecks extends Omit<RecheckOptions, 'admission'> {
  readonly running: Set<Promise<void>>
  loop: Promise<void> | undefined
  isStopping: boolean
  /** A check has ended that others wait for. */
  isAwaited: boolean
  /** The clock was moved. */
  isMoved: boolean
  shortestMs: number
  /** The shortest pause is over: from now on a freed slot ends it. */
  mayEndEarly: boolean
  /** Ends the current wait. */
  endWait: () => void
}

export function createRecheckWorker(options: RecheckOptions): RecheckWorker {
  const { storage, dueClaims, adjudication, admission, logGuard, clock, now, logger } = options
  const rechecks: Rechecks = {
    storage,
    dueClaims,
    adjudication,
    logGuard,
    clock,
    now,
    logger,
    running: new Set(),
    loop: undefined,
    isStopping: false,
    isAwaited: false,
    isMoved: false,
    shortestMs: SHORTEST_POLL_MS,
    mayEndEarly: false,
    endWait() {},
  }
  admission.onFree(() => {
    if (rechecks.isAwaited) return
    rechecks.isAwaited = true
    if (rechecks.mayEndEarly) rechecks.endWait()
  })
  return {
    start() {
      rechecks.loop ??= run(rechecks)
    },
    async stop() {
      rechecks.isStopping = true
      rechecks.endWait()
      await rechecks.loop
      await Promise.all(rechecks.running)
    },
    lookNow() {
      rechecks.isMoved = true
      rechecks.endWait()
    },
  }
}

async function run(rechecks: Rechecks): Promise<void> {
  while (!rechecks.isStopping) {
    try {
      const wasAwaited = rechecks.isAwaited
      rechecks.isAwaited = false
      rechecks.isMoved = false
      const hasTaken = (await takeDue(rechecks)) > 0
      if (hasTaken) rechecks.shortestMs = SHORTEST_POLL_MS
      else if (wasAwaited) rechecks.shortestMs = Math.min(2 * rechecks.shortestMs, POLL_MS)
      if (!hasTaken) await pause(rechecks)
    } catch (error) {
      rechecks.logger.error({ err: error }, 'cannot take due claims')
      await wait(rechecks, PAUSE_AFTER_ERROR_MS)
    }
  }
}

/** Starts the checks of due claims, and returns how many. */
async function takeDue(rechecks: Rechecks): Promise<number> {
  const { dueClaims, adjudication, logGuard, clock, now, running } = rechecks
  // A read-only host cannot store the outcome of a check.
  if (!(await logGuard.maySign())) return 0
  // By a wrong time claims would seem due that are not.
  if (clock.doubt() !== undefined) return 0
  const at = now()
  let count = 0
  for (const kind of KINDS) {
    const taken = await dueClaims.take(kind, { at, leaseEnd: adjudication.leaseEnd(at), limit: MOST_TAKEN })
    for (const one of taken) {
      const check = recheckSafely(rechecks, one).finally(() => running.delete(check))
      running.add(check)
    }
    count += taken.length
  }
  return count
}

async function recheckSafely(rechecks: Rechecks, taken: TakenClaim): Promise<void> {
  try {
    await recheck(rechecks, taken)
  } catch (error) {
    const { claimId } = taken.claim
    rechecks.logger.error({ err: error, claimId }, 'cannot store a check: the claim is checked again')
  }
}

async function recheck({ storage, dueClaims, adjudication }: Rechecks, { claim, entry }: TakenClaim): Promise<void> {
  // A check may take longer than the lease.
  if (adjudication.runningCheck(claim.claimId)) return entry.end(undefined)
  let history: Awaited<ReturnType<typeof storage.read.claims.history>>
  try {
    history = await storage.read.claims.history(claim.claimId)
  } catch (error) {
    entry.end(undefined)
    await dueClaims.putBack(claim)
    throw error
  }
  const isChecked = await adjudication.advance(claim, history, entry)
  if (isChecked) dueClaims.recorded(claim.claimId)
  else await dueClaims.putBack(claim)
}

/** Ends early when a check has ended that others wait for, but not at once. */
async function pause(rechecks: Rechecks): Promise<void> {
  if (!rechecks.isMoved) await wait(rechecks, rechecks.shortestMs)
  if (rechecks.isAwaited || rechecks.isMoved) return
  rechecks.mayEndEarly = true
  await wait(rechecks, POLL_MS - rechecks.shortestMs)
  rechecks.mayEndEarly = false
}

function wait(rechecks: Rechecks, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, rechecks.isStopping ? 0 : ms)
    rechecks.endWait = () => {
      clearTimeout(timer)
      resolve()
    }
  })
}
