/** The worker that looks at queued claims again when they are due. */
import { setTimeout } from 'node:timers/promises'
import type { Instant } from '@claimcheck/core'
import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../config.ts'
import type { Adjudication } from '../services/adjudication.ts'
import type { ClaimRow } from '../storage/claims.ts'
import type { Storage } from '../storage/storage.ts'

export interface Worker {
  start(): void
  /** Takes up nothing new, and resolves when what is under way is done. */
  stop(): Promise<void>
}

interface RecheckOptions {
  readonly storage: Storage
  readonly adjudication: Adjudication
  readonly now: () => Instant
  readonly config: Pick<Config, 'checks'>
  readonly logger: Pick<FastifyBaseLogger, 'error'>
}

/** The pause between two looks at the queue; the pairs of checks around a deadline leave room for it. */
const POLL_MS = 200
const PAUSE_AFTER_ERROR_MS = 2000

export function createRecheckWorker({ storage, adjudication, now, config, logger }: RecheckOptions): Worker {
  const { concurrency } = config.checks
  const underWay = new Set<Promise<void>>()
  const stopping = new AbortController()
  let loop: Promise<void> | undefined

  async function recheck(claim: ClaimRow): Promise<void> {
    try {
      await adjudication.advance(claim, await storage.read.claims.history(claim.claimId))
    } catch (error) {
      logger.error({ err: error, claimId: claim.claimId }, 'could not record a check: it is made again')
    }
  }

  async function takeDue(): Promise<boolean> {
    const free = concurrency - underWay.size
    if (free <= 0) return false
    const at = now()
    const claims = await storage.write((tx) => tx.claims.lease(at, adjudication.leaseEnd(at), free))
    for (const claim of claims) {
      const check = recheck(claim).finally(() => underWay.delete(check))
      underWay.add(check)
    }
    return claims.length === free
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      let pauseMs = POLL_MS
      try {
        while (!stopping.signal.aborted && (await takeDue())) await Promise.race(underWay)
      } catch (error) {
        logger.error({ err: error }, 'could not take due claims')
        pauseMs = PAUSE_AFTER_ERROR_MS
      }
      await setTimeout(pauseMs, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }

  return {
    start() {
      loop ??= run()
    },
    async stop() {
      stopping.abort()
      await loop
      await Promise.all(underWay)
    },
  }
}
