/** Runs the `git` program with limits on its time, memory, output and files. No process of it outlives the run. */
import { spawn } from 'node:child_process'
import { DestinationError } from '@claimcheck/core/plugin'
import type { Places } from './places.ts'

export interface GitRun {
  readonly folder: string
  readonly env: NodeJS.ProcessEnv
  readonly signal: AbortSignal
  /** Whose share of the places for git's processes it takes. */
  readonly share: string
  readonly maxOutputBytes: number
  readonly maxFileBytes: number
  /** Gets the output piece by piece; the run then returns an empty buffer. */
  readonly onOutput?: (chunk: Buffer) => void
  /** Called when the run has its place and begins. */
  readonly onStart?: () => void
}

/**
 * Returns what git wrote to standard output.
 *
 * @throws GitFailure when git exits with an error
 * @throws DestinationError `timeout` when the signal aborts, `unexpected_response` when it writes too much
 */
export type Git = (args: readonly string[], run: GitRun) => Promise<Buffer>

/** Git ended with an error. */
export class GitFailure extends Error {
  override readonly name = 'GitFailure'
  /** One character a byte. */
  readonly stderr: string
  /** It reached the limit on its memory, its processor time or the size of its files. */
  readonly isOverLimit: boolean

  constructor(stderr: string, isOverLimit: boolean) {
    super('git failed')
    this.stderr = stderr
    this.isOverLimit = isOverLimit
  }
}

export interface GitOptions {
  /** Of the address space of each of its processes. */
  readonly memoryBytes: number
  readonly places: Places
}

export function createGit({ memoryBytes, places }: GitOptions): Git {
  return (args, run) => places.within(run.share, run.signal, () => runGit(args, run, memoryBytes))
}

const MAX_STDERR_BYTES = 16_384
// The units of `ulimit` in POSIX, and in the shells that know more than POSIX.
const BLOCK_BYTES = 512
const KIB = 1024
/** More than a check has. It ends a process whose check ended without ending it, because this process was killed. */
const MAX_CPU_SECONDS = 60
// The shell sets the limits, which the kernel then enforces for git and each of its child processes.
const SCRIPT = 'ulimit -f "$1" && ulimit -v "$2" && ulimit -t "$3" && shift 3 && exec git "$@"'
/** Processor time, and the size of a file. */
const LIMIT_SIGNALS: readonly unknown[] = ['SIGXCPU', 'SIGXFSZ']
/** How git tells that it, or a program that it ran, came to a limit. */
const LIMIT_MESSAGES = /^(?:out of memory|.*: cannot allocate memory|.*\bmmap failed|.*died of signal (?:24|25)\b)/i
/** What git says when the program that stores a pack was killed, and had no time to say why. */
const KILLED = 'fetch-pack: invalid index-pack output'

function isOverLimit(signalName: NodeJS.Signals | null, stderr: string): boolean {
  // What the server says proves nothing: git marks it `remote`.
  const messages = [...stderr.matchAll(/^(?:fatal|error): (?!remote error)(.*)$/gm)].map(([, message]) => message!)
  const isKilled = messages.length === 1 && messages[0] === KILLED
  return isKilled || LIMIT_SIGNALS.includes(signalName) || messages.some((message) => LIMIT_MESSAGES.test(message))
}

function runGit(args: readonly string[], run: GitRun, memoryBytes: number): Promise<Buffer> {
  const { folder, env, signal, maxOutputBytes, maxFileBytes, onOutput, onStart } = run
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new DestinationError('timeout'))
    onStart?.()
    const limits = [Math.ceil(maxFileBytes / BLOCK_BYTES), Math.ceil(memoryBytes / KIB), MAX_CPU_SECONDS].map(String)
    // In a new process group, so that its child processes can be killed with it.
    const child = spawn('/bin/sh', ['-c', SCRIPT, 'sh', ...limits, ...args], {
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
    const { stdout } = child
    if (!stdout) return reject(new DestinationError('unavailable'))
    const end = (reason: Error) => {
      ended ??= reason
      killGroup(child.pid)
    }
    const onAbort = () => end(new DestinationError('timeout'))
    signal.addEventListener('abort', onAbort, { once: true })

    const output: Buffer[] = []
    let outputBytes = 0
    stdout.on('data', (chunk: Buffer) => {
      // Node.js would read on, up to 2 MiB at a time: everything else has its turn first.
      stdout.pause()
      setImmediate(() => stdout.resume())
      outputBytes += chunk.length
      if (outputBytes > maxOutputBytes) end(new DestinationError('unexpected_response'))
      else if (onOutput) onOutput(chunk)
      else output.push(chunk)
    })
    let stderr = ''
    child.stderr.on('data', (chunk: Buffer) => {
      if (stderr.length < MAX_STDERR_BYTES) stderr += chunk.toString('latin1')
    })
    child.once('close', (code, signalName) => {
      signal.removeEventListener('abort', onAbort)
      if (ended) reject(ended)
      else if (code === 0) resolve(Buffer.concat(output))
      else reject(new GitFailure(stderr, isOverLimit(signalName, stderr)))
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
