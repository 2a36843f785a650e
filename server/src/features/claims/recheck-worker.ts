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
/** The shortest pause when a check ended that others waited for. It doubles while none of them can begin. */
const SHORTEST_POLL_MS = 20
const PAUSE_AFTER_ERROR_MS = 2000
/** The most claims that are taken at a time: more than have slots, because checks that share an outcome take none. */
const MOST_TAKEN = 1000
/** The kinds of due claims in the order in which they are taken: those that decide go first. */
const KINDS: readonly DueKind[] = ['deciding', 'first', 'watching', 'looking']

export function createRecheckWorker({
  storage,
  dueClaims,
  adjudication,
  admission,
  logGuard,
  clock,
  now,
  logger,
}: RecheckOptions) {
  const running = new Set<Promise<void>>()
  let loop: Promise<void> | undefined
  let isStopping = false
  /** True once a check has ended that others wait for. */
  let isAwaited = false
  /** True once the clock was moved. */
  let isMoved = false
  let shortestMs = SHORTEST_POLL_MS
  /** True once the shortest pause is over: from then on a freed slot ends it. */
  let mayEndEarly = false
  let endWait = () => {}

  admission.onFree(() => {
    if (isAwaited) return
    isAwaited = true
    if (mayEndEarly) endWait()
  })

  async function run(): Promise<void> {
    while (!isStopping) {
      try {
        const wasAwaited = isAwaited
        isAwaited = false
        isMoved = false
        const hasTaken = (await takeDue()) > 0
        if (hasTaken) shortestMs = SHORTEST_POLL_MS
        else if (wasAwaited) shortestMs = Math.min(2 * shortestMs, POLL_MS)
        if (!hasTaken) await pause()
      } catch (error) {
        logger.error({ err: error }, 'cannot take due claims')
        await wait(PAUSE_AFTER_ERROR_MS)
      }
    }
  }

  /** Starts the checks of due claims, and returns their number. */
  async function takeDue(): Promise<number> {
    // On a read-only host the outcome of a check cannot be stored.
    if (!(await logGuard.maySign())) return 0
    // By a wrong time claims would seem due that are not.
    if (clock.doubt() !== undefined) return 0
    const at = now()
    let count = 0
    for (const kind of KINDS) {
      const taken = await dueClaims.take(kind, { at, leaseEnd: adjudication.leaseEnd(at), limit: MOST_TAKEN })
      for (const one of taken) {
        const check = recheckSafely(one).finally(() => running.delete(check))
        running.add(check)
      }
      count += taken.length
    }
    return count
  }

  async function recheckSafely(taken: TakenClaim): Promise<void> {
    try {
      await recheck(taken)
    } catch (error) {
      const { claimId } = taken.claim
      logger.error({ err: error, claimId }, 'cannot store a check: the claim is checked again')
    }
  }

  async function recheck({ claim, entry }: TakenClaim): Promise<void> {
    // Checks may take longer than the lease, so this host may still run one of the claim.
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

  /** Pauses, but ends early, though not at once, when a check has ended that others wait for. */
  async function pause(): Promise<void> {
    if (!isMoved) await wait(shortestMs)
    if (isAwaited || isMoved) return
    mayEndEarly = true
    await wait(POLL_MS - shortestMs)
    mayEndEarly = false
  }

  function wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, isStopping ? 0 : ms)
      endWait = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  return {
    start() {
      loop ??= run()
    },
    async stop() {
      isStopping = true
      endWait()
      await loop
      await Promise.all(running)
    },
    /** Ends the pause and looks at the queue, after the clock was moved. */
    lookNow() {
      isMoved = true
      endWait()
    },
  } satisfies Worker & { lookNow(): void }
}
