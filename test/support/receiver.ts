/** A receiver of webhooks in a process of its own, which can be killed: what it does is in the path that it is called at. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import type { Test } from 'tap'

/** A message as it came. */
export interface Received {
  readonly path: string
  readonly at: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export class Receiver {
  readonly received: Received[] = []
  #child: ChildProcess | undefined
  #port = 0

  /** Until the test ends. */
  static async during(t: Test): Promise<Receiver> {
    const receiver = new Receiver()
    await receiver.start()
    t.teardown(() => receiver.kill())
    return receiver
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  /** Listens, where it listened before. */
  async start(): Promise<void> {
    const child = fork(new URL('./receiver-process.js', import.meta.url), [String(this.#port)], { execArgv: [] })
    this.#child = child
    const [port] = await once(child, 'message')
    this.#port = port
    child.on('message', (message: Received) => this.received.push(message))
  }

  async kill(): Promise<void> {
    const child = this.#child
    this.#child = undefined
    if (!child || child.exitCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }

  /** Lists the messages that came at a path. */
  at(path: string): Received[] {
    return this.received.filter((one) => one.path === path)
  }

  /** Waits until so many messages have come at a path. */
  async until(path: string, count: number, withinMs = 20_000): Promise<Received[]> {
    for (const end = Date.now() + withinMs; Date.now() < end; await setTimeout(10)) {
      if (this.at(path).length >= count) return this.at(path)
    }
    throw new Error(`${this.at(path).length} of ${count} messages came to ${path}`)
  }
}
