/** Stands in front of the destination as a real HTTP server: passes requests on, notes them, and strikes some of them with a fault. */
import { hash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ClientCertificate } from '../hosting/credentials.ts'
import type { KitClock } from './clock.ts'
import {
  type Asked,
  answerWith,
  callIn,
  headerOf,
  listen,
  readRequest,
  sendOn,
  type WholeAnswer,
  withHeaders,
} from './exchange.ts'

/** One request that a check sent, and what the destination itself answered. */
export interface Route {
  /** `GET /path?query`, and for a call its name. */
  readonly key: string
  readonly method: string
  readonly path: string
  readonly answer: WholeAnswer
  /** The host exchanged credentials for a token there: what it makes of the answer is not the plugin's. */
  readonly isExchange?: boolean
}

export interface Struck {
  readonly asked: Asked
  readonly key: string
  readonly response: ServerResponse
  /** What the destination itself answers. */
  real(): Promise<WholeAnswer>
  send(answer: WholeAnswer): void
  readonly clock: KitClock
  /** The address of another host, which no check may ask. */
  readonly elsewhere: string
}

export interface Strike {
  /** The keys of the routes that it strikes. All, when left out. */
  readonly on?: (key: string) => boolean
  readonly fault: (struck: Struck) => void | Promise<void>
}

export interface FaultProxy {
  readonly url: string
  /** The routes that were asked since the last `begin`, each once. */
  routes(): readonly Route[]
  /** The host is about to exchange credentials for a token by such a request. */
  expectExchange(request: Pick<Asked, 'method' | 'path' | 'body'>): void
  /** Of the base address of the check that began last. */
  baseOrigin(): string
  /** How many requests the strike has taken. */
  struck(): number
  /** Begins a check. @param onStrike called at the first request that the strike takes */
  begin(options: {
    readonly baseOrigin: string
    /** With which requests go on to the destination. */
    readonly clientCertificate?: ClientCertificate | undefined
    readonly strike?: Strike
    readonly onStrike?: () => void
  }): void
  stop(): Promise<void>
}

/** What the destination has answered, by request: a fault on one route needs no more of the destination. */
export type Memory = Map<string, Promise<WholeAnswer>>

export interface ProxyOptions {
  /** Where requests go on to; undefined: to the base address itself. */
  readonly destination: string | undefined
  readonly elsewhere: string
  readonly clock: KitClock
  readonly memory: Memory
}

export async function startFaultProxy({ destination, elsewhere, clock, memory }: ProxyOptions): Promise<FaultProxy> {
  const given = destination && new URL(destination).origin
  let routes = new Map<string, Route>()
  let exchanges = new Set<string>()
  let struckCount = 0
  let current: Parameters<FaultProxy['begin']>[0] = { baseOrigin: given ?? '' }

  const server = await listen(answer)

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { baseOrigin, strike, onStrike } = current
    const origin = given ?? baseOrigin
    const noted = routes
    const asked = await readRequest(request)
    const key = routeKey(asked)
    const real = async () => {
      const found = await remembered(asked, origin)
      const told = linksTo(found, origin, baseOrigin)
      // A host answers a challenge by the same request with credentials.
      if (!noted.has(key) || noted.get(key)?.answer.status === 401)
        noted.set(key, { key, method: asked.method, path: asked.path, answer: told })
      return clock.dated(told)
    }
    const send = (whole: WholeAnswer) => answerWith(response, whole, asked.method)
    if (!strike || strike.on?.(key) === false) return send(await real())
    struckCount++
    onStrike?.()
    await strike.fault({ asked, key, response, real, send, clock, elsewhere })
  }

  function remembered(asked: Asked, origin: string): Promise<WholeAnswer> {
    const name = memoryKey(asked)
    const known = memory.get(name)
    if (known) return known
    const { host } = asked.headers
    // Host may be signed. Links made of it are kept as the destination's: other lanes have other names.
    const answering = sendOn(asked, origin, { host, clientCertificate: current.clientCertificate }).then((answer) =>
      linksTo({ ...answer, answeredAt: clock.now() }, `${new URL(origin).protocol}//${host}`, origin),
    )
    memory.set(name, answering)
    answering.catch(() => memory.delete(name))
    return answering
  }

  return {
    url: server.url,
    routes: () =>
      [...routes.values()].map((route) => (exchanges.has(route.key) ? { ...route, isExchange: true } : route)),
    expectExchange: (request) => void exchanges.add(routeKey(request)),
    baseOrigin: () => current.baseOrigin,
    struck: () => struckCount,
    begin(next) {
      routes = new Map()
      exchanges = new Set()
      struckCount = 0
      current = next
    },
    stop: server.stop,
  }
}

function routeKey(asked: Pick<Asked, 'method' | 'path' | 'body'>): string {
  const call = callIn(asked)
  return `${asked.method} ${asked.path}${call === undefined ? '' : ` ${call}`}`
}

/** The headers by which the same request can be answered in different ways. */
const TELLING = ['authorization', 'accept', 'if-none-match', 'range', 'git-protocol']

function memoryKey({ method, path, headers, body }: Asked): string {
  const others = Object.entries(headers).filter(([name]) => /^(x-|private-)/.test(name))
  return JSON.stringify([method, path, TELLING.map((name) => headers[name]), others, hash('sha256', body, 'base64')])
}

/** A destination links to its own address, and the plugin knows it by another one. */
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
