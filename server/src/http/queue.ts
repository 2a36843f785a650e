/**
 * The queue of requests, by cost and payer: each payer at the top has a rate, and requests that come faster wait. Among the waiting parties below one
 * payer, the one that used least in the last minute goes first. New accounts gain nothing: they count with the account that made them.
 */
import { LRUCache } from 'lru-cache'
import { WINDOW_MS } from './counters.ts'

/** The rate of tokens that all parties below one allowance may use together. */
interface Rate {
  readonly tokensPerMs: number
  /** The time whose tokens may be used at once. */
  readonly atOnceMs: number
}

interface Waiter {
  readonly tokens: number
  begin(): void
  isGone(): boolean
}

/** A payer, with all parties that stand below it. */
interface Party {
  /** Tokens that the party used, which fade within a minute. */
  used: number
  usedAt: number
  /** Tokens of all waiting requests of the party. */
  waiting: number
  readonly waiters: Waiter[]
  readonly below: Map<string, Party>
}

interface Top extends Party {
  /** The time, by the monotonic clock, at which all requests that began would have arrived at the rate of the top. */
  dueAt: number
  timer?: NodeJS.Timeout | undefined
}

const MOST_TOPS = 20_000
/** The name of an account's own requests, which stand beside the accounts below it. */
const ITSELF = ''

export function createQueue({ tokensPerMs, atOnceMs }: Rate) {
  const tops = new LRUCache<string, Top>({ max: MOST_TOPS })

  /** Finds the parties from the top down to a payer. */
  function pathOf(payer: string): [Top, ...Party[]] {
    const [first, ...ids] = payer.split('/')
    const top = tops.get(first!) ?? { ...newParty(), dueAt: 0 }
    tops.set(first!, top)
    const path: [Top, ...Party[]] = [top]
    for (const id of [...ids, ITSELF]) {
      const { below } = path.at(-1)!
      const party = below.get(id) ?? newParty()
      below.set(id, party)
      path.push(party)
    }
    return path
  }

  function freeInMs({ dueAt }: Top): number {
    return Math.max(0, dueAt - performance.now() - atOnceMs)
  }

  function take([top, ...parties]: [Top, ...Party[]], tokens: number): void {
    const now = performance.now()
    top.dueAt = Math.max(top.dueAt, now) + tokens / tokensPerMs
    for (const party of parties) {
      party.used = usedBy(party, now) + tokens
      party.usedAt = now
    }
  }

  function goOn(top: Top): void {
    top.timer = undefined
    while (top.waiting > 0) {
      const waitMs = freeInMs(top)
      if (waitMs > 0) {
        top.timer = setTimeout(() => goOn(top), Math.ceil(waitMs)).unref()
        return
      }
      const path = nextIn(top)
      const waiter = path.at(-1)!.waiters.shift()!
      for (const party of path) party.waiting -= waiter.tokens
      if (!waiter.isGone()) take(path, waiter.tokens)
      waiter.begin()
    }
  }

  return {
    /** Estimates how long a request would wait now, in milliseconds. */
    expected(payer: string): number {
      const path = pathOf(payer)
      return freeInMs(path[0]) + aheadOf(path) / tokensPerMs
    },
    /**
     * Waits for the turn of a request; undefined when it may go on at once.
     * @param payer ids from the top down, with slashes
     * @param isGone tells that the client waits no more, so that the request takes nothing
     */
    enter(payer: string, tokens: number, isGone: () => boolean = () => false): Promise<void> | undefined {
      const path = pathOf(payer)
      const [top] = path
      if (top.waiting === 0 && freeInMs(top) === 0) {
        take(path, tokens)
        return undefined
      }
      return new Promise((begin) => {
        path.at(-1)!.waiters.push({ tokens, begin, isGone })
        for (const party of path) party.waiting += tokens
        if (top.timer === undefined) goOn(top)
      })
    },
    /** Returns tokens to a party at the top that need not have paid them. */
    giveBack(payer: string, tokens: number): void {
      const top = tops.get(payer)
      if (!top) return
      top.dueAt -= tokens / tokensPerMs
      clearTimeout(top.timer)
      goOn(top)
    },
  }
}

function newParty(): Party {
  return { used: 0, usedAt: 0, waiting: 0, waiters: [], below: new Map() }
}

function usedBy({ used, usedAt }: Party, now: number): number {
  return used * Math.exp((usedAt - now) / WINDOW_MS)
}

/** Finds the path to the party that goes next. */
function nextIn(top: Top): [Top, ...Party[]] {
  const now = performance.now()
  const path: [Top, ...Party[]] = [top]
  for (let party: Party = top; party.waiters.length === 0; path.push(party)) {
    let least: Party | undefined
    for (const [id, one] of party.below) {
      if (one.waiting > 0 && (!least || usedBy(one, now) < usedBy(least, now))) least = one
      else if (one.waiting === 0 && usedBy(one, now) < 1) party.below.delete(id)
    }
    party = least!
  }
  return path
}

/** Sums the tokens that go before a new request of the last party: its own, and those of others until they have used as much. */
function aheadOf(path: readonly Party[]): number {
  const now = performance.now()
  let ahead = path.at(-1)!.waiting
  for (let level = path.length - 2; level >= 0; level--) {
    const own = path[level + 1]!
    const turn = usedBy(own, now) + ahead
    for (const other of path[level]!.below.values()) {
      if (other !== own) ahead += Math.min(other.waiting, Math.max(0, turn - usedBy(other, now)))
    }
  }
  return ahead
}
