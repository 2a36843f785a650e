/** Servers in separate processes: their processor time is measured without that of the load generator. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { treeTime } from '@claimcheck/server/plugins/isolation/process-usage'
import { anonymousBytes, childrenBytes, threadMs } from './usage.ts'

export interface Served {
  readonly url: string
  /** The processor time so far, with all threads and all started processes. */
  cpuMs(): number
  /** The processor time of the first thread, which answers requests, in nanoseconds. */
  threadMs(): number
  /** The memory that the process holds now, without the pages of mapped files. */
  memoryBytes(): number
  /** The memory of all processes that it started. */
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

/** Reads in the child what it was given. */
export function given<T>(): T {
  return JSON.parse(process.argv[2]!)
}

/** Says in the child where it listens, and stops it when the benchmark is done or gone. */
export function serve(url: string, stop: () => Promise<unknown>): void {
  process.on('disconnect', () => void stop().finally(() => process.exit()))
  process.send!(url)
}
