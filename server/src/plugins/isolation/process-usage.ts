/** Measures the use of a process, by the system's account: time with a processor, time waiting for one, and memory. */
import { readdirSync, readFileSync } from 'node:fs'

/** Linux counts in hundredths of a second, whatever its own clock does: USER_HZ. */
const TICK_MS = 10
const NS_PER_MS = 1e6

/** Times of a process in milliseconds. */
export interface ProcessTimes {
  readonly processor: number
  /** The time in which the process was ready to run while others ran; 0 where the system does not count it. */
  readonly waiting: number
}

/** Reads the times of the process that a sandbox holds: the child of the started process, or that itself. Undefined where nothing tells. */
export function processTimes(pid: number): ProcessTimes | undefined {
  try {
    const held = heldBy(pid)
    return { processor: processorOf(held), waiting: waitingOf(held) }
  } catch {
    return undefined
  }
}

/**
 * Finds the process that a sandbox holds.
 * @throws when it is gone
 */
function heldBy(pid: number): number {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  return child ? Number(child) : pid
}

/** Returns the processor time of a process and all of its descendants, in milliseconds; 0 where nothing tells. */
export function treeTime(pid: number): number {
  try {
    const tasks = readdirSync(`/proc/${pid}/task`)
    const children = tasks.flatMap((task) => childrenOf(pid, task))
    const { own, ofEnded } = timesOf(pid)
    return children.reduce((sum, child) => sum + treeTime(child), (own + ofEnded) * TICK_MS)
  } catch {
    return 0
  }
}

function childrenOf(pid: number, task: string): readonly number[] {
  return readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
}

function processorOf(pid: number): number {
  return timesOf(pid).own * TICK_MS
}

/** Reads a process' own time, and that of its children that ended, in ticks. */
function timesOf(pid: number): { readonly own: number; readonly ofEnded: number } {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name in parentheses may hold any characters: proc(5).
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15)
    .map(Number)
  return { own: user + system, ofEnded: endedUser + endedSystem }
}

/** Reads for how long the main thread waited: the second field of schedstat, in nanoseconds. */
function waitingOf(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / NS_PER_MS
  } catch {
    return 0
  }
}

/** Measures the memory of a process, without parts that it shares with others, such as the program of Node; 0 where nothing tells. */
export function memoryMib(pid: number): number {
  try {
    const [, kib = 0] = /^RssAnon:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${heldBy(pid)}/status`, 'utf8')) ?? []
    return Number(kib) / 1024
  } catch {
    return 0
  }
}
