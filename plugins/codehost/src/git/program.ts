/**
 * Runs the `git` program with limits on its time, memory, output and files, and checks its version. No process of it outlives the run.
 */
import { execFile, spawn } from 'node:child_process'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type CheckContext, DestinationError } from '@claimcheck/core/plugin'
import { httpFailure } from '../rest.ts'
import type { Places } from './places.ts'

export interface GitRun {
  readonly folder: string
  readonly env: NodeJS.ProcessEnv
  readonly signal: AbortSignal
  /** The user whose share of the places for git's processes the run takes. */
  readonly share: string
  readonly maxOutputBytes: number
  readonly maxFileBytes: number
  /** Gets the output piece by piece; the run then returns an empty buffer. */
  readonly onOutput?: (chunk: Buffer) => void
  /** Hears that the run has its place and begins. */
  readonly onStart?: () => void
}

/**
 * Runs git, and returns what it wrote to standard output.
 * @throws GitFailure when git exits with an error
 * @throws DestinationError `timeout` when the signal aborts, `unexpected_response` when it writes too much
 */
export type Git = (args: readonly string[], run: GitRun) => Promise<Buffer>

/** The error with which git ended. */
export class GitFailure extends Error {
  override readonly name = 'GitFailure'
  /** Git's error output, one character a byte. */
  readonly stderr: string
  /** Tells whether git reached the limit on its memory, its processor time or the size of its files. */
  readonly isOverLimit: boolean

  constructor(stderr: string, isOverLimit: boolean) {
    super('git failed')
    this.stderr = stderr
    this.isOverLimit = isOverLimit
  }
}

/** Creates the runner of git. @param memoryBytes the size of the address space of each process of git */
export function createGit({ memoryBytes, places }: { readonly memoryBytes: number; readonly places: Places }): Git {
  return (args, run) => places.within(run.share, run.signal, () => runGit(args, run, memoryBytes))
}

const MAX_STDERR_BYTES = 16_384
// The units of `ulimit` in POSIX, and in the shells that know more than POSIX.
const BLOCK_BYTES = 512
const KIB = 1024
/** The processor time of a process: more than a check has. It ends a process whose check ended without ending it, because this process was killed. */
const MAX_CPU_SECONDS = 60
// The shell sets the limits, which the kernel then enforces for git and each of its child processes.
const SCRIPT = 'ulimit -f "$1" && ulimit -v "$2" && ulimit -t "$3" && shift 3 && exec git "$@"'
/** The signals of the limits on processor time and on the size of a file. */
const LIMIT_SIGNALS: readonly unknown[] = ['SIGXCPU', 'SIGXFSZ']
/** The messages by which git tells that it, or a program that it ran, came to a limit. */
const LIMIT_MESSAGES = /^(?:out of memory|.*: cannot allocate memory|.*\bmmap failed|.*died of signal (?:24|25)\b)/i
/** The message of git when the program that stores a pack was killed, and had no time to say why. */
const KILLED = 'fetch-pack: invalid index-pack output'

function isOverLimit(signalName: NodeJS.Signals | null, stderr: string): boolean {
  // Messages of the server prove nothing: git marks them `remote`.
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
    // The child leads a new process group, so that its child processes can be killed with it.
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
    // The process group has ended already.
  }
}

const HTTP_STATUS = /requested URL returned error: (\d{3})/
/** Git's message where the repository names its objects in another way than a claim does. */
const OTHER_IDS = /^fatal: mismatched algorithms/m
const REFUSES_SHALLOW = /^fatal: server does not support (?:shallow|--deepen)/im

/** Tells whether git failed because the server gives out only whole histories. */
export function refusesShallow(error: unknown): boolean {
  return error instanceof GitFailure && REFUSES_SHALLOW.test(error.stderr)
}

/** Waits for a run of git. @throws DestinationError for a failure of git */
export async function fromServer<T>(running: Promise<T>, context: Pick<CheckContext, 'now'>): Promise<T> {
  try {
    return await running
  } catch (error) {
    throw error instanceof GitFailure ? serverFailure(error, context) : error
  }
}

/** Turns a failure of git into the reason why the server could not be read. */
export function serverFailure(cause: GitFailure, { now }: Pick<CheckContext, 'now'>): DestinationError {
  // The failure may be by more than may be fetched, or than fits into memory when it is unpacked.
  if (cause.isOverLimit || OTHER_IDS.test(cause.stderr)) return new DestinationError('unexpected_response', { cause })
  const status = Number(HTTP_STATUS.exec(cause.stderr)?.[1])
  return status ? httpFailure(new Response(null, { status }), now()) : new DestinationError('unavailable', { cause })
}

const NEGOTIATED = /"key":"negotiated-version","value":"(\d+)"/

/**
 * Makes git trace a run. Git takes any web page for an old static repository without branches: only a server that has negotiated a version of
 * the protocol has really listed its branches.
 */
export async function traceRun(run: GitRun) {
  const file = join(run.folder, 'trace')
  // An old trace is removed, because git appends to the file.
  await rm(file, { force: true })
  return {
    run: { ...run, env: { ...run.env, GIT_TRACE2_EVENT: file } },
    /** Reads the version of the protocol, when git has ended; `undefined` if none was negotiated. */
    async negotiatedVersion(): Promise<string | undefined> {
      const events = await readFile(file, 'utf8').catch(() => '')
      return NEGOTIATED.exec(events)?.[1]
    },
  }
}

export const LINE_FEED = 10

/**
 * Cuts a stream of bytes into pieces that end with a line, so that a piece can be searched without what comes before or after it.
 *
 * @param onLines gets one or more whole lines at a time, each with its line feed
 */
export function inLines(onLines: (lines: Buffer) => void): (chunk: Buffer) => void {
  let rest: readonly Buffer[] = []
  return (chunk) => {
    const end = chunk.lastIndexOf(LINE_FEED) + 1
    if (end > 0) onLines(rest.length > 0 ? Buffer.concat([...rest, chunk.subarray(0, end)]) : chunk.subarray(0, end))
    const left = chunk.subarray(end)
    rest = end > 0 ? [left] : [...rest, left]
  }
}

/** The oldest version of git that will do: older ones ignore `http.curloptResolve`, and are not pinned to an address. */
const MIN_VERSION = [2, 37] as const

// Tries the limit on memory: a system on which the memory of git cannot be limited is not one to run it on.
const VERSION_SCRIPT = 'ulimit -v 1048576 && exec git --version'

let checked: Promise<void> | undefined

/** Checks git once for the whole process. @throws DestinationError `unavailable` when git is missing or too old, or cannot be limited */
export function requireGit(): Promise<void> {
  // A failure is not remembered, because it may pass.
  checked ??= checkVersion().catch((error: unknown) => {
    checked = undefined
    throw error
  })
  return checked
}

async function checkVersion(): Promise<void> {
  try {
    const { stdout } = await promisify(execFile)('/bin/sh', ['-c', VERSION_SCRIPT])
    const [, major, minor] = /(\d+)\.(\d+)/.exec(stdout) ?? []
    const isOld = Number(major) < MIN_VERSION[0] || (Number(major) === MIN_VERSION[0] && Number(minor) < MIN_VERSION[1])
    if (major === undefined || isOld)
      throw new Error(`git ${MIN_VERSION.join('.')} or newer is needed, found: ${stdout.trim()}`)
  } catch (cause) {
    throw new DestinationError('unavailable', { cause })
  }
}
