/** One running server of an installation, spoken to over HTTP: the program that people start, or its parts in this process. */

import { type Claimcheck, openClaimcheck } from '@claimcheck/server/claimcheck'
import type { Config } from '@claimcheck/server/features'
import type { Feature } from '@claimcheck/server/host/feature'
import { startServer } from '@claimcheck/server/host/start'
import type { Env } from './command.ts'
import { startInWarmProcess, startProgram } from './program.ts'
import { startValidatingProxy, type ValidatingProxy } from './validating-proxy.ts'

export interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into answers, and fail when these are not what they say.
  readonly body: any
  readonly headers: Headers
}

/** In this process: for a test that sets the clock, or reaches into what runs. */
export interface InProcess {
  readonly now?: (() => number) | undefined
  /** The clock of the system; without it `now`, where there is one. */
  readonly wall?: (() => number) | undefined
  /** Beside those of the service. */
  readonly features?: readonly Feature[] | undefined
}

/** What the program is started with. */
export interface AsProgram {
  readonly folder: string
  readonly env: Env
  /** In a process that is new: `server/bin/claimcheck.js`. */
  readonly isNew: boolean
}

interface Running {
  readonly url: string
  readonly metricsUrl: string | undefined
  /** The parts of what runs; of a program, parts that this process opened beside it, as commands do. */
  readonly claimcheck: Claimcheck
  stop(): Promise<void>
}

export class Host {
  readonly config: Config
  readonly #how: InProcess | AsProgram
  #running: Running | undefined
  /** With `VALIDATE_ANSWERS`, as `npm run openapi` sets it. */
  #proxy: ValidatingProxy | undefined

  constructor(config: Config, how: InProcess | AsProgram = {}) {
    this.config = config
    this.#how = how
  }

  get claimcheck(): Claimcheck {
    return this.#running!.claimcheck
  }

  get url(): string {
    return this.#running!.url
  }

  get metricsUrl(): string | undefined {
    return this.#running!.metricsUrl
  }

  async start(): Promise<void> {
    const how = this.#how
    this.#running = await ('folder' in how ? serveBeside(this.config, how) : serveHere(this.config, how))
    if (process.env.VALIDATE_ANSWERS) this.#proxy = await startValidatingProxy(this.#running.url)
  }

  /** Stops as SIGTERM stops it. */
  async stop(): Promise<void> {
    const running = this.#running
    this.#running = undefined
    await this.#proxy?.stop()
    await running?.stop()
  }

  async request(path: string, init: RequestInit = {}): Promise<Answer> {
    const response = await fetch((this.#proxy?.url ?? this.url) + path, init).catch((error) => {
      // Why, rather than that, it failed.
      throw error.cause ?? error
    })
    this.#proxy?.examine(path, init, response)
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json')
    return { status: response.status, body: isJson ? JSON.parse(text) : text, headers: response.headers }
  }
}

async function serveHere(config: Config, { now, wall, features }: InProcess): Promise<Running> {
  const options = { plugins: true, ...(now ? { now } : {}), ...(wall ? { wall } : {}) }
  const claimcheck = await openClaimcheck(config, options, features)
  const server = await startServer(claimcheck).catch(async (error: unknown) => {
    await claimcheck.close()
    throw error
  })
  return {
    url: server.url,
    metricsUrl: server.listeners[0]?.url,
    claimcheck,
    stop: async () => {
      await server.stop()
      await claimcheck.close()
    },
  }
}

async function serveBeside(config: Config, { folder, env, isNew }: AsProgram): Promise<Running> {
  const { PATH, HOME } = process.env
  const all = { PATH, HOME, ...env }
  const program = await (isNew ? startProgram(folder, all) : startInWarmProcess({ folder, env: all as Env }))
  const claimcheck = await openClaimcheck(config, { plugins: true, patient: true })
  return {
    ...program,
    claimcheck,
    stop: async () => {
      await claimcheck.close()
      await program.stop()
    },
  }
}
