/** Stands before a node and misbehaves when it is told to: the ways in which RPC services let their users down. */
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { keccak256 } from 'ethers'

export interface RpcCall {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
}

/** Answers in place of the node, or does not answer at all. */
export type RpcFault = (call: RpcCall, response: ServerResponse) => void

export interface RpcInjection {
  readonly fault: RpcFault
  /** The method that it strikes. Every one, when left out. */
  readonly on?: string
  /** Only calls with this among their parameters. */
  readonly with?: unknown
  /** Only calls for which it is true. */
  readonly when?: (call: RpcCall) => boolean
  /** How many calls it strikes. All, when left out. */
  readonly times?: number
}

export class RpcProxy {
  /** The methods that were called, in order. */
  readonly calls: string[] = []
  readonly #server: Server
  #injected: { readonly fault: RpcFault; readonly strikes: (call: RpcCall) => boolean; left: number }[] = []

  private constructor(nodeUrl: string) {
    this.#server = createServer(async (request, response) => {
      const body = await text(request)
      const call = JSON.parse(body) as RpcCall
      this.calls.push(call.method)
      const injection = this.#injected.find(({ strikes, left }) => left > 0 && strikes(call))
      if (injection) {
        injection.left--
        return injection.fault(call, response)
      }
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(nodeUrl, { method: 'POST', headers, body }).then((answer) => answer.text())
      response.writeHead(200, headers).end(answer)
    })
  }

  static async start(nodeUrl: string): Promise<RpcProxy> {
    const proxy = new RpcProxy(nodeUrl)
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve))
    return proxy
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  inject({ fault, on, with: parameter, when, times = Number.POSITIVE_INFINITY }: RpcInjection): void {
    const strikes = (call: RpcCall) =>
      (on === undefined || on === call.method) &&
      (parameter === undefined || call.params.includes(parameter)) &&
      (when === undefined || when(call))
    this.#injected.push({ fault, strikes, left: times })
  }

  clear(): void {
    this.#injected = []
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

/** A well-formed answer that is not the node's: another chain's id, a block that does not exist, no receipt. */
export function answers(result: unknown): RpcFault {
  return ({ id }, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
  }
}

/** The service refuses the call, as JSON-RPC says it. */
export function refuses(message: string, code = -32000): RpcFault {
  return ({ id }, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } }))
  }
}

/** Says that it took the transaction (`eth_sendRawTransaction`), and loses it. */
export function swallows(): RpcFault {
  return (call, response) => answers(keccak256(call.params[0] as string))(call, response)
}

/** A service that answers for few blocks at a time. */
export function answersFor(blocks: number): RpcInjection {
  const isLarge = ({ params }: RpcCall) => {
    const { fromBlock, toBlock } = params[0] as { readonly fromBlock: string; readonly toBlock: string }
    return Number(toBlock) - Number(fromBlock) >= blocks
  }
  return { on: 'eth_getLogs', when: isLarge, fault: refuses(`query exceeds max block range ${blocks}`, -32600) }
}

/** No answer, until the other side gives up. */
export function hangs(): RpcFault {
  return () => {}
}

export function status(code: number, headers: Readonly<Record<string, string>> = {}, body = ''): RpcFault {
  return (_, response) => {
    response.writeHead(code, headers).end(body)
  }
}

/** Too many requests; come back after so many seconds. */
export function limits(retryAfterSeconds: number): RpcFault {
  return status(429, { 'retry-after': String(retryAfterSeconds) })
}

/** Whatever this is. */
export function says(body: string): RpcFault {
  return status(200, { 'content-type': 'application/json' }, body)
}
