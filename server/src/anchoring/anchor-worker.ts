/** The worker that anchors: on one host at a time, and never in the way of claims. */
import { setTimeout } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import { ServiceError } from '../base/errors.ts'
import type { Worker } from '../base/worker.ts'
import { createLease, RENEW_MS } from '../hosts/lease.ts'
import type { Storage } from '../storage/storage.ts'
import type { Advance } from './advance.ts'
import type { Anchoring } from './anchoring.ts'

interface AnchorWorkerOptions {
  readonly anchoring: Anchoring | undefined
  readonly storage: Pick<Storage, 'write'>
  readonly logger: Pick<FastifyBaseLogger, 'error' | 'warn'>
}

const IDLE_PAUSE_MS = 1000
/** Right after a step there may soon be more to see. */
const FIRST_PAUSE_MS = 200
/** While it waits, a lease has to be taken again before it runs out. */
const LONGEST_PAUSE_MS = { waiting: RENEW_MS, hindered: 5 * 60_000 } as const
const PAUSE_AFTER_ERROR_MS = 2000

const IDLE: Worker = { start() {}, stop: async () => {} }

export function createAnchorWorker({ anchoring, storage, logger }: AnchorWorkerOptions): Worker {
  if (!anchoring) return IDLE
  const lease = createLease('anchoring', { storage })
  const stopping = new AbortController()
  /** What the last steps came to, and how many of them in a row to the same. */
  let outcome: Advance['outcome'] = 'moved'
  let inVain = 0
  let loop: Promise<void> | undefined

  async function work(anchoring: Anchoring, lost: AbortSignal): Promise<Advance | undefined> {
    const anchor = await anchoring.take()
    return anchor && anchoring.advance(anchor, AbortSignal.any([stopping.signal, lost]))
  }

  function pauseAfter(next: Advance['outcome'], atLeastMs = 0): number {
    inVain = next === outcome ? inVain + 1 : 0
    outcome = next
    return next === 'moved' ? 0 : Math.max(atLeastMs, Math.min(FIRST_PAUSE_MS * 2 ** inVain, LONGEST_PAUSE_MS[next]))
  }

  /** How long to pause. */
  async function round(anchoring: Anchoring): Promise<number> {
    try {
      if (!(await anchoring.isNeeded())) return IDLE_PAUSE_MS
      const advance = await lease.hold((lost) => work(anchoring, lost))
      if (!advance) return IDLE_PAUSE_MS
      if (advance.outcome !== 'hindered') return pauseAfter(advance.outcome)
      await giveBack()
      return pauseAfter(advance.outcome, advance.retryAfterMs)
    } catch (error) {
      if (stopping.signal.aborted) return 0
      if (error instanceof ServiceError) {
        // This host is read-only, and has said why.
        await giveBack()
        return pauseAfter('hindered', PAUSE_AFTER_ERROR_MS)
      }
      logger.error({ err: error }, 'anchoring was interrupted: it goes on from what is stored')
      return PAUSE_AFTER_ERROR_MS
    }
  }

  /** Another host may have what this one lacks. */
  async function giveBack(): Promise<void> {
    await lease.release().catch((error) => logger.warn({ err: error }, 'the lease could not be given back'))
  }

  async function run(anchoring: Anchoring): Promise<void> {
    await anchoring.examine(stopping.signal).catch((error) => {
      if (!stopping.signal.aborted) throw error
    })
    while (!stopping.signal.aborted) {
      const pauseMs = await round(anchoring)
      await setTimeout(pauseMs, undefined, { signal: stopping.signal }).catch(() => {})
    }
    await giveBack()
  }

  return {
    start() {
      loop ??= run(anchoring)
    },
    async stop() {
      stopping.abort()
      await loop
    },
  }
}
