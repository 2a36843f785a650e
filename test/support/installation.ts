/** A whole installation in a temporary folder, served on a free port, and spoken to over HTTP alone. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Config, loadConfig } from '@claimcheck/server/config'
import { type Claimcheck, openClaimcheck } from '@claimcheck/server/container'
import { type RunningServer, startServer } from '@claimcheck/server/server'

export interface InstallationOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly plugins?: readonly { readonly use: string; readonly with?: object }[]
  /** The rest of the configuration file. */
  readonly file?: object
  readonly now?: () => number
}

export const SCRIPTED = { use: resolve('build/test/plugins/scripted.js') }

export interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into answers, and fail when these are not what they say.
  readonly body: any
  readonly headers: Headers
}

export class Installation {
  readonly folder: string
  readonly config: Config
  #options: InstallationOptions
  #claimcheck: Claimcheck | undefined
  #server: RunningServer | undefined

  private constructor(folder: string, config: Config, options: InstallationOptions) {
    this.folder = folder
    this.config = config
    this.#options = options
  }

  static async start(options: InstallationOptions = {}): Promise<Installation> {
    const folder = await mkdtemp(join(tmpdir(), 'claimcheck-test-'))
    const file = { plugins: options.plugins ?? [SCRIPTED], ...options.file }
    await writeFile(join(folder, 'claimcheck.config.json'), JSON.stringify(file))
    const env = { PORT: '0', LOG_LEVEL: 'silent', ...options.env }
    const installation = new Installation(folder, loadConfig(env, folder), options)
    await installation.resume()
    return installation
  }

  get claimcheck(): Claimcheck {
    return this.#claimcheck!
  }

  get url(): string {
    return this.#server!.url
  }

  /** Starts again on the same folder. */
  async resume(): Promise<void> {
    const { now } = this.#options
    this.#claimcheck = await openClaimcheck(this.config, { plugins: true, ...(now ? { now } : {}) })
    this.#server = await startServer(this.#claimcheck)
  }

  /** Stops as SIGTERM stops it. */
  async stop(): Promise<void> {
    await this.#server?.stop()
    await this.#claimcheck?.close()
    this.#server = undefined
    this.#claimcheck = undefined
  }

  async remove(): Promise<void> {
    await this.stop()
    await rm(this.folder, { recursive: true, force: true })
  }

  async request(path: string, init: RequestInit = {}): Promise<Answer> {
    const response = await fetch(this.url + path, init)
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json')
    return { status: response.status, body: isJson ? JSON.parse(text) : text, headers: response.headers }
  }

  /** A workspace of its own with a key, and what can be done with that. */
  async client(name: string): Promise<Client> {
    const { id } = await this.claimcheck.workspaces.create(name)
    const { key } = await this.claimcheck.keys.create(id, 'test')
    return new Client(this, id, key)
  }
}

export class Client {
  readonly workspaceId: string
  readonly key: string
  readonly #installation: Installation
  #claims = 0

  constructor(installation: Installation, workspaceId: string, key: string) {
    this.#installation = installation
    this.workspaceId = workspaceId
    this.key = key
  }

  request(path: string, init: RequestInit = {}): Promise<Answer> {
    const headers = { authorization: `Bearer ${this.key}`, ...init.headers }
    return this.#installation.request(path, { ...init, headers })
  }

  get(path: string): Promise<Answer> {
    return this.request(path)
  }

  /** Submits a claim that is valid but for what is said otherwise. */
  submit(claim: object = {}): Promise<Answer> {
    const body = {
      client_claim_id: `claim-${++this.#claims}`,
      agent_id: 'agent-1',
      action: 'test.outcome.reach',
      target: 'somewhere',
      params: { see: 'present' },
      claimed_at: new Date(this.#installation.claimcheck.now()).toISOString(),
      ...claim,
    }
    return this.post(JSON.stringify(body))
  }

  post(body: NonNullable<RequestInit['body']>, headers: Record<string, string> = {}): Promise<Answer> {
    return this.request('/v1/claims', {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...headers },
    })
  }

  /** The claim's status once it is decided. */
  async decided(claimId: string, withinMs = 20_000): Promise<Answer['body']> {
    const end = Date.now() + withinMs
    for (;;) {
      const { body } = await this.get(`/v1/claims/${claimId}`)
      if (body.state === 'decided') return body
      if (Date.now() > end) throw new Error(`claim ${claimId} is still queued: ${JSON.stringify(body)}`)
      await new Promise((done) => setTimeout(done, 50))
    }
  }
}
