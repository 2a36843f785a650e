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

/** Of the refresh that is under way. It ends by itself, should its host be killed. */
export interface RefreshLease {
  /** False: another one has it. */
  take(holder: string): Promise<boolean>
  release(holder: string): Promise<void>
}

/** Where the tokens of one connection and option are stored. */
export interface TokenCell {
  /**
   * Runs in a transaction. What `work` returns as `stored` replaces what it got.
   * @throws DestinationError where the connection has other credentials by now
   */
  change<T>(
    work: (
      stored: StoredTokens,
      lease: RefreshLease,
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
  const holder = crypto.randomUUID()
  const begun = await begin(cell, asked, holder)
  if ('token' in begun) return begun.token
  const outcome = await asked.exchange(begun.refreshToken).catch((cause: unknown) => failed(cause))
  if (!(await patiently(() => finish(cell, asked, holder, outcome))))
    throw new DestinationError('unavailable', { cause: new Error('the credentials were replaced during a refresh') })
  if ('error' in outcome) throw outcome.error
  return outcome
}

type Begun = { readonly token: AccessToken } | { readonly refreshToken: string }

async function begin(cell: TokenCell, { typed, rotates, isUsable }: RefreshAsked, holder: string): Promise<Begun> {
  for (let polls = 0; polls < MOST_POLLS; polls++) {
    const begun = await cell.change<Begun | undefined>(async (stored, lease) => {
      const { token, refreshToken = typed, begunBy } = stored
      if (token && isUsable(token)) return { result: { token } }
      if (!(await lease.take(holder))) return { result: undefined }
      if (begunBy !== undefined && rotates) {
        await lease.release(holder)
        throw new DestinationError('unauthorized', {
          cause: new Error('the answer to the last refresh was lost: the connection needs a new refresh token'),
        })
      }
      return { stored: { ...stored, begunBy: holder }, result: { refreshToken } }
    })
    if (begun) return begun
    await pause(POLL_MS)
  }
  throw new DestinationError('timeout')
}

/** @returns false where the credentials were replaced meanwhile: what it brought is dropped */
function finish(
  cell: TokenCell,
  { rotates }: RefreshAsked,
  holder: string,
  outcome: Refreshed | NotRefreshed,
): Promise<boolean> {
  return cell.change(async (stored, lease) => {
    if (stored.begunBy !== holder) return { result: false }
    await lease.release(holder)
    if (!('error' in outcome)) {
      const { refreshToken = stored.refreshToken, ...token } = outcome
      return { stored: { refreshToken, token }, result: true }
    }
    if (outcome.isSpent && rotates) return { result: true }
    return { stored: { ...stored, begunBy: undefined }, result: true }
  })
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
  const holders = new Map<string, string>()

  function cellOf(key: string): TokenCell {
    const lease: RefreshLease = {
      async take(holder) {
        if (!holders.has(key)) holders.set(key, holder)
        return holders.get(key) === holder
      },
      async release() {
        holders.delete(key)
      },
    }
    return {
      async change(work) {
        const { stored, result } = await work(cells.get(key) ?? {}, lease)
        if (stored) cells.set(key, stored)
        return result
      },
    }
  }

  const keyOf = (option: string, typed: string) => JSON.stringify([option, typed])

  return {
    refresh: (asked) => refreshOnce(cellOf(keyOf(asked.option, asked.typed)), asked),
    stored: (option, typed) => cells.get(keyOf(option, typed)),
  }
}
