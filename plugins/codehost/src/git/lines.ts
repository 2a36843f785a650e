/** Cuts a stream of bytes into pieces that end with a line, so that a piece can be searched without what comes before or after it. */

/** @param onLines gets one or more whole lines at a time, each with its line feed */
export function inLines(onLines: (lines: Buffer) => void): (chunk: Buffer) => void {
  let rest: readonly Buffer[] = []
  return (chunk) => {
    const end = chunk.lastIndexOf(LINE_FEED) + 1
    if (end > 0) onLines(rest.length > 0 ? Buffer.concat([...rest, chunk.subarray(0, end)]) : chunk.subarray(0, end))
    const left = chunk.subarray(end)
    rest = end > 0 ? [left] : [...rest, left]
  }
}

export const LINE_FEED = 10
