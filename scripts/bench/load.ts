/**
 * Load over HTTP/1.1: a number of connections, each with one request under way at a time. The common load generators cost more for
 * a request than a bare Fastify does, so that with two cores they would be what is measured.
 */
import { connect } from 'node:net'

export interface Load {
  readonly url: string
  readonly connections: number
  readonly durationMs: number
  /** The next request, as it is sent. */
  readonly request: () => string
  /** A part that every answer has, or it does not count as one. */
  readonly expected?: string
}

export interface Answered {
  readonly requests: number
  readonly durationMs: number
  readonly latenciesMs: readonly number[]
}

const HEAD_END = '\r\n\r\n'

/** Rejects at the first answer that is not 2xx or not as expected: what was measured was something else. */
export async function load({ url, connections, durationMs, request, expected = '' }: Load): Promise<Answered> {
  const latenciesMs: number[] = []
  let end = Number.NEGATIVE_INFINITY

  function busyConnection(): Promise<void> {
    return new Promise((resolve, reject) => {
      const { hostname, port } = new URL(url)
      const socket = connect({ host: hostname, port: Number(port), noDelay: true })
      let sentAt = 0
      let answer = ''
      const send = () => {
        sentAt = performance.now()
        answer = ''
        socket.write(request())
      }
      socket.on('connect', send)
      socket.on('error', reject)
      socket.on('close', () => reject(new Error('the connection was closed')))
      socket.on('data', (chunk) => {
        answer += chunk.toString('latin1')
        if (!isWhole(answer)) return
        const now = performance.now()
        latenciesMs.push(now - sentAt)
        if (!answer.startsWith('HTTP/1.1 2') || !answer.includes(expected)) {
          socket.destroy()
          return reject(new Error(`not the answer that is measured: ${answer}`))
        }
        if (now < end) return send()
        socket.destroy()
        resolve()
      })
    })
  }

  // A host that has just started reads a public destination with care until its first check ends: one request goes first.
  if (expected !== '') await busyConnection()
  const before = latenciesMs.splice(0).length
  const start = performance.now()
  end = start + durationMs
  await Promise.all(Array.from({ length: connections }, busyConnection))
  return { requests: before + latenciesMs.length, durationMs: performance.now() - start, latenciesMs }
}

/** Every answer here says how long it is. */
function isWhole(answer: string): boolean {
  const headEnd = answer.indexOf(HEAD_END)
  if (headEnd === -1) return false
  const length = /\r\ncontent-length: (\d+)/i.exec(answer.slice(0, headEnd))?.[1]
  if (length === undefined) throw new Error('an answer without its length')
  return answer.length >= headEnd + HEAD_END.length + Number(length)
}

export function getText(url: string, path: string): string {
  return `GET ${path} HTTP/1.1\r\nhost: ${new URL(url).host}\r\n\r\n`
}

export function postText(url: string, path: string, body: string, headers: Readonly<Record<string, string>>): string {
  const all = {
    host: new URL(url).host,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  return `POST ${path} HTTP/1.1\r\n${lines.join('\r\n')}${HEAD_END}${body}`
}
