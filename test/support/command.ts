/** The command, as an operator runs it: with nothing of this environment but the path, and in a process that is not this one. */
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { hold } from './hold.ts'

export type Env = Readonly<Record<string, string>>

export interface Order {
  readonly folder: string
  readonly args: readonly string[]
  readonly env: Env
}

export interface Outcome {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export const CLAIMCHECK = resolve('server/bin/claimcheck.js')
/** What no command prints, so that it can follow what one has printed. */
export const END = '\0'

const COMMAND_PROCESS = new URL('./command-process.js', import.meta.url)
const idle: ChildProcess[] = []

/** To its end. Logs are silent where `env` says nothing else. */
export function runClaimcheck(folder: string, args: readonly string[], env: Env = {}): Promise<Outcome> {
  // The process may be in a folder that is gone.
  const order = { folder: resolve(folder), args, env: { PATH: process.env.PATH!, LOG_LEVEL: 'silent', ...env } }
  return args[0] === 'serve' ? runProgram(order) : runInProcess(order)
}

/** The program itself, in a process that is new. @param program where it is installed elsewhere than in this checkout */
export async function runProgram({ folder, args, env }: Order, program = CLAIMCHECK): Promise<Outcome> {
  const child = spawn(process.execPath, [program, ...args], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code, stdout, stderr }
}

/** In a process that has run commands before: to load the modules takes longer than most of them. */
async function runInProcess(order: Order): Promise<Outcome> {
  const child = idle.pop() ?? startProcess()
  const done = new AbortController()
  const { signal } = done
  const ended = once(child, 'exit', { signal }).then(([code]) => {
    throw new Error(`${order.args.join(' ')}: the process of the command ended with ${code}`)
  })
  hold(child, true)
  child.send(order)
  try {
    const printed = [untilEnd(child.stdout!, signal), untilEnd(child.stderr!, signal)] as const
    const all = Promise.all([...printed, once(child, 'message', { signal })])
    const [stdout, stderr, [code]] = await Promise.race([all, ended])
    idle.push(child)
    return { code, stdout, stderr }
  } finally {
    hold(child, false)
    ended.catch(() => {})
    done.abort()
  }
}

function startProcess(): ChildProcess {
  const child = fork(COMMAND_PROCESS, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], execArgv: [], env: {} })
  child.stdout!.setEncoding('utf8')
  child.stderr!.setEncoding('utf8')
  return child
}

/** One listener for all chunks: what came between one and the next would be lost. */
function untilEnd(stream: Readable, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    let printed = ''
    const take = (chunk: string) => {
      printed += chunk
      if (printed.endsWith(END)) resolve(printed.slice(0, -END.length))
    }
    stream.on('data', take)
    signal.addEventListener('abort', () => {
      stream.off('data', take)
      reject(signal.reason)
    })
  })
}
