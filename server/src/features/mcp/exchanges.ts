/** The open exchanges at /mcp: so many at once, and none longer than its credential is good or the server runs. */
import { fullOf, holdingsOf } from '../../base/fair-shares.ts'
import { allowanceOf, type Payer } from '../../base/payers.ts'
import { HttpError } from '../../http/errors.ts'

/** The owner of an exchange. */
interface ExchangeOwner {
  /** A key or a grant. */
  readonly spender: string
  readonly workspaceId: string
  /** The account that pays for what the workspace uses. */
  readonly payer: Payer
}

export const REFUSED = 'refused'

export const LIMITS = {
  mostOfOne: 32,
  /** Owners make as many keys as they like, and people as many workspaces: one account must not take all of a host. */
  mostOfPayer: 128,
  mostInAll: 512,
  askEveryMs: 1000,
}

export function createExchanges({ mostOfOne, mostOfPayer, mostInAll, askEveryMs } = LIMITS) {
  /** The open exchanges' owners, by the function that ends each. */
  const open = new Map<() => void, ExchangeOwner>()

  function refuse(rule: string): never {
    throw new HttpError(429, `too many MCP requests are open: ${rule}`)
  }

  /** @throws HttpError 429 when too many are open */
  function requirePlace(owner: ExchangeOwner): void {
    if (open.size >= mostInAll) throw new HttpError(429, 'too many MCP requests are open on this host: try again later')
    const owners = [...open.values()]
    const ofSpender = owners.filter(({ spender }) => spender === owner.spender)
    if (ofSpender.length >= mostOfOne) refuse(`at most ${mostOfOne} of one key or grant`)
    const ofWorkspace = owners.filter(({ workspaceId }) => workspaceId === owner.workspaceId)
    const sharing = owners.filter(({ payer }) => allowanceOf(payer) === allowanceOf(owner.payer))
    const held = sharing.map(({ payer }) => [payer, 1] as const)
    const holdings = holdingsOf(owner.payer, held)
    const full = fullOf(owner, mostOfPayer, holdings, ofWorkspace.length)
    if (full) refuse(`${full.whose} may have at most ${full.most}`)
    // An account gets as many as it leaves free: however many are greedy, the next one gets a place.
    if (holdings.all >= mostInAll - open.size) refuse('others need what this host has left. Try again later')
  }

  return {
    /**
     * Opens an exchange. Its signal aborts when the client goes, when the credential is not good any more, and when the server stops.
     * @param isGood asked again and again, while it is open
     * @throws HttpError 429 when too many are open
     */
    open(owner: ExchangeOwner, isGood: () => Promise<boolean>) {
      requirePlace(owner)
      const controller = new AbortController()
      let isAsking = false
      // It fails closed: what cannot be asked ends as well.
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
