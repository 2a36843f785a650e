/** Slows a network or an account that asks for much, so that requests of others come in between. */
import type { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import type { Instant } from '@claimcheck/core/rules'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { type Payer, partOf, type Taker, takersOf } from '../storage/payers.ts'
import { COSTS } from './costs.ts'
import { type OwnCounts, WINDOW_MS } from './counters.ts'
import { HttpError } from './errors.ts'

/** So many refusals in a minute a network or an account gets at once. Each further one is held: asking at full speed costs the host little. */
const REFUSED_AT_ONCE = 100
/** Several visits to a page. */
const LEAST_AT_ONCE = 300
const HELD_MS = { least: 1000, most: 3000 }
const MOST_HELD = 1000
const TURNS_AHEAD_MS = 2000
/** Clients and proxies give up later than this. */
const LONGEST_WAIT_MS = 20_000
const MOST_ACCOUNTS = 20_000

/**
 * Spreads what a network asks for at once, so that requests of others come in between: beyond a tenth of its tokens in one second, they
 * wait for the seconds after it.
 */
export function createPace(own: OwnCounts, limit: number) {
  const atOnce = Math.max(limit / 10, LEAST_AT_ONCE)
  const secondOf = (network: string, at: Instant) => `${network} ${Math.floor(at / 1000)}`

  return {
    /** Returns for how long the request waits. */
    take(network: string, tokens: number, at: Instant): number {
      if (tokens === COSTS.small.tokens) return 0
      const later = Math.floor((own.add('at_once', secondOf(network, at), tokens).count - 1) / atOnce)
      return later === 0 ? 0 : 1000 * (later - 1 + Math.random())
    },
    /** Only in the minute in which they were taken. */
    giveBack(network: string, tokens: number, at: Instant): void {
      if (tokens !== COSTS.small.tokens) own.add('at_once', secondOf(network, at), -tokens)
    },
  }
}

/**
 * Gives each account its turn, so that one that asks for everything at once leaves room between its requests: beyond what it may ask for
 * in two seconds, they begin one after the other, at the rate that its tokens allow. Guests share the turns of all guests of an allowance;
 * the account that invited them never waits for theirs.
 */
export function createTurns(limit: number, hold: Hold, onRefused: () => void) {
  /** When the next one begins, of each taker. By the monotonic clock, which no one sets back. */
  const next = new LRUCache<string, number>({ max: MOST_ACCOUNTS })
  const turnOf = ({ name }: Taker, now: number) => Math.max(now, next.get(name) ?? 0)
  const rateOf = (taker: Taker) => partOf(limit, taker) / WINDOW_MS
  const takersIn = (account: Payer) => {
    const [payer, ...guests] = takersOf(account)
    return guests.length > 0 ? guests : [payer!]
  }

  function waitOf(takers: readonly Taker[], now: number): number {
    const waits = takers.map((taker) => {
      const ahead = Math.max(TURNS_AHEAD_MS, LEAST_AT_ONCE / rateOf(taker))
      return turnOf(taker, now) - now - ahead
    })
    return Math.max(0, ...waits)
  }

  return {
    /** @throws HttpError 429 for a request that would wait for longer than clients do */
    async require(account: Payer, { log, raw }: FastifyRequest, reply: FastifyReply): Promise<void> {
      if (limit === 0) return
      const takers = takersIn(account)
      if (waitOf(takers, performance.now()) <= LONGEST_WAIT_MS) return
      onRefused()
      log.warn({ limit: 'account', client: account }, 'a client asks for too much at once')
      await hold(account, raw.socket)
      const seconds = Math.max(1, Math.ceil(waitOf(takers, performance.now()) / 1000))
      reply.header('retry-after', seconds)
      throw new HttpError(429, `too many requests of your account wait for their turn: try again in ${seconds} seconds`)
    },
    async take(account: Payer, tokens: number, { raw }: FastifyRequest, reply: FastifyReply): Promise<void> {
      if (limit === 0) return
      const now = performance.now()
      const takers = takersIn(account)
      const waitMs = waitOf(takers, now)
      for (const taker of takers) next.set(taker.name, turnOf(taker, now) + tokens / rateOf(taker))
      if (waitMs === 0) return
      await setTimeout(waitMs, undefined, { ref: false })
      // Who has gone while it waited gets no work.
      if (raw.socket.destroyed) reply.hijack()
    },
  }
}

export type Hold = (client: string, socket: Socket) => Promise<void>

/** Holds a refusal back, so that a client that asks at full speed does so every other second on each of its connections. */
export function createHold(own: OwnCounts): Hold {
  const held = new WeakSet<Socket>()
  let count = 0

  return async (client, socket) => {
    if (own.add('refused', client).count <= REFUSED_AT_ONCE) return
    if (held.has(socket)) {
      // It sends requests without waiting for answers.
      socket.destroy()
      return
    }
    if (count >= MOST_HELD) return
    held.add(socket)
    count++
    socket.pause()
    // At different times, or all that one client has open would be answered at once.
    await setTimeout(HELD_MS.least + Math.random() * (HELD_MS.most - HELD_MS.least))
    socket.resume()
    held.delete(socket)
    count--
  }
}
