/** The address at which a row's database answers: it leads to a server, to another one later, or to what answers in its place. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A server's port, or what is done with a connection instead. */
export type Behind = number | ((client: Socket) => void)

export async function openDoor() {
  let behind: Behind = (client) => client.destroy()
  const open = new Set<Socket>()
  const server = createServer((client) => {
    open.add(client.on('close', () => open.delete(client)).on('error', () => client.destroy()))
    if (typeof behind === 'function') return behind(client)
    const upstream = connect({ host: '127.0.0.1', port: behind })
    open.add(upstream.on('close', () => open.delete(upstream)).on('error', () => client.destroy()))
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
    client.pipe(upstream).pipe(client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `tcp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lead(to: Behind): void {
      behind = to
    },
    async close(): Promise<void> {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/**
 * Refuses as Postgres does after the first message, by an ErrorResponse (documentation, "Message Formats"): severity, SQLSTATE, words.
 */
export function refusedBy(code: string, words: string): Behind {
  const fields = ['SFATAL', 'VFATAL', `C${code}`, `M${words}`].map((field) => `${field}\0`).join('')
  const body = Buffer.from(`${fields}\0`)
  const head = Buffer.alloc(5)
  head.write('E')
  head.writeUInt32BE(body.length + 4, 1)
  return (client) => client.once('data', () => client.end(Buffer.concat([head, body])))
}

/** Refuses as MySQL does instead of its greeting, by an error packet. */
export function greetedBy(code: number, words: string): Behind {
  const body = Buffer.concat([Buffer.from([0xff, code & 0xff, code >> 8]), Buffer.from(words)])
  return (client) => client.end(Buffer.concat([Buffer.from([body.length, 0, 0, 0]), body]))
}

export const STARTING = refusedBy('57P03', 'the database system is starting up')
export const FULL = refusedBy('53300', 'sorry, too many clients already')
export const NOT_ADMITTED = refusedBy(
  '28000',
  'no pg_hba.conf entry for host "10.0.0.7", user "reader", database "shop", no encryption',
)
/** A pooler whose server does not answer. */
export const POOLER_ALONE = refusedBy(
  '08P01',
  'server login failed: FATAL password authentication failed for user "reader"',
)
export const CLOSED: Behind = (client) => client.destroy()
export const HTTP: Behind = (client) =>
  client.once('data', () => client.end('HTTP/1.1 400 Bad Request\r\ncontent-type: text/html\r\n\r\n<html></html>'))
