/** Plays one fault: load, the fault, what an operator does, load again, and then all that was ever answered must be true. */
import { setTimeout } from 'node:timers/promises'
import { audit } from '../crash/audit.ts'
import { presentClaim } from '../crash/claims.ts'
import { Ledger, type ServedHead } from '../crash/ledger.ts'
import { RULES_FILE, readRules } from '../support/alerts.ts'
import { type Prometheus, startPrometheus, WITHOUT_PROMETHEUS } from '../support/prometheus.ts'
import type { AlertState, Fault, Report } from './fault.ts'
import { World } from './world.ts'

const WATCH_EVERY_MS = 200
/** Prometheus has seen each host by then. */
const FIRST_SCRAPES_MS = 2500

export async function playFault(fault: Fault, seed: number): Promise<Report> {
  const world = await World.start(fault, seed)
  const prometheus = WITHOUT_PROMETHEUS ? undefined : await startPrometheus(RULES_FILE)
  const watched = watch(world, prometheus)
  try {
    await world.underLoad()
    await watched.begin()
    const report = fault.restores ? await playRestore(world, fault, watched) : await playPassing(world, fault, watched)
    return { ...report, problems: [...report.problems, ...alertProblems(fault, report)] }
  } finally {
    await watched.stop()
    await prometheus?.remove()
    await world.remove()
  }
}

function alertProblems({ alert }: Fault, { alerts }: Report): readonly string[] {
  const state = alert && (alerts.get(alert.name) ?? 'quiet')
  if (WITHOUT_PROMETHEUS || state === alert?.state) return []
  return [`the alert ${alert!.name} should be ${alert!.state}, and is ${state}`]
}

type Watched = ReturnType<typeof watch>

/** What each host says of itself until it is stopped, and the alerts that come true by it. */
function watch({ fleet, hosts }: World, prometheus: Prometheus | undefined) {
  const reasons = new Set<string>()
  const ending = new AbortController()
  let usual: ReadonlyMap<string, AlertState> = new Map()
  const scraped = new Set<string>()
  let beganAt = performance.now()

  /** A host that is down is scraped on: it keeps its port. */
  async function aim(): Promise<void> {
    const before = scraped.size
    for (const { url } of hosts) if (url !== undefined) scraped.add(url)
    if (scraped.size > before) await prometheus?.scrapeAll([...scraped])
  }

  async function alerts(): Promise<ReadonlyMap<string, AlertState>> {
    const states = new Map<string, AlertState>()
    if (!prometheus) return states
    const seconds = Math.ceil((performance.now() - beganAt) / 1000)
    for (const { name, expression } of readRules()) {
      if (usual.has(name) || !(await prometheus.isTrue(`count_over_time((${expression})[${seconds}s:500ms]) > 0`)))
        continue
      const isFiring = await prometheus.isTrue(
        `count_over_time(ALERTS{alertname="${name}",alertstate="firing"}[${seconds}s])`,
      )
      states.set(name, isFiring ? 'firing' : 'pending')
    }
    return states
  }

  async function look(): Promise<void> {
    while (!ending.signal.aborted) {
      await aim()
      const answers = await Promise.all(hosts.map((host) => fleet.request(host, '/readyz')))
      for (const answer of answers)
        if (answer?.status === 503) for (const problem of problemsOf(answer.text)) reasons.add(problem)
      await setTimeout(WATCH_EVERY_MS, undefined, { signal: ending.signal }).catch(() => {})
    }
  }
  const looking = look()
  return {
    reasons,
    alerts,
    /** What is true from now on is not the fault's. */
    async begin() {
      await prometheus?.becomesTrue(`count(up == 1) == ${hosts.length}`)
      beganAt = performance.now()
      if (prometheus) await setTimeout(FIRST_SCRAPES_MS)
      usual = await alerts()
      beganAt = performance.now()
    },
    async stop() {
      ending.abort()
      await looking
    },
  }
}

function problemsOf(text: string): readonly string[] {
  try {
    return JSON.parse(text).problems ?? []
  } catch {
    return [text]
  }
}

async function playPassing(world: World, fault: Fault, watched: Watched): Promise<Report> {
  await fault.play(world)
  await fault.mend?.run(world)
  const recoveryMs = await world.recovered()
  await world.underLoad()
  await world.endLoad()
  const { ledger } = world
  await audit(world.fleet, ledger)
  return reportOf(ledger.acknowledged.length, [...ledger.problems], recoveryMs, watched)
}

/** Two histories meet: what clients heard of the first must be there, or be lost and refused until an operator begins another log. */
async function playRestore(world: World, fault: Fault, watched: Watched): Promise<Report> {
  await fault.play(world)
  const before = world.ledger
  world.ledger = new Ledger()
  const problems = [...before.problems, ...(await whoSigns(world))]
  await fault.mend!.run(world)
  const recoveryMs = await world.recovered()
  await world.underLoad()
  await world.endLoad()
  const lost = await missing(world, before)
  problems.push(...unlisted(world, before, lost))
  problems.push(
    ...lost.map((id) => `${id}: acknowledged, and lost`),
    ...forks([...before.heads, ...world.ledger.heads]),
  )
  problems.push(...world.ledger.problems, ...(await world.fleet.doctor()).map((problem) => `doctor: ${problem}`))
  const claims = before.acknowledged.length + world.ledger.acknowledged.length
  return reportOf(claims, problems, recoveryMs, watched)
}

/** On a database from an old backup no host may take a claim, however long it is left alone. */
async function whoSigns(world: World): Promise<readonly string[]> {
  const tries = new Ledger()
  const end = Date.now() + 4000
  while (Date.now() < end) {
    for (const host of world.hosts) {
      const { claim } = tries.plan(presentClaim(`forked-${tries.claims.size}`))
      const answer = await world.fleet.submit(host, claim)
      if (answer?.status === 202) return [`a host signs on: it is forked: ${answer.text}`]
    }
    await setTimeout(100)
  }
  return []
}

/** Claims that were acknowledged and are not there. */
export async function missing(
  { fleet, hosts }: Pick<World, 'fleet' | 'hosts'>,
  { acknowledged }: Ledger,
): Promise<readonly string[]> {
  const lost: string[] = []
  for (const { claimId } of acknowledged) {
    const answer = await fleet.request(hosts[0]!, `/v1/claims/${claimId}`)
    if (answer?.status === 404) lost.push(claimId!)
  }
  return lost
}

/** Receipts that were lost, and that the command which began the next log did not name. */
function unlisted({ lostReceipts }: World, { acknowledged }: Ledger, lost: readonly string[]): readonly string[] {
  const gone = acknowledged.filter(({ claimId, receiptId }) => receiptId !== undefined && lost.includes(claimId!))
  return gone
    .filter(({ receiptId }) => !lostReceipts.has(receiptId!))
    .map(({ receiptId }) => `${receiptId}: it went with the database, and log new does not name it`)
}

/** Two heads of one log that have the same size and not the same root. */
export function forks(heads: readonly ServedHead[]): readonly string[] {
  const roots = new Map<string, string>()
  const found: string[] = []
  for (const { text, treeSize, rootHash } of heads) {
    const key = `${JSON.parse(text).body.log_id}/${treeSize}`
    if ((roots.get(key) ?? rootHash) !== rootHash) found.push(`head ${key}: it is forked`)
    roots.set(key, rootHash)
  }
  return found
}

const KINDS = {
  lost: /lost$/,
  doubled: /twice|two claims|two receipts/,
  forked: /forked|is not the beginning|served after one|proves another tree/,
} as const

async function reportOf(
  claims: number,
  problems: readonly string[],
  recoveryMs: number,
  { reasons, alerts }: Watched,
): Promise<Report> {
  return { claims, ...harmOf(problems), recoveryMs, reasons: [...reasons], alerts: await alerts() }
}

/** @param problems a sentence each */
export function harmOf(problems: readonly string[]): Pick<Report, 'lost' | 'doubled' | 'forked' | 'problems'> {
  const count = (kind: keyof typeof KINDS) => problems.filter((problem) => KINDS[kind].test(problem)).length
  return {
    lost: count('lost'),
    doubled: count('doubled'),
    forked: count('forked'),
    problems: problems.filter((problem) => !Object.values(KINDS).some((kind) => kind.test(problem))),
  }
}
