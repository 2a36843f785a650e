/** Background work that runs as long as the server does. */
import { setTimeout } from 'node:timers/promises'

export interface Worker {
  start(): void
  /** Stops the worker: nothing new begins, and the promise resolves when the work in progress is done. */
  stop(): Promise<void>
}

/** A worker that does nothing, in place of one whose feature is not configured. */
export const IDLE: Worker = { start() {}, stop: async () => {} }

export interface Loop extends Worker {
  /** Ends the loop's current pause, or skips the one after the current round. */
  wake(): void
}

interface LoopOptions {
  /** The pause before the loop's first round, in milliseconds. */
  readonly firstMs?: number
  /** Runs after the loop's last round; it must not throw. */
  readonly end?: () => Promise<void>
}

/** Repeats a round, which must not throw. @param round returns the pause after it, in milliseconds; `stopping` aborts when the worker stops */
export function createLoop(
  round: (stopping: AbortSignal) => Promise<number>,
  { firstMs = 0, end }: LoopOptions = {},
): Loop {
  const stopping = new AbortController()
  let waking = new AbortController()
  let running: Promise<void> | undefined

  async function pause(ms: number): Promise<void> {
    await setTimeout(ms, undefined, { signal: waking.signal }).catch(() => {})
    if (!stopping.signal.aborted) waking = new AbortController()
  }

  async function run(): Promise<void> {
    if (firstMs > 0) await pause(firstMs)
    while (!stopping.signal.aborted) {
      const ms = await round(stopping.signal)
      if (ms > 0) await pause(ms)
    }
    await end?.()
  }

  return {
    start() {
      running ??= run()
    },
    wake: () => waking.abort(),
    async stop() {
      stopping.abort()
      waking.abort()
      await running
    },
  }
}
