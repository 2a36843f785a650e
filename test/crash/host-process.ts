/** One host of a fleet, seen from outside: a process that is started, killed, and started again. */
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { CLAIMCHECK } from '../support/command.ts'

/** A signal to itself, just before a database statement. */
export interface Strike {
  readonly signal: 'SIGKILL' | 'SIGSTOP'
  /** Its number, from 1; or a part of its text. */
  readonly before: number | string
}

const SCRIPT = new URL('./host.js', import.meta.url)

/** How a host starts: the process, and its address once it listens. */
export type Launch = (folder: string, env: NodeJS.ProcessEnv) => { child: ChildProcess; url: Promise<string> }

/** With orders: a strike before a statement, no workers. */
const launchForOrders: Launch = (folder, env) => {
  const child = fork(SCRIPT, { cwd: folder, env, execArgv: [] })
  return { child, url: once(child, 'message').then(([{ url }]) => url) }
}

/** The program that people start. */
export const launchProgram: Launch = (folder, env) => {
  const args = [CLAIMCHECK, 'serve', '--json']
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'ignore'] })
  return { child, url: firstLine(child.stdout).then((line) => JSON.parse(line).url) }
}

async function firstLine(output: Readable): Promise<string> {
  const lines = createInterface(output)
  const [line] = await once(lines, 'line')
  return line
}

export class HostProcess {
  readonly #folder: string
  readonly #env: NodeJS.ProcessEnv
  readonly #launch: Launch
  #child: ChildProcess | undefined
  #url: string | undefined
  #isStopping = false
  /** False: from its next start on it makes no statements but those of requests. */
  hasWorkers = true
  /** A sentence for each time it ended by itself. */
  readonly failures: string[] = []

  constructor(folder: string, env: Readonly<Record<string, string>>, launch: Launch = launchForOrders) {
    this.#launch = launch
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
    const { child, url } = this.#launch(this.#folder, { ...this.#env, ...orders })
    const endWithUs = () => child.kill('SIGKILL')
    process.on('exit', endWithUs)
    this.#child = child
    child.once('exit', (code, signal) => {
      process.off('exit', endWithUs)
      this.#url = undefined
      this.#child = undefined
      if (signal !== 'SIGKILL' && !(this.#isStopping && code === 0))
        this.failures.push(`a host ended by itself, with ${code ?? signal}`)
    })
    const listens = url.then((at) => {
      this.#url = at
    })
    await Promise.race([listens, once(child, 'exit')])
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

  signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT' | 'SIGTERM'): void {
    this.#child?.kill(signal)
  }

  /** Resolves when it is down. */
  async ended(): Promise<void> {
    if (this.#child) await once(this.#child, 'exit')
  }

  /** As an operator stops it. */
  async stop(): Promise<void> {
    this.#isStopping = true
    const ended = this.ended()
    this.signal('SIGTERM')
    await ended
    this.#isStopping = false
  }

  async kill(): Promise<void> {
    const ended = this.ended()
    this.signal('SIGKILL')
    await ended
  }
}
