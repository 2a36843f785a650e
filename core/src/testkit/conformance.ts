/** The whole kit: runs a plugin through every check, gives a report of plain data, and makes tests of it for any runner. */
import { setTimeout as sleep } from 'node:timers/promises'
import { Value } from '../typebox.ts'
import { runCase } from './case-run.ts'
import { describeCheck } from './checks.ts'
import { createClock, type KitClock } from './clock.ts'
import { runConnection } from './connection-run.ts'
import { listen } from './exchange.ts'
import type { Memory } from './fault-proxy.ts'
import { createFindings, type Findings } from './findings.ts'
import { type Lane, type LaneOptions, openLane, valueAt } from './host.ts'
import { runMany } from './many-run.ts'
import type { ConformanceOptions, Report, RunningDestination } from './options.ts'
import type { CheckedCase } from './prepared.ts'
import { lintPlugin } from './profile-lint.ts'
import { checkAndSearch, type Run, wantsOf } from './run.ts'
import { installWatch } from './watch.ts'
import { startWatchdog } from './watchdog.ts'

const LANES = 6
/** What a plugin may do behind the host's back, or ask of it in vain. */
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
/** Of 20 ms each: a count, because a busy machine makes each of them longer. */
const CLOSING_ROUNDS = 75

/** Never rejects for what the plugin does wrong. Rejects for a destination that does not start. */
export async function runConformance<S, P>(given: ConformanceOptions<S, P>): Promise<Report> {
  const options = given as unknown as ConformanceOptions
  const findings = createFindings()
  const clock = createClock()
  const startedAt = clock.now()
  const wants = wantsOf(options)
  if (options.only) findings.untested(`every check but ${options.only.join(', ')}`)
  const removeWatch = installWatch()
  const stopWatchdog = startWatchdog()
  const running = await options.destination.start({ now: clock.now })
  const elsewhere = await listen(async (_request, response) => {
    findings.tell('fault.redirect-to-another-host', 'asks the host that a redirect names')
    response.end('{}')
  })
  const memory: Memory = new Map()
  const laneOptions: LaneOptions = {
    plugin: options.plugin,
    options: options.options ?? {},
    proxy: { destination: running.url, elsewhere: elsewhere.url, clock, memory },
    socketUrl: socketUrlOf(running),
    clock,
    note: (name, problem) => findings.tell(name, problem),
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
      check: (lane, asked) => checkAndSearch(lane, asked, findings),
      wants,
    }
    const checked: CheckedCase[] = []
    for (const row of options.cases) {
      const one = await runCase(run, row).catch((error: unknown) => {
        findings.tell('case.read', `no check could be made: ${(error as Error)?.message ?? error}`, { case: row.name })
      })
      if (one) checked.push(one)
    }
    await runMany(run, checked)
    await runConnection(
      run,
      checked.map(({ claim }) => claim),
    ).catch((error: unknown) => {
      findings.tell('case.read', `the connection could not be tried: ${(error as Error)?.message ?? error}`)
    })
    if (options.cases.length === 0) findings.tell('case.read', 'there are no cases')
  } catch (error) {
    findings.tell('plugin.setup', `setup fails: ${(error as Error)?.message ?? error}`)
  }
  await closeLanes(lanes, findings)
  if (lanes.length === LANES && wants('close.nothing-open')) await tellOpen(laneOptions, options, clock, findings)
  await elsewhere.stop()
  await running.stop()
  removeWatch()
  await stopWatchdog()
  return withMisuses(findings)
}

function socketUrlOf({ url, socketUrl }: RunningDestination): string | undefined {
  return socketUrl ?? (url.startsWith('tcp://') ? url : undefined)
}

function tellOptions({ plugin, options = {} }: ConformanceOptions, url: string, { tell }: Findings): void {
  const isValid = Value.Check(plugin.options, valueAt(options, url))
  tell('plugin.options', isValid ? undefined : 'the options are not what the plugin says that it takes')
}

async function closeLanes(lanes: readonly Lane[], { tell }: Findings): Promise<void> {
  for (const lane of lanes) {
    await lane
      .close()
      .catch((error: unknown) => tell('close.throws', `close fails: ${(error as Error)?.message ?? error}`))
  }
}

/** What keeps the process alive after a plugin was set up and closed that did not before. */
async function tellOpen(
  laneOptions: LaneOptions,
  options: ConformanceOptions,
  clock: KitClock,
  findings: Findings,
): Promise<void> {
  const before = await settledResources()
  const lane = await openLane(laneOptions)
  const row = options.cases.find(({ claim }) => typeof claim !== 'function')
  if (row && typeof row.claim !== 'function') {
    const verifier = lane.verifierFor(row.claim.action)
    const claimedAt = row.claim.claimedAt ?? clock.now()
    const connection = row.connection === undefined ? (options.connection ?? null) : row.connection
    const times = { claimedAt, deadlineAt: claimedAt + 60_000, submittedAt: claimedAt }
    const claim = { action: verifier?.profile.action ?? '', ...times, ...row.claim }
    if (verifier) await lane.check({ claim, connection, doing: { check: 'close.nothing-open' } }).catch(() => {})
  }
  await lane.close().catch(() => {})
  let left = more(resources(), before)
  for (let round = 0; left.length > 0 && round < CLOSING_ROUNDS; round++) {
    await sleep(20)
    left = more(resources(), before)
  }
  findings.tell('close.nothing-open', left.length === 0 ? undefined : `leaves open after close: ${left.join(', ')}`)
}

function resources(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const kind of process.getActiveResourcesInfo()) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return counts
}

/** What the checks before have left ends by itself, or is there to stay. */
async function settledResources(): Promise<ReadonlyMap<string, number>> {
  let [last, equal] = [resources(), 0]
  for (let round = 0; equal < 5 && round < CLOSING_ROUNDS; round++) {
    await sleep(20)
    const now = resources()
    equal = more(now, last).length + more(last, now).length === 0 ? equal + 1 : 0
    last = now
  }
  return last
}

function more(now: ReadonlyMap<string, number>, before: ReadonlyMap<string, number>): string[] {
  return [...now].filter(([kind, count]) => count > (before.get(kind) ?? 0)).map(([kind]) => kind)
}

function withMisuses({ tell, report }: Findings): Report {
  const found = new Set(report().checks.map(({ name }) => name))
  for (const name of MISUSES.filter((one) => !found.has(one))) tell(name, undefined)
  return report()
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
