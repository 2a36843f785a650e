/** An installation of the program that people start, under load, with all that can be broken about it. */
import { chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { presentClaim } from '../crash/claims.ts'
import { Fleet } from '../crash/fleet.ts'
import { type HostProcess, launchProgram } from '../crash/host-process.ts'
import { Ledger } from '../crash/ledger.ts'
import { type Load, startLoad } from '../crash/load.ts'
import { type Random, seededRandom } from '../crash/random.ts'
import { backUp } from '../support/backup.ts'
import { createDatabase, type Database, type Dialect } from '../support/database.ts'
import { type FakeClock, fakeClock } from '../support/faketime.ts'
import { freePort } from '../support/free-port.ts'
import { type Postgres, startPostgres } from '../support/postgres.ts'
import { serverUser } from '../support/postgres-programs.ts'
import { mountSmallDisk, type SmallDisk } from '../support/small-disk.ts'
import { query, type Row } from '../support/sql.ts'
import { Wire } from '../support/wire.ts'
import type { Fault } from './fault.ts'

const HOSTS = 3
const AGENTS = 4
const ENOUGH_CLAIMS = 15
const LONGEST_LOAD_MS = 30_000
const LONGEST_RECOVERY_MS = 90_000
const DISK = { sqlite: '24m', postgres: '320m' } as const
/** The role of hosts, which may do nothing but own their database. */
const ROLE = 'claimcheck_app'
const PASSWORD = 'copper lantern drifts home'

interface Parts {
  readonly fleet: Fleet
  readonly databaseUrl: string
  readonly postgres: Postgres | undefined
  readonly wire: Wire | undefined
  readonly disk: string | undefined
  readonly clocks: readonly FakeClock[]
  readonly stateFolder: string
  readonly random: Random
  readonly remove: () => Promise<void>
}

export class World {
  readonly fleet: Fleet
  /** Past the wire; on Postgres as superuser. */
  readonly databaseUrl: string
  readonly #parts: Parts
  ledger = new Ledger()
  /** Ids that `log new` named. */
  readonly lostReceipts = new Set<string>()
  #load: Load | undefined
  #loads = 0

  private constructor(parts: Parts) {
    this.fleet = parts.fleet
    this.databaseUrl = parts.databaseUrl
    this.#parts = parts
  }

  static async start(fault: Fault, seed: number): Promise<World> {
    const parts = await makeParts(fault, seed)
    const world = new World(parts)
    try {
      await parts.fleet.startAll()
      await parts.fleet.createWorkspace()
      return world
    } catch (error) {
      await world.remove()
      throw error
    }
  }

  get hosts(): readonly HostProcess[] {
    return this.fleet.hosts
  }

  get postgres(): Postgres {
    return this.#parts.postgres!
  }

  get wire(): Wire {
    return this.#parts.wire!
  }

  /** A disk for the database alone, with little room. */
  get disk(): string {
    return this.#parts.disk!
  }

  get clocks(): readonly FakeClock[] {
    return this.#parts.clocks
  }

  /** Where hosts on SQLite remember the last head, outside DATA_DIR. */
  get stateFolder(): string {
    return this.#parts.stateFolder
  }

  dataDir(index = 0): string {
    return join(this.fleet.folder, this.#parts.postgres ? `data-${index}` : 'data')
  }

  readonly sql = (sql: string): Promise<Row[]> => query(this.databaseUrl, sql)

  readonly wait = (ms: number): Promise<void> => setTimeout(ms)

  /** Claims until enough were taken. */
  async underLoad(): Promise<void> {
    this.#load ??= startLoad(this.fleet, this.ledger, this.#parts.random, AGENTS, `claim-${this.#loads++}`)
    const enough = this.ledger.acknowledged.length + ENOUGH_CLAIMS
    for (const end = Date.now() + LONGEST_LOAD_MS; this.ledger.acknowledged.length < enough; await setTimeout(50))
      if (Date.now() > end) throw new Error(`the load does not get through: ${[...this.ledger.problems].join('; ')}`)
  }

  async endLoad(): Promise<void> {
    await this.#load?.stop()
    this.#load = undefined
  }

  async stopAll(): Promise<void> {
    await Promise.all(this.hosts.map((host) => host.stop()))
  }

  /** Backs up the database while no host runs. @returns brings it back */
  async backUp(): Promise<() => Promise<void>> {
    await this.endLoad()
    await this.stopAll()
    const restore = await backUp(this.databaseUrl)
    await this.fleet.startAll()
    await this.underLoad()
    return async () => {
      await restore()
      if (this.#parts.postgres) await this.sql(`ALTER DATABASE ${nameOf(this.databaseUrl)} OWNER TO ${ROLE}`)
    }
  }

  /** @returns milliseconds until each host took a claim */
  async recovered(): Promise<number> {
    const start = Date.now()
    await Promise.all(this.hosts.map((host, index) => this.#takesClaims(host, `recovered-${start}-${index}`, start)))
    return Date.now() - start
  }

  async remove(): Promise<void> {
    await this.endLoad()
    await this.#parts.remove()
  }

  async #takesClaims(host: HostProcess, id: string, start: number): Promise<void> {
    const known = this.ledger.plan(presentClaim(id))
    while (!(await this.ledger.submission(known, this.fleet.submit(host, known.claim)))) {
      if (Date.now() > start + LONGEST_RECOVERY_MS) {
        const ready = await this.fleet.request(host, '/readyz')
        throw new Error(`a host did not recover: ${ready?.text ?? 'it is down'}`)
      }
      await setTimeout(50)
    }
  }
}

async function makeParts({ dialect, needs }: Fault, seed: number): Promise<Parts> {
  const random = seededRandom(seed)
  const small = needs === 'small disk' ? mountFor(dialect) : undefined
  const disk = small?.path
  const scratch = mkdtempSync(join(tmpdir(), 'claimcheck-clocks-'))
  const count = dialect === 'sqlite' ? 1 : HOSTS
  const clocks = needs === 'clocks' ? Array.from({ length: count }, (_, index) => makeClock(scratch, index)) : []
  const postgres = dialect === 'postgres' ? await startPostgres(disk === undefined ? {} : { in: disk }) : undefined
  const database = await createDatabase(dialect, postgres ? { serverUrl: postgres.url } : {})
  const wire = postgres && (await Wire.to(postgres.url))
  const env = postgres ? await envBehind(database, wire!) : { XDG_STATE_HOME: join(scratch, 'state') }
  // The same after a restart: Prometheus takes seconds to find another one.
  const ports = await Promise.all(Array.from({ length: count }, () => freePort()))
  const fleet = await Fleet.create({
    database: { ...database, env: { ...database.env, ...env }, remove: async () => {} },
    hosts: count,
    env: {
      HEAD_MEMORY: '',
      ...(disk !== undefined && !postgres ? { DATABASE_URL: `sqlite:${join(disk, 'claimcheck.db')}` } : {}),
    },
    envOf: (index) => ({ PORT: String(ports[index]), ...clocks[index]?.env }),
    launch: launchProgram,
  })
  return {
    fleet,
    databaseUrl: database.env.DATABASE_URL ?? `sqlite:${join(disk ?? join(fleet.folder, 'data'), 'claimcheck.db')}`,
    postgres,
    wire,
    disk,
    clocks,
    stateFolder: join(scratch, 'state'),
    random,
    remove: async () => {
      await fleet.remove()
      await wire?.close()
      await postgres?.remove()
      small?.unmount()
      rmSync(scratch, { recursive: true, force: true })
    },
  }
}

/** What hosts connect with: a role that owns their database, through the wire. */
async function envBehind({ env }: Database, wire: Wire): Promise<{ readonly DATABASE_URL: string }> {
  const url = new URL(env.DATABASE_URL!)
  await query(url.href, `CREATE ROLE ${ROLE} LOGIN PASSWORD '${PASSWORD}'`)
  await query(url.href, `ALTER DATABASE ${nameOf(url.href)} OWNER TO ${ROLE}`)
  url.username = ROLE
  url.password = PASSWORD
  return { DATABASE_URL: wire.urlOf(url.href) }
}

export const APP = { role: ROLE, password: PASSWORD } as const

export function nameOf(databaseUrl: string): string {
  return new URL(databaseUrl).pathname.slice(1)
}

function makeClock(scratch: string, index: number): FakeClock {
  const folder = join(scratch, `clock-${index}`)
  mkdirSync(folder)
  return fakeClock(folder)
}

function mountFor(dialect: Dialect): SmallDisk {
  const disk = mountSmallDisk(DISK[dialect])
  const user = serverUser()
  if (user) chownSync(disk.path, user.uid, user.gid)
  return disk
}
