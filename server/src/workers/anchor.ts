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

/** What is waited for is looked at a hundred times in an interval, and not more often than that is worth. */
const LOOKS_PER_INTERVAL = 100
const SHORTEST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 15_000
const LONGEST_BACKOFF_MS = 5 * 60_000
const PAUSE_AFTER_ERROR_MS = 2000

const IDLE: Worker = { start() {}, stop: async () => {} }

export function createAnchorWorker({ anchoring, storage, logger }: AnchorWorkerOptions): Worker {
  if (!anchoring) return IDLE
  const pauseMs = clamp(anchoring.anchorer.intervalMs / LOOKS_PER_INTERVAL, SHORTEST_PAUSE_MS, LONGEST_PAUSE_MS)
  const lease = createLease('anchoring', { storage })
  const stopping = new AbortController()
  /** Attempts in a row that came to nothing, and when the next is made. */
  let failures = 0
  let notBefore = 0
  let loop: Promise<void> | undefined

  /** How long to pause. */
  async function work(anchoring: Anchoring, lost: AbortSignal): Promise<number> {
    if (performance.now() < notBefore) return pauseMs
    const anchor = await anchoring.take()
    if (!anchor) return pauseMs
    const result = await anchoring.advance(anchor, AbortSignal.any([stopping.signal, lost]))
    if (result.outcome === 'hindered') {
      const backoffMs = Math.min(pauseMs * 2 ** failures, LONGEST_BACKOFF_MS)
      notBefore = performance.now() + Math.max(backoffMs, result.retryAfterMs)
      failures += 1
      return pauseMs
    }
    failures = 0
    return result.outcome === 'moved' ? 0 : pauseMs
  }

  async function round(anchoring: Anchoring): Promise<number> {
    try {
      // A lease that is not renewed in time goes to another host.
      return Math.min((await lease.hold((lost) => work(anchoring, lost))) ?? pauseMs, RENEW_MS)
    } catch (error) {
      if (stopping.signal.aborted) return 0
      // This host is read-only, and has said why.
      if (error instanceof ServiceError) return RENEW_MS
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

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most)
}
