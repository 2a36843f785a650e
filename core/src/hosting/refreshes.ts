/**
 * Exchanges refresh tokens that change with each use. Before one is sent, the host notes that it is under way, so that no other host sends
 * it meanwhile; the new tokens are stored before they are used.
 *
 * Where the answer is lost, the same one is sent again, at once and with later checks: token endpoints that rotate take it for some
 * seconds for this case (Okta, Cognito, WorkOS, Connect2id), and one behind a gateway that failed may not have got it. An endpoint that
 * takes it for a theft ends the grant, and nothing has the newest refresh token of that grant.
 */
import { DestinationError, isDestinationError } from '../contract/destination-error.ts'
import type { AccessToken, NewTokens, Refreshes, RefreshFailure, RefreshRequest } from './schemes/scheme.ts'

export interface StoredTokens {
  /** The newest refresh token. Left out while it is the one that the workspace typed. */
  readonly refreshToken?: string | undefined
  readonly token?: AccessToken | undefined
  /** Id of the refresh that is under way, or was cut off. */
  readonly begunBy?: string | undefined
  /** Marks a refresh token that the token endpoint refused: it is not sent again. */
  readonly isRefused?: true | undefined
}

/** Leases of refreshes, by their ids. A lease ends by itself if its host is killed. */
export interface RefreshLeases {
  begin(refresh: string): Promise<void>
  isOver(refresh: string): Promise<boolean>
  end(refresh: string): Promise<void>
}

/** The store of the tokens of one connection and option. */
export interface TokenCell {
  /**
   * Changes the stored tokens in a transaction: the `stored` that `work` returns replaces what it got. `work` gets undefined where the connection has
   * other credentials by now.
   */
  change<T>(
    work: (
      stored: StoredTokens | undefined,
      leases: RefreshLeases,
    ) => Promise<{ readonly stored?: StoredTokens; readonly result: T }>,
  ): Promise<T>
}

const POLL_MS = 200
/** Number of polls, which last longer than two exchanges. */
const MOST_POLLS = 125
const STORE_TRIES = 20
const STORE_PAUSE_MS = 1500

/** Duration of a lease: two exchanges, and the tries to store their tokens. */
export const REFRESH_LEASE_MS = 60_000

/** Exchanges the newest refresh token, one host at a time, and stores the new tokens. @throws DestinationError where no token could be had */
export async function refreshOnce(cell: TokenCell, asked: RefreshRequest): Promise<AccessToken> {
  const id = crypto.randomUUID()
  const begun = await begin(cell, asked, id)
  if ('token' in begun) return begun.token
  const { refreshToken } = begun
  const first = await asked.exchange(refreshToken)
  const outcome = 'error' in first && first.again === 'at once' ? await asked.exchange(refreshToken) : first
  if (!(await retryStore(() => finish(cell, asked, { id, refreshToken }, outcome)))) throw replacedError()
  if ('error' in outcome) throw outcome.error
  return outcome
}

type RefreshStart = { readonly token: AccessToken } | { readonly refreshToken: string }

async function begin(cell: TokenCell, { typed, isUsable }: RefreshRequest, id: string): Promise<RefreshStart> {
  for (let polls = 0; polls < MOST_POLLS; polls++) {
    const begun = await cell.change<RefreshStart | undefined | DestinationError>(async (stored, leases) => {
      if (!stored) return { result: replacedError() }
      const { token, refreshToken = typed, begunBy, isRefused } = stored
      if (token && isUsable(token)) return { result: { token } }
      if (isRefused) return { result: refusedError() }
      if (begunBy !== undefined && !(await leases.isOver(begunBy))) return { result: undefined }
      await leases.begin(id)
      return { stored: { ...stored, begunBy: id }, result: { refreshToken } }
    })
    if (begun instanceof DestinationError) throw begun
    if (begun) return begun
    await pause(POLL_MS)
  }
  throw new DestinationError('timeout')
}

/**
 * Stores the outcome of an exchange.
 * @returns false where the new tokens are dropped, because the credentials were replaced meanwhile, or another host has refreshed
 */
function finish(
  cell: TokenCell,
  { typed }: RefreshRequest,
  { id, refreshToken: sent }: { readonly id: string; readonly refreshToken: string },
  outcome: NewTokens | RefreshFailure,
): Promise<boolean> {
  return cell.change(async (stored, leases) => {
    await leases.end(id)
    // The newest refresh token must not be lost, even if the lease ended and another host sent the same one meanwhile.
    if (!stored || (stored.refreshToken ?? typed) !== sent) return { result: false }
    if (!('error' in outcome)) {
      const { refreshToken = stored.refreshToken, ...token } = outcome
      return { stored: { refreshToken, token }, result: true }
    }
    if (stored.begunBy !== id) return { result: true }
    const { begunBy: _, ...kept } = stored
    return { stored: outcome.again === 'never' ? { ...kept, isRefused: true } : kept, result: true }
  })
}

function replacedError(): DestinationError {
  return new DestinationError('unavailable', { cause: new Error('the connection has other credentials by now') })
}

function refusedError(): DestinationError {
  const cause = new Error('the token endpoint refused the refresh token: the connection needs a new one')
  return new DestinationError('unauthorized', { cause })
}

/** Tries again while a database is away for a moment, so that the connection does not lose its credentials. */
async function retryStore<T>(work: () => Promise<T>): Promise<T> {
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

/** Limit of refresh tokens that were typed one after the other, and never stored. */
const MOST_CELLS = 16

/** Refreshes for a connection that is not stored yet. */
export function createMemoryRefreshes(): MemoryRefreshes {
  const cells = new Map<string, StoredTokens>()
  const running = new Set<string>()
  const leases: RefreshLeases = {
    begin: async (refresh) => void running.add(refresh),
    isOver: async (refresh) => !running.has(refresh),
    end: async (refresh) => void running.delete(refresh),
  }
  // Ends when the last change does: one change is made at a time, as in a transaction.
  let last: Promise<unknown> = Promise.resolve()

  function cellOf(key: string): TokenCell {
    return {
      change(work) {
        const changed = last.then(async () => {
          const { stored, result } = await work(cells.get(key) ?? {}, leases)
          // The endpoint may have refused the client that was typed with it, so another try asks again.
          if (stored) cells.set(key, { ...stored, isRefused: undefined })
          if (cells.size > MOST_CELLS) cells.delete(cells.keys().next().value!)
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
