/** The network between hosts and their database: what goes through it can be held, refused or cut. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

export type WireState = 'open' | 'silent' | 'refusing'

export class Wire {
  readonly #sockets = new Set<Socket>()
  readonly #server
  #state: WireState = 'open'

  private constructor(port: number) {
    this.#server = createServer((near) => this.#join(near, port))
  }

  static async to(port: number): Promise<Wire> {
    const wire = new Wire(port)
    wire.#server.listen(0, '127.0.0.1')
    await once(wire.#server, 'listening')
    return wire
  }

  get port(): number {
    return (this.#server.address() as { readonly port: number }).port
  }

  /** `silent`: nothing arrives, and nobody hears of it, as behind a dead switch. `refusing`: connections end, and new ones too. */
  set(state: WireState): void {
    this.#state = state
    for (const socket of this.#sockets) {
      if (state === 'silent') socket.pause()
      else if (state === 'refusing') socket.resetAndDestroy()
      else socket.resume()
    }
  }

  async close(): Promise<void> {
    this.set('refusing')
    this.#server.close()
    await once(this.#server, 'close')
  }

  #join(near: Socket, port: number): void {
    if (this.#state === 'refusing') {
      near.resetAndDestroy()
      return
    }
    const far = connect(port, '127.0.0.1')
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
