/** The places for work that this host does at a time, shared fairly among those who ask. */
import { DestinationError } from '@claimcheck/core/plugin'

/** Weight of a user, who may take so many times what is free: of 8 places 6, and many users always leave some. */
const WEIGHT = 3

export type Places = ReturnType<typeof createPlaces>

interface WaitingRun {
  readonly user: string
  readonly start: () => void
}

export function createPlaces(count: number) {
  const used = new Map<string, number>()
  const waiting = new Set<WaitingRun>()
  let free = count
  const usedBy = (user: string) => used.get(user) ?? 0

  /** Chooses the next user: who has the fewest places comes first, and then who has waited longest. */
  function next(): WaitingRun | undefined {
    let first: WaitingRun | undefined
    for (const one of waiting) {
      if (usedBy(one.user) >= WEIGHT * free) continue
      if (!first || usedBy(one.user) < usedBy(first.user)) first = one
    }
    return first
  }

  function fill(): void {
    for (let one = next(); one; one = next()) {
      waiting.delete(one)
      free--
      used.set(one.user, usedBy(one.user) + 1)
      one.start()
    }
  }

  function leave(user: string): void {
    free++
    if (usedBy(user) > 1) used.set(user, usedBy(user) - 1)
    else used.delete(user)
    fill()
  }

  function place(user: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(new DestinationError('timeout'))
      const onAbort = () => {
        waiting.delete(one)
        reject(new DestinationError('timeout'))
      }
      const one: WaitingRun = {
        user,
        start() {
          signal.removeEventListener('abort', onAbort)
          resolve()
        },
      }
      signal.addEventListener('abort', onAbort, { once: true })
      waiting.add(one)
      fill()
    })
  }

  return {
    /** Works as soon as there is a place. @throws DestinationError `timeout` when the signal aborts before that */
    async within<T>(user: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
      await place(user, signal)
      try {
        return await work()
      } finally {
        leave(user)
      }
    },
  }
}
