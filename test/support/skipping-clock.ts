/**
 * A clock that skips the time in which a service only waits. It goes on like any clock, so what takes time takes as long on it; but as
 * soon as no check is due or under way, and no test is at work, it jumps to the next moment that anything waits for.
 */
import { setTimeout } from 'node:timers/promises'
import type { Claimcheck } from '@claimcheck/server/claimcheck'
import { watchStalls } from './stalls.ts'

interface Sleeper {
  readonly until: number
  readonly wake: () => void
}

const LOOK_EVERY_MS = 10

export class SkippingClock {
  #skippedMs = 0
  #atWork = 0
  readonly #sleepers = new Set<Sleeper>()
  readonly #stalls = watchStalls()
  #longestStallMs = 0

  readonly now = (): number => Date.now() + this.#skippedMs

  /** Waits on this clock. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const sleeper = {
        until: this.now() + ms,
        wake: () => {
          this.#sleepers.delete(sleeper)
          resolve()
        },
      }
      this.#sleepers.add(sleeper)
    })
  }

  /** What held this thread longest while no test was at work, but only the service and its destinations. */
  longestStallMs(): number {
    return this.#longestStallMs
  }

  /** No time is skipped while `work` is done. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#atWork += 1
    try {
      return await work()
    } finally {
      this.#atWork -= 1
    }
  }

  /** Begins to skip what this service waits for. @param mostMs skips to no later than so long after now @returns ends it */
  skip(claimcheck: Claimcheck, mostMs = Number.POSITIVE_INFINITY): () => Promise<void> {
    let isEnded = false
    const looking = this.#look(claimcheck, this.now() + mostMs, () => isEnded)
    return async () => {
      isEnded = true
      await looking
      this.#stalls.stop()
    }
  }

  async #look(
    { storage, adjudication, recheckWorker }: Claimcheck,
    last: number,
    isEnded: () => boolean,
  ): Promise<void> {
    for (; !isEnded(); await setTimeout(LOOK_EVERY_MS)) {
      for (const { until, wake } of this.#sleepers) if (until <= this.now()) wake()
      if (this.#atWork === 0) this.#longestStallMs = Math.max(this.#longestStallMs, this.#stalls.longestMs())
      this.#stalls.reset()
      if (this.#atWork > 0) continue
      const first = await storage.read.claims.firstQueued()
      // A check that takes long must not lose its lease by what is skipped.
      if (first && adjudication.runningCheck(first.claimId)) continue
      const next = Math.min(first?.dueAt ?? Number.POSITIVE_INFINITY, ...[...this.#sleepers].map(({ until }) => until))
      if (!Number.isFinite(next) || this.#atWork > 0) continue
      // A claim whose check is under way is due until the check is recorded: there is nothing to skip.
      this.#skippedMs += Math.max(0, Math.min(next, last) - this.now())
      recheckWorker.lookNow()
    }
  }
}
