/** Authenticates access tokens. It reads the database each time, so that a revocation takes effect on the next request, on every host. */

import { createLookup } from '../../base/batch.ts'
import { isToken } from '../../base/tokens.ts'
import type { TokenCredential } from '../../http/credential.ts'
import type { Storage } from '../../storage/storage.ts'
import { configuredClients, type OAuthConfig } from './config.ts'
import { machineScopes } from './machines.ts'
import type { OAuthRecords } from './records.ts'
import { allowedTo, readScopes } from './scopes.ts'

interface TokenParts {
  readonly storage: Pick<Storage, 'read'>
  readonly oauthRecords: Pick<OAuthRecords, 'find'>
  readonly config: { readonly oauth: OAuthConfig }
}

export type TokenService = ReturnType<typeof createTokenService>

export function createTokenService({ storage, oauthRecords: records, config }: TokenParts) {
  const configured = new Set(configuredClients(config.oauth).map(({ client_id }) => client_id))

  // Tokens that are asked about together, as those of open streams, share the statements.
  const machines = createLookup(
    (ids) => storage.read.machines.byIds(ids),
    ({ id }) => id,
  )
  const members = createLookup(
    (ids) => storage.read.members.byIdsWithPayer(ids),
    ({ id }) => id,
  )

  async function isKnown(clientId: string | undefined): Promise<boolean> {
    if (clientId === undefined) return false
    return configured.has(clientId) || (await records.find('Client', clientId)) !== undefined
  }

  /** Finds the credential of a machine's token. It reads the machine as well, whose revocation ends its tokens. */
  async function ofMachine(token: string): Promise<TokenCredential | undefined> {
    const { clientId, aud: audience, scope } = (await records.find('ClientCredentials', token))?.payload ?? {}
    const [machine] = clientId === undefined ? [] : await machines(clientId)
    if (!machine || machine.revokedAt !== null || audience === undefined) return undefined
    const granted = readScopes(scope)
    const scopes = machineScopes(machine).filter((one) => granted.includes(one))
    const { id: grantId, workspaceId, payer } = machine
    return { kind: 'oauth', grantId, workspaceId, payer, scopes, audience }
  }

  async function ofApplication(token: string): Promise<TokenCredential | undefined> {
    const { clientId, grantId, aud: audience, scope } = (await records.find('AccessToken', token))?.payload ?? {}
    if (grantId === undefined || audience === undefined || !(await isKnown(clientId))) return undefined
    // The grant is required, because a token may have been issued while the grant was being ended.
    const grant = await records.find('Grant', grantId)
    const memberId = grant?.payload.accountId
    const [member] = memberId === undefined ? [] : await members(memberId)
    if (!member) return undefined
    const scopes = allowedTo(member.role, readScopes(scope))
    return { kind: 'oauth', grantId, workspaceId: member.workspaceId, payer: member.payer, scopes, audience }
  }

  return {
    /** Finds the credential of a token; undefined when it is unknown, expired or revoked. */
    authenticate: async (token: string) =>
      isToken(token) ? ((await ofApplication(token)) ?? (await ofMachine(token))) : undefined,
  }
}
