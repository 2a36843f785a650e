/** The memory that this program may take, and what it takes. */
import { readFileSync } from 'node:fs'
import { totalmem } from 'node:os'

/** Returns the bytes of memory that this process may use: the machine's, or fewer in a container. */
export function memoryLimit(): number {
  const constrained = process.constrainedMemory()
  return constrained > 0 && constrained < totalmem() ? constrained : totalmem()
}

/** Returns the bytes of memory in use, without the mapped files of databases, whose pages are free as soon as another program needs memory. */
export function memoryTaken(): number {
  try {
    const status = readFileSync('/proc/self/status', 'utf8')
    const kilobytes = [...status.matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB$/gm)].map(([, number]) => Number(number))
    if (kilobytes.length === 2) return kilobytes.reduce((sum, one) => sum + one, 0) * 1024
  } catch {
    // Other systems than Linux have no such file.
  }
  return process.memoryUsage.rss()
}
