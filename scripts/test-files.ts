/**
 * Runs processes of test files, some at a time, and prints what they say as one TAP stream, with the slowest files at the end.
 * Not with tap's own runner: that watches each process, and each that those start, for coverage, which takes as long as the tests.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

export interface Counts {
  readonly total: number
  readonly pass: number
  readonly fail: number
  readonly skip: number
}

export interface TestProcess {
  readonly name: string
  /** The test files that it runs. */
  readonly paths: readonly string[]
  /** The script, and its arguments. */
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  readonly database: string
}

interface Options {
  /** How many processes at a time. */
  readonly jobs: number
  /** The most that one process may take. */
  readonly timeoutMs: number
}

interface Outcome {
  readonly output: string
  readonly counts: Counts
  readonly problem: string | undefined
  readonly ms: number
}

const WITHOUT_DOMAINS = new URL('./without-domains.js', import.meta.url).href
const NOTHING: Counts = { total: 0, pass: 0, fail: 0, skip: 0 }
const STOPPING: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP']

interface FileTime {
  readonly path: string
  readonly database: string
  readonly ms: number
}

const SLOWEST = 10
const FILE_TIME = /^# file (\S+) took (\d+) ms$/gm

/** A line with which a process of several files says what each of them took. */
export function fileTime(path: string, ms: number): string {
  return `file ${path} took ${Math.round(ms)} ms`
}

/** True when every file passed, undefined when the run was interrupted. */
export async function runFiles(files: readonly TestProcess[], options: Options): Promise<boolean | undefined> {
  const running = new Set<ChildProcess>()
  const waiting = [...files]
  let isInterrupted = false
  let done = 0
  let counts = NOTHING
  const times: FileTime[] = []
  const interrupt = () => {
    isInterrupted = true
    waiting.length = 0
    for (const child of running) kill(child)
  }
  for (const signal of STOPPING) process.on(signal, interrupt)
  const startedAt = Date.now()
  console.log(`TAP version 14\n1..${files.length}`)

  async function work(): Promise<void> {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const outcome = await runFile(file, options, running)
      const { output, counts: own, problem, ms } = outcome
      const isGood = problem === undefined
      counts = sum(counts, own)
      times.push(...timesOf(file, outcome))
      // A problem that no test has counted is one failure.
      if (!isGood && own.fail === 0) counts = sum(counts, { ...NOTHING, total: 1, fail: 1 })
      console.log(`# Subtest: ${file.name}`)
      console.log(output.trimEnd().replace(/^/gm, '    '))
      done += 1
      console.log(`${isGood ? 'ok' : 'not ok'} ${done} - ${file.name} # time=${ms}ms`)
      if (!isGood) console.log(`  ---\n  problem: ${problem}\n  ...`)
    }
  }

  await Promise.all(Array.from({ length: options.jobs }, work))
  for (const signal of STOPPING) process.off(signal, interrupt)
  console.log(`# the ${Math.min(SLOWEST, times.length)} slowest files:`)
  for (const { path, database, ms } of times.toSorted((a, b) => b.ms - a.ms).slice(0, SLOWEST)) {
    console.log(`#   ${(ms / 1000).toFixed(1).padStart(6)} s  ${path} on ${database}`)
  }
  const { total, pass, fail, skip } = counts
  console.log(`# { total: ${total}, pass: ${pass}, fail: ${fail}, skip: ${skip} }`)
  console.log(`# time=${Date.now() - startedAt}ms`)
  return isInterrupted ? undefined : fail === 0
}

/** A process of one file takes the time of the process. */
function timesOf({ paths, database }: TestProcess, { output, ms }: Outcome): FileTime[] {
  if (paths.length === 1) return [{ path: paths[0]!, database, ms }]
  return [...output.matchAll(FILE_TIME)].map(([, path, taken]) => ({ path: path!, database, ms: Number(taken) }))
}

async function runFile(
  { args, env }: TestProcess,
  { timeoutMs }: Options,
  running: Set<ChildProcess>,
): Promise<Outcome> {
  const startedAt = Date.now()
  const child = spawn(process.execPath, ['--enable-source-maps', '--import', WITHOUT_DOMAINS, ...args], {
    env: { ...env, TAP_TIMEOUT: String(timeoutMs / 1000) },
    stdio: ['ignore', 'pipe', 'inherit'],
    // A process group with all that it starts, so that all of it can be ended at once.
    detached: true,
  })
  running.add(child)
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    kill(child)
  }, timeoutMs + 5000)
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  const [code, signal] = await once(child, 'close')
  clearTimeout(timer)
  running.delete(child)
  const counts = readCounts(output)
  return { output, counts, problem: problemOf({ isLate, code, signal, counts }), ms: Date.now() - startedAt }
}

interface Ending {
  readonly isLate: boolean
  readonly code: number | null
  readonly signal: string | null
  readonly counts: Counts
}

function problemOf({ isLate, code, signal, counts }: Ending): string | undefined {
  if (isLate) return 'it was not done in time'
  if (code !== 0) return `it ended with ${code ?? signal}`
  if (counts.total === 0) return 'it has no tests'
  return counts.fail > 0 ? 'tests failed' : undefined
}

/** tap ends each process with `# { total: 12, pass: 11, fail: 1 }`. A process that broke off has counted nothing. */
function readCounts(output: string): Counts {
  const [line] = output.match(/^# \{ total: .*\}$/m) ?? []
  if (line === undefined) return NOTHING
  const count = (name: string) => Number(new RegExp(`\\b${name}: (\\d+)`).exec(line)?.[1] ?? 0)
  return { total: count('total'), pass: count('pass'), fail: count('fail'), skip: count('skip') }
}

function sum(one: Counts, other: Counts): Counts {
  return {
    total: one.total + other.total,
    pass: one.pass + other.pass,
    fail: one.fail + other.fail,
    skip: one.skip + other.skip,
  }
}

function kill(child: ChildProcess): void {
  try {
    process.kill(-child.pid!, 'SIGKILL')
  } catch {
    // It has ended already.
  }
}
