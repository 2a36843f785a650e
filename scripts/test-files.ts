/**
 * Runs processes of test files, some at a time, and prints what they say as one TAP stream, with the slowest files and what failed at the end.
 * Not with tap's own runner: that watches each process, and each that those start, for coverage, which takes as long as the tests.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileTimes } from './file-time.ts'

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
  /** The number of processes at a time. */
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
const TIME_PROCESS = new URL('./time-process.js', import.meta.url).href
const NOTHING: Counts = { total: 0, pass: 0, fail: 0, skip: 0 }
const STOPPING: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP']

const SLOWEST = 10

/** The most failures for which a busy machine may be the reason. */
const MOST_SECOND_TRIES = 2

/**
 * A few processes that fail beside others run a second time, alone: a busy machine makes tests that are about moments miss theirs. What passes then
 * is told apart at the end. Resolves to true when every file passed, and to undefined when the run was interrupted.
 */
export async function runFiles(files: readonly TestProcess[], options: Options): Promise<boolean | undefined> {
  const running = new Set<ChildProcess>()
  const waiting = [...files]
  const outcomes = new Map<TestProcess, Outcome>()
  let isInterrupted = false
  let done = 0
  const interrupt = () => {
    isInterrupted = true
    waiting.length = 0
    for (const child of running) kill(child)
  }
  for (const signal of STOPPING) process.on(signal, interrupt)
  const startedAt = Date.now()
  console.log('TAP version 14')

  async function run(file: TestProcess): Promise<void> {
    const outcome = await runFile(file, options, running)
    const { output, problem, ms } = outcome
    outcomes.set(file, outcome)
    console.log(`# Subtest: ${file.name}`)
    console.log(output.trimEnd().replace(/^/gm, '    '))
    console.log(`${problem === undefined ? 'ok' : 'not ok'} ${++done} - ${file.name} # time=${ms}ms`)
    if (problem !== undefined) console.log(`  ---\n  problem: ${problem}\n  ...`)
  }

  async function work(): Promise<void> {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) await run(file)
  }

  const failures = () =>
    [...outcomes].flatMap(([{ name }, { problem, output }]) =>
      problem === undefined ? [] : [`${name}: ${problem}`, ...failuresOf(output)],
    )

  await Promise.all(Array.from({ length: options.jobs }, work))
  const failed = [...outcomes.keys()].filter((file) => outcomes.get(file)!.problem !== undefined)
  const atFirst = failures()
  if (failed.length <= MOST_SECOND_TRIES && failed.length < files.length) waiting.push(...(isInterrupted ? [] : failed))
  await work()
  for (const signal of STOPPING) process.off(signal, interrupt)

  console.log(`1..${done}`)
  const times = [...outcomes].flatMap(([{ database }, { output }]) =>
    fileTimes(output).map((time) => ({ ...time, database })),
  )
  console.log(`# the ${Math.min(SLOWEST, times.length)} slowest files:`)
  for (const { path, database, ms, processorMs } of times.toSorted((a, b) => b.ms - a.ms).slice(0, SLOWEST)) {
    console.log(`#   ${seconds(ms)} s, processor ${seconds(processorMs)} s  ${path} on ${database}`)
  }
  const hasPassed = failed.some((file) => outcomes.get(file)!.problem === undefined)
  if (hasPassed) tell('failed beside others, and ran once more alone', atFirst)
  tell('failed', failures())
  const { total, pass, fail, skip } = [...outcomes.values()].map(countOf).reduce(sum, NOTHING)
  console.log(`# { total: ${total}, pass: ${pass}, fail: ${fail}, skip: ${skip} }`)
  const processorMs = times.reduce((sum, time) => sum + time.processorMs, 0)
  console.log(`# time=${Date.now() - startedAt}ms, processor ${Math.round(processorMs)} ms`)
  return isInterrupted ? undefined : fail === 0
}

function tell(what: string, lines: readonly string[]): void {
  if (lines.length > 0) console.log(`# ${what}:`)
  for (const line of lines) console.log(`#   ${line}`)
}

/** A problem that no test has counted is one failure. */
function countOf({ counts, problem }: Outcome): Counts {
  return problem !== undefined && counts.fail === 0 ? sum(counts, { ...NOTHING, total: 1, fail: 1 }) : counts
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1).padStart(5)
}

async function runFile(
  { args, env, paths }: TestProcess,
  { timeoutMs }: Options,
  running: Set<ChildProcess>,
): Promise<Outcome> {
  const startedAt = Date.now()
  const preloaded = [WITHOUT_DOMAINS, ...(paths.length === 1 ? [TIME_PROCESS] : [])].flatMap((url) => ['--import', url])
  const child = spawn(process.execPath, ['--enable-source-maps', ...preloaded, ...args], {
    env: { ...env, TAP_TIMEOUT: String(timeoutMs / 1000), TEST_FILES: paths.join(' ') },
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
    // The process has ended already.
  }
}

const LONGEST_DETAILS = 30

/** The failed tests of a TAP stream, each with its details and below its parents: a run repeats them at its end. */
function failuresOf(tap: string): string[] {
  const lines = tap.split('\n')
  return lines.flatMap((line, at) => (/^ *not ok /.test(line) ? [line, ...detailsAfter(lines, at)] : []))
}

/** The YAML block after a test. */
function detailsAfter(lines: readonly string[], at: number): readonly string[] {
  if (lines[at + 1]?.trim() !== '---') return []
  const end = lines.findIndex((line, index) => index > at && line.trim() === '...')
  return lines.slice(at + 2, Math.min(end === -1 ? lines.length : end, at + 2 + LONGEST_DETAILS))
}
