/** A proxy in front of a destination that does not speak HTTP. It passes bytes on, and strikes single answers with a fault. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface StruckSocket {
  /** The name of the answer: `SOCKET 1, answer 2`. */
  readonly key: string
  /** The destination's answer, as far as it came in one piece. */
  readonly real: Buffer
  /** Everything that the check wrote on this connection. */
  readonly written: Buffer
  /** Sends bytes to the check. @returns false once nobody reads any more */
  send(bytes: Buffer): Promise<boolean>
  /** Closes the connection in order. */
  end(): void
  reset(): void
  /** Passes the destination's own answer on, and goes on without a fault. */
  pass(): void
}

export interface SocketStrike {
  /** Tells which answers are struck, by their keys. Defaults to the first of each connection. */
  readonly on?: (key: string) => boolean
  readonly fault: (struck: StruckSocket) => void | Promise<void>
  /** Runs before bytes of the check go on to the destination. */
  readonly before?: () => Promise<void>
}

interface CheckStart {
  readonly strike?: SocketStrike
  readonly onStrike?: () => void
}

export type SocketProxy = Awaited<ReturnType<typeof startSocketProxy>>

/** Starts the proxy. @param destination `tcp://127.0.0.1:4190` */
export async function startSocketProxy(destination: string) {
  const { hostname, port } = new URL(destination)
  let current: CheckStart = {}
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

    let passed: Promise<void> | undefined
    client.on('data', (chunk) => {
      isTurn = true
      written.push(chunk)
      if (!strike?.before) return void upstream.write(chunk)
      passed = Promise.all([strike.before(), passed]).then(
        () => void upstream.write(chunk),
        () => void client.destroy(),
      )
    })
    function answer(real: Buffer): void {
      const key = isTurn ? `SOCKET ${ordinal}, answer ${++answers}` : undefined
      isTurn = false
      if (key !== undefined) noted.add(key)
      if (key === undefined || !strike || strike.on?.(key) === false) return void client.write(real)
      struckCount++
      upstream.off('data', answer).pause()
      onStrike?.()
      const struck: StruckSocket = {
        key,
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
      Promise.resolve(strike.fault(struck)).catch(() => client.destroy())
    }
    upstream.on('data', answer).on('end', () => client.end())
    client.on('end', async () => {
      await passed
      upstream.end()
    })
    // An error or the end of one side ends the other.
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
    /** The keys of the answers since the last `begin`: `SOCKET 1, answer 2`. */
    routes: () => [...routes],
    struck: () => struckCount,
    begin(next: CheckStart): void {
      current = next
      routes = new Set()
      struckCount = 0
      connections = 0
    },
    async stop(): Promise<void> {
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
