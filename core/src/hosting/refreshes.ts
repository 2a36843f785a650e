/**
 * Refresh tokens that change with each use. Before one is sent, the host notes that it is under way; what it brought is stored before it
 * is used. A note that is left says that the token may be spent, so that it is never sent twice.
 */
import { DestinationError, isDestinationError } from '../contract/destination-error.ts'
import type { AccessToken, NotRefreshed, RefreshAsked, Refreshed, Refreshes } from './schemes/scheme.ts'

export interface StoredTokens {
  /** The newest. Left out: the one that the workspace typed. */
  readonly refreshToken?: string | undefined
  readonly token?: AccessToken | undefined
  /** The refresh that sent the newest refresh token. Its answer is not stored. */
  readonly begunBy?: string | undefined
}

/** Leases of refreshes, by their ids. One ends by itself, should its host be killed. */
export interface RefreshLeases {
  begin(refresh: string): Promise<void>
  isOver(refresh: string): Promise<boolean>
  end(refresh: string): Promise<void>
}

/** Where the tokens of one connection and option are stored. */
export interface TokenCell {
  /**
   * Runs in a transaction. What `work` returns as `stored` replaces what it got: undefined, where the connection has other credentials
   * by now.
   */
  change<T>(
    work: (
      stored: StoredTokens | undefined,
      leases: RefreshLeases,
    ) => Promise<{ readonly stored?: StoredTokens; readonly result: T }>,
  ): Promise<T>
}

const POLL_MS = 200
/** Longer than an exchange takes. */
const MOST_POLLS = 75
const STORE_TRIES = 20
const STORE_PAUSE_MS = 1500

/** How long a lease lasts: the exchange, and the tries to store what it brought. */
export const REFRESH_LEASE_MS = 60_000

/** @throws DestinationError */
export async function refreshOnce(cell: TokenCell, asked: RefreshAsked): Promise<AccessToken> {
  const id = crypto.randomUUID()
  const begun = await begin(cell, asked, id)
  if ('token' in begun) return begun.token
  const outcome = await asked.exchange(begun.refreshToken).catch((cause: unknown) => failed(cause))
  if (!(await patiently(() => finish(cell, asked, id, outcome)))) throw replaced()
  if ('error' in outcome) throw outcome.error
  return outcome
}

type Begun = { readonly token: AccessToken } | { readonly refreshToken: string }

async function begin(cell: TokenCell, { typed, rotates, isUsable }: RefreshAsked, id: string): Promise<Begun> {
  for (let polls = 0; polls < MOST_POLLS; polls++) {
    const begun = await cell.change<Begun | undefined | DestinationError>(async (stored, leases) => {
      if (!stored) return { result: replaced() }
      const { token, refreshToken = typed, begunBy } = stored
      if (token && isUsable(token)) return { result: { token } }
      if (begunBy !== undefined) {
        if (!(await leases.isOver(begunBy))) return { result: undefined }
        if (rotates) return { result: lost() }
      }
      await leases.begin(id)
      return { stored: { ...stored, begunBy: id }, result: { refreshToken } }
    })
    if (begun instanceof DestinationError) throw begun
    if (begun) return begun
    await pause(POLL_MS)
  }
  throw new DestinationError('timeout')
}

/** @returns false where the credentials were replaced meanwhile: what it brought is dropped */
function finish(
  cell: TokenCell,
  { rotates }: RefreshAsked,
  id: string,
  outcome: Refreshed | NotRefreshed,
): Promise<boolean> {
  return cell.change(async (stored, leases) => {
    await leases.end(id)
    if (stored?.begunBy !== id) return { result: false }
    if (!('error' in outcome)) {
      const { refreshToken = stored.refreshToken, ...token } = outcome
      return { stored: { refreshToken, token }, result: true }
    }
    if (outcome.isSpent && rotates) return { result: true }
    return { stored: { ...stored, begunBy: undefined }, result: true }
  })
}

function replaced(): DestinationError {
  return new DestinationError('unavailable', { cause: new Error('the connection has other credentials by now') })
}

function lost(): DestinationError {
  const cause = new Error('the answer to the last refresh was lost: the connection needs a new refresh token')
  return new DestinationError('unauthorized', { cause })
}

function failed(cause: unknown): NotRefreshed {
  return { error: new DestinationError('unexpected_response', { cause }), isSpent: true }
}

/** A database that is away for a moment must not cost the connection its credentials. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (isDestinationError(error) || tries === STORE_TRIES) throw error
      await pause(STORE_PAUSE_MS)
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

export interface MemoryRefreshes extends Refreshes {
  stored(option: string, typed: string): StoredTokens | undefined
}

/** Where no connection is stored yet. */
export function createMemoryRefreshes(): MemoryRefreshes {
  const cells = new Map<string, StoredTokens>()
  const running = new Set<string>()
  const leases: RefreshLeases = {
    begin: async (refresh) => void running.add(refresh),
    isOver: async (refresh) => !running.has(refresh),
    end: async (refresh) => void running.delete(refresh),
  }
  // One change at a time, as in a transaction.
  let last: Promise<unknown> = Promise.resolve()

  function cellOf(key: string): TokenCell {
    return {
      change(work) {
        const changed = last.then(async () => {
          const { stored, result } = await work(cells.get(key) ?? {}, leases)
          if (stored) cells.set(key, stored)
          return result
        })
        last = changed.catch(() => {})
        return changed
      },
    }
  }

  const keyOf = (option: string, typed: string) => JSON.stringify([option, typed])

  return {
    refresh: (asked) => refreshOnce(cellOf(keyOf(asked.option, asked.typed)), asked),
    stored: (option, typed) => cells.get(keyOf(option, typed)),
  }
}
