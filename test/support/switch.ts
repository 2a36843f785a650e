/** An address that leads to one server and later to another, as the one in front of a cluster does. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

export interface Switch {
  /** The URL by way of this address. */
  urlOf(serverUrl: string): string
  /** Ends what is connected. */
  leadTo(serverUrl: string): void
  close(): Promise<void>
}

export async function startSwitch(serverUrl: string): Promise<Switch> {
  let port = Number(new URL(serverUrl).port)
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1')
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const own = String((server.address() as { port: number }).port)
  const disconnect = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    urlOf(url) {
      const through = new URL(url)
      through.port = own
      return through.href
    },
    leadTo(url) {
      port = Number(new URL(url).port)
      disconnect()
    },
    async close() {
      disconnect()
      server.close()
      await once(server, 'close')
    },
  }
}
