/** Servers in processes of their own: what they cost is theirs alone, and the load that they are under is not. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'

export interface Served {
  readonly url: string
  /** What the process holds now. */
  memoryBytes(): Promise<number>
}

const STOPPING_MS = 15_000

/** @param script a module of this folder that calls `serve` */
export async function withProcess<T>(script: string, given: object, work: (served: Served) => Promise<T>): Promise<T> {
  const child = fork(new URL(`${script}.js`, import.meta.url), [JSON.stringify(given)])
  try {
    const url = await answerOf<string>(child)
    return await work({
      url,
      memoryBytes: () => {
        child.send('memory')
        return answerOf<number>(child)
      },
    })
  } finally {
    child.disconnect()
    await Promise.race([child.exitCode ?? once(child, 'exit'), setTimeout(STOPPING_MS, undefined, { ref: false })])
    child.kill('SIGKILL')
  }
}

async function answerOf<T>(child: ChildProcess): Promise<T> {
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('a server of the benchmark ended')))
  const [answer] = await Promise.race([once(child, 'message'), ended])
  return answer as T
}

/** In the child: what it was given. */
export function given<T>(): T {
  return JSON.parse(process.argv[2]!)
}

/** In the child: says where it listens, and stops when the benchmark is done with it or gone. */
export function serve(url: string, stop: () => Promise<unknown>): void {
  process.on('message', () => process.send!(process.memoryUsage.rss()))
  process.on('disconnect', () => void stop().finally(() => process.exit()))
  process.send!(url)
}
