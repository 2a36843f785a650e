/** Whom an access token speaks for. Everything is looked up afresh, so that whatever ends holds at the next request, on every host. */

import { isToken } from '../base/tokens.ts'
import type { Config } from '../config/config.ts'
import type { Storage } from '../storage/storage.ts'
import type { OAuthRecords } from './records.ts'
import { allowedTo, readScopes } from './scopes.ts'

/** A token of an application, which speaks for one member of a workspace. */
export interface TokenCredential {
  readonly kind: 'oauth'
  readonly grantId: string
  readonly workspaceId: string
  /** What it is good for now. */
  readonly scopes: readonly string[]
  readonly audience: string
}

export interface TokenService {
  /** Undefined for whatever is no access token, or no longer. */
  authenticate(token: string): Promise<TokenCredential | undefined>
}

interface TokenServiceOptions {
  readonly storage: Pick<Storage, 'read'>
  readonly oauthRecords: Pick<OAuthRecords, 'find'>
  readonly config: Pick<Config, 'oauth'>
}

export function createTokenService(options: TokenServiceOptions): TokenService {
  const { storage, oauthRecords: records } = options
  const configured = new Set(options.config.oauth.clients.map(({ clientId }) => clientId))

  async function isKnown(clientId: string | undefined): Promise<boolean> {
    if (clientId === undefined) return false
    return configured.has(clientId) || (await records.find('Client', clientId)) !== undefined
  }

  return {
    async authenticate(token) {
      if (!isToken(token)) return undefined
      const { clientId, grantId, aud: audience, scope } = (await records.find('AccessToken', token))?.payload ?? {}
      if (grantId === undefined || audience === undefined || !(await isKnown(clientId))) return undefined
      // Without its grant a token is nothing: one may still have been issued while the grant was ended.
      const grant = await records.find('Grant', grantId)
      const memberId = grant?.payload.accountId
      const member = memberId === undefined ? undefined : await storage.read.members.byId(memberId)
      if (!member) return undefined
      const scopes = allowedTo(member.role, readScopes(scope))
      return { kind: 'oauth', grantId, workspaceId: member.workspaceId, scopes, audience }
    },
  }
}
