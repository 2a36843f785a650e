/** The verifier that judges a claim, and the address where it is read: that of its connection, or one that the plugin names for it. */

import { type AnonymousSource, grantOf, requireOrigin, withoutSecretValues } from '@claimcheck/core/hosting'
import type { Claim, Connection } from '@claimcheck/core/plugin'
import type { Tenant } from '../../plugins/hosted.ts'
import { type RegisteredVerifier, type Registry, readerOf } from '../../plugins/registry.ts'
import type { ClaimRow } from '../../storage/claim-row.ts'
import { profileDigest } from './profile-list.ts'

export type Destination = AnonymousSource

type Types = Pick<Registry, 'connectionType'>

/**
 * Finds the verifier that judges a claim. Undefined while it is away: not loaded, not in the claim's version, or with other rules than those
 * that the claim keeps.
 */
export function judgeOf(
  registry: Pick<Registry, 'verifierFor'>,
  { action, profileVersion, profileDigest: pinned }: Pick<ClaimRow, 'action' | 'profileVersion' | 'profileDigest'>,
): RegisteredVerifier | undefined {
  const registered = registry.verifierFor(action, profileVersion)
  const isSame = registered && (pinned === null || pinned === profileDigest(registered.verifier.profile))
  return isSame ? registered : undefined
}

/**
 * Finds the destination of a claim; undefined where it cannot be read without a connection.
 * @throws TypeError for a plugin's answer that is no destination, and the plugin's own errors
 */
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

/**
 * Finds the destination of a claim through a connection.
 * @throws as `destinationOf` does
 */
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

/**
 * Requires a base address from a plugin.
 * @throws TypeError for any other value
 */
function named(baseUrl: unknown): string {
  if (typeof baseUrl !== 'string') throw new TypeError('the plugin names no base address')
  requireOrigin(baseUrl)
  return baseUrl
}

/**
 * Refuses a destination that the plugin's manifest does not allow, where each check would be refused.
 * @throws TypeError
 */
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
