/** Hosts on a Postgres that fails over, and what clients saw of it. */
import { setTimeout } from 'node:timers/promises'
import { audit } from '../../test/crash/audit.ts'
import { presentClaim } from '../../test/crash/claims.ts'
import { Fleet } from '../../test/crash/fleet.ts'
import { Ledger } from '../../test/crash/ledger.ts'
import { startLoad } from '../../test/crash/load.ts'
import { type Random, seededRandom } from '../../test/crash/random.ts'
import type { Report } from '../../test/faults/fault.ts'
import { forks, harmOf, missing } from '../../test/faults/play.ts'
import { createDatabase } from '../../test/support/database.ts'
import type { Cluster } from './cluster.ts'

export interface Row extends Pick<Report, 'claims' | 'lost' | 'doubled' | 'forked' | 'recoveryMs' | 'problems'> {
  readonly fault: string
  readonly manualSteps: number
}

const AGENTS = 6
/** The number of acknowledged claims before a fault, and again after it. */
const CLAIMS = 40
const LONGEST_MS = 120_000
/** The time for which hosts must refuse, after they read a database that lacks some of their log. */
const QUIET_MS = 10_000

export class Trials {
  readonly #cluster: Cluster
  readonly #fleet: Fleet
  readonly #random: Random
  #ledger = new Ledger()
  #loads = 0

  private constructor(cluster: Cluster, fleet: Fleet, random: Random) {
    this.#cluster = cluster
    this.#fleet = fleet
    this.#random = random
  }

  static async start(cluster: Cluster, hosts: number, seed: number): Promise<Trials> {
    const database = await createDatabase('postgres', { serverUrl: cluster.url })
    const readUrl = new URL(cluster.readUrl)
    readUrl.pathname = new URL(database.env.DATABASE_URL!).pathname
    const env = { ...database.env, DATABASE_READ_URL: readUrl.href }
    // The servers are removed with all that is on them.
    const fleet = await Fleet.create({ database: { dialect: 'postgres', env, remove: async () => {} }, hosts })
    await fleet.startAll()
    await fleet.createWorkspace()
    return new Trials(cluster, fleet, seededRandom(seed))
  }

  remove(): Promise<void> {
    return this.#fleet.remove()
  }

  /** The primary's machine loses its power under load. A synchronous standby takes over, and the machine comes back as a standby. */
  async killPrimary(fault: string): Promise<Row> {
    await this.#cluster.whole()
    const killed = await this.#cluster.primary()
    const load = this.#startLoad()
    await this.#acknowledge()
    this.#cluster.kill(killed)
    const recoveryMs = await this.#recovery()
    await this.#acknowledge()
    await load.stop()
    this.#cluster.start(killed)
    await audit(this.#fleet, this.#ledger)
    return this.#row(fault, this.#ledger, { recoveryMs, manualSteps: 0 })
  }

  /**
   * A standby that is not synchronous lags, and takes over. Nothing may be signed then, and the way out is one command.
   * @param explain is given what a host says
   */
  async promoteLagging(fault: string, explain: (reason: string) => void): Promise<Row> {
    await this.#cluster.whole()
    await this.#cluster.configure({ synchronous_mode: false, maximum_lag_on_failover: 2 ** 30 })
    await this.#cluster.whole('replica')
    const primary = await this.#cluster.primary()
    const standby = await this.#cluster.standby()
    this.#cluster.kill(standby)
    const load = this.#startLoad()
    await this.#acknowledge()
    await load.stop()
    await this.#readHeads()
    this.#cluster.kill(primary)
    this.#cluster.start(standby)

    const before = this.#ledger
    this.#ledger = new Ledger()
    explain(await this.#allStop())
    const begun = Date.now()
    const { code, stderr } = await this.#fleet.command('log', 'new', '--yes')
    if (code !== 0) throw new Error(`claimcheck log new: ${stderr}`)
    await this.#recovery()
    const recoveryMs = Date.now() - begun
    const { hosts } = this.#fleet
    for (const id of await missing({ fleet: this.#fleet, hosts }, before))
      before.problems.add(`${id}: acknowledged, and lost`)
    for (const problem of forks([...before.heads, ...this.#ledger.heads])) before.problems.add(problem)
    for (const problem of await this.#fleet.doctor()) before.problems.add(`doctor: ${problem}`)
    for (const problem of this.#ledger.problems) before.problems.add(problem)
    return this.#row(fault, before, { recoveryMs, manualSteps: 1 })
  }

  /** Hosts read the database, and none takes a claim. Returns why. */
  async #allStop(): Promise<string> {
    const { hosts } = this.#fleet
    await this.#until('hosts that read the database', async () => {
      const answers = await Promise.all(hosts.map((host) => this.#fleet.request(host, '/readyz/read')))
      return answers.every((answer) => answer?.status === 200)
    })
    let reason = 'without a reason'
    for (const end = Date.now() + QUIET_MS; Date.now() < end; await setTimeout(200)) {
      await this.#readHeads()
      for (const host of hosts) {
        const { claim } = presentClaim(`refused-${Date.now()}`)
        const answer = await this.#fleet.submit(host, claim)
        if (answer?.status === 202) this.#ledger.problems.add('a host signs on: it is forked')
        const ready = await this.#fleet.request(host, '/readyz')
        if (ready?.status === 503) reason = JSON.parse(ready.text).problems.join('; ')
      }
    }
    return reason
  }

  async #readHeads(): Promise<void> {
    for (const host of this.#fleet.hosts) {
      const answer = await this.#fleet.request(host, '/v1/log/head')
      if (answer?.status === 200) this.#ledger.head()(JSON.parse(answer.text))
    }
  }

  #startLoad() {
    return startLoad(this.#fleet, this.#ledger, this.#random, AGENTS, `claim-${this.#loads++}`)
  }

  async #acknowledge(): Promise<void> {
    const enough = this.#ledger.acknowledged.length + CLAIMS
    await this.#until(`${CLAIMS} claims`, async () => this.#ledger.acknowledged.length >= enough)
  }

  /** Returns milliseconds until every host has taken a claim. */
  async #recovery(): Promise<number> {
    const begun = Date.now()
    await Promise.all(
      this.#fleet.hosts.map(async (host, index) => {
        const known = this.#ledger.plan(presentClaim(`recovery-${begun}-${index}`))
        await this.#until('a host that takes claims', () =>
          this.#ledger.submission(known, this.#fleet.submit(host, known.claim)),
        )
      }),
    )
    return Date.now() - begun
  }

  async #until(what: string, isSo: () => Promise<boolean>): Promise<void> {
    const end = Date.now() + LONGEST_MS
    while (!(await isSo())) {
      if (Date.now() > end) throw new Error(`not within ${LONGEST_MS / 1000} s: ${what}`)
      await setTimeout(100)
    }
  }

  #row(fault: string, ledger: Ledger, measured: Pick<Row, 'recoveryMs' | 'manualSteps'>): Row {
    const ended = this.#fleet.hosts.flatMap(({ failures }) => failures)
    return { fault, claims: ledger.acknowledged.length, ...measured, ...harmOf([...ledger.problems, ...ended]) }
  }
}
