/** Docker or Podman. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const MOST_BYTES = 64 * 1024 * 1024
const execute = promisify(execFile)

export class Engine {
  readonly #program: string
  readonly #runtime: readonly string[]

  constructor(program: string, runtime: string | undefined) {
    this.#program = program
    this.#runtime = runtime ? ['--runtime', runtime] : []
  }

  /** Returns what the command prints. @throws Error with what it says when it fails */
  async run(args: readonly string[]): Promise<string> {
    const { stdout } = await execute(this.#program, args, { maxBuffer: MOST_BYTES })
    return stdout.trim()
  }

  async build(args: readonly string[]): Promise<void> {
    // Podman's own format has no health check, and chroot isolation works where no namespaces can be made.
    const more = this.#program.endsWith('podman') ? ['--format', 'docker', '--isolation', 'chroot'] : []
    await this.run(['build', ...more, ...args])
  }

  /** Starts a container. */
  async start(args: readonly string[]): Promise<void> {
    const podman = this.#program.endsWith('podman')
    await this.run([...(podman ? this.#runtime : []), 'run', ...(podman ? [] : this.#runtime), '--detach', ...args])
  }
}
