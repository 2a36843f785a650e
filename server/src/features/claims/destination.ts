/** Where a claim is read: at its connection's address, or at one that the plugin names for the claim. */

import { grantOf, originOf, requireOrigin, withoutSecretValues } from '@claimcheck/core/hosting'
import type { AnonymousSource, Claim, Connection } from '@claimcheck/core/plugin'
import type { Tenant } from '../../plugins/hosted.ts'
import { type RegisteredVerifier, type Registry, readerOf } from '../../plugins/registry.ts'

export interface Destination extends AnonymousSource {
  /** It is the connection's own address, which its owner chose, and not one that the plugin names for the claim. */
  readonly isOwn: boolean
}

type Types = Pick<Registry, 'connectionType'>

/** Undefined: nowhere without a connection. @throws TypeError for a plugin's answer that is no destination, and the plugin's own errors */
export async function destinationOf(
  claim: Claim,
  registered: RegisteredVerifier,
  registry: Types,
  connection: Connection | null,
  tenant: Tenant,
): Promise<Destination | undefined> {
  if (connection) return throughConnection(claim, registered, registry, connection, tenant)
  const source: unknown = await readerOf(registered, null)?.verifier.anonymousSource?.(claim, tenant)
  if (source === undefined || source === null) return undefined
  const { provider, baseUrl } = source as Partial<AnonymousSource>
  if (typeof provider !== 'string') throw new TypeError('the plugin names no provider')
  return { provider, baseUrl: named(baseUrl), isOwn: false }
}

/** @throws as `destinationOf` */
export async function throughConnection(
  claim: Claim,
  registered: RegisteredVerifier,
  registry: Types,
  connection: Connection,
  tenant: Tenant,
): Promise<Destination> {
  const { provider, options } = connection
  const own = await registry.connectionType(provider)!.baseUrl(options, tenant)
  const { destination } = readerOf(registered, provider)?.verifier ?? {}
  if (!destination) return { provider, baseUrl: own, isOwn: true }
  const baseUrl = named(await destination(claim, connection, tenant))
  return { provider, baseUrl, isOwn: originOf(own) === originOf(baseUrl) }
}

/** @throws TypeError for what is no base address */
function named(baseUrl: unknown): string {
  if (typeof baseUrl !== 'string') throw new TypeError('the plugin names no base address')
  requireOrigin(baseUrl)
  return baseUrl
}

/** @throws TypeError where the plugin's manifest does not allow the host that it names: each check would be refused */
export function refuseUndeclared(
  { baseUrl, isOwn }: Destination,
  registered: RegisteredVerifier,
  registry: Types,
  connection: Connection | null,
): void {
  const { verifier } = readerOf(registered, connection?.provider ?? null)!
  const type = connection && registry.connectionType(connection.provider)
  const hasSecrets = type ? withoutSecretValues(type, connection.options).secrets.size > 0 : false
  const asked = { origin: requireOrigin(baseUrl), throughConnection: isOwn, hasSecrets }
  if (!grantOf(verifier.reach, asked)) throw new TypeError('the plugin names a host that its manifest does not declare')
}
