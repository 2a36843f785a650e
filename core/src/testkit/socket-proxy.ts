/** Stands in front of a destination that speaks another protocol than HTTP: passes bytes on, and strikes single answers with a fault. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface StruckSocket {
  /** What the destination answers, as far as it came in one piece. */
  readonly real: Buffer
  /** All that the check wrote on this connection. */
  readonly written: Buffer
  /** @returns false once nobody reads any more */
  send(bytes: Buffer): Promise<boolean>
  /** Closes the connection in order. */
  end(): void
  reset(): void
  /** Gives the true answer, and goes on as if nothing had been. */
  pass(): void
}

export interface SocketStrike {
  /** The keys of the answers that it strikes. All, when left out: of each connection, the first. */
  readonly on?: (key: string) => boolean
  readonly fault: (struck: StruckSocket) => void | Promise<void>
}

export interface SocketProxy {
  readonly port: number
  /** The answers that were given since the last `begin`: `SOCKET 1, answer 2`. */
  routes(): readonly string[]
  struck(): number
  begin(options: { readonly strike?: SocketStrike | undefined; readonly onStrike?: () => void }): void
  stop(): Promise<void>
}

/** @param destination `tcp://127.0.0.1:4190` */
export async function startSocketProxy(destination: string): Promise<SocketProxy> {
  const { hostname, port } = new URL(destination)
  let current: Parameters<SocketProxy['begin']>[0] = {}
  let routes = new Set<string>()
  let [struckCount, connections] = [0, 0]
  const open = new Set<Socket>()

  const server = createServer({ allowHalfOpen: true }, (client) => {
    const { strike, onStrike } = current
    const noted = routes
    const ordinal = ++connections
    const written: Buffer[] = []
    let answers = 0
    let isTurn = true
    const upstream = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
    for (const socket of [client, upstream]) open.add(socket.on('close', () => open.delete(socket)))

    client.on('data', (chunk) => {
      isTurn = true
      written.push(chunk)
      upstream.write(chunk)
    })
    function answer(chunk: Buffer): void {
      if (isTurn) {
        isTurn = false
        const key = `SOCKET ${ordinal}, answer ${++answers}`
        noted.add(key)
        if (strike && strike.on?.(key) !== false) {
          hit(chunk, strike)
          return
        }
      }
      client.write(chunk)
    }
    function hit(real: Buffer, { fault }: SocketStrike): void {
      struckCount++
      upstream.off('data', answer).pause()
      onStrike?.()
      const struck: StruckSocket = {
        real,
        written: Buffer.concat(written),
        send: (bytes) => sent(client, bytes),
        end: () => client.end(),
        reset: () => client.resetAndDestroy(),
        pass() {
          client.write(real)
          upstream.on('data', answer).resume()
        },
      }
      Promise.resolve(fault(struck)).catch(() => client.destroy())
    }
    upstream.on('data', answer).on('end', () => client.end())
    client.on('end', () => upstream.end())
    // What becomes of one side becomes of the other.
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('error', () => other.destroy()).on('close', () => other.destroy())
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    port: (server.address() as AddressInfo).port,
    routes: () => [...routes],
    struck: () => struckCount,
    begin(next) {
      current = next
      routes = new Set()
      struckCount = 0
      connections = 0
    },
    async stop() {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function sent(client: Socket, bytes: Buffer): Promise<boolean> {
  if (client.destroyed) return Promise.resolve(false)
  return new Promise((resolve) => {
    const go = () => resolve(!client.destroyed)
    client.once('close', go)
    client.write(bytes, () => {
      client.off('close', go)
      go()
    })
  })
}
