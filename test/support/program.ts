/** The program `claimcheck serve`, as people start it: alone in a process, or in one that served before. */
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { CLAIMCHECK, type Order } from './command.ts'
import { hold } from './hold.ts'

export interface Program {
  readonly url: string
  readonly metricsUrl: string | undefined
  /** Where the first person sets it up. */
  readonly setupUrl: string | undefined
  /** As SIGTERM stops it. @throws Error when it ends otherwise, or would not end */
  stop(): Promise<void>
}

interface Ended {
  readonly code: number | null
  /** What it would go on for. */
  readonly left: readonly string[]
}

/** A process with what it has printed since its service started. */
interface Process {
  readonly child: ChildProcess
  printed: string
  complained: string
}

const SERVICE_PROCESS = new URL('./service-process.js', import.meta.url)
const idle: Process[] = []

/** In a new process. @param program where it is installed elsewhere than in this checkout */
export async function startProgram(folder: string, env: NodeJS.ProcessEnv, program = CLAIMCHECK): Promise<Program> {
  const stdio = ['ignore', 'pipe', 'pipe'] as const
  const child = spawn(process.execPath, [program, 'serve', '--json'], { cwd: folder, env, stdio: [...stdio] })
  const one = watch(child)
  const ended = once(child, 'exit').then(([code]): Ended => ({ code, left: [] }))
  const said = await saidBy(one, ended)
  return {
    ...said,
    stop: async () => {
      child.kill('SIGTERM')
      check(await ended, one)
    },
  }
}

/** The same module that the program runs, in a process that has loaded it. */
export async function startInWarmProcess(order: Omit<Order, 'args'>): Promise<Program> {
  const one =
    idle.pop() ?? watch(fork(SERVICE_PROCESS, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], execArgv: [], env: {} }))
  one.printed = ''
  one.complained = ''
  const { child } = one
  hold(child, true)
  const done = new AbortController()
  const { signal } = done
  const ended = Promise.race([
    once(child, 'message', { signal }).then(([message]) => message as Ended),
    once(child, 'exit', { signal }).then(([code]): Ended => ({ code: code ?? -1, left: [] })),
  ]).finally(() => done.abort())
  child.send({ ...order, args: ['serve', '--json'] })
  const said = await saidBy(one, ended)
  return {
    ...said,
    stop: async () => {
      child.send('stop')
      check(await ended, one)
      hold(child, false)
      idle.push(one)
    },
  }
}

async function saidBy(one: Process, ended: Promise<Ended>): Promise<Omit<Program, 'stop'>> {
  const waiting = new AbortController()
  const isOver = ended.then(() => waiting.abort())
  while (!one.printed.includes('\n') && !waiting.signal.aborted)
    await Promise.race([once(one.child.stdout!, 'data', { signal: waiting.signal }), isOver]).catch(() => {})
  if (!one.printed.includes('\n')) throw new Error(`the service did not start: ${one.complained || one.printed}`)
  const { url, metrics_url, setup_url, error } = JSON.parse(one.printed.split('\n', 1)[0]!)
  if (error) throw new Error(`the service did not start: ${error.message}`)
  return { url, metricsUrl: metrics_url, setupUrl: setup_url }
}

function check({ code, left }: Ended, { complained }: Process): void {
  if (code !== 0) throw new Error(`the service ended with ${code}: ${complained}`)
  if (left.length > 0) throw new Error(`the service would not end: ${left.join(', ')}`)
}

function watch(child: ChildProcess): Process {
  const one: Process = { child, printed: '', complained: '' }
  const endWithUs = () => child.kill('SIGKILL')
  process.on('exit', endWithUs)
  child.once('exit', () => process.off('exit', endWithUs))
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    one.printed += text
  })
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    one.complained += text
  })
  return one
}
