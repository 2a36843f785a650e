/**
 * Access tokens from the refresh tokens of connections: stored with the connection, sealed, in another column than the secrets that a person typed.
 */
import {
  createMemoryRefreshes,
  type MemoryRefreshes,
  REFRESH_LEASE_MS,
  type Refreshes,
  type RefreshLeases,
  refreshOnce,
  type StoredTokens,
  type TokenCell,
} from '@claimcheck/core/hosting'
import type { Instant, JsonObject } from '@claimcheck/core/rules'
import { LRUCache } from 'lru-cache'
import { BY_SERVICE } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import type { Secrets } from '../../base/secrets.ts'
import type { HostedConnectionType } from '../../plugins/hosted.ts'
import { secretContext, tokensContext } from '../../storage/sealed-contexts.ts'
import type { Storage, Writes } from '../../storage/storage.ts'
import type { ConnectionRow } from '../../storage/workspaces.ts'

type Sealed = Readonly<Record<string, string>>
type Owner = Pick<ConnectionRow, 'workspaceId' | 'provider'>

interface ConnectionTokensOptions {
  readonly storage: Pick<Storage, 'write'>
  readonly secrets: Secrets
  readonly now: () => Instant
}

const MOST_TRIED = 1000
const TRIED_FOR_MS = 10 * 60_000

export type ConnectionTokens = ReturnType<typeof createConnectionTokens>

export function createConnectionTokens({ storage, secrets, now }: ConnectionTokensOptions) {
  const running = new Set<Promise<unknown>>()
  const tried = new LRUCache<string, MemoryRefreshes>({ max: MOST_TRIED, ttl: TRIED_FOR_MS })

  function cellOf(id: string, option: string, typed: string): TokenCell {
    return {
      change: (work) =>
        storage.write(async (tx) => {
          const row = await tx.connections.lock(id)
          const before = row && typedIn(row, option) === typed ? storedIn(row, option) : undefined
          const { stored, result } = await work(before, leasesIn(tx))
          if (!row || !stored) return result
          await tx.connections.storeTokens(row, { ...row.sealedTokens, ...seal(id, { [option]: stored }) })
          if (stored.isRefused && !before?.isRefused) tx.audit.record(refusal(row, option, now()))
          return result
        }),
    }
  }

  function storedIn({ id, sealedTokens }: ConnectionRow, option: string): StoredTokens {
    const sealed = sealedTokens[option]
    return sealed === undefined ? {} : (JSON.parse(secrets.open(sealed, tokensContext(id, option))) as StoredTokens)
  }

  /** Unseals the secret that a person typed; undefined also for one that is sealed under a lost key. */
  function typedIn({ id, sealedSecrets }: ConnectionRow, option: string): string | undefined {
    try {
      return secrets.open(sealedSecrets[option]!, secretContext(id, option))
    } catch {
      return undefined
    }
  }

  function seal(id: string, stored: Readonly<Record<string, StoredTokens | undefined>>): Sealed {
    return Object.fromEntries(
      Object.entries(stored).flatMap(([option, one]) =>
        one ? [[option, secrets.seal(JSON.stringify(one), tokensContext(id, option))]] : [],
      ),
    )
  }

  /** Makes the refreshes of a stored connection. */
  function of(id: string): Refreshes {
    return {
      async refresh(asked) {
        const refreshing = refreshOnce(cellOf(id, asked.option, asked.typed), asked)
        running.add(refreshing)
        return refreshing.finally(() => running.delete(refreshing))
      },
    }
  }

  function triedBy({ workspaceId, provider }: Owner): MemoryRefreshes {
    const key = JSON.stringify([workspaceId, provider])
    const refreshes = tried.get(key) ?? createMemoryRefreshes()
    tried.set(key, refreshes)
    return refreshes
  }

  /** Makes refreshes for a trial, in which earlier tokens do not count: it proves what was typed now. */
  function anew(refreshes: (option: string) => Refreshes): Refreshes {
    const from = now()
    return {
      refresh: (asked) =>
        refreshes(asked.option).refresh({
          ...asked,
          isUsable: (token) => token.since >= from && asked.isUsable(token),
        }),
    }
  }

  /** Finds the tokens that were got while the options were tried. */
  function broughtFor(owner: Owner, options: JsonObject): Record<string, StoredTokens | undefined> {
    const refreshes = triedBy(owner)
    return Object.fromEntries(
      Object.entries(options).map(([option, typed]) => [option, refreshes.stored(option, String(typed))]),
    )
  }

  /** Picks the given secrets that are not the stored ones: the same refresh token again has the value that it got since. */
  function newSecrets(row: ConnectionRow, given: JsonObject): JsonObject {
    return Object.fromEntries(Object.entries(given).filter(([option, typed]) => typedIn(row, option) !== typed))
  }

  /**
   * Refuses a refresh token that another connection has: each would spend the tokens that the other needs.
   * @param others the other connections of the workspace
   * @param given secrets of a connection that is to be stored
   * @throws ServiceError `conflict`
   */
  function refuseShared(
    others: readonly ConnectionRow[],
    { credentials = {} }: Pick<HostedConnectionType, 'credentials'>,
    given: JsonObject,
  ): void {
    const own = Object.values(credentials).flatMap((one) => ('refreshToken' in one ? [given[one.refreshToken]] : []))
    const holder = others.find((row) =>
      Object.keys(row.sealedSecrets).some((option) => own.includes(typedIn(row, option) ?? null)),
    )
    if (!holder) return
    const why = 'each would spend what the other needs. Sign in again for another refresh token'
    throw new ServiceError('conflict', `the connection ${holder.id} has this refresh token, and ${why}`)
  }

  return {
    of,
    refuseShared,
    /** Makes the refreshes of a connection that is not stored yet. Another try goes on with the tokens of the last one. */
    trying: (owner: Owner): Refreshes => anew(() => triedBy(owner)),
    /** Seals the tokens that were got while a new connection was tried. */
    connected: ({ id, ...owner }: Owner & Pick<ConnectionRow, 'id'>, options: JsonObject): Sealed =>
      seal(id, broughtFor(owner, options)),
    /** Makes the refreshes of a stored connection, some secrets of which a person replaces. */
    replacing(row: ConnectionRow, given: JsonObject): Refreshes {
      const own = newSecrets(row, given)
      return anew((option) => (Object.hasOwn(own, option) ? triedBy(row) : of(row.id)))
    },
    /** Leaves out the tokens of replaced refresh tokens, which ends a refresh that is under way. */
    replaced(row: ConnectionRow, given: JsonObject): Sealed {
      const own = newSecrets(row, given)
      const kept = Object.entries(row.sealedTokens).filter(([option]) => !Object.hasOwn(own, option))
      return { ...Object.fromEntries(kept), ...seal(row.id, broughtFor(row, own)) }
    },
    async close(): Promise<void> {
      await Promise.allSettled(running)
    },
  }
}

function refusal({ id, workspaceId, provider }: ConnectionRow, option: string, at: Instant) {
  const details = { provider, credentials: option }
  return { event: 'connection.refresh_refused', at, by: BY_SERVICE, workspaceId, subject: id, details } as const
}

function leasesIn({ leases }: Writes): RefreshLeases {
  const nameOf = (refresh: string) => `refresh ${refresh}`
  return {
    async begin(refresh) {
      await leases.take(nameOf(refresh), refresh, REFRESH_LEASE_MS)
    },
    async isOver(refresh) {
      const isFree = await leases.take(nameOf(refresh), 'another', 0)
      if (isFree) await leases.release(nameOf(refresh), 'another')
      return isFree
    },
    end: (refresh) => leases.release(nameOf(refresh), refresh),
  }
}
