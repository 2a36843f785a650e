/** How a process spends its time, by the system's account: with a processor, and waiting for one. */
import { readFileSync } from 'node:fs'

/** Linux counts in hundredths of a second, whatever its own clock does: USER_HZ. */
const TICK_MS = 10
const NS_PER_MS = 1e6

/** In milliseconds. */
export interface ProcessTimes {
  readonly processor: number
  /** It was ready to run, and other processes ran. 0 where the system does not count it. */
  readonly waiting: number
}

/** Of the process that a sandbox holds: the child of the one that was started, or that itself. Undefined where nothing tells. */
export function processTimes(pid: number): ProcessTimes | undefined {
  try {
    const held = heldBy(pid)
    return { processor: processorOf(held), waiting: waitingOf(held) }
  } catch {
    return undefined
  }
}

/** The process that a sandbox holds. @throws where it is gone */
export function heldBy(pid: number): number {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  return child ? Number(child) : pid
}

function processorOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name in parentheses may hold anything: proc(5).
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}

/** Of its main thread: the second field of schedstat, in nanoseconds. */
function waitingOf(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / NS_PER_MS
  } catch {
    return 0
  }
}
