/** How much memory a process takes, by the system's account. */
import { readFileSync } from 'node:fs'
import { heldBy } from './processor-time.ts'

/** Without what it shares with others, such as the program of Node. 0 where nothing tells. */
export function memoryMib(pid: number): number {
  try {
    const [, kib = 0] = /^RssAnon:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${heldBy(pid)}/status`, 'utf8')) ?? []
    return Number(kib) / 1024
  } catch {
    return 0
  }
}
