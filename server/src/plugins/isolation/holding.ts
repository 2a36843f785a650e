/** Bounds what the host holds in memory for a process: the bodies of answers that it has not read yet. */
import type { Duplex } from 'node:stream'

export interface Holding {
  /** Counts bytes that the host holds for a run; less of them, when negative. */
  add(run: number, bytes: number): void
  /** Sends what is large once the process has read what was sent before: each takes several times its size while it is written. */
  inTurn(send: () => void): Promise<void>
  /** How long the process has read nothing of what waits for it. Milliseconds. */
  waitingMs(): number
}

interface HoldingOptions {
  /** More is held than may be, and for this run the most. */
  readonly onTooMuch: (run: number) => void
}

const MOST_BYTES = 256 * 1024 * 1024

export function createHolding(stream: Duplex, { onTooMuch }: HoldingOptions): Holding {
  const held = new Map<number, number>()
  let total = 0
  let last: Promise<void> = Promise.resolve()
  let waitsSince: number | undefined
  stream.on('drain', () => {
    waitsSince = undefined
  })

  function drained(): Promise<void> {
    return new Promise((resolve) => {
      if (stream.writableNeedDrain) stream.once('drain', resolve)
      else resolve()
    })
  }

  return {
    add(run, bytes) {
      total += bytes
      const ofRun = (held.get(run) ?? 0) + bytes
      if (ofRun > 0) held.set(run, ofRun)
      else held.delete(run)
      if (total <= MOST_BYTES || bytes < 0) return
      const [largest] = [...held].reduce((one, other) => (other[1] > one[1] ? other : one))
      onTooMuch(largest)
    },
    inTurn(send) {
      last = last.then(drained).then(send)
      return last
    },
    waitingMs() {
      if (!stream.writableNeedDrain) waitsSince = undefined
      else waitsSince ??= performance.now()
      return waitsSince === undefined ? 0 : performance.now() - waitsSince
    },
  }
}
