/** Hosts on one database, each a process, with one workspace. Tests speak to them over HTTP. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openClaimcheck } from '@claimcheck/server/claimcheck'
import { loadConfig } from '@claimcheck/server/features'
import type { SqliteDriverName } from '@claimcheck/server/storage/sqlite-drivers'
import { type Outcome, runClaimcheck } from '../support/command.ts'
import type { Database } from '../support/database.ts'
import { NO_LIMITS, NO_QUOTAS, SCRIPTED } from '../support/installation.ts'
import { HostProcess, type Launch } from './host-process.ts'

export interface Answer {
  readonly status: number
  readonly text: string
  readonly headers: Headers
}

export interface FleetOptions {
  readonly database: Database
  readonly hosts: number
  /** Without it, the first that loads. */
  readonly sqliteDriver?: SqliteDriverName | undefined
  /** Other than short ones. */
  readonly checks?: object
  /** The rest of the configuration file. */
  readonly file?: object
  readonly env?: Readonly<Record<string, string>>
  readonly envOf?: (index: number) => Readonly<Record<string, string>>
  readonly launch?: Launch
}

// Longer than a host takes to say that the database does not answer.
const ANSWER_TIMEOUT_MS = 15_000
const CHECKS = { closing_ms: 5000, grace_ms: 1500, timeout_ms: 500, first_answer_ms: 1000 }

export class Fleet {
  readonly hosts: HostProcess[]
  readonly folder: string
  readonly #launch: Launch | undefined
  readonly #database: Database
  readonly #env: Readonly<Record<string, string>>
  #key = ''

  private constructor(folder: string, { database, hosts, sqliteDriver, env, envOf, launch }: FleetOptions) {
    this.folder = folder
    this.#launch = launch
    this.#database = database
    this.#env = { PORT: '0', LOG_LEVEL: 'silent', HEAD_MEMORY: join(folder, 'state'), ...database.env, ...env }
    // Hosts on one PostgreSQL share nothing else. On SQLite they share the file, and the keys beside it.
    const driver = sqliteDriver === undefined ? {} : { TEST_SQLITE_DRIVER: sqliteDriver }
    const dataDir = (index: number) => (database.dialect === 'sqlite' ? 'data' : `data-${index}`)
    this.hosts = Array.from(
      { length: hosts },
      (_, index) =>
        new HostProcess(folder, { ...this.#env, ...driver, ...envOf?.(index), DATA_DIR: dataDir(index) }, launch),
    )
  }

  /** Nothing runs yet. The database, which is removed with the fleet, is empty. */
  static async create(options: FleetOptions): Promise<Fleet> {
    const folder = await mkdtemp(join(tmpdir(), 'claimcheck-fleet-'))
    const file = {
      plugins: [SCRIPTED],
      rate_limits: { ...NO_LIMITS, refusals: 0 },
      quotas: NO_QUOTAS,
      checks: { ...CHECKS, ...options.checks },
      ...options.file,
    }
    await writeFile(join(folder, 'claimcheck.config.json'), JSON.stringify(file))
    return new Fleet(folder, options)
  }

  /** Makes the workspace for which everything is asked. */
  async createWorkspace(): Promise<void> {
    const claimcheck = await openClaimcheck(loadConfig(this.#env, this.folder), { plugins: false })
    const { id } = await claimcheck.workspaces.create('fleet')
    this.#key = (await claimcheck.keys.create(id, 'fleet')).key
    await claimcheck.close()
  }

  /** Every host that is down. */
  async startAll(): Promise<void> {
    await Promise.all(this.hosts.map((host) => host.url ?? host.start()))
    const down = this.hosts.filter(({ url }) => url === undefined)
    if (down.length > 0) throw new Error(`${down.length} hosts do not start`)
  }

  /** Undefined when the host is down, or went down before it had answered. */
  async request(host: HostProcess, path: string, init: RequestInit = {}): Promise<Answer | undefined> {
    const { url } = host
    if (url === undefined) return undefined
    const headers = { authorization: `Bearer ${this.#key}`, ...init.headers }
    const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS)
    try {
      const response = await fetch(url + path, { ...init, headers, signal })
      return { status: response.status, text: await response.text(), headers: response.headers }
    } catch {
      return undefined
    }
  }

  submit(host: HostProcess, claim: object): Promise<Answer | undefined> {
    const headers = { 'content-type': 'application/json' }
    return this.request(host, '/v1/claims', { method: 'POST', headers, body: JSON.stringify(claim) })
  }

  /** A new host on the same database, which knows nothing but that. Nothing runs yet. */
  addHost(): HostProcess {
    const env = { ...this.#env, DATA_DIR: `data-${this.hosts.length}` }
    const host = new HostProcess(this.folder, env, this.#launch)
    this.hosts.push(host)
    return host
  }

  /** As the first host's operator runs it. */
  command(...args: readonly string[]): Promise<Outcome> {
    const dataDir = this.#database.dialect === 'sqlite' ? 'data' : 'data-0'
    return runClaimcheck(this.folder, args, { ...this.#env, DATA_DIR: dataDir })
  }

  /** What `claimcheck doctor` finds. */
  async doctor(): Promise<string[]> {
    const { stdout, stderr } = await this.command('doctor', '--json')
    if (stdout === '') return [`no diagnosis: ${stderr}`]
    const { ok, problems } = JSON.parse(stdout)
    return ok ? [] : problems
  }

  async remove(): Promise<void> {
    await Promise.all(this.hosts.map((host) => host.kill()))
    await this.#database.remove()
    await rm(this.folder, { recursive: true, force: true })
  }
}
