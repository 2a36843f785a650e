/**
 * The queue of requests, by what they cost and who pays: each who pays at the top has a rate, and what comes faster waits. Of those who
 * wait below one of them, whoever used least in the last minute goes first. Which accounts somebody made does not matter: they count with
 * who made them.
 */
import { LRUCache } from 'lru-cache'
import { WINDOW_MS } from './counters.ts'

/** What the allowance at the top may ask for. */
export interface Rate {
  readonly tokensPerMs: number
  /** So much of it comes at once. */
  readonly atOnceMs: number
}

interface Waiter {
  readonly tokens: number
  begin(): void
  isGone(): boolean
}

/** One who pays, with all below. */
interface Party {
  /** Tokens, most of them of the last minute. */
  used: number
  usedAt: number
  /** Tokens of all that wait. */
  waiting: number
  readonly waiters: Waiter[]
  readonly below: Map<string, Party>
}

interface Top extends Party {
  /** When all that began would have been asked for, at the rate of the top. By the monotonic clock, which no one sets back. */
  dueAt: number
  timer?: NodeJS.Timeout | undefined
}

const MOST_TOPS = 20_000
/** What an account asks for itself stands beside what those below it ask for. */
const ITSELF = ''

export function createQueue() {
  const tops = new LRUCache<string, Top>({ max: MOST_TOPS })

  /** From the top down to who asks. */
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

  function freeInMs({ dueAt }: Top, { atOnceMs }: Rate): number {
    return Math.max(0, dueAt - performance.now() - atOnceMs)
  }

  function take([top, ...parties]: [Top, ...Party[]], tokens: number, { tokensPerMs }: Rate): void {
    const now = performance.now()
    top.dueAt = Math.max(top.dueAt, now) + tokens / tokensPerMs
    for (const party of parties) {
      party.used = usedBy(party, now) + tokens
      party.usedAt = now
    }
  }

  function goOn(top: Top, rate: Rate): void {
    top.timer = undefined
    while (top.waiting > 0) {
      const waitMs = freeInMs(top, rate)
      if (waitMs > 0) {
        top.timer = setTimeout(() => goOn(top, rate), Math.ceil(waitMs)).unref()
        return
      }
      const path = nextIn(top)
      const waiter = path.at(-1)!.waiters.shift()!
      for (const party of path) party.waiting -= waiter.tokens
      if (!waiter.isGone()) take(path, waiter.tokens, rate)
      waiter.begin()
    }
  }

  return {
    /** For how long a request would wait now. */
    expected(payer: string, rate: Rate): number {
      const path = pathOf(payer)
      return freeInMs(path[0], rate) + aheadOf(path) / rate.tokensPerMs
    },
    /**
     * Resolves when it is the turn of this request; undefined: at once.
     * @param payer ids from the top down, with slashes @param isGone the client waits no more, and the request takes nothing
     */
    enter(payer: string, tokens: number, rate: Rate, isGone: () => boolean = () => false): Promise<void> | undefined {
      const path = pathOf(payer)
      const [top] = path
      if (top.waiting === 0 && freeInMs(top, rate) === 0) {
        take(path, tokens, rate)
        return undefined
      }
      return new Promise((begin) => {
        path.at(-1)!.waiters.push({ tokens, begin, isGone })
        for (const party of path) party.waiting += tokens
        if (top.timer === undefined) goOn(top, rate)
      })
    },
    /** Returns tokens to one at the top that had not to pay them. */
    giveBack(payer: string, tokens: number, rate: Rate): void {
      const top = tops.get(payer)
      if (!top) return
      top.dueAt -= tokens / rate.tokensPerMs
      clearTimeout(top.timer)
      goOn(top, rate)
    },
  }
}

function newParty(): Party {
  return { used: 0, usedAt: 0, waiting: 0, waiters: [], below: new Map() }
}

function usedBy({ used, usedAt }: Party, now: number): number {
  return used * Math.exp((usedAt - now) / WINDOW_MS)
}

/** The path to the one that goes next. */
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

/** The tokens that go before a new request of the last one: its own, and those of others until they have used as much. */
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
