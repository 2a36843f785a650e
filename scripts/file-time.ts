/** The time of a test file: its process prints it in a separate line, which the run reads. */
import { readdirSync, readFileSync } from 'node:fs'

export interface FileTime {
  readonly path: string
  readonly ms: number
  /** Of its process, and of those that this has started, and that it has seen end or that still run. */
  readonly processorMs: number
}

const LINE = /^# file (\S+) took (\d+) ms, processor (\d+) ms$/gm
/** Linux counts in hundredths of a second, whatever its own clock does: USER_HZ. */
const TICK_MS = 10

/** @returns what to print when the file is done */
export function startFile(path: string): () => string {
  const startedAt = performance.now()
  const before = processorMs()
  return () => {
    const ms = Math.round(performance.now() - startedAt)
    return `file ${path} took ${ms} ms, processor ${Math.round(processorMs() - before)} ms`
  }
}

export function fileTimes(output: string): FileTime[] {
  return [...output.matchAll(LINE)].map(([, path, ms, processor]) => ({
    path: path!,
    ms: Number(ms),
    processorMs: Number(processor),
  }))
}

function processorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000 + childrenMs()
}

/** Only Linux tells. */
function childrenMs(): number {
  if (process.platform !== 'linux') return 0
  const [, , ended, endedSystem] = ticks('self')
  const running = readdirSync('/proc/self/task').flatMap(childrenOf).flatMap(ticks)
  return sum([ended!, endedSystem!, ...running]) * TICK_MS
}

/** Its own in user and system mode, and those of its children that have ended: proc(5). None when it is gone. */
function ticks(pid: string): number[] {
  const text = readIfThere(`/proc/${pid}/stat`)
  // The name in parentheses may hold anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return text === '' ? [] : fields.slice(11, 15).map(Number)
}

/** Of one thread. */
function childrenOf(thread: string): string[] {
  return readIfThere(`/proc/self/task/${thread}/children`).split(' ').filter(Boolean)
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0)
}
