/** What is open at /mcp: so many at once, and none longer than its credential is good or the server runs. */
import { HttpError } from '../../http/errors.ts'

export interface Exchange {
  /** Aborted when the client goes, when the credential is not good any more, and when the server stops. */
  readonly signal: AbortSignal
  readonly end: () => void
}

export interface Owner {
  /** A key or a grant. */
  readonly spender: string
  readonly workspaceId: string
  /** Who pays for what the workspace uses. */
  readonly payer: string
}

export interface Exchanges {
  /**
   * @param owner whose it is
   * @param isGood asked again and again, while it is open
   * @throws HttpError 429 when too many are open
   */
  open(owner: Owner, isGood: () => Promise<boolean>): Exchange
  endAll(): void
  readonly size: number
}

export const REFUSED = 'refused'

interface Limits {
  readonly mostOfOne: number
  /** Owners make as many keys as they like, and people as many workspaces: one account must not take all of a host. */
  readonly mostOfWorkspace: number
  readonly mostOfPayer: number
  readonly mostInAll: number
  readonly askEveryMs: number
}

export const LIMITS: Limits = {
  mostOfOne: 32,
  mostOfWorkspace: 96,
  mostOfPayer: 128,
  mostInAll: 512,
  askEveryMs: 1000,
}

export function createExchanges(limits: Limits = LIMITS): Exchanges {
  const { mostOfOne, mostOfWorkspace, mostOfPayer, mostInAll, askEveryMs } = limits
  const open = new Map<() => void, Owner>()

  function countOf(member: keyof Owner, owner: Owner): number {
    let count = 0
    for (const one of open.values()) if (one[member] === owner[member]) count += 1
    return count
  }

  return {
    open(owner, isGood) {
      if (open.size >= mostInAll)
        throw new HttpError(429, 'too many MCP requests are open on this host: try again later')
      if (countOf('spender', owner) >= mostOfOne) {
        throw new HttpError(429, `too many MCP requests are open: at most ${mostOfOne} of one key or grant`)
      }
      if (countOf('workspaceId', owner) >= mostOfWorkspace) {
        throw new HttpError(429, `too many MCP requests are open: at most ${mostOfWorkspace} of one workspace`)
      }
      // As many as it leaves free: however many accounts are greedy, the next one gets a place.
      if (countOf('payer', owner) >= Math.min(mostOfPayer, mostInAll - open.size)) {
        const most = `at most ${mostOfPayer} of the workspaces of one account, and fewer while a host is busy`
        throw new HttpError(429, `too many MCP requests are open: ${most}`)
      }
      const controller = new AbortController()
      let isAsking = false
      // It fails closed: what cannot be asked ends as well.
      async function ask(): Promise<void> {
        if (isAsking) return
        isAsking = true
        const good = await isGood().catch(() => false)
        isAsking = false
        if (!good) end(REFUSED)
      }
      const timer = setInterval(ask, askEveryMs).unref()
      function end(reason?: string): void {
        clearInterval(timer)
        open.delete(stop)
        controller.abort(reason)
      }
      const stop = () => end()
      open.set(stop, owner)
      return { signal: controller.signal, end: stop }
    },
    endAll() {
      for (const end of [...open.keys()]) end()
    },
    get size() {
      return open.size
    },
  }
}

/** The chunks of a body, until it ends or the signal is aborted: whichever is first. */
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
