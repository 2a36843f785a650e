/** The open exchanges at /mcp: a limited number at once, and none longer than its credential is good or the server runs. */
import { mayTake } from '@claimcheck/core/hosting'
import { allowanceOf, type Payer } from '../../base/payers.ts'
import { holdingsOf, mayAdd, sharersOf } from '../../base/stock.ts'
import { HttpError } from '../../http/errors.ts'

interface ExchangeOwner {
  /** The id of a key or a grant. */
  readonly spender: string
  readonly workspaceId: string
  readonly payer: Payer
}

export const REFUSED = 'refused'

export const LIMITS = {
  mostOfOne: 32,
  /**
   * The most exchanges of a payer: owners make as many keys as they like, and people as many workspaces, so one account must not take all of a host.
   */
  mostOfPayer: 128,
  mostInAll: 512,
  askEveryMs: 1000,
}

export function createExchanges({ mostOfOne, mostOfPayer, mostInAll, askEveryMs } = LIMITS) {
  /** Owners of the open exchanges, by the function that ends each. */
  const open = new Map<() => void, ExchangeOwner>()

  function refuse(rule: string): never {
    throw new HttpError(429, `too many MCP requests are open: ${rule}`)
  }

  /**
   * Requires room for one more exchange.
   * @throws HttpError 429 when too many are open
   */
  function requirePlace({ spender, workspaceId, payer }: ExchangeOwner): void {
    if (open.size >= mostInAll) throw new HttpError(429, 'too many MCP requests are open on this host: try again later')
    const owners = [...open.values()]
    const ofSpender = owners.filter((owner) => owner.spender === spender)
    if (ofSpender.length >= mostOfOne) refuse(`at most ${mostOfOne} of one key or grant`)
    const sharing = owners.filter((owner) => allowanceOf(owner.payer) === allowanceOf(payer))
    const held = sharing.map((owner) => [owner.payer, 1] as const)
    const holdings = holdingsOf(payer, held)
    if (!mayAdd(holdings, mostOfPayer)) refuse(`${sharersOf(payer, workspaceId)} may have at most ${mostOfPayer}`)
    // One account gets at most as many exchanges as it leaves free: however many are greedy, the next one gets a place.
    if (!mayTake(holdings.all, mostInAll - open.size, 1)) refuse('others need what this host has left. Try again later')
  }

  return {
    /**
     * Opens an exchange. Its signal aborts when the client goes, when the credential is not good any more, and when the server stops.
     * @param isGood called again and again while the exchange is open
     * @throws HttpError 429 when too many are open
     */
    open(owner: ExchangeOwner, isGood: () => Promise<boolean>) {
      requirePlace(owner)
      const controller = new AbortController()
      let isAsking = false
      // An error of the question ends the exchange as well, so that it fails closed.
      async function ask(): Promise<void> {
        if (isAsking) return
        isAsking = true
        const good = await isGood().catch(() => false)
        isAsking = false
        if (!good) close(REFUSED)
      }
      const timer = setInterval(ask, askEveryMs).unref()
      function close(reason?: string): void {
        clearInterval(timer)
        open.delete(end)
        controller.abort(reason)
      }
      const end = () => close()
      open.set(end, owner)
      return { signal: controller.signal, end }
    },
    endAll(): void {
      for (const end of [...open.keys()]) end()
    },
    get size() {
      return open.size
    },
  }
}

/** Yields the chunks of a body until it ends or the signal is aborted, whichever is first. */
export async function* chunksUntil(body: ReadableStream<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const reader = body.getReader()
  const aborted = new Promise<{ done: true; value?: undefined }>((resolve) => {
    if (signal.aborted) resolve({ done: true })
    signal.addEventListener('abort', () => resolve({ done: true }), { once: true })
  })
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), aborted])
      if (done) return
      yield value!
    }
  } finally {
    reader.cancel().catch(() => {})
  }
}
