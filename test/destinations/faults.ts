/** Ways in which a destination misbehaves, to be switched on for some of its requests. */
import type { IncomingMessage, ServerResponse } from 'node:http'

/** Answers in place of the destination, or does not answer at all. */
export type Fault = (request: IncomingMessage, response: ServerResponse) => void

export interface Injection {
  readonly fault: Fault
  /** Held against `GET /path?query`. Every request when left out. */
  readonly on?: RegExp
  /** How many requests it strikes. All, when left out. */
  readonly times?: number
  /** How many requests it lets pass before. */
  readonly after?: number
  /** Only while this is so. */
  readonly during?: () => boolean
}

export class Faults {
  #injected: { fault: Fault; on: RegExp; left: number; passing: number; during: () => boolean }[] = []
  #hooks: { on: RegExp; action: () => unknown }[] = []

  inject({ fault, on = /./, times = Number.POSITIVE_INFINITY, after = 0, during = () => true }: Injection): void {
    this.#injected.push({ fault, on, left: times, passing: after, during })
  }

  /** Does something just before the next request that matches is answered: the world changes while it is being read. */
  beforeNext(on: RegExp, action: () => unknown): void {
    this.#hooks.push({ on, action })
  }

  clear(): void {
    this.#injected = []
    this.#hooks = []
  }

  /** Whether a fault has taken the request. */
  async strike(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const line = `${request.method} ${request.url}`
    const hook = this.#hooks.find(({ on }) => on.test(line))
    if (hook) {
      this.#hooks = this.#hooks.filter((other) => other !== hook)
      await hook.action()
    }
    const injection = this.#injected.find(({ on, left, during }) => left > 0 && on.test(line) && during())
    if (!injection || injection.passing-- > 0) return false
    injection.left--
    injection.fault(request, response)
    return true
  }
}

export function status(code: number, headers: Readonly<Record<string, string>> = {}, body: object = {}): Fault {
  return (_, response) => {
    response.writeHead(code, { 'content-type': 'application/json; charset=utf-8', ...headers })
    response.end(JSON.stringify({ message: `Injected ${code}`, ...body }))
  }
}

export function json(body: unknown, status = 200): Fault {
  return (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
    response.end(JSON.stringify(body))
  }
}

export function html(): Fault {
  return (_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' })
    response.end('<!doctype html><title>Sign in</title><p>Please sign in to this network.')
  }
}

/** The answer breaks off, and the connection with it. */
export function brokenOff(type = 'application/json; charset=utf-8'): Fault {
  return (_, response) => {
    response.writeHead(200, { 'content-type': type, 'content-length': '4096' })
    response.write('{"id": 1, "full_na', () => response.destroy())
  }
}

/** A whole answer whose JSON is not. */
export function truncatedJson(): Fault {
  return (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' })
    response.end('{"id": 1, "full_name": "ac')
  }
}

export function redirectTo(url: string): Fault {
  return (_, response) => {
    response.writeHead(302, { location: url })
    response.end()
  }
}

/** No answer, until the other side gives up. */
export function silence(): Fault {
  return () => {}
}
