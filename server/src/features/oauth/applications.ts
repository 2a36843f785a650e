/** The applications that a person allowed to act for them: lists and revokes them. */
import type { Instant } from '@claimcheck/core/rules'
import { type Acting, byCommand } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import type { MemberService } from '../people/members.ts'
import type { OAuth } from './oauth.ts'
import type { OAuthRecords } from './records.ts'
import { readScopes, type Scope } from './scopes.ts'

export interface Application {
  readonly grantId: string
  /** Undefined when the service does not know the client any more. */
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
  /** Ends all tokens of the grant. @throws ServiceError `not_found`, also for a grant of another person */
  revoke(userId: string, grantId: string, by?: Acting): Promise<void>
}

interface ApplicationOptions {
  readonly members: Pick<MemberService, 'workspacesOf'>
  readonly oauthRecords: OAuthRecords
  readonly oauth: Pick<OAuth, 'clientName'>
}

export function createApplicationService(options: ApplicationOptions): ApplicationService {
  const { members, oauthRecords: records, oauth } = options

  async function grantsOf(userId: string) {
    const workspaces = await members.workspacesOf(userId)
    const grants = workspaces.map(async ({ memberId, name: workspaceName }) =>
      (await records.grantsOf(memberId)).map(({ payload }) => ({ workspaceName, payload })),
    )
    return (await Promise.all(grants)).flat()
  }

  async function list(userId: string): Promise<Application[]> {
    const found = await Promise.all(
      (await grantsOf(userId)).map(
        async ({ workspaceName, payload: { jti, clientId = '', iat = 0, resources = {} } }) => ({
          grantId: jti!,
          clientName: await oauth.clientName(clientId),
          clientId,
          workspaceName,
          scopes: readScopes(Object.values(resources).join(' ')),
          audiences: Object.keys(resources),
          since: iat * 1000,
        }),
      ),
    )
    return found.sort((one, other) => other.since - one.since)
  }

  return {
    list,
    async revoke(userId, grantId, by = byCommand()) {
      if (!(await grantsOf(userId)).some(({ payload }) => payload.jti === grantId))
        throw new ServiceError('not_found', 'you have not allowed such an application')
      await records.endGrant(grantId, 'application.stopped', by)
    },
  }
}
