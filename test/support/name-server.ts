/** A DNS server on this machine that answers for TXT records, over UDP, as a test tells it. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { Test } from 'tap'

const TXT = 16
const IN = 1
const CODES = { answer: 0, failing: 2, missing: 3 }

export interface NameServer {
  /** `address:port` */
  readonly address: string
  /** By name. A name without an entry does not exist. `failing`: the server says that it cannot answer. */
  readonly records: Map<string, readonly string[] | 'failing'>
  /** The names that were asked for. */
  readonly asked: string[]
}

export async function startNameServer(t: Test): Promise<NameServer> {
  const records: NameServer['records'] = new Map()
  const asked: string[] = []
  const socket = createSocket('udp4', (query, { port, address }) => {
    const end = query.indexOf(0, 12) + 1
    const name = nameIn(query.subarray(12, end))
    asked.push(name)
    const found = records.get(name.toLowerCase()) ?? 'missing'
    const texts = typeof found === 'string' ? [] : found
    const code = CODES[typeof found === 'string' ? found : 'answer']
    const question = query.subarray(12, end + 4)
    const header = Buffer.from(query.subarray(0, 12))
    header.writeUInt16BE(0x8180 | code, 2)
    for (const [at, count] of [1, texts.length, 0, 0].entries()) header.writeUInt16BE(count, 4 + 2 * at)
    socket.send(Buffer.concat([header, question, ...texts.map(answerOf)]), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.teardown(() => new Promise<void>((done) => socket.close(() => done())))
  return { address: `127.0.0.1:${socket.address().port}`, records, asked }
}

function nameIn(encoded: Buffer): string {
  const labels: string[] = []
  for (let at = 0; encoded[at]! > 0; at += encoded[at]! + 1)
    labels.push(encoded.toString('latin1', at + 1, at + 1 + encoded[at]!))
  return labels.join('.')
}

/** The text in parts of at most 255 bytes, as such records have it. */
function answerOf(text: string): Buffer {
  const bytes = Buffer.from(text)
  const parts = Array.from({ length: Math.ceil(bytes.length / 255) || 1 }, (_, at) =>
    bytes.subarray(at * 255, (at + 1) * 255),
  )
  const data = Buffer.concat(parts.map((part) => Buffer.concat([Buffer.from([part.length]), part])))
  const fixed = Buffer.alloc(12)
  fixed.writeUInt16BE(0xc00c, 0)
  fixed.writeUInt16BE(TXT, 2)
  fixed.writeUInt16BE(IN, 4)
  fixed.writeUInt16BE(data.length, 10)
  return Buffer.concat([fixed, data])
}
