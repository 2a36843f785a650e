/** The worker that erases what workspaces keep no longer, on one host at a time. */
import { setTimeout } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import { BY_SERVICE } from '../base/actor.ts'
import type { Worker } from '../base/worker.ts'
import type { ClockDoubt } from '../hosts/clock-doubt.ts'
import { createLease } from '../hosts/lease.ts'
import type { Storage } from '../storage/storage.ts'
import type { RetentionService } from './retention.ts'

interface RetentionWorkerOptions {
  readonly retention: Pick<RetentionService, 'isNeeded' | 'pass'>
  readonly storage: Pick<Storage, 'write'>
  readonly clockDoubt: Pick<ClockDoubt, 'isDoubted'>
  readonly logger: Pick<FastifyBaseLogger, 'error'>
}

/** A server that has just started has other things to do. */
const FIRST_PAUSE_MS = 5000
const PAUSE_MS = 10 * 60_000
/** Between passes while there is more: claims go first. */
const SHORT_PAUSE_MS = 1000

export function createRetentionWorker({ retention, storage, clockDoubt, logger }: RetentionWorkerOptions): Worker {
  const lease = createLease('retention', { storage })
  const stopping = new AbortController()
  let loop: Promise<void> | undefined

  /** Returns how long to pause after it. */
  async function round(): Promise<number> {
    try {
      // What a wrong clock erases is lost.
      if (clockDoubt.isDoubted() || !(await retention.isNeeded())) return PAUSE_MS
      const isMore = await lease.hold((lost) => retention.pass(BY_SERVICE, AbortSignal.any([stopping.signal, lost])))
      return isMore ? SHORT_PAUSE_MS : PAUSE_MS
    } catch (error) {
      if (!stopping.signal.aborted) logger.error({ err: error }, 'retention failed: it continues with the next pass')
      return PAUSE_MS
    }
  }

  async function run(): Promise<void> {
    await pause(FIRST_PAUSE_MS)
    while (!stopping.signal.aborted) await pause(await round())
    await lease.release().catch(() => {})
  }

  async function pause(ms: number): Promise<void> {
    await setTimeout(ms, undefined, { signal: stopping.signal }).catch(() => {})
  }

  return {
    start() {
      loop ??= run()
    },
    async stop() {
      stopping.abort()
      await loop
    },
  }
}
