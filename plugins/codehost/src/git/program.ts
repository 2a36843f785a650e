/** Runs the `git` program: bounded in time, output and the size of the files it writes, and never left behind. */
import { spawn } from 'node:child_process'
import { DestinationError } from '@claimcheck/core/plugin'

export interface GitRun {
  readonly folder: string
  readonly env: NodeJS.ProcessEnv
  readonly signal: AbortSignal
  readonly maxOutputBytes: number
  readonly maxFileBytes: number
}

/** git ran and gave up. */
export class GitFailure extends Error {
  override readonly name = 'GitFailure'
  readonly stderr: string

  constructor(stderr: string) {
    super('git failed')
    this.stderr = stderr
  }
}

const MOST_STDERR_BYTES = 16_384
// The unit of `ulimit -f`, by POSIX.
const BLOCK_BYTES = 512
// The shell sets the limit that the kernel then keeps for git and all its helpers.
const LIMITED = 'ulimit -f "$1" && shift && exec git "$@"'

/**
 * What git printed.
 *
 * @throws GitFailure when it did not end well
 * @throws DestinationError `timeout` when the signal aborts, `unexpected_response` when it prints too much
 */
export function runGit(args: readonly string[], run: GitRun): Promise<Buffer> {
  const { folder, env, signal, maxOutputBytes, maxFileBytes } = run
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new DestinationError('timeout'))
    const blocks = String(Math.ceil(maxFileBytes / BLOCK_BYTES))
    // A process group of its own, so that its helpers end with it.
    const child = spawn('/bin/sh', ['-c', LIMITED, 'sh', blocks, ...args], {
      cwd: folder,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let ended: Error | undefined
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
      if (stderr.length < MOST_STDERR_BYTES) stderr += chunk.toString('latin1')
    })
    child.once('error', (cause) => {
      ended ??= new DestinationError('unavailable', { cause })
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
    // Gone already.
  }
}
