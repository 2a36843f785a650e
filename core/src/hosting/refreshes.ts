/**
 * Refresh tokens that change with each use. Before one is sent, the host notes that it is under way, so that no other host sends it
 * meanwhile; what it brought is stored before it is used.
 *
 * Where the answer is lost, the same one is sent again, at once and with later checks: token endpoints that rotate take it for some
 * seconds for this case (Okta, Cognito, WorkOS, Connect2id), and one behind a gateway that failed may not have got it. An endpoint that
 * takes it for a theft ends the grant, and nothing has the newest refresh token of that grant.
 */
import { DestinationError, isDestinationError } from '../contract/destination-error.ts'
import type { AccessToken, NotRefreshed, RefreshAsked, Refreshed, Refreshes } from './schemes/scheme.ts'

export interface StoredTokens {
  /** The newest. Left out: the one that the workspace typed. */
  readonly refreshToken?: string | undefined
  readonly token?: AccessToken | undefined
  /** The refresh that is under way, or was cut off. */
  readonly begunBy?: string | undefined
  /** The token endpoint refused the newest refresh token: it is not sent again. */
  readonly isRefused?: true | undefined
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
/** Longer than two exchanges take. */
const MOST_POLLS = 125
const STORE_TRIES = 20
const STORE_PAUSE_MS = 1500

/** How long a lease lasts: two exchanges, and the tries to store what they brought. */
export const REFRESH_LEASE_MS = 60_000

/** @throws DestinationError */
export async function refreshOnce(cell: TokenCell, asked: RefreshAsked): Promise<AccessToken> {
  const id = crypto.randomUUID()
  const begun = await begin(cell, asked, id)
  if ('token' in begun) return begun.token
  const { refreshToken } = begun
  const first = await asked.exchange(refreshToken)
  const outcome = 'error' in first && first.again === 'at once' ? await asked.exchange(refreshToken) : first
  if (!(await patiently(() => finish(cell, asked, { id, refreshToken }, outcome)))) throw replaced()
  if ('error' in outcome) throw outcome.error
  return outcome
}

type Begun = { readonly token: AccessToken } | { readonly refreshToken: string }

async function begin(cell: TokenCell, { typed, isUsable }: RefreshAsked, id: string): Promise<Begun> {
  for (let polls = 0; polls < MOST_POLLS; polls++) {
    const begun = await cell.change<Begun | undefined | DestinationError>(async (stored, leases) => {
      if (!stored) return { result: replaced() }
      const { token, refreshToken = typed, begunBy, isRefused } = stored
      if (token && isUsable(token)) return { result: { token } }
      if (isRefused) return { result: refused() }
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

/** @returns false where the credentials were replaced meanwhile, or another host has refreshed: what it brought is dropped */
function finish(
  cell: TokenCell,
  { typed }: RefreshAsked,
  { id, refreshToken: sent }: { readonly id: string; readonly refreshToken: string },
  outcome: Refreshed | NotRefreshed,
): Promise<boolean> {
  return cell.change(async (stored, leases) => {
    await leases.end(id)
    // Also after its lease ended, and another host sent the same one: the newest refresh token must not be lost.
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

function replaced(): DestinationError {
  return new DestinationError('unavailable', { cause: new Error('the connection has other credentials by now') })
}

function refused(): DestinationError {
  const cause = new Error('the token endpoint refused the refresh token: the connection needs a new one')
  return new DestinationError('unauthorized', { cause })
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

/** Of refresh tokens that were typed one after the other, and never stored. */
const MOST_CELLS = 16

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
          // A refusal may be of the client that was typed with it: another try asks.
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
