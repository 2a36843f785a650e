/** Values of `params.host` for a claim that several connections fit, each of which chooses one of them. */

import type { Claim, Connection } from '@claimcheck/core/plugin'
import type { JsonObject } from '@claimcheck/core/rules'
import { validator } from '../../base/validation.ts'
import type { Tenant } from '../../plugins/hosted.ts'
import type { RegisteredVerifier, Registry } from '../../plugins/registry.ts'
import type { Sources } from '../workspaces/sources.ts'
import { throughConnection } from './destination.ts'
import { fittingConnections, readingOnePlace } from './intake.ts'

export interface HostChoice {
  readonly hosts: readonly string[]
  /** The number of fitting connections that no host chooses, because others have the same address. */
  readonly alike: number
}

interface Resolving {
  readonly registry: Registry
  readonly sources: Pick<Sources, 'isListed'>
  readonly tenant: Tenant
}

/**
 * Finds the hosts that choose one of the fitting connections.
 * @param connections the active ones of the workspace. None may fit any more: the claim was submitted earlier
 * @returns undefined when a plugin fails to say what fits
 */
export async function hostsToChoose(...given: Parameters<typeof chooseHosts>): Promise<HostChoice | undefined> {
  try {
    return await chooseHosts(...given)
  } catch {
    return undefined
  }
}

async function chooseHosts(
  claim: Claim,
  registered: RegisteredVerifier,
  resolving: Resolving,
  connections: readonly Connection[],
): Promise<HostChoice> {
  const fitting = await fittingConnections(claim, registered, resolving, connections)
  const { params: schema } = registered.verifier.profile
  const isValid = (params: JsonObject) => validator(schema)(params, []).length === 0

  async function hostOf(connection: Connection): Promise<string | undefined> {
    const { baseUrl } = await throughConnection(claim, registered, resolving.registry, connection, resolving.tenant)
    const own = await resolving.registry
      .connectionType(connection.provider)!
      .baseUrl(connection.options, resolving.tenant)
    // Plugins take as the host's name that of the connection, or that of the destination where they read the claim.
    for (const host of new Set([baseUrl, own].flatMap(possibleNames))) {
      const chosen = { ...claim, params: { ...claim.params, host } }
      if (!isValid(chosen.params)) continue
      const fits = await fittingConnections(chosen, registered, resolving, fitting)
      if (fits.includes(connection) && (await readingOnePlace(chosen, registered, resolving, fits))) return host
    }
    return undefined
  }

  const hosts = (await Promise.all(fitting.map(hostOf))).filter((host) => host !== undefined)
  return { hosts: [...new Set(hosts)], alike: fitting.length - hosts.length }
}

/** Lists the names of a host that a provider may use: without the path of its API, or without the `api.` before it. */
function possibleNames(baseUrl: string): string[] {
  const { host, pathname } = new URL(baseUrl)
  const steps = pathname.split('/').filter(Boolean)
  const paths = steps.map((_, index) => `${host}/${steps.slice(0, steps.length - index).join('/')}`)
  return [...(host.startsWith('api.') ? [host.slice('api.'.length)] : []), ...paths, host].map((name) =>
    name.toLowerCase(),
  )
}
