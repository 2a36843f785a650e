/** Bounds what waits in the host's memory for a process that does not read what it asked for. */
import type { Duplex } from 'node:stream'

export interface Backlog {
  /** Sends what is large once the process has read what was sent before. */
  inTurn(send: () => void): Promise<void>
  /** How long the process has read nothing of what waits for it. Milliseconds. */
  waitingMs(): number
}

export function createBacklog(stream: Duplex): Backlog {
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
