/** The whole kit: runs a plugin through every check, gives a report of plain data, and makes tests of it for any runner. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Value } from '../typebox.ts'
import { runCase } from './case-run.ts'
import { describeCheck } from './checks.ts'
import { createClock } from './clock.ts'
import { runConnection } from './connection-run.ts'
import { listen } from './exchange.ts'
import type { AnswerMemory } from './fault-proxy.ts'
import { createFindings, type Findings } from './findings.ts'
import { type Lane, type LaneOptions, openLane, valueAt } from './host.ts'
import { runMany } from './many-run.ts'
import type { ConformanceOptions, Report } from './options.ts'
import type { CheckedCase } from './prepared.ts'
import { lintPlugin } from './profile-lint.ts'
import { type Run, searchSecrets } from './run.ts'
import { installWatch } from './watch.ts'
import { startWatchdog } from './watchdog.ts'

const LANES = 6
/** Checks that fail where a plugin goes behind the host's back, or asks what the host refuses. They pass unless something failed them. */
const MISUSES = [
  'clock.machine',
  'requests.hosts',
  'requests.origin',
  'requests.methods',
  'requests.credentials',
  'requests.headers',
  'requests.sockets',
  'requests.limits',
  'requests.handles',
  'requests.reveal',
  'requests.own-network',
]
/** Rounds of 20 ms to wait for the end of resources: a count, because a busy machine makes each round longer. */
const CLOSING_ROUNDS = 75

/** Runs the whole kit. Rejects for a destination that does not start, and never for what the plugin does wrong. */
export async function runConformance<S, P>(given: ConformanceOptions<S, P>): Promise<Report> {
  const options = given as unknown as ConformanceOptions
  const findings = createFindings()
  const clock = createClock()
  const startedAt = clock.now()
  const wants: Run['wants'] = (...names) => !options.only || names.some((name) => options.only!.includes(name))
  if (options.only) findings.untested(`every check but ${options.only.join(', ')}`)
  const removeWatch = installWatch()
  const stopWatchdog = startWatchdog()
  const running = await options.destination.start({ now: clock.now })
  const elsewhere = await listen(async (_request, response) => {
    findings.tell('fault.redirect-to-another-host', 'asks the host that a redirect names')
    response.end('{}')
  })
  const memory: AnswerMemory = new Map()
  const laneOptions: LaneOptions = {
    plugin: options.plugin,
    options: options.options ?? {},
    proxy: { destination: running.url, elsewhere: elsewhere.url, clock, memory },
    socketUrl: running.socketUrl ?? (running.url.startsWith('tcp://') ? running.url : undefined),
    clock,
    note: findings.tell,
  }
  const lanes: Lane[] = []
  try {
    tellOptions(options, running.url, findings)
    for (let count = 0; count < LANES; count++) lanes.push(await openLane(laneOptions))
    findings.tell('plugin.setup', undefined)
    lintPlugin(options.plugin, lanes[0]!.parts, findings)
    const run: Run = {
      options,
      lanes,
      clock,
      memory,
      findings,
      startedAt,
      async set(situation) {
        const prepared = await options.destination.set?.(situation)
        memory.clear()
        return prepared
      },
      async check(lane, asked) {
        const outcome = await lane.check(asked)
        searchSecrets(outcome, outcome.observation, findings.tell)
        return outcome
      },
      wants,
    }
    const checked: CheckedCase[] = []
    for (const row of options.cases) {
      const one = await runCase(run, row).catch((error: unknown) => {
        findings.tell('case.read', `no check could be made: ${messageOf(error)}`, { case: row.name })
      })
      if (one) checked.push(one)
    }
    await runMany(run, checked)
    await runConnection(
      run,
      checked.map(({ claim }) => claim),
    ).catch((error: unknown) => {
      findings.tell('case.read', `the connection could not be tried: ${messageOf(error)}`)
    })
    if (options.cases.length === 0) findings.tell('case.read', 'there are no cases')
  } catch (error) {
    findings.tell('plugin.setup', `setup fails: ${messageOf(error)}`)
  }
  for (const lane of lanes) {
    await lane.close().catch((error: unknown) => findings.tell('close.throws', `close fails: ${messageOf(error)}`))
  }
  if (lanes.length === LANES && wants('close.nothing-open')) await tellOpen(laneOptions, options, findings)
  await elsewhere.stop()
  await running.stop()
  removeWatch()
  await stopWatchdog()
  const found = new Set(findings.report().checks.map(({ name }) => name))
  for (const name of MISUSES.filter((one) => !found.has(one))) findings.tell(name, undefined)
  return findings.report()
}

function tellOptions({ plugin, options = {} }: ConformanceOptions, url: string, { tell }: Findings): void {
  const isValid = Value.Check(plugin.options, valueAt(options, url))
  tell('plugin.options', isValid ? undefined : 'the options are not what the plugin says that it takes')
}

function messageOf(error: unknown): string {
  return String((error as Error | undefined)?.message ?? error)
}

/** Tells of what keeps the process alive only after a plugin was set up, used and closed. */
async function tellOpen(laneOptions: LaneOptions, options: ConformanceOptions, { tell }: Findings): Promise<void> {
  const before = await settledResources()
  const lane = await openLane(laneOptions)
  const row = options.cases.find(({ claim }) => typeof claim !== 'function')
  if (row && typeof row.claim !== 'function') {
    const verifier = lane.verifierFor(row.claim.action)
    const claimedAt = row.claim.claimedAt ?? laneOptions.clock.now()
    const connection = row.connection === undefined ? (options.connection ?? null) : row.connection
    const times = { claimedAt, deadlineAt: claimedAt + 60_000, submittedAt: claimedAt }
    const claim = { action: verifier?.profile.action ?? '', ...times, ...row.claim }
    if (verifier) await lane.check({ claim, connection, doing: { check: 'close.nothing-open' } }).catch(() => {})
  }
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
    equal = addedKinds(now, last).length + addedKinds(last, now).length === 0 ? equal + 1 : 0
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
  const groups = new Map<string, string[]>()
  for (const check of report.checks) {
    const title = `${describeCheck(check.name)} (${check.name}${check.case === undefined ? '' : `, ${check.case}`})`
    const problems = groups.get(title) ?? []
    groups.set(title, problems)
    if (check.problem !== undefined)
      problems.push(`${check.problem}${check.route === undefined ? '' : ` (${check.route})`}`)
  }
  for (const [title, problems] of groups) {
    const run = async () => {
      if (problems.length > 0) throw new Error(problems.join('\n'))
    }
    await (typeof t === 'function' ? t(title, run) : t.test(title, run))
  }
  return report
}
