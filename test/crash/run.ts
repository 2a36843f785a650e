/** The crash test: hosts under load are killed and frozen again and again, and then all that they ever answered must be true. */
import { setTimeout } from 'node:timers/promises'
import type { SqliteDriverName } from '@claimcheck/server/storage/sqlite-drivers'
import { createDatabase, type Dialect } from '../support/database.ts'
import { type Audit, audit } from './audit.ts'
import { Fleet } from './fleet.ts'
import type { HostProcess, Strike } from './host-process.ts'
import { Ledger } from './ledger.ts'
import { startLoad } from './load.ts'
import { type Random, seededRandom } from './random.ts'

export interface CrashOptions {
  readonly dialect: Dialect
  /** Without it, the first that loads. */
  readonly sqliteDriver?: SqliteDriverName | undefined
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

const AGENTS_PER_HOST = 6
/** About as many as a start takes on an empty database. */
const START_STATEMENTS = 60
/** About as many as a busy host makes in a second or two. */
const MOST_STATEMENTS = 500
const LONGEST_LIFE_MS = 2000
const LONGEST_START_MS = 5000
/** Longer than a lease. */
const LONGEST_FREEZE_MS = 9000

export async function runCrashTest({
  dialect,
  sqliteDriver,
  hosts,
  seconds,
  seed,
}: CrashOptions): Promise<CrashReport> {
  const random = seededRandom(seed)
  const ledger = new Ledger()
  const database = await createDatabase(dialect, { isEmpty: true })
  const fleet = await Fleet.create({ database, hosts, sqliteDriver })
  try {
    // All hosts start at once on the empty database. The schema and the log must be made only once, whichever host is killed meanwhile.
    await Promise.all(fleet.hosts.map((host) => host.start(strike(random, 'SIGKILL', START_STATEMENTS))))
    await fleet.startAll()
    await fleet.createWorkspace()

    const end = Date.now() + seconds * 1000
    const load = startLoad(fleet, ledger, random, AGENTS_PER_HOST * hosts)
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

/** Kills the host at a random moment or just before a random statement, or stops it until its leases have run out, and starts it again. */
async function killAgainAndAgain(host: HostProcess, random: Random, end: number): Promise<number> {
  const pause = (ms: number) => setTimeout(Math.max(0, Math.min(ms, end - Date.now())))
  let kills = 0
  for (; Date.now() < end; kills++) {
    await host.kill()
    const signal = random.chance(0.2) ? 'SIGSTOP' : 'SIGKILL'
    const byItself = random.chance(0.5)
    const started = host.start(byItself ? strike(random, signal, MOST_STATEMENTS) : undefined)
    // A host that stops while it starts says nothing until it goes on, below.
    await Promise.race([started, pause(LONGEST_START_MS)])
    await Promise.race([host.ended(), pause(random.below(byItself ? 2 * LONGEST_LIFE_MS : LONGEST_LIFE_MS))])
    if (signal === 'SIGKILL') continue
    host.signal('SIGSTOP')
    await pause(random.below(LONGEST_FREEZE_MS))
    host.signal('SIGCONT')
    await pause(random.below(LONGEST_LIFE_MS))
  }
  await host.kill()
  return kills + 1
}

function strike({ between }: Random, signal: Strike['signal'], most: number): Strike {
  return { signal, before: between(1, most) }
}
