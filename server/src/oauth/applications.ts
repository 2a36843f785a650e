/** Applications that a person has allowed to act for them, and taking that back. */
import type { Instant } from '@claimcheck/core'
import { ServiceError } from '../base/errors.ts'
import type { MemberService } from '../people/members.ts'
import type { OAuth } from './oauth.ts'
import type { OAuthRecords } from './records.ts'
import { readScopes, type Scope } from './scopes.ts'

export interface Application {
  readonly grantId: string
  /** Undefined: it is not known here any more. */
  readonly clientName: string | undefined
  readonly clientId: string
  readonly workspaceName: string
  readonly scopes: readonly Scope[]
  readonly audiences: readonly string[]
  readonly since: Instant
}

export interface ApplicationService {
  /** Newest first. */
  list(userId: string): Promise<readonly Application[]>
  /** Ends every token. @throws ServiceError `not_found`, also for what somebody else allowed */
  revoke(userId: string, grantId: string): Promise<void>
}

interface ApplicationOptions {
  readonly members: Pick<MemberService, 'workspacesOf'>
  readonly oauthRecords: OAuthRecords
  readonly oauth: Pick<OAuth, 'clientName'>
}

export function createApplicationService(options: ApplicationOptions): ApplicationService {
  const { members, oauthRecords: records, oauth } = options

  async function list(userId: string): Promise<Application[]> {
    const workspaces = await members.workspacesOf(userId)
    const found = await Promise.all(
      workspaces.map(async ({ memberId, name: workspaceName }) => {
        const grants = await records.grantsOf(memberId)
        return Promise.all(
          grants.map(async ({ payload: { jti, clientId = '', iat = 0, resources = {} } }) => ({
            grantId: jti!,
            clientName: await oauth.clientName(clientId),
            clientId,
            workspaceName,
            scopes: readScopes(Object.values(resources).join(' ')),
            audiences: Object.keys(resources),
            since: iat * 1000,
          })),
        )
      }),
    )
    return found.flat().sort((one, other) => other.since - one.since)
  }

  return {
    list,
    async revoke(userId, grantId) {
      const isTheirs = (await list(userId)).some((application) => application.grantId === grantId)
      if (!isTheirs) throw new ServiceError('not_found', 'there is no such application')
      await records.endGrant(grantId)
    },
  }
}
