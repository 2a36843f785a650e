/** The crash test: hosts under load are killed again and again, and then everything that they ever answered must be true. */
import { setTimeout } from 'node:timers/promises'
import { createDatabase, type Dialect } from '../support/database.ts'
import { type Audit, audit } from './audit.ts'
import { Fleet } from './fleet.ts'
import type { HostProcess } from './host-process.ts'
import { Ledger } from './ledger.ts'
import { startLoad } from './load.ts'
import { type Random, seededRandom } from './random.ts'

export interface CrashOptions {
  readonly dialect: Dialect
  readonly hosts: number
  readonly seconds: number
  readonly seed: number
}

export interface CrashReport extends Audit {
  readonly kills: number
  readonly acknowledged: number
  /** A sentence each. */
  readonly problems: readonly string[]
}

const AGENTS = 6
/** About as many as a start takes on an empty database. */
const START_STATEMENTS = 60
/** About as many as a busy host makes in a second or two. */
const MOST_STATEMENTS = 1000
const LONGEST_LIFE_MS = 3000

export async function runCrashTest({ dialect, hosts, seconds, seed }: CrashOptions): Promise<CrashReport> {
  const random = seededRandom(seed)
  const ledger = new Ledger()
  const fleet = await Fleet.create({ database: await createDatabase(dialect), hosts })
  try {
    // On the empty database, all at once: the schema and the log are made only once, whoever dies over it.
    await Promise.all(fleet.hosts.map((host) => host.start(strike(random, START_STATEMENTS))))
    await fleet.startAll()
    await fleet.createWorkspace()

    const end = Date.now() + seconds * 1000
    const load = startLoad(fleet, ledger, random, AGENTS)
    const kills = await Promise.all(fleet.hosts.map((host) => killAgainAndAgain(host, random, end)))
    await fleet.startAll()
    await load.stop()

    const audited = await audit(fleet, ledger)
    for (const { failures } of fleet.hosts) for (const failure of failures) ledger.problems.add(failure)
    return {
      ...audited,
      kills: kills.reduce((sum, count) => sum + count, 0),
      acknowledged: ledger.acknowledged.length,
      problems: [...ledger.problems],
    }
  } finally {
    await fleet.remove()
  }
}

/** Half of its lives end at a random moment, half just before a random statement. Returns how many. */
async function killAgainAndAgain(host: HostProcess, random: Random, end: number): Promise<number> {
  let kills = 0
  for (; Date.now() < end; kills++) {
    await host.kill()
    const byItself = random.chance(0.5)
    await host.start(byItself ? strike(random, MOST_STATEMENTS) : undefined)
    const leftMs = Math.max(0, end - Date.now())
    await Promise.race([host.ended(), setTimeout(byItself ? leftMs : Math.min(leftMs, random.below(LONGEST_LIFE_MS)))])
  }
  await host.kill()
  return kills + 1
}

function strike({ between }: Random, most: number) {
  return { signal: 'SIGKILL', beforeStatement: between(1, most) } as const
}
