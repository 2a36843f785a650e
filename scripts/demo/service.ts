/** The service as an operator runs it: commands in a new folder, and the server as a child process. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CLAIMCHECK, type Env, type Outcome, runClaimcheck } from '../../test/support/command.ts'
import { command } from './terminal.ts'

const SHORTEST_GRACE_MS = 5000
const LONGEST_TIMEOUT_MS = 60_000
/** The number of reads that, with their pauses, fit into the time after a deadline: two decide, and one or two may fail. */
const READS = 4

/** A person is waiting: unreadable destinations are given up after seconds, where reads take less. */
function checkTimes(readMs: number) {
  const graceMs = Math.max(SHORTEST_GRACE_MS, READS * readMs)
  return { closing_ms: graceMs, grace_ms: graceMs, timeout_ms: Math.min(2 * graceMs, LONGEST_TIMEOUT_MS) }
}

/** The time that this machine takes to start the program, which is longer than a check takes. */
async function slowestReadMs(folder: string): Promise<number> {
  const startedAt = Date.now()
  await once(spawn(process.execPath, [CLAIMCHECK, '--help'], { cwd: folder, stdio: 'ignore' }), 'exit')
  return Date.now() - startedAt
}

export class Service {
  readonly folder: string
  readonly env: Env
  #server: ChildProcess | undefined
  url = ''
  /** The address at which the first person sets the service up; undefined if there was one. */
  setupUrl: string | undefined

  private constructor(folder: string, env: Env) {
    this.folder = folder
    this.env = env
  }

  /** @param allowPrivate the loopback addresses that may be read */
  static async create(allowPrivate: readonly string[], plugins: readonly object[] = []): Promise<Service> {
    const folder = await mkdtemp(join(tmpdir(), 'claimcheck-demo-'))
    const configuration = {
      plugins: [{ use: createRequire(import.meta.url).resolve('@claimcheck/plugin-codehost') }, ...plugins],
      checks: checkTimes(await slowestReadMs(folder)),
    }
    await writeFile(join(folder, 'claimcheck.config.json'), JSON.stringify(configuration))
    const own = { PORT: '0', LOG_LEVEL: 'warn', HEAD_MEMORY: 'none', ALLOW_PRIVATE: allowPrivate.join(',') }
    const env = { ...(process.env as Env), ...own }
    return new Service(folder, env)
  }

  async start(): Promise<void> {
    this.#server = spawn(process.execPath, [CLAIMCHECK, 'serve', '--json'], {
      cwd: this.folder,
      env: this.env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [line] = await Promise.race([once(this.#server.stdout!, 'data'), once(this.#server, 'exit')])
    if (this.#server.exitCode !== null) throw new Error('the service did not start')
    const { url, setup_url } = JSON.parse(String(line))
    this.url = url
    this.setupUrl = setup_url
  }

  async stop(): Promise<void> {
    if (!this.#server || this.#server.exitCode !== null) return
    const exit = once(this.#server, 'exit')
    this.#server.kill('SIGTERM')
    await exit
  }

  async remove(): Promise<void> {
    await this.stop()
    await rm(this.folder, { recursive: true, force: true })
  }

  /** Runs a command as a person would type it, in a process that has loaded the program. */
  async run(...args: string[]): Promise<Outcome> {
    const outcome = await runClaimcheck(this.folder, args, this.env)
    process.stderr.write(outcome.stderr)
    return outcome
  }

  /** Runs a command that answers with one JSON value and has to work. */
  async must<T>(...args: string[]): Promise<T> {
    const { code, stdout } = await this.run(...args, '--json')
    if (code !== 0) throw new Error(`claimcheck ${args.join(' ')} ended with ${code}: ${stdout.trim()}`)
    return JSON.parse(stdout)
  }

  /** Runs a command and shows it. */
  async show<T>(...args: string[]): Promise<T> {
    command(`./claimcheck ${args.join(' ')}`)
    return this.must(...args)
  }
}
