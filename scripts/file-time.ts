/** What a test file takes: its process prints it in a line of its own, and the run reads it there. */
import { readFileSync } from 'node:fs'

export interface FileTime {
  readonly path: string
  readonly ms: number
  /** Of its process, and of those that this has started and seen end. */
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
  return (user + system) / 1000 + endedChildrenMs()
}

/** Only Linux tells. */
function endedChildrenMs(): number {
  if (process.platform !== 'linux') return 0
  const text = readFileSync('/proc/self/stat', 'utf8')
  // The name in parentheses may hold anything: proc(5).
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[13]) + Number(fields[14])) * TICK_MS
}
