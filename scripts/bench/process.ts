/** Servers in separate processes: their processor time is measured without that of the load generator. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { treeTime } from '@claimcheck/server/plugins/isolation/processor-time'
import { anonymousBytes, childrenBytes, threadMs } from './usage.ts'

export interface Served {
  readonly url: string
  /** What the process has spent so far, with all its threads and with the processes that it started. */
  cpuMs(): number
  /** What its first thread has spent, which answers requests: in steps of nanoseconds. */
  threadMs(): number
  /** What the process holds now, but for the pages of mapped files. */
  memoryBytes(): number
  /** The same of all that it started. */
  childrenBytes(): number
}

const STOPPING_MS = 15_000

/** @param script a module of this folder that calls `serve` */
export async function withProcess<T>(script: string, given: object, work: (served: Served) => Promise<T>): Promise<T> {
  const child = fork(new URL(`${script}.js`, import.meta.url), [JSON.stringify(given)])
  try {
    const url = await urlOf(child)
    return await work({
      url,
      cpuMs: () => treeTime(child.pid!),
      threadMs: () => threadMs(child.pid!),
      memoryBytes: () => anonymousBytes(child.pid!),
      childrenBytes: () => childrenBytes(child.pid!),
    })
  } finally {
    child.disconnect()
    await Promise.race([child.exitCode ?? once(child, 'exit'), setTimeout(STOPPING_MS, undefined, { ref: false })])
    child.kill('SIGKILL')
  }
}

async function urlOf(child: ChildProcess): Promise<string> {
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('a server of the benchmark ended')))
  const [url] = await Promise.race([once(child, 'message'), ended])
  return url as string
}

/** In the child: what it was given. */
export function given<T>(): T {
  return JSON.parse(process.argv[2]!)
}

/** In the child: says where it listens, and stops when the benchmark is done with it or gone. */
export function serve(url: string, stop: () => Promise<unknown>): void {
  process.on('disconnect', () => void stop().finally(() => process.exit()))
  process.send!(url)
}
