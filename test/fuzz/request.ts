/** A request as its exact bytes in parts, so that what no well-behaved client would send can be sent, and shown. */
import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http'

export interface FuzzRequest {
  readonly method: string
  /** Path and query as they go over the wire: printable Latin-1 without blanks. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Buffer
}

export interface FuzzAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** Longer than every answer may take, and shorter than anyone would wait. */
const HANGS_MS = 10_000

export interface Sender {
  /** @throws Error when there is no answer in time, or a broken one */
  send(request: FuzzRequest): Promise<FuzzAnswer>
  close(): void
}

export function createSender(url: string): Sender {
  const agent = new Agent({ keepAlive: true })
  const { port, host } = new URL(url)
  return {
    send: ({ method, path, headers, body }) =>
      new Promise((resolve, reject) => {
        // The client names the length of a body only where the method has one by custom.
        const length = body === undefined ? {} : { 'content-length': String(body.length) }
        const sent = httpRequest({
          host: '127.0.0.1',
          port,
          agent,
          method,
          path,
          headers: { host, ...length, ...headers },
        })
        const timer = setTimeout(() => sent.destroy(new Error(`no answer within ${HANGS_MS} ms`)), HANGS_MS)
        sent.on('error', (error) => {
          clearTimeout(timer)
          reject(error)
        })
        sent.on('response', (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('error', reject)
          const end = () => {
            clearTimeout(timer)
            resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks) })
          }
          response.on('end', end)
          // A stream goes on for as long as its client listens.
          if (!response.headers['content-type']?.startsWith('text/event-stream')) return
          response.once('data', () => {
            end()
            sent.destroy()
          })
        })
        sent.end(body)
      }),
    close: () => agent.destroy(),
  }
}

/** The request as a command that a shell takes as it stands. */
export function curlOf(url: string, { method, path, headers, body }: FuzzRequest): string {
  const parts = ['curl -sS -i --path-as-is -g', `-X ${quote(method)}`, quote(new URL(url).origin + path)]
  for (const [name, value] of Object.entries(headers))
    parts.push(`-H ${quote(value === '' ? `${name};` : `${name}: ${value}`)}`)
  if (body !== undefined) parts.push(`--data-binary @<(echo ${body.toString('base64')} | base64 -d)`)
  return parts.join(' ')
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
