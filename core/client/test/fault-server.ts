/** A server in front of the service that does to each request what a list says, over real connections, and then passes all others on. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterFile } from '../../../test/support/after-file.ts'

export type Fault =
  /** An answer of its own. */
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string | Uint8Array }
  /** The service gets the request, and its answer is lost. */
  | 'lose'
  /** The same, and half of the answer arrives. */
  | 'cut'
  /** The same, and the answer comes too late. */
  | 'late'
  /** The connection ends before anything is answered, and the service gets nothing. */
  | 'drop'

export interface Asked {
  readonly method: string
  readonly path: string
  readonly authorization: string | undefined
  readonly body: string
}

export class FaultServer {
  readonly asked: Asked[] = []
  readonly #faults: Fault[]
  readonly #service: string | undefined
  readonly #server = createServer((request, response) => void this.#answer(request, response))

  private constructor(service: string | undefined, faults: readonly Fault[]) {
    this.#service = service
    this.#faults = [...faults]
  }

  static async start(faults: readonly Fault[], service?: string): Promise<FaultServer> {
    const one = new FaultServer(service, faults)
    await once(one.#server.listen(0, '127.0.0.1'), 'listening')
    afterFile(async () => {
      one.#server.closeAllConnections()
      one.#server.close()
    })
    return one
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await request.toArray()).join('')
    const { method = '', url = '', headers } = request
    // A watch asks for events beside its reads: this service has none.
    if (url.startsWith('/v1/events')) return void response.writeHead(404).end('{"detail":"not found"}')
    this.asked.push({ method, path: url, authorization: headers.authorization, body })
    const fault = this.#faults.shift()
    if (fault === 'drop') return void request.socket.destroy()
    if (typeof fault === 'object') return void response.writeHead(fault.status, fault.headers).end(fault.body)
    const { authorization = '', 'content-type': type = 'application/json' } = headers
    const answer = await fetch(this.#service + url, {
      method,
      headers: { authorization, ...(body === '' ? {} : { 'content-type': type }) },
      ...(body === '' ? {} : { body }),
    })
    const text = await answer.text()
    if (fault === 'late') return
    if (fault === 'lose') return void request.socket.destroy()
    response.writeHead(answer.status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
    if (fault === 'cut') response.write(text.slice(0, text.length / 2), () => request.socket.destroy())
    else response.end(text)
  }
}
