/** A real HTTP server in front of the destination, which passes requests on, notes them, and strikes some of them with a fault. */
import { hash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { ClientCertificate } from '../hosting/credentials.ts'
import type { KitClock } from './clock.ts'
import {
  answerWith,
  callIn,
  headerOf,
  listen,
  readRequest,
  sendOn,
  type WholeAnswer,
  type WholeRequest,
  withHeaders,
} from './exchange.ts'

/** One request that a check sent, with the destination's own answer. */
export interface Route {
  /** The name of the request: `GET /path?query`, followed by the name of a call. */
  readonly key: string
  readonly method: string
  readonly path: string
  readonly answer: WholeAnswer
  /** Marks a token exchange of the host. The host, not the plugin, reads its answer. */
  readonly isExchange?: boolean
}

export interface StruckRequest {
  readonly asked: WholeRequest
  readonly key: string
  readonly response: ServerResponse
  /** Gets the destination's own answer. */
  real(): Promise<WholeAnswer>
  send(answer: WholeAnswer): void
  readonly clock: KitClock
  /** The address of another host, which no check may ask. */
  readonly elsewhere: string
}

export interface Strike {
  /** Tells which routes are struck, by their keys. Defaults to all routes. */
  readonly on?: (key: string) => boolean
  readonly fault: (struck: StruckRequest) => void | Promise<void>
}

/** The destination's answers, by request: a fault on one route asks the destination nothing again. */
export type AnswerMemory = Map<string, Promise<WholeAnswer>>

export interface ProxyOptions {
  /** Address that requests go on to; undefined: the base address itself. */
  readonly destination: string | undefined
  readonly elsewhere: string
  readonly clock: KitClock
  readonly memory: AnswerMemory
}

interface CheckStart {
  readonly baseOrigin: string
  /** The client's certificate, presented to the destination with each request. */
  readonly clientCertificate?: ClientCertificate
  readonly strike?: Strike
  /** Hears of each request that the strike takes. */
  readonly onStrike?: () => void
}

export type FaultProxy = Awaited<ReturnType<typeof startFaultProxy>>

export async function startFaultProxy({ destination, elsewhere, clock, memory }: ProxyOptions) {
  const given = destination && new URL(destination).origin
  let routes = new Map<string, Route>()
  let exchanges = new Set<string>()
  let struckCount = 0
  let current: CheckStart = { baseOrigin: given ?? '' }

  const server = await listen(async (request, response) => {
    const { baseOrigin, strike, onStrike } = current
    const origin = given ?? baseOrigin
    const noted = routes
    const asked = await readRequest(request)
    const key = routeKey(asked)
    const real = async () => {
      const answer = linksTo(await remembered(asked, origin), origin, baseOrigin)
      // A host answers a challenge by the same request with credentials.
      if (!noted.has(key) || noted.get(key)?.answer.status === 401)
        noted.set(key, { key, method: asked.method, path: asked.path, answer })
      return clock.dated(answer)
    }
    const send = (whole: WholeAnswer) => answerWith(response, whole, asked.method)
    if (!strike || strike.on?.(key) === false) return send(await real())
    struckCount++
    onStrike?.()
    await strike.fault({ asked, key, response, real, send, clock, elsewhere })
  })

  function remembered(asked: WholeRequest, origin: string): Promise<WholeAnswer> {
    const name = memoryKey(asked)
    const known = memory.get(name)
    if (known) return known
    const { host } = asked.headers
    // The `Host` header may be signed. Links made of it are stored as the destination's: other lanes have other names.
    const answering = sendOn(asked, origin, { host, clientCertificate: current.clientCertificate }).then((answer) =>
      linksTo({ ...answer, answeredAt: clock.now() }, `${new URL(origin).protocol}//${host}`, origin),
    )
    memory.set(name, answering)
    answering.catch(() => memory.delete(name))
    return answering
  }

  return {
    url: server.url,
    /** The routes that were asked since the last `begin`, each once. */
    routes: (): Route[] =>
      [...routes.values()].map((route) => (exchanges.has(route.key) ? { ...route, isExchange: true } : route)),
    /** Announces that the host exchanges credentials for a token by such a request. */
    expectExchange: (request: Parameters<typeof routeKey>[0]) => void exchanges.add(routeKey(request)),
    /** The origin of the base address of the check that began last. */
    baseOrigin: () => current.baseOrigin,
    /** Number of requests that the strike has taken. */
    struck: () => struckCount,
    begin(next: CheckStart): void {
      routes = new Map()
      exchanges = new Set()
      struckCount = 0
      current = next
    },
    stop: server.stop,
  }
}

function routeKey(asked: Pick<WholeRequest, 'method' | 'path' | 'body'>): string {
  const call = callIn(asked)
  return `${asked.method} ${asked.path}${call === undefined ? '' : ` ${call}`}`
}

/** Headers that can change the answer to a request. */
const TELLING = ['authorization', 'accept', 'if-none-match', 'range', 'git-protocol']

function memoryKey({ method, path, headers, body }: WholeRequest): string {
  const others = Object.entries(headers).filter(([name]) => /^(x-|private-)/.test(name))
  return JSON.stringify([method, path, TELLING.map((name) => headers[name]), others, hash('sha256', body, 'base64')])
}

/** Makes the destination's links to its own address lead to the address that the plugin knows. */
function linksTo(answer: WholeAnswer, from: string, to: string): WholeAnswer {
  if (from === to) return answer
  const headers = answer.headers.map(([name, value]) => [name, value.replaceAll(from, to)] as const)
  const isText = /json|text|xml/.test(headerOf(answer, 'content-type') ?? '')
  if (!isText || !answer.body.includes(from)) return { ...answer, headers }
  return withHeaders(
    { ...answer, headers, body: Buffer.from(answer.body.toString('utf8').replaceAll(from, to)) },
    { etag: undefined },
  )
}
