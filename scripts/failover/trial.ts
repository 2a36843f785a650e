/** Hosts on a Postgres that fails over, and what clients saw of it. */
import { setTimeout } from 'node:timers/promises'
import { audit } from '../../test/crash/audit.ts'
import { presentClaim } from '../../test/crash/claims.ts'
import { Fleet } from '../../test/crash/fleet.ts'
import { Ledger } from '../../test/crash/ledger.ts'
import { startLoad } from '../../test/crash/load.ts'
import { seededRandom } from '../../test/crash/random.ts'
import { createDatabase } from '../../test/support/database.ts'
import type { Cluster } from './cluster.ts'

export interface Row {
  readonly fault: string
  /** Acknowledged, until the end of this trial. */
  readonly claims: number
  readonly lost: number
  readonly doubled: number
  readonly forked: number
  /** Until every host took claims. */
  readonly seconds: number
  readonly manualSteps: number
  /** A sentence each. */
  readonly problems: readonly string[]
}

const AGENTS = 6
/** How many claims are acknowledged before a fault, and again after it. */
const CLAIMS = 40
const LONGEST_MS = 120_000
/** Longer than Patroni waits for a primary that is silent. */
const QUIET_MS = 10_000

export class Trials {
  readonly #cluster: Cluster
  readonly #fleet: Fleet
  readonly #ledger = new Ledger()
  readonly #random

  private constructor(cluster: Cluster, fleet: Fleet, seed: number) {
    this.#cluster = cluster
    this.#fleet = fleet
    this.#random = seededRandom(seed)
  }

  static async start(cluster: Cluster, hosts: number, seed: number): Promise<Trials> {
    const { env, ...database } = await createDatabase('postgres', { serverUrl: cluster.url })
    const { pathname } = new URL(env.DATABASE_URL!)
    const readUrl = Object.assign(new URL(cluster.readUrl), { pathname }).href
    const fleet = await Fleet.create({ database: { ...database, env: { ...env, DATABASE_READ_URL: readUrl } }, hosts })
    await fleet.startAll()
    await fleet.createWorkspace()
    return new Trials(cluster, fleet, seed)
  }

  remove(): Promise<void> {
    return this.#fleet.remove()
  }

  /** The primary's machine loses its power under load. A synchronous standby takes over, and the machine comes back as a standby. */
  async killPrimary(fault: string, size: number): Promise<Row> {
    await this.#cluster.whole(size)
    const killed = await this.#cluster.primary()
    const load = startLoad(this.#fleet, this.#ledger, this.#random, AGENTS)
    await this.#acknowledged()
    this.#cluster.kill(killed)
    const seconds = await this.#recovery()
    await this.#acknowledged()
    await load.stop()
    this.#cluster.start(killed)
    await audit(this.#fleet, this.#ledger)
    return this.#row(fault, { seconds, manualSteps: 0 })
  }

  /**
   * A standby that is not synchronous lags, and takes over. Nothing may be signed then, and the way out is one command.
   * @param explain is given what hosts say
   */
  async promoteLagging(fault: string, size: number, explain: (reason: string) => void): Promise<Row> {
    await this.#cluster.whole(size)
    await this.#cluster.configure({ synchronous_mode: false, maximum_lag_on_failover: 2 ** 30 })
    await this.#cluster.whole(size, 'replica')
    const primary = await this.#cluster.primary()
    const standby = primary === 'one' ? 'two' : 'one'
    this.#cluster.kill(standby)
    const load = startLoad(this.#fleet, this.#ledger, this.#random, AGENTS)
    await this.#acknowledged()
    await load.stop()
    const heads = new Map<number, string>()
    await this.#noteHeads(heads)
    this.#cluster.kill(primary)
    this.#cluster.start(standby)

    const problems = await this.#allStop(heads)
    explain(problems.reason)
    const begun = Date.now()
    const { code, stderr } = await this.#fleet.command('log', 'new', '--yes')
    if (code !== 0) this.#ledger.problems.add(`claimcheck log new: ${stderr}`)
    await this.#recovery()
    const seconds = (Date.now() - begun) / 1000
    const lost = await this.#missing()
    for (const problem of await this.#fleet.doctor()) this.#ledger.problems.add(`doctor: ${problem}`)
    return { ...this.#row(fault, { seconds, manualSteps: 1 }), lost, forked: problems.forked }
  }

  /** Claims that were acknowledged and are not there. */
  async #missing(): Promise<number> {
    let missing = 0
    for (const { claimId } of this.#ledger.acknowledged) {
      const answer = await this.#fleet.request(this.#fleet.hosts[0]!, `/v1/claims/${claimId}`)
      if (answer?.status === 404) missing += 1
    }
    return missing
  }

  /** For some time after the database is back: no host takes a claim, and none signs a head of a size that another head has. */
  async #allStop(heads: Map<number, string>): Promise<{ readonly reason: string; readonly forked: number }> {
    let reason = ''
    let forked = 0
    await this.#until('a host that reads the database', async () => {
      const answers = await Promise.all(this.#fleet.hosts.map((host) => this.#fleet.request(host, '/readyz/read')))
      return answers.every((answer) => answer?.status === 200)
    })
    for (const end = Date.now() + QUIET_MS; Date.now() < end; await setTimeout(200)) {
      forked += await this.#noteHeads(heads)
      for (const host of this.#fleet.hosts) {
        const known = this.#ledger.plan(presentClaim(`stopped-${this.#ledger.claims.size}`))
        const answer = await this.#fleet.submit(host, known.claim)
        if (answer?.status === 202) this.#ledger.problems.add('a host takes claims on a database that lacks some')
        const ready = await this.#fleet.request(host, '/readyz')
        if (ready?.status === 503) reason = ready.text
      }
    }
    return { reason, forked }
  }

  /** Returns how many heads differ from one of their size. */
  async #noteHeads(heads: Map<number, string>): Promise<number> {
    let forked = 0
    for (const host of this.#fleet.hosts) {
      const answer = await this.#fleet.request(host, '/v1/log/head')
      if (answer?.status !== 200) continue
      const { tree_size: size, root_hash: root } = JSON.parse(answer.text).tree_head.body
      if ((heads.get(size) ?? root) !== root) forked += 1
      heads.set(size, root)
    }
    return forked
  }

  async #acknowledged(): Promise<void> {
    const enough = this.#ledger.acknowledged.length + CLAIMS
    await this.#until(`${CLAIMS} claims`, async () => this.#ledger.acknowledged.length >= enough)
  }

  /** From now until every host has taken a claim. Returns seconds. */
  async #recovery(): Promise<number> {
    const begun = Date.now()
    await Promise.all(
      this.#fleet.hosts.map(async (host) => {
        const known = this.#ledger.plan(presentClaim(`recovery-${this.#ledger.claims.size}`))
        await this.#until('a host that takes claims', () =>
          this.#ledger.submission(known, this.#fleet.submit(host, known.claim)),
        )
      }),
    )
    return (Date.now() - begun) / 1000
  }

  async #until(what: string, isSo: () => Promise<boolean>): Promise<void> {
    const end = Date.now() + LONGEST_MS
    while (!(await isSo())) {
      if (Date.now() > end) throw new Error(`not within ${LONGEST_MS / 1000} s: ${what}`)
      await setTimeout(100)
    }
  }

  #row(fault: string, { seconds, manualSteps }: Pick<Row, 'seconds' | 'manualSteps'>): Row {
    for (const { failures } of this.#fleet.hosts) for (const failure of failures) this.#ledger.problems.add(failure)
    const problems = [...this.#ledger.problems]
    const count = (kind: RegExp) => problems.filter((problem) => kind.test(problem)).length
    return {
      fault,
      claims: this.#ledger.acknowledged.length,
      lost: count(/, and lost$/),
      doubled: count(/is two claims|created twice|listed twice|has two receipts/),
      forked: count(/^head \d+: is not the beginning/),
      seconds,
      manualSteps,
      problems,
    }
  }
}
