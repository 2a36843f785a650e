/** The worker that anchors: on one host at a time, and never in the way of claims. */
import { setTimeout } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import type { Anchoring } from '../services/anchoring.ts'
import { ServiceError } from '../services/errors.ts'
import { createLease, RENEW_MS } from '../services/lease.ts'
import type { Storage } from '../storage/storage.ts'
import type { Worker } from './recheck.ts'

interface AnchorWorkerOptions {
  readonly anchoring: Anchoring | undefined
  readonly storage: Pick<Storage, 'write'>
  readonly logger: Pick<FastifyBaseLogger, 'error' | 'warn'>
}

const IDLE_PAUSE_MS = 1000
/** Right after a step there may soon be more to see. */
const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = { waiting: RENEW_MS, hindered: 5 * 60_000 } as const
const PAUSE_AFTER_ERROR_MS = 2000

const IDLE: Worker = { start() {}, stop: async () => {} }

export function createAnchorWorker({ anchoring, storage, logger }: AnchorWorkerOptions): Worker {
  if (!anchoring) return IDLE
  const lease = createLease('anchoring', { storage })
  const stopping = new AbortController()
  /** Looks and attempts in a row that came to nothing, and when the next is made. */
  let inVain = 0
  let notBefore = 0
  let loop: Promise<void> | undefined

  async function work(anchoring: Anchoring, lost: AbortSignal): Promise<void> {
    if (performance.now() < notBefore) return
    const anchor = await anchoring.take()
    if (!anchor) return
    const advance = await anchoring.advance(anchor, AbortSignal.any([stopping.signal, lost]))
    if (advance.outcome === 'moved') {
      inVain = 0
      notBefore = 0
      return
    }
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** inVain, LONGEST_PAUSE_MS[advance.outcome])
    inVain += 1
    notBefore = performance.now() + Math.max(pauseMs, advance.outcome === 'hindered' ? advance.retryAfterMs : 0)
  }

  /** How long to pause. */
  async function round(anchoring: Anchoring): Promise<number> {
    try {
      if (!(await anchoring.isNeeded())) return IDLE_PAUSE_MS
      const isHeld = await lease.hold(async (lost) => {
        await work(anchoring, lost)
        return true
      })
      // A lease that is not renewed in time goes to another host.
      return isHeld ? Math.min(Math.max(0, notBefore - performance.now()), RENEW_MS) : IDLE_PAUSE_MS
    } catch (error) {
      if (stopping.signal.aborted) return 0
      // This host is read-only, and has said why.
      if (error instanceof ServiceError) return PAUSE_AFTER_ERROR_MS
      logger.error({ err: error }, 'anchoring was interrupted: it goes on from what is stored')
      return PAUSE_AFTER_ERROR_MS
    }
  }

  async function run(anchoring: Anchoring): Promise<void> {
    while (!stopping.signal.aborted) {
      const pauseMs = await round(anchoring)
      await setTimeout(pauseMs, undefined, { signal: stopping.signal }).catch(() => {})
    }
    await lease.release().catch((error) => logger.warn({ err: error }, 'the lease could not be given back'))
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
