/** Finds which claims wait for a plugin and which connections it reads through, so that neither loses it. */
import type { Instant } from '@claimcheck/core/rules'
import { isUnmade } from '../../config/database-url.ts'
import type { HostServices } from '../../host/container.ts'
import type { WithServices } from '../../host/feature.ts'
import { type Reader, type Registry, readerOf } from '../../plugins/registry.ts'
import type { WaitingCount } from '../../storage/claims.ts'
import type { ProviderCount } from '../../storage/workspaces.ts'

export interface Use {
  readonly waiting: readonly WaitingCount[]
  readonly connections: readonly ProviderCount[]
}

export const NO_USE: Use = { waiting: [], connections: [] }

type Offers = Pick<Registry, 'verifierFor' | 'connectionType'>

/** Reads the database as it is; undefined where it is not made yet. */
export async function readIfThere<T>(
  withServices: WithServices<Pick<HostServices, 'storage'>>,
  databaseUrl: string,
  work: (read: HostServices['storage']['read']) => Promise<T>,
): Promise<T | undefined> {
  if (isUnmade(databaseUrl)) return undefined
  return withServices(({ storage }) => work(storage.read), { asIs: true })
}

/** Reads what uses plugins. */
export async function useIn({ claims, connections }: HostServices['storage']['read']): Promise<Use> {
  return { waiting: await claims.waiting(), connections: await connections.countsByProvider() }
}

/** Finds what reads these claims; undefined if nothing does. */
export function readerOfWaiting(
  { profileAction, profileVersion, provider }: WaitingCount,
  registry: Pick<Registry, 'verifierFor'>,
): Reader | undefined {
  const registered = registry.verifierFor(profileAction, profileVersion)
  return registered && readerOf(registered, provider)
}

/**
 * Lists the part of the use that loses its plugin.
 * @param before what is loaded until then; undefined if that cannot be loaded, so that all that `after` lacks counts
 */
export function lostUse({ waiting, connections }: Use, before: Offers | undefined, after: Offers): Use {
  return {
    waiting: waiting.filter((one) => !readerOfWaiting(one, after) && (!before || readerOfWaiting(one, before))),
    connections: connections.filter(
      ({ provider }) => !after.connectionType(provider) && (!before || before.connectionType(provider)),
    ),
  }
}

export function claimsIn(waiting: readonly WaitingCount[]): number {
  return waiting.reduce((sum, { count }) => sum + count, 0)
}

export function latestIn(waiting: readonly WaitingCount[]): Instant {
  return Math.max(...waiting.map(({ until }) => until))
}
