/**
 * Shares one search of a history among all checks that look for commits in it. It goes from the tip backwards, gets more of the history when it has
 * to, and goes on for as long as a check waits for it.
 */
import { DestinationError } from '@claimcheck/core/plugin'

export interface SearchSteps {
  /** Walks over the ids that are here. @param onIds gets whole lines of ids; false ends the walk @returns whether these are all ids that there are */
  walk(onIds: (ids: Buffer) => boolean, signal: AbortSignal): Promise<boolean>
  /** Gets more of the history. */
  deepen(signal: AbortSignal): Promise<void>
}

interface Seeker {
  readonly sha: string
  readonly answer: (isThere: boolean) => void
  readonly fail: (reason: unknown) => void
}

interface RunningSearch {
  readonly seekers: Set<Seeker>
  readonly abort: AbortController
}

export function createSearches() {
  const running = new Map<string, RunningSearch>()

  /** Forgets a search, in the same turn of the event loop as the last look at the seekers, so that nobody joins a search that has ended. */
  function forget(tip: string, ended: RunningSearch): void {
    if (running.get(tip) === ended) running.delete(tip)
  }

  async function search(tip: string, begun: RunningSearch, steps: SearchSteps): Promise<void> {
    const { seekers, abort } = begun
    while (seekers.size > 0) {
      // A seeker who comes later has missed the beginning of this walk, and waits for the next.
      let left = [...seekers]
      const isWhole = await steps.walk((ids) => {
        left = left.filter((seeker) => {
          const isHere = ids.includes(`${seeker.sha}\n`)
          if (isHere) seeker.answer(true)
          return !isHere && seekers.has(seeker)
        })
        return left.length > 0
      }, abort.signal)
      if (left.length === 0) continue
      if (isWhole) for (const seeker of left) seeker.answer(false)
      else await steps.deepen(abort.signal)
    }
    forget(tip, begun)
  }

  function start(tip: string, steps: SearchSteps): RunningSearch {
    const begun: RunningSearch = { seekers: new Set(), abort: new AbortController() }
    running.set(tip, begun)
    begun.abort.signal.addEventListener('abort', () => forget(tip, begun))
    // Seekers who come in this turn take part in the first walk.
    Promise.resolve()
      .then(() => search(tip, begun, steps))
      .catch((reason) => {
        forget(tip, begun)
        for (const seeker of begun.seekers) seeker.fail(reason)
      })
    return begun
  }

  return {
    /**
     * Tells whether the commit is the tip or one of its ancestors.
     * @param steps the steps of the check that begins the search
     * @throws DestinationError `timeout` when the signal aborts, and what the steps throw
     */
    find(sha: string, tip: string, signal: AbortSignal, steps: SearchSteps): Promise<boolean> {
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(new DestinationError('timeout'))
        const { seekers, abort } = running.get(tip) ?? start(tip, steps)
        const leave = () => {
          seekers.delete(seeker)
          signal.removeEventListener('abort', onAbort)
        }
        const seeker: Seeker = {
          sha,
          answer(isThere) {
            leave()
            resolve(isThere)
          },
          fail(reason) {
            leave()
            reject(reason)
          },
        }
        const onAbort = () => {
          seeker.fail(new DestinationError('timeout'))
          // The last seeker has left: nobody needs the search.
          if (seekers.size === 0) abort.abort()
        }
        signal.addEventListener('abort', onAbort, { once: true })
        seekers.add(seeker)
      })
    },
  }
}
