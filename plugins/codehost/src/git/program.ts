/** Runs the `git` program with limits on its time, its output and the size of its files. No process of it outlives the run. */
import { spawn } from 'node:child_process'
import { DestinationError } from '@claimcheck/core/plugin'

export interface GitRun {
  readonly folder: string
  readonly env: NodeJS.ProcessEnv
  readonly signal: AbortSignal
  readonly maxOutputBytes: number
  readonly maxFileBytes: number
}

/** Git ended with an error. */
export class GitFailure extends Error {
  override readonly name = 'GitFailure'
  readonly stderr: string

  constructor(stderr: string) {
    super('git failed')
    this.stderr = stderr
  }
}

const MAX_STDERR_BYTES = 16_384
// The unit of `ulimit -f` in POSIX.
const BLOCK_BYTES = 512
// The shell sets a limit on the size of files, which the kernel then enforces for git and all its child processes.
const SCRIPT = 'ulimit -f "$1" && shift && exec git "$@"'

/**
 * Returns what git wrote to standard output.
 *
 * @throws GitFailure when git exits with an error
 * @throws DestinationError `timeout` when the signal aborts, `unexpected_response` when it writes too much
 */
export function runGit(args: readonly string[], run: GitRun): Promise<Buffer> {
  const { folder, env, signal, maxOutputBytes, maxFileBytes } = run
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new DestinationError('timeout'))
    const blocks = String(Math.ceil(maxFileBytes / BLOCK_BYTES))
    // In a new process group, so that its child processes can be killed with it.
    const child = spawn('/bin/sh', ['-c', SCRIPT, 'sh', blocks, ...args], {
      cwd: folder,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let ended: Error | undefined
    // First of all: without file descriptors there are no streams to listen to, and an error that nobody hears ends the process.
    child.once('error', (cause) => {
      ended ??= new DestinationError('unavailable', { cause })
    })
    if (!child.stdout) return reject(new DestinationError('unavailable'))
    const end = (reason: Error) => {
      ended ??= reason
      killGroup(child.pid)
    }
    const onAbort = () => end(new DestinationError('timeout'))
    signal.addEventListener('abort', onAbort, { once: true })

    const output: Buffer[] = []
    let outputBytes = 0
    child.stdout.on('data', (chunk: Buffer) => {
      outputBytes += chunk.length
      if (outputBytes > maxOutputBytes) end(new DestinationError('unexpected_response'))
      else output.push(chunk)
    })
    let stderr = ''
    child.stderr.on('data', (chunk: Buffer) => {
      if (stderr.length < MAX_STDERR_BYTES) stderr += chunk.toString('latin1')
    })
    child.once('close', (code) => {
      signal.removeEventListener('abort', onAbort)
      if (ended) reject(ended)
      else if (code === 0) resolve(Buffer.concat(output))
      else reject(new GitFailure(stderr))
    })
  })
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended already.
  }
}
