/** One running server of an installation, in this process, and spoken to over HTTP. */
import type { Config } from '@claimcheck/server/config/config'
import { type Claimcheck, openClaimcheck } from '@claimcheck/server/container'
import { SEQUENCER_THREAD } from '@claimcheck/server/log/thread/sequencer-thread'
import { type RunningServer, startServer } from '@claimcheck/server/server'

export interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into answers, and fail when these are not what they say.
  readonly body: any
  readonly headers: Headers
}

export class Host {
  readonly config: Config
  readonly #now: (() => number) | undefined
  #claimcheck: Claimcheck | undefined
  #server: RunningServer | undefined

  constructor(config: Config, now?: () => number) {
    this.config = config
    this.#now = now
  }

  get claimcheck(): Claimcheck {
    return this.#claimcheck!
  }

  get url(): string {
    return this.#server!.url
  }

  get metricsUrl(): string | undefined {
    return this.#server!.metricsUrl
  }

  async start(): Promise<void> {
    this.#claimcheck = await openClaimcheck(this.config, {
      plugins: true,
      // As it is served; but that a clock of the test's own is in this thread alone.
      ...(this.#now ? { now: this.#now } : { sequencerThread: SEQUENCER_THREAD }),
    })
    this.#server = await startServer(this.#claimcheck)
  }

  /** Stops as SIGTERM stops it. */
  async stop(): Promise<void> {
    await this.#server?.stop()
    await this.#claimcheck?.close()
    this.#server = undefined
    this.#claimcheck = undefined
  }

  async request(path: string, init: RequestInit = {}): Promise<Answer> {
    const response = await fetch(this.url + path, init)
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json')
    return { status: response.status, body: isJson ? JSON.parse(text) : text, headers: response.headers }
  }
}
