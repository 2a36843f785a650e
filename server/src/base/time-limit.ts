/** A limit on how long somebody else's work may take. */

/** What `work` comes to, or what `expire` throws when that takes longer. Work that does not end is left behind. */
export function withinTime<T>(work: Promise<T>, limitMs: number, expire: () => Error): Promise<T> {
  return limited(work, limitMs, (_resolve, reject) => reject(expire()))
}

/** What `work` comes to; undefined when that takes longer, or when it fails. It goes on either way. */
export function settledWithin<T>(work: Promise<T>, limitMs: number): Promise<T | undefined> {
  const settled: Promise<T | undefined> = work.catch(() => undefined)
  return limited(settled, limitMs, (resolve) => resolve(undefined))
}

type Settle<T> = (resolve: (value: T) => void, reject: (error: Error) => void) => void

// One promise: a race of two would cost several times as much, for each claim.
function limited<T>(work: Promise<T>, limitMs: number, expire: Settle<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => expire(resolve, reject), limitMs)
    work.then(
      (value) => {
        clearTimeout(timer)
        resolve(value)
      },
      (error) => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}

/** An AbortController that costs nothing until its signal is asked for: a check that makes no request spends most of its time on making one. */
export function lazyAbortController(): Pick<AbortController, 'signal' | 'abort'> {
  let made: AbortController | undefined
  let isAborted = false

  return {
    get signal() {
      if (!made) {
        made = new AbortController()
        if (isAborted) made.abort()
      }
      return made.signal
    },
    abort() {
      isAborted = true
      made?.abort()
    },
  }
}
