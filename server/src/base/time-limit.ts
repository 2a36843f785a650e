/** Time limits for work that this code does not control, such as a plugin's check. */
import { setMaxListeners } from 'node:events'

/** Settles as `work` does, or rejects with the error of `expire` when `work` takes longer. The work itself is not stopped. */
export function withinTime<T>(work: Promise<T>, limitMs: number, expire: () => Error): Promise<T> {
  return new Promise((resolve, reject) => follow(work, limitMs, resolve, reject, () => reject(expire())))
}

/** Resolves with the result of `work`, or with undefined when `work` takes longer or fails. The work itself is not stopped. */
export function settledWithin<T>(work: Promise<T>, limitMs: number): Promise<T | undefined> {
  return new Promise((resolve) => {
    const nothing = () => resolve(undefined)
    follow(work, limitMs, resolve, nothing, nothing)
  })
}

// Stands in place of Promise.race, which costs several times as much, and this runs for each claim.
function follow<T>(
  work: Promise<T>,
  limitMs: number,
  done: (value: T) => void,
  failed: (error: unknown) => void,
  expired: () => void,
): void {
  const timer = setTimeout(expired, limitMs)
  work.then(
    (value) => {
      clearTimeout(timer)
      done(value)
    },
    (error: unknown) => {
      clearTimeout(timer)
      failed(error)
    },
  )
}

// One error for all checks that end: an error with a stack for each would take 10 µs.
const OVER = new DOMException('the check is over', 'AbortError')

/**
 * An AbortController that is created when its signal is first read. Creating one would take most of the time of a check that makes no
 * request.
 */
export class LazyAbortController implements Pick<AbortController, 'signal' | 'abort'> {
  #controller: AbortController | undefined
  #isAborted = false

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      // Each request of a check listens, and a check sends many at once. Node 20 refuses a signal whose limit is 0 in `getMaxListeners`.
      setMaxListeners(Infinity, this.#controller.signal)
      if (this.#isAborted) this.#controller.abort(OVER)
    }
    return this.#controller.signal
  }

  abort(): void {
    this.#isAborted = true
    this.#controller?.abort(OVER)
  }
}
