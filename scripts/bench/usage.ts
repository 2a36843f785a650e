/** Reads from Linux's `/proc` what a process takes of the machine, with its threads and the processes that it started. */
import { readdirSync, readFileSync } from 'node:fs'

const NANOSECONDS = 1e6
const KIB = 1024

/** The time of the first thread, which answers requests. */
export function threadMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ', 1)[0]) / NANOSECONDS
}

/** The memory that no file has: the system can take back pages of a mapped file at any time. */
export function anonymousBytes(pid: number): number {
  const [, kib] = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))!
  return KIB * Number(kib)
}

/** The memory of all processes that it started, directly or not. */
export function childrenBytes(pid: number): number {
  const each = (child: number) => orNothing(() => anonymousBytes(child)) + childrenBytes(child)
  return orNothing(() => childrenOf(pid).reduce((sum, child) => sum + each(child), 0))
}

function childrenOf(pid: number): number[] {
  const threads = readdirSync(`/proc/${pid}/task`)
  const texts = threads.map((thread) => orNothing(() => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8')))
  return texts.flatMap((text) => String(text || '').split(' ')).flatMap((text) => (text ? [Number(text)] : []))
}

/** A process or thread that ends meanwhile. */
function orNothing<T>(read: () => T): T | 0 {
  try {
    return read()
  } catch {
    return 0
  }
}
