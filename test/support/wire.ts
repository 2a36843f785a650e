/** The address at which hosts find their database: what goes through it can be held, refused, cut, or led to another server. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

export type WireState = 'open' | 'silent' | 'refusing'

export class Wire {
  readonly #sockets = new Set<Socket>()
  readonly #server
  #port: number
  #state: WireState = 'open'

  private constructor(port: number) {
    this.#port = port
    this.#server = createServer((near) => this.#join(near))
  }

  static async to(serverUrl: string): Promise<Wire> {
    const wire = new Wire(portOf(serverUrl))
    wire.#server.listen(0, '127.0.0.1')
    await once(wire.#server, 'listening')
    return wire
  }

  /** The URL by way of this address. */
  urlOf(serverUrl: string): string {
    const through = new URL(serverUrl)
    through.port = String((this.#server.address() as { readonly port: number }).port)
    return through.href
  }

  /** Ends what is connected. */
  leadTo(serverUrl: string): void {
    this.#port = portOf(serverUrl)
    this.#cut()
  }

  /** `silent`: nothing arrives, and nobody hears of it, as behind a dead switch. `refusing`: connections end, and new ones too. */
  set(state: WireState): void {
    this.#state = state
    if (state === 'refusing') this.#cut()
    for (const socket of this.#sockets) {
      if (state === 'silent') socket.pause()
      else socket.resume()
    }
  }

  async close(): Promise<void> {
    this.set('refusing')
    this.#server.close()
    await once(this.#server, 'close')
  }

  #cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy()
  }

  #join(near: Socket): void {
    if (this.#state === 'refusing') {
      near.resetAndDestroy()
      return
    }
    const far = connect(this.#port, '127.0.0.1')
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(from)
      from.on('data', (bytes) => to.write(bytes))
      from.on('error', () => {})
      from.on('close', () => {
        this.#sockets.delete(from)
        to.destroy()
      })
      if (this.#state === 'silent') from.pause()
    }
  }
}

function portOf(serverUrl: string): number {
  return Number(new URL(serverUrl).port)
}
