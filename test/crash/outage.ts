/** PostgreSQL goes away under load and comes back: hosts say so meanwhile, recover by themselves, and nothing answered is lost. */
import { setTimeout } from 'node:timers/promises'
import { createDatabase } from '../support/database.ts'
import { startPostgres } from '../support/postgres.ts'
import { audit } from './audit.ts'
import { Fleet } from './fleet.ts'
import type { HostProcess } from './host-process.ts'
import { Ledger } from './ledger.ts'
import { startLoad } from './load.ts'
import { seededRandom } from './random.ts'

export interface OutageOptions {
  readonly mode: 'fast' | 'immediate'
  readonly seconds: number
  readonly hosts: number
  readonly seed: number
}

export interface OutageReport {
  /** Answers that told the client to come back. */
  readonly refusals: number
  /** From the database's return to the first claim that every host took. */
  readonly recoveryMs: number
  readonly acknowledgedBefore: number
  readonly acknowledgedAfter: number
  /** A sentence each. */
  readonly problems: readonly string[]
}

const AGENTS = 4
/** How many claims are taken before the outage, and again after it. */
const CLAIMS = 20
const LOAD_MS = 1500
const LONGEST_LOAD_MS = 30_000
const LONGEST_RECOVERY_MS = 30_000

export async function runOutageTest({ mode, seconds, hosts, seed }: OutageOptions): Promise<OutageReport> {
  const ledger = new Ledger()
  const postgres = await startPostgres()
  const fleet = await Fleet.create({ database: await createDatabase('postgres', { serverUrl: postgres.url }), hosts })
  try {
    await fleet.startAll()
    await fleet.createWorkspace()
    const load = startLoad(fleet, ledger, seededRandom(seed), AGENTS)
    const acknowledgedBefore = await underLoad()

    await postgres.stop(mode)
    const end = Date.now() + seconds * 1000
    const refusals = await Promise.all(fleet.hosts.map((host) => askUntil(end, host)))
    await postgres.start()
    const returnedAt = Date.now()
    await Promise.all(fleet.hosts.map(takesClaims))
    const recoveryMs = Date.now() - returnedAt

    await underLoad()
    await load.stop()
    await audit(fleet, ledger)
    for (const { failures } of fleet.hosts) for (const failure of failures) ledger.problems.add(failure)
    return {
      refusals: refusals.reduce((sum, count) => sum + count, 0),
      recoveryMs,
      acknowledgedBefore,
      acknowledgedAfter: ledger.acknowledged.length,
      problems: [...ledger.problems],
    }
  } finally {
    await fleet.remove()
    await postgres.remove()
  }

  /** For a while, and until enough claims were taken, however slow the machine is. Returns how many there are by then. */
  async function underLoad(): Promise<number> {
    const enough = ledger.acknowledged.length + CLAIMS
    const end = Date.now() + LONGEST_LOAD_MS
    await setTimeout(LOAD_MS)
    while (ledger.acknowledged.length < enough && Date.now() < end) await setTimeout(100)
    return ledger.acknowledged.length
  }

  /** Alive, not ready, and every question is answered with when to come back. Returns how many were. */
  async function askUntil(end: number, host: HostProcess): Promise<number> {
    let refusals = 0
    while (Date.now() < end) {
      const alive = await fleet.request(host, '/healthz')
      const ready = await fleet.request(host, '/readyz')
      if (alive?.status !== 200) ledger.problems.add(`/healthz without a database: ${alive?.status}`)
      if (ready?.status !== 503) ledger.problems.add(`/readyz without a database: ${ready?.status}`)
      for (const path of ['/v1/log/head', '/v1/claims', '/v1/receipts/rcpt_unknown']) {
        const answer = await fleet.request(host, path)
        if (answer?.status === 503 && answer.headers.get('retry-after') !== null) refusals += 1
        else ledger.problems.add(`GET ${path} without a database: ${answer?.status} ${answer?.text}`)
      }
      await setTimeout(100)
    }
    return refusals
  }

  async function takesClaims(host: HostProcess): Promise<void> {
    const end = Date.now() + LONGEST_RECOVERY_MS
    while ((await fleet.request(host, '/v1/claims?limit=1'))?.status !== 200) {
      if (Date.now() > end) throw new Error('a host did not recover')
      await setTimeout(50)
    }
  }
}
