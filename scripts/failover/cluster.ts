/** Postgres servers under Patroni, with etcd and HAProxy, on addresses of loopback. The configuration is the one that operators use. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { chownSync, existsSync, mkdtempSync, openSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { findPrograms, serverUser } from '../../test/support/postgres-programs.ts'
import { findProgram } from '../../test/support/programs.ts'

const CONFIGURATION = resolve('server/deploy/high-availability')
const PROGRAMS = ['etcd', 'patroni', 'haproxy']
const NAMES = ['one', 'two', 'three'] as const
const LONGEST_MS = 120_000

type NodeName = (typeof NAMES)[number]

/** Names what this machine lacks; undefined if it lacks nothing. */
export function whatIsMissing(): string | undefined {
  const missing = PROGRAMS.filter((program) => !findProgram(program))
  if (missing.length === 0 && existsSync(join(postgresFolder(), 'pg_rewind'))) return undefined
  return 'it needs Postgres, Patroni, etcd and HAProxy: apt-get install postgresql patroni etcd-server haproxy'
}

/** The folder of all programs of Postgres; some may be linked from elsewhere. */
function postgresFolder(): string {
  return dirname(realpathSync(join(findPrograms(serverUser(), ''), 'initdb')))
}

/** A member of the cluster, as Patroni lists it. */
interface Member {
  readonly name: NodeName
  readonly role: string
  readonly state: string
}

export class Cluster {
  readonly #user = serverUser()
  readonly #folder = mkdtempSync('/tmp/claimcheck-failover-')
  /** Others on this machine may use the usual ones. */
  readonly #network = `127.${randomInt(1, 255)}.${randomInt(1, 255)}`
  readonly #passwords = { superuser: randomBytes(16).toString('hex'), replication: randomBytes(16).toString('hex') }
  readonly #processes = new Map<string, ChildProcess>()
  readonly #endWithUs = () => this.remove()
  readonly #size: number

  private constructor(size: number) {
    this.#size = size
    if (this.#user) chownSync(this.#folder, this.#user.uid, this.#user.gid)
    process.on('exit', this.#endWithUs)
  }

  /** @param size how many servers */
  static async start(size: number): Promise<Cluster> {
    const cluster = new Cluster(size)
    cluster.#startEtcd()
    for (const name of NAMES.slice(0, size)) cluster.start(name)
    cluster.#startProxy()
    await cluster.whole()
    return cluster
  }

  /** The URL of the database `postgres` of the primary, as superuser. */
  get url(): string {
    return this.#urlAt(5000)
  }

  get readUrl(): string {
    return this.#urlAt(5001)
  }

  #urlAt(port: number): string {
    return `postgres://postgres:${this.#passwords.superuser}@${this.#address()}:${port}/postgres`
  }

  /** Patroni, which starts Postgres, and makes a standby of it where there is a primary. */
  start(name: NodeName): void {
    const address = this.#address(name)
    this.#spawn(name, 'patroni', [join(CONFIGURATION, 'patroni.yml')], {
      PATRONI_NAME: name,
      PATRONI_ETCD3_HOSTS: `${this.#address()}:2379`,
      PATRONI_RESTAPI_LISTEN: `${address}:8008`,
      PATRONI_RESTAPI_CONNECT_ADDRESS: `${address}:8008`,
      PATRONI_POSTGRESQL_LISTEN: `${address}:5432`,
      PATRONI_POSTGRESQL_CONNECT_ADDRESS: `${address}:5432`,
      PATRONI_POSTGRESQL_DATA_DIR: this.#data(name),
      PATRONI_POSTGRESQL_BIN_DIR: postgresFolder(),
      PATRONI_POSTGRESQL_PGPASS: join(this.#folder, `${name}.pgpass`),
      PATRONI_SUPERUSER_USERNAME: 'postgres',
      PATRONI_SUPERUSER_PASSWORD: this.#passwords.superuser,
      PATRONI_REPLICATION_USERNAME: 'replicator',
      PATRONI_REPLICATION_PASSWORD: this.#passwords.replication,
    })
  }

  /** Kills the server as if the machine had lost its power. */
  kill(name: NodeName): void {
    this.#processes.get(name)?.kill('SIGKILL')
    this.#processes.delete(name)
    const [postmaster] = readFileSync(join(this.#data(name), 'postmaster.pid'), 'utf8').split('\n')
    const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', postmaster!], { encoding: 'utf8' })
    for (const pid of [postmaster!, ...stdout.trim().split(/\s+/)]) killProcess(Number(pid))
  }

  async primary(): Promise<NodeName> {
    return (await this.#members()).find(({ role }) => role === 'leader')!.name
  }

  async standby(): Promise<NodeName> {
    return (await this.#members()).find(({ role }) => role !== 'leader')!.name
  }

  /** Waits until all servers are up, and one is a standby in this role. */
  async whole(role: 'sync_standby' | 'replica' = 'sync_standby'): Promise<void> {
    const isUp = ({ state }: Member) => state === 'running' || state === 'streaming'
    await this.#until(`${this.#size} servers`, async () => {
      const up = (await this.#members()).filter(isUp)
      return up.length === this.#size && up.some((member) => member.role === role)
    })
  }

  /** Changes the configuration that Patroni keeps in etcd. */
  async configure(change: object): Promise<void> {
    const [name] = this.#running()
    const init = { method: 'PATCH', body: JSON.stringify(change) }
    const answer = await fetch(`http://${this.#address(name)}:8008/config`, init)
    if (!answer.ok) throw new Error(`Patroni refuses its configuration: ${await answer.text()}`)
  }

  remove(): void {
    this.#killAll()
    process.off('exit', this.#endWithUs)
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 10 })
  }

  #startEtcd(): void {
    const [clients, peers] = [2379, 2380].map((port) => `http://${this.#address()}:${port}`)
    const own = [
      '--data-dir',
      join(this.#folder, 'etcd'),
      '--listen-client-urls',
      clients!,
      '--listen-peer-urls',
      peers!,
    ]
    const advertised = ['--advertise-client-urls', clients!, '--initial-advertise-peer-urls', peers!]
    this.#spawn('etcd', 'etcd', [...own, ...advertised, '--initial-cluster', `default=${peers}`])
  }

  #startProxy(): void {
    this.#spawn('haproxy', 'haproxy', ['-db', '-f', join(CONFIGURATION, 'haproxy.cfg')], {
      LISTEN: this.#address(),
      ...Object.fromEntries(NAMES.map((name) => [`POSTGRES_${name.toUpperCase()}`, this.#address(name)])),
    })
  }

  #spawn(name: string, program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): void {
    const log = openSync(join(this.#folder, `${name}.log`), 'a', 0o666)
    const child = spawn(findProgram(program)!, args, {
      ...this.#user,
      cwd: this.#folder,
      env: { PATH: process.env.PATH, HOME: this.#folder, ...env },
      stdio: ['ignore', log, log],
    })
    this.#processes.set(name, child)
  }

  /** etcd and HAProxy have the first; the servers have one each. */
  #address(name?: NodeName): string {
    return `${this.#network}.${name === undefined ? 1 : NAMES.indexOf(name) + 11}`
  }

  #data(name: NodeName): string {
    return join(this.#folder, name)
  }

  #running(): readonly NodeName[] {
    return NAMES.filter((name) => this.#processes.has(name))
  }

  async #members(): Promise<readonly Member[]> {
    for (const name of this.#running()) {
      try {
        const answer = await fetch(`http://${this.#address(name)}:8008/cluster`)
        return ((await answer.json()) as { members: Member[] }).members
      } catch {
        // It starts.
      }
    }
    return []
  }

  async #until(what: string, isSo: () => Promise<boolean>): Promise<void> {
    const end = Date.now() + LONGEST_MS
    while (!(await isSo())) {
      if (Date.now() > end) throw new Error(`Patroni did not come to ${what}:\n${this.#lastWords()}`)
      await setTimeout(200)
    }
  }

  #lastWords(): string {
    const logs = this.#running().map((name) => readFileSync(join(this.#folder, `${name}.log`), 'utf8'))
    return logs.flatMap((log) => log.trim().split('\n').slice(-10)).join('\n')
  }

  #killAll(): void {
    for (const name of this.#running()) {
      try {
        this.kill(name)
      } catch {
        // Postgres had not started.
      }
    }
    for (const child of this.#processes.values()) child.kill('SIGKILL')
  }
}

function killProcess(pid: number): void {
  try {
    if (pid > 0) process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}
