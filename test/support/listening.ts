/** A client of a stream of events, as `curl -N` is one: it reads what comes, and knows nothing of the SDK. */
import { setTimeout } from 'node:timers/promises'

export interface Frame {
  readonly id?: string
  readonly event?: string
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into events, and fail when these are not what they say.
  readonly data?: any
  readonly retry?: string
}

const SOON_MS = 20_000

export class Listening {
  readonly response: Response
  /** All frames that came, in their order. */
  readonly frames: Frame[] = []
  /** Resolves when the stream ended, whichever side ended it. */
  readonly ended: Promise<void>
  readonly #stop: AbortController

  private constructor(response: Response, stop: AbortController) {
    this.response = response
    this.#stop = stop
    this.ended = this.#read().catch(() => {})
  }

  /** @throws for an answer that is no stream */
  static async start(url: string, init: RequestInit = {}): Promise<Listening> {
    const stop = new AbortController()
    const response = await fetch(url, { ...init, signal: stop.signal })
    if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`)
    const listening = new Listening(response, stop)
    await listening.until(() => listening.frames.length > 0)
    return listening
  }

  /** The events, without the lines that have an id alone. */
  get events(): Frame[] {
    return this.frames.filter(({ event }) => event !== undefined)
  }

  /** The id with which a client goes on. */
  get lastId(): string | undefined {
    return this.frames.findLast(({ id }) => id !== undefined)?.id
  }

  async until(holds: () => boolean, withinMs = SOON_MS): Promise<void> {
    const end = Date.now() + withinMs
    while (!holds()) {
      if (Date.now() > end) throw new Error(`not within ${withinMs} ms: ${JSON.stringify(this.frames)}`)
      await setTimeout(5)
    }
  }

  /** The ids of claims in the order in which their events came, once there are so many. */
  async claims(count: number): Promise<string[]> {
    const ids = () => this.events.flatMap(({ event, data }) => (event === 'claim.decided' ? [data.data.claim_id] : []))
    await this.until(() => ids().length >= count)
    return ids()
  }

  stop(): void {
    this.#stop.abort()
  }

  async #read(): Promise<void> {
    let rest = ''
    for await (const piece of this.response.body!.pipeThrough(new TextDecoderStream())) {
      const parts = (rest + piece).split('\n\n')
      rest = parts.pop()!
      for (const part of parts) this.frames.push(frameOf(part))
    }
  }
}

function frameOf(text: string): Frame {
  const lines = text.split('\n').filter((line) => !line.startsWith(':'))
  const fields = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
  )
  return fields.data === undefined ? fields : { ...fields, data: JSON.parse(fields.data) }
}
