/** One host of a fleet, seen from outside: a process that is started, killed, and started again. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'

/** A signal to itself, just before a database statement. */
export interface Strike {
  readonly signal: 'SIGKILL' | 'SIGSTOP'
  /** Its number, from 1; or a part of its text. */
  readonly before: number | string
}

const SCRIPT = new URL('./host.js', import.meta.url)

export class HostProcess {
  readonly #folder: string
  readonly #env: NodeJS.ProcessEnv
  #child: ChildProcess | undefined
  #url: string | undefined
  /** False: from its next start on it makes no statements but those of requests. */
  hasWorkers = true
  /** A sentence for each time it ended by itself. */
  readonly failures: string[] = []

  constructor(folder: string, env: Readonly<Record<string, string>>) {
    this.#folder = folder
    // Without what a test runner adds to it.
    this.#env = { PATH: process.env.PATH, ...env }
  }

  /** Undefined while it is down. */
  get url(): string | undefined {
    return this.#url
  }

  /** Resolves when it listens, or has ended before that. */
  async start(strike?: Strike): Promise<void> {
    const orders = {
      ...(strike ? { STRIKE: JSON.stringify(strike) } : {}),
      ...(this.hasWorkers ? {} : { WORKERS: 'none' }),
    }
    const child = fork(SCRIPT, { cwd: this.#folder, env: { ...this.#env, ...orders }, execArgv: [] })
    const endWithUs = () => child.kill('SIGKILL')
    process.on('exit', endWithUs)
    this.#child = child
    child.once('exit', (code, signal) => {
      process.off('exit', endWithUs)
      this.#url = undefined
      this.#child = undefined
      if (signal !== 'SIGKILL') this.failures.push(`a host ended by itself, with ${code ?? signal}`)
    })
    const message = once(child, 'message').then(([{ url }]) => {
      this.#url = url
    })
    await Promise.race([message, once(child, 'exit')])
  }

  /** From now on. Resolves when the host knows, or when one of its workers has made the statement already. */
  async strike(strike: Strike): Promise<void> {
    const child = this.#child!
    const known = once(child, 'message')
    const ended = once(child, 'exit')
    child.send(strike)
    await Promise.race([known, ended])
  }

  /** What held its main thread longest since this was last asked. */
  async stalls(): Promise<{ readonly longestMs: number; readonly delayMs: number }> {
    const answer = once(this.#child!, 'message')
    this.#child!.send('stalls')
    return (await answer)[0]
  }

  signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    this.#child?.kill(signal)
  }

  /** Resolves when it is down. */
  async ended(): Promise<void> {
    if (this.#child) await once(this.#child, 'exit')
  }

  async kill(): Promise<void> {
    const ended = this.ended()
    this.signal('SIGKILL')
    await ended
  }
}
