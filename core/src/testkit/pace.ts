/** Time limits of the kit that a busy machine stretches: an honest plugin passes at any speed. */
import { performance } from 'node:perf_hooks'

const TICKS = 20
/** A process that is blocked in a call to the system looks as if it waited for the processor. */
const MOST_STRETCH = 10

/**
 * Acts once the process has had `ms`: time in which it waited, or had the processor. Time in which it was ready to run and other programs had
 * the processor does not count. Acts after ten times `ms` in any case.
 *
 * @returns cancels
 */
export function afterOwn(ms: number, act: () => void): () => void {
  const startedAt = performance.now()
  let own = 0
  let last = reading()
  let timer: NodeJS.Timeout
  const wait = () => {
    timer = setTimeout(tick, Math.max(1, Math.min(ms / TICKS, ms - own)))
  }
  const tick = () => {
    const now = reading()
    own += ownMs(last, now)
    last = now
    if (own >= ms || now.at - startedAt >= ms * MOST_STRETCH) act()
    else wait()
  }
  wait()
  return () => clearTimeout(timer)
}

interface Reading {
  /** By the machine's clock. */
  readonly at: number
  /** How long the thread was not waiting for events. */
  readonly activeMs: number
  readonly processorMs: number
}

function ownMs(before: Reading, after: Reading): number {
  const withoutProcessor = after.activeMs - before.activeMs - (after.processorMs - before.processorMs)
  return after.at - before.at - Math.max(0, withoutProcessor)
}

function reading(): Reading {
  const { user, system } = process.cpuUsage()
  return {
    at: performance.now(),
    activeMs: performance.eventLoopUtilization().active,
    processorMs: (user + system) / 1000,
  }
}
