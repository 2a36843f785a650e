/** Overlaps: connections of a workspace that the same claim can fit. An owner learns of them before a claim is `unverifiable` because of it. */

import type { Claim, Connection } from '@claimcheck/core/plugin'
import { type Property, propertiesOf } from '../../base/schema-properties.ts'
import type { Tenant } from '../../plugins/hosted.ts'
import type { Registry } from '../../plugins/registry.ts'
import { ofOnePlace } from './one-place.ts'

export interface Overlap {
  /** The id of the other connection. */
  readonly id: string
  /** True if both read the same place: the oldest that is shown the target is used. Else a claim that fits both is ambiguous. */
  readonly isOnePlace: boolean
  /** True if the action has a param in which a claim names the host. */
  readonly hasHost: boolean
}

/** Overlaps by the id of a connection. */
export type Overlaps = ReadonlyMap<string, readonly Overlap[]>

export interface Overlapping extends Connection {
  readonly trialTarget: string | null
}

type Types = Pick<Registry, 'connectionType' | 'actionsFor' | 'verifierFor'>

/** The most claims that are tried with each connection. */
const MOST_TRIED = 20

/**
 * Finds the connections that can fit the same claim. It tries claims of each action that name the example of its profile, or what the trials
 * of connections name, and no host.
 * @param connections of one workspace, oldest first
 */
export async function overlapsOf(
  connections: readonly Overlapping[],
  registry: Types,
  tenant: Tenant,
): Promise<Overlaps> {
  const tried = connections.length < 2 ? [] : samples(connections, registry)
  const fitting = await Promise.all(tried.map((sample) => fittingOf(sample, connections, registry, tenant)))
  const found = new Map<string, Map<string, Overlap>>(connections.map(({ id }) => [id, new Map()]))
  for (const [index, fits] of fitting.entries()) {
    const { hasHost } = tried[index]!
    for (const [at, one] of fits.entries()) {
      for (const other of fits.slice(at + 1)) {
        if (found.get(one.id)!.has(other.id)) continue
        const isOnePlace = await readOnePlace([one, other], registry, tenant)
        found.get(one.id)!.set(other.id, { id: other.id, isOnePlace, hasHost })
        found.get(other.id)!.set(one.id, { id: one.id, isOnePlace, hasHost })
      }
    }
  }
  return new Map([...found].map(([id, overlaps]) => [id, [...overlaps.values()]]))
}

interface Sample {
  readonly claim: Claim
  readonly providers: readonly string[]
  readonly hasHost: boolean
}

/** Makes sample claims: one action for each choice of providers, as the actions of a plugin mostly share it. */
function samples(connections: readonly Overlapping[], registry: Types): Sample[] {
  const own = new Set(connections.map(({ provider }) => provider))
  const byProviders = new Map<string, string>()
  for (const action of [...own].flatMap((provider) => registry.actionsFor(provider))) {
    const providers = registry.verifierFor(action)!.providers.filter((provider) => own.has(provider))
    if (!byProviders.has(providers.join())) byProviders.set(providers.join(), action)
  }
  const named = connections.flatMap(({ trialTarget }) => trialTarget ?? [])
  return [...byProviders.values()]
    .flatMap((action) => {
      const { verifier, providers } = registry.verifierFor(action)!
      const { target, params } = verifier.profile
      const { host, ...given } = Object.fromEntries(propertiesOf(params))
      const values = Object.entries(given).flatMap(([name, { examples }]) => (examples ? [[name, examples[0]!]] : []))
      const example = (target as Property).examples?.[0]
      const targets = [...new Set([...(typeof example === 'string' ? [example] : []), ...named])]
      const times = { claimedAt: 0, submittedAt: 0, deadlineAt: 1 }
      return targets.map((name) => ({
        claim: { action, target: name, params: Object.fromEntries(values), ...times },
        providers,
        hasHost: host !== undefined,
      }))
    })
    .slice(0, MOST_TRIED)
}

async function fittingOf(
  { claim, providers }: Sample,
  connections: readonly Overlapping[],
  registry: Types,
  tenant: Tenant,
): Promise<Overlapping[]> {
  const fits = await Promise.all(
    connections.map(async ({ provider, options }) => {
      const type = providers.includes(provider) ? registry.connectionType(provider) : undefined
      // Plugins may refuse a target that is not their own.
      return (await type?.fits(options, claim, tenant).catch(() => false)) === true
    }),
  )
  return connections.filter((_, index) => fits[index])
}

async function readOnePlace(both: readonly Overlapping[], registry: Types, tenant: Tenant): Promise<boolean> {
  const address = ({ provider, options }: Overlapping) => registry.connectionType(provider)!.baseUrl(options, tenant)
  return (await ofOnePlace(both, registry, address).catch(() => undefined)) !== undefined
}
