/** Runs the conformance kit on a package, in another process: a plugin that ends its process has not passed. */
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { CommandError } from '@claimcheck/command-line/errors'
import { writeError } from '@claimcheck/command-line/terminal'
import { isJsonObject } from '@claimcheck/core/rules'
import type { Report } from '@claimcheck/core/testkit'
import { collect, readAnswer } from './answer.ts'
import { showPrinted } from './printed.ts'
import { type KitProcess, startIsolated, startTrusted } from './start.ts'

interface KitOptions {
  readonly timeoutMs: number
  /** Tells whether the plugin runs with the rights of the command, and not in the sandbox. */
  readonly isTrusted: boolean
}

/**
 * Seconds without a beat of the process after which it is ended: in the sandbox it has no watchdog of the kit, which needs a thread. They are
 * counted, and not timed, because a machine may sleep.
 */
const MOST_SILENT_TICKS = 30
const TICK_MS = 1000
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const MOST_CHARACTERS = 8192
const REFUSED = /ERR_ACCESS_DENIED|Access to this API has been restricted/

/** Runs the kit on the package in a folder. @throws CommandError `could_not_check` if there is no report */
export async function runKit(folder: string, { timeoutMs, isTrusted }: KitOptions): Promise<Report> {
  const root = resolve(folder)
  const definition = definitionOf(root)
  const kit = isTrusted ? startTrusted(root, definition) : await startIsolated(root, definition).catch(noSandbox)
  const { text, end, stopped } = await followed(kit, timeoutMs, !isTrusted)
  if (stopped !== undefined) throw couldNotRun(stopped)
  if (!isTrusted && REFUSED.test(text)) writeError(`${NEEDS_MORE}\n`)
  if (text === '') throw couldNotRun(`the process ended with ${end} before there was a report.`)
  const answer = readAnswer(text)
  if (!answer) throw couldNotRun('the package sent what is no report of the kit.')
  if ('report' in answer) return answer.report
  throw couldNotRun(answer.problem.slice(0, MOST_CHARACTERS))
}

const NEEDS_MORE =
  'The sandbox refused something. A kit that starts programs, writes files or reads those of others needs --trusted.'

interface Followed {
  readonly text: string
  readonly end: string | number
  /** The reason for which the process was ended. */
  readonly stopped: string | undefined
}

/** Waits until nothing is left of the process. */
async function followed({ child, kill }: KitProcess, timeoutMs: number, hasToBeat: boolean): Promise<Followed> {
  let stopped: string | undefined
  let silent = 0
  function stop(why: string): void {
    stopped ??= why
    kill()
  }
  // A process in its own group gets no signals of the terminal, so it is killed here.
  const onSignal = (signal: NodeJS.Signals) => {
    kill()
    process.kill(process.pid, signal)
  }
  for (const signal of SIGNALS) process.once(signal, onSignal)
  showPrinted([child.stdout!, child.stderr!])
  const text = collect(
    child.stdio[3] as Readable,
    () => {
      silent = 0
    },
    () => stop('the package sent too much.'),
  )
  const timer = setTimeout(() => stop('it took too long.'), timeoutMs)
  const ticker = setInterval(() => {
    if (hasToBeat && ++silent > MOST_SILENT_TICKS) stop(BLOCKED)
  }, TICK_MS)
  const [code, signal] = await once(child, 'close')
  clearTimeout(timer)
  clearInterval(ticker)
  for (const signal of SIGNALS) process.off(signal, onSignal)
  return { text: text(), end: signal ?? code, stopped }
}

const BLOCKED =
  'the package blocks its process for half a minute. The kit says in which check, where it runs with --trusted or in a test runner.'

function noSandbox(error: Error): never {
  throw couldNotRun(
    `${error.message}. With --trusted it runs without the sandbox, with your rights: do that for a package that you trust, or in a container or a virtual machine.`,
  )
}

/** Finds the module with the kit's options as its default export. */
function definitionOf(folder: string): string {
  const file = join(folder, 'package.json')
  let manifest: unknown
  try {
    manifest = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw couldNotRun(`${file} could not be read: ${(error as Error).message}`)
  }
  const path = memberOf(memberOf(manifest, 'claimcheck'), 'conformance')
  if (typeof path === 'string') return builtFile(join(folder, path))
  throw couldNotRun(
    `${file} names no conformance definition: "claimcheck": { "conformance": "./dist/test/conformance.js" }`,
  )
}

function memberOf(value: unknown, name: string): unknown {
  return isJsonObject(value as never) ? (value as Record<string, unknown>)[name] : undefined
}

function builtFile(path: string): string {
  if (existsSync(path)) return path
  throw couldNotRun(`${path} is not there: build the package first.`)
}

function couldNotRun(problem: string): CommandError {
  return new CommandError('could_not_check', `The kit could not run: ${problem}`)
}
