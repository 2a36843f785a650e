/** Where a claim is read: at its connection's address, or at one that the plugin names for the claim. */

import { grantOf, requireOrigin, withoutSecretValues } from '@claimcheck/core/hosting'
import type { AnonymousSource, Claim, Connection } from '@claimcheck/core/plugin'
import type { Tenant } from '../../plugins/hosted.ts'
import { type RegisteredVerifier, type Registry, readerOf } from '../../plugins/registry.ts'

export type Destination = AnonymousSource

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
  return { provider, baseUrl: named(baseUrl) }
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
  const { destination } = readerOf(registered, provider)?.verifier ?? {}
  if (!destination) return { provider, baseUrl: await registry.connectionType(provider)!.baseUrl(options, tenant) }
  return { provider, baseUrl: named(await destination(claim, connection, tenant)) }
}

/** @throws TypeError for what is no base address */
function named(baseUrl: unknown): string {
  if (typeof baseUrl !== 'string') throw new TypeError('the plugin names no base address')
  requireOrigin(baseUrl)
  return baseUrl
}

/** @throws TypeError where the plugin's manifest does not allow the host that it names: each check would be refused */
export function refuseUndeclared(
  { baseUrl }: Destination,
  registered: RegisteredVerifier,
  registry: Types,
  connection: Connection | null,
): void {
  const { verifier } = readerOf(registered, connection?.provider ?? null)!
  const type = connection && registry.connectionType(connection.provider)
  const hasSecrets = type ? withoutSecretValues(type, connection.options).secrets.size > 0 : false
  const asked = { origin: requireOrigin(baseUrl), typed: connection?.options, hasSecrets }
  if (!grantOf(verifier.reach, asked)) throw new TypeError('the plugin names a host that its manifest does not declare')
}
