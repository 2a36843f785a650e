/** How much processor time a process has taken, by the system's own account. */
import { readFileSync } from 'node:fs'

/** Linux counts in hundredths of a second, whatever its own clock does: USER_HZ. */
const TICK_MS = 10

/** Of the process that a sandbox holds: the child of the one that was started, or that itself. Milliseconds; undefined where nothing tells. */
export function processorTimeMs(pid: number): number | undefined {
  try {
    const [held] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
    return timeOf(held ? Number(held) : pid)
  } catch {
    return undefined
  }
}

function timeOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name in parentheses may hold anything: proc(5).
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}
