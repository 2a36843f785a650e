/**
 * Gives the command line an API key for the token that a person allowed it: the endpoints that need a key take no token. The grant
 * ends in the transaction that makes the key, so that a token gives one key at most.
 */

import { COMMAND_LINE_CLIENT, KEY_SCOPE } from '@claimcheck/cli/service/oauth-client'
import type { Instant } from '@claimcheck/core/rules'
import { type Acting, byUser } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import type { TokenCredential } from '../../http/credential.ts'
import type { Storage } from '../../storage/storage.ts'
import type { KeyService } from '../workspaces/keys.ts'
import type { OAuth } from './oauth.ts'
import type { OAuthRecords } from './records.ts'
import { allowedTo } from './scopes.ts'

const LIFETIME_MS = 90 * 24 * 60 * 60_000

interface KeyExchangeParts {
  readonly storage: Pick<Storage, 'write'>
  readonly oauthRecords: Pick<OAuthRecords, 'find' | 'endGrantIn'>
  readonly keys: Pick<KeyService, 'createIn'>
  readonly oauth: Pick<OAuth, 'audiences'>
  readonly now: () => Instant
}

export type KeyExchange = ReturnType<typeof createKeyExchange>

export function createKeyExchange({ storage, oauthRecords, keys, oauth, now }: KeyExchangeParts) {
  return {
    /**
     * Makes the key of a token, and ends the token.
     * @param name the name of the key, which is that of the machine
     * @throws ServiceError `forbidden` for a token that does not permit it; `bad_request` for an invalid name
     */
    async exchange({ grantId, workspaceId, scopes, audience }: TokenCredential, name: string, address: string) {
      if (audience !== oauth.audiences().own) throw refused(`its token is for ${audience}`)
      if (!scopes.includes(KEY_SCOPE)) throw refused(`its token lacks the scope ${KEY_SCOPE}`)
      const grant = (await oauthRecords.find('Grant', grantId))?.payload
      const expiresAt = now() + LIFETIME_MS
      return storage.write(async (tx) => {
        const member = grant?.accountId === undefined ? undefined : await tx.members.byId(grant.accountId)
        if (!member || allowedTo(member.role, [KEY_SCOPE]).length === 0) throw refused('its token has ended')
        // The key is made before the grant ends: that is the order in which a workspace is deleted.
        const made = await keys.createIn(tx, workspaceId, name, { expiresAt }, byUser(member.userId, address))
        const by: Acting = { actor: { kind: 'application', id: COMMAND_LINE_CLIENT.client_id }, address }
        const isFirst = await oauthRecords.endGrantIn(tx, grantId, 'application.returned', by)
        if (!isFirst) throw refused('its token has been used')
        return { ...made, workspaceId, name, expiresAt }
      })
    },
  }
}

function refused(why: string): ServiceError {
  return new ServiceError('forbidden', `no key is made for this application: ${why}`)
}
