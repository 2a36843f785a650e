/** Time limits that stretch on a busy machine, so that an honest plugin passes at any speed. */
import { performance } from 'node:perf_hooks'

const TICKS = 20
/** Limit of the stretch, because a process that is blocked in a system call looks as if it waited for the processor. */
const MOST_STRETCH = 10

/**
 * Acts once the process has had `ms`: time in which it waited, or had the processor. Time in which it was ready to run and other programs had
 * the processor does not count. Acts after ten times `ms` in any case.
 *
 * @returns a function that cancels
 */
export function afterOwn(ms: number, act: () => void): () => void {
  const startedAt = performance.now()
  let own = 0
  let last = processTimes()
  let timer: NodeJS.Timeout
  const wait = () => {
    timer = setTimeout(tick, Math.max(1, Math.min(ms / TICKS, ms - own)))
  }
  const tick = () => {
    const now = processTimes()
    own += ownMs(last, now)
    last = now
    if (own >= ms || now.at - startedAt >= ms * MOST_STRETCH) act()
    else wait()
  }
  wait()
  return () => clearTimeout(timer)
}

interface ProcessTimes {
  /** Time by the machine's clock. */
  readonly at: number
  /** Time in which the thread was not waiting for events. */
  readonly activeMs: number
  readonly processorMs: number
}

function ownMs(before: ProcessTimes, after: ProcessTimes): number {
  const withoutProcessor = after.activeMs - before.activeMs - (after.processorMs - before.processorMs)
  return after.at - before.at - Math.max(0, withoutProcessor)
}

function processTimes(): ProcessTimes {
  const { user, system } = process.cpuUsage()
  return {
    at: performance.now(),
    activeMs: performance.eventLoopUtilization().active,
    processorMs: (user + system) / 1000,
  }
}
