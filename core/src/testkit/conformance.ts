/** The whole kit: runs a plugin through every check, gives a report of plain data, and makes tests of it for any runner. */
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { Value } from '../typebox.ts'
import { runCase } from './case-run.ts'
import { CHECKS, describeCheck } from './checks.ts'
import { createClock } from './clock.ts'
import { runConnection } from './connection-run.ts'
import { listen } from './exchange.ts'
import type { AnswerMemory } from './fault-proxy.ts'
import { createFindings, type Findings } from './findings.ts'
import { type CheckRequest, type Lane, type LaneOptions, openLane, valueAt } from './host.ts'
import type { ConformanceOptions, Report } from './options.ts'
import type { CheckedCase } from './prepared.ts'
import { lintPlugin } from './profile-lint.ts'
import { at, type Run, searchSecrets } from './run.ts'
import { installWatch } from './watch.ts'
import { startWatchdog } from './watchdog.ts'

const LANES = 6
/** Matches checks that fail where a plugin goes behind the host's back, or asks what the host refuses. They pass unless something failed them. */
const MISUSE = /^(?:clock\.machine$|requests\.)/
/** Rounds of 20 ms to wait for the end of resources: a count, because a busy machine makes each round longer. */
const CLOSING_ROUNDS = 75

/** Runs the whole kit. Rejects for a destination that does not start, and never for what the plugin does wrong. */
export async function runConformance<S, P>(given: ConformanceOptions<S, P>): Promise<Report> {
  const options = given as unknown as ConformanceOptions
  const { plugin, destination, cases, only } = options
  const findings = createFindings()
  const { tell } = findings
  const clock = createClock()
  const startedAt = clock.now()
  const wants: Run['wants'] = (...names) => !only || names.some((name) => only.includes(name))
  if (only) findings.untested(`every check but ${only.join(', ')}`)
  const removeWatch = installWatch()
  const stopWatchdog = startWatchdog()
  const running = await destination.start({ now: clock.now })
  const elsewhere = await listen(async (_request, response) => {
    tell('fault.redirect-to-another-host', 'asks the host that a redirect names')
    response.end('{}')
  })
  const memory: AnswerMemory = new Map()
  const laneOptions: LaneOptions = {
    plugin,
    options: options.options ?? {},
    proxy: { destination: running.url, elsewhere: elsewhere.url, clock, memory },
    socketUrl: running.socketUrl ?? (running.url.startsWith('tcp://') ? running.url : undefined),
    clock,
    note: tell,
  }
  const lanes: Lane[] = []
  const checked: CheckedCase[] = []
  try {
    const takesOptions = Value.Check(plugin.options, valueAt(laneOptions.options, running.url))
    tell('plugin.options', takesOptions ? undefined : 'the options are not what the plugin says that it takes')
    for (let count = 0; count < LANES; count++) lanes.push(await openLane(laneOptions))
    tell('plugin.setup', undefined)
    lintPlugin(plugin, lanes[0]!.parts, findings)
    const run: Run = {
      options,
      lanes,
      clock,
      memory,
      findings,
      startedAt,
      async set(situation) {
        const prepared = await destination.set?.(situation)
        memory.clear()
        return prepared
      },
      async check(lane, asked) {
        const outcome = await lane.check(asked)
        searchSecrets(outcome, outcome.observation, tell)
        return outcome
      },
      wants,
    }
    for (const row of cases) {
      const one = await runCase(run, row).catch((error: unknown) => {
        tell('case.read', `no check could be made: ${messageOf(error)}`, { case: row.name })
      })
      if (one) checked.push(one)
    }
    await runConnection(run, checked).catch((error: unknown) => {
      tell('case.read', `the connection could not be tried: ${messageOf(error)}`)
    })
    if (cases.length === 0) tell('case.read', 'there are no cases')
  } catch (error) {
    tell('plugin.setup', `setup fails: ${messageOf(error)}`)
  }
  for (const lane of lanes) {
    await lane.close().catch((error: unknown) => tell('close.throws', `close fails: ${messageOf(error)}`))
  }
  if (lanes.length === LANES && wants('close.nothing-open')) await tellOpen(laneOptions, checked[0]?.asked, findings)
  await elsewhere.stop()
  await running.stop()
  removeWatch()
  await stopWatchdog()
  const found = new Set(findings.report().checks.map(({ name }) => name))
  const unfailed = Object.keys(CHECKS).filter((name) => MISUSE.test(name) && !found.has(name))
  for (const name of unfailed) tell(name, undefined)
  return findings.report()
}

function messageOf(error: unknown): string {
  return String((error as Error | undefined)?.message ?? error)
}

/** Tells of what keeps the process alive only after a plugin was set up, used and closed. */
async function tellOpen(options: LaneOptions, asked: CheckRequest | undefined, { tell }: Findings): Promise<void> {
  const before = await settledResources()
  const lane = await openLane(options)
  if (asked) await lane.check(at(asked, 'close.nothing-open')).catch(() => {})
  await lane.close().catch(() => {})
  let left = addedKinds(resources(), before)
  for (let round = 0; left.length > 0 && round < CLOSING_ROUNDS; round++) {
    await sleep(20)
    left = addedKinds(resources(), before)
  }
  tell('close.nothing-open', left.length === 0 ? undefined : `leaves open after close: ${left.join(', ')}`)
}

function resources(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return counts
}

/** Waits until the resources that earlier checks left have ended or stay. */
async function settledResources(): Promise<ReadonlyMap<string, number>> {
  let [last, equal] = [resources(), 0]
  for (let round = 0; equal < 5 && round < CLOSING_ROUNDS; round++) {
    await sleep(20)
    const now = resources()
    equal = isDeepStrictEqual(now, last) ? equal + 1 : 0
    last = now
  }
  return last
}

function addedKinds(now: ReadonlyMap<string, number>, before: ReadonlyMap<string, number>): string[] {
  return [...now].filter(([kind, count]) => count > (before.get(kind) ?? 0)).map(([kind]) => kind)
}

/** Registers a test: `test` of node:test or vitest, `t.test` of tap, or a function of one's own. */
export type RegisterTest = (name: string, run: () => Promise<void>) => unknown
export type Tests = RegisterTest | { readonly test: RegisterTest }

/**
 * Makes a test of each check of the kit, and for each case where the check has cases. Wait for it, because the tests are made after the
 * checks.
 *
 * @param t whatever registers a test by a name and a function
 * @returns the report, whose failures are failed tests
 */
export async function verifierConformance<S, P>(t: Tests, options: ConformanceOptions<S, P>): Promise<Report> {
  const report = await runConformance(options)
  const problems = new Map<string, string[]>()
  for (const { name, case: of, problem, route } of report.checks) {
    const title = `${describeCheck(name)} (${of === undefined ? name : `${name}, ${of}`})`
    const known = problems.get(title) ?? []
    problems.set(title, known)
    if (problem !== undefined) known.push(route === undefined ? problem : `${problem} (${route})`)
  }
  for (const [title, found] of problems) {
    const run = async () => {
      if (found.length > 0) throw new Error(found.join('\n'))
    }
    await (typeof t === 'function' ? t(title, run) : t.test(title, run))
  }
  return report
}
