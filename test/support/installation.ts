/** A whole installation in a temporary folder, served on free ports by one host or several. Tests speak to it over HTTP. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Claimcheck } from '@claimcheck/server/claimcheck'
import { type Config, loadConfig } from '@claimcheck/server/features'
import type { Feature } from '@claimcheck/server/host/feature'
import type { Test } from 'tap'
import { afterFile } from './after-file.ts'
import { Client } from './client.ts'
import { copyTemplate, createDatabase, type Database } from './database.ts'
import { IS_THOROUGH } from './extent.ts'
import { type Answer, Host } from './host.ts'
import { requireSound, requireSoundCopies } from './lived-in.ts'

export type { Answer, Client, Host }

export interface InstallationOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly plugins?: readonly {
    readonly use: string
    readonly with?: object
    readonly trusted?: boolean
    readonly isolation?: 'open'
  }[]
  /** The rest of the configuration file. */
  readonly file?: object
  /** Of a host in this process. */
  readonly now?: () => number
  readonly wall?: () => number
  readonly features?: readonly Feature[]
  /** For a test that reaches into what runs: hosts in this process. Otherwise each is the program that people start. */
  readonly inProcess?: true
  /** Each host in a process that has served nothing before. */
  readonly isNew?: boolean
  /** Instead of one in the dialect of the test run. It is removed with the installation. */
  readonly database?: Database
}

export const SCRIPTED = { use: resolve('build/test/plugins/scripted.js'), trusted: true }

export class Installation {
  readonly folder: string
  readonly database: Database
  /** A test wrote rows that no program writes, so that doctor has to refuse it. */
  isForged = false
  readonly #options: InstallationOptions
  readonly #hosts: Host[] = []

  private constructor(folder: string, database: Database, options: InstallationOptions) {
    this.folder = folder
    this.database = database
    this.#options = options
  }

  static async start(options: InstallationOptions = {}): Promise<Installation> {
    const folder = await mkdtemp(join(tmpdir(), 'claimcheck-test-'))
    const { rate_limits: limits, ...rest } = { rate_limits: {}, ...options.file }
    const file = {
      plugins: options.plugins ?? [SCRIPTED],
      quotas: NO_QUOTAS,
      rate_limits: { ...NO_LIMITS, ...limits },
      ...rest,
    }
    await writeFile(join(folder, 'claimcheck.config.json'), JSON.stringify(file))
    const installation = new Installation(folder, options.database ?? (await createDatabase()), options)
    await installation.addHost({})
    return installation
  }

  /** Until the test ends. */
  static async during(t: Test, options?: InstallationOptions): Promise<Installation> {
    const installation = await Installation.start(options)
    t.teardown(() => installation.remove())
    return installation
  }

  /** Another host on the same database, with its own data folder. */
  async addHost(env: Readonly<Record<string, string>> = { DATA_DIR: `data-${this.#hosts.length + 1}` }): Promise<Host> {
    const { env: common, now, wall, features, inProcess, isNew = false } = this.#options
    const all = { PORT: '0', LOG_LEVEL: 'silent', HEAD_MEMORY: 'none', ...this.database.env, ...common, ...env }
    const config = loadConfig(all, this.folder)
    if (this.#hosts.length === 0) copyTemplate(config.databaseUrl)
    const host = new Host(
      config,
      now || wall || features || inProcess ? { now, wall, features } : { folder: this.folder, env: all, isNew },
    )
    await host.start()
    this.#hosts.push(host)
    return host
  }

  /** The first host. */
  get host(): Host {
    return this.#hosts[0]!
  }

  get config(): Config {
    return this.host.config
  }

  /** The environment in which a command works on this installation from another folder. */
  get env(): Readonly<Record<string, string>> {
    return { DATA_DIR: this.config.dataDir, ...this.database.env }
  }

  get claimcheck(): Claimcheck {
    return this.host.claimcheck
  }

  get url(): string {
    return this.host.url
  }

  request(path: string, init?: RequestInit): Promise<Answer> {
    return this.host.request(path, init)
  }

  /** Starts every host again, on the same database and files. */
  async resume(): Promise<void> {
    await Promise.all(this.#hosts.map((host) => host.start()))
  }

  /** Stops as SIGTERM stops it. */
  async stop(): Promise<void> {
    await Promise.all(this.#hosts.map((host) => host.stop()))
  }

  /** Examines what was left here, and, as a whole, with its copies on the other database: then its hosts stop. @throws Error */
  async examine({ isWhole }: { readonly isWhole: boolean }): Promise<void> {
    const livedIn = { folder: this.folder, env: { ...this.#options.env, ...this.env }, stop: () => this.stop() }
    await requireSound(livedIn)
    if (isWhole) await requireSoundCopies(livedIn, this.database.dialect === 'sqlite' ? 'postgres' : 'sqlite')
  }

  async remove(): Promise<void> {
    await this.stop()
    await this.database.remove()
    await rm(this.folder, { recursive: true, force: true })
  }

  /** A new workspace with a key. */
  async client(name: string): Promise<Client> {
    const { id } = await this.claimcheck.workspaces.create(name)
    const { key } = await this.claimcheck.keys.create(id, 'test')
    return new Client(this.host, id, key)
  }
}

/** Of a workspace. Tests that are about quotas set them. */
export const NO_QUOTAS = { claims_per_minute: 0, waiting_claims: 0 }
/** Of tokens. Tests that are about limits set them. */
export const NO_LIMITS = { network: 0, key: 0, workspace: 0, account: 0 }
/** In an installation that tests share, they would limit each other. */
const NO_ATTEMPTS = { refusals: 0, sign_in: 0 }

/** One installation for all tests of a file. It starts when the first of them asks for it, and is removed after the file. */
export function sharedInstallation({ file, ...options }: InstallationOptions = {}): () => Promise<Installation> {
  let started: Promise<Installation> | undefined
  async function start(): Promise<Installation> {
    const installation = await Installation.start({ ...options, file: { rate_limits: NO_ATTEMPTS, ...file } })
    afterFile(async () => {
      started = undefined
      try {
        if (!installation.isForged) await installation.examine({ isWhole: IS_THOROUGH })
      } finally {
        await installation.remove()
      }
    })
    return installation
  }
  return () => {
    started ??= start()
    return started
  }
}
