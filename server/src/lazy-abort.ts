/** An AbortController that costs nothing until its signal is asked for: making and aborting one takes longer than all the rest of a check that makes no request. */

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
