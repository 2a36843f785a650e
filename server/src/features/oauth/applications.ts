/** The applications that a person allowed to act for them: lists and revokes them. */
import { byCommand } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import type { MemberService } from '../people/members.ts'
import type { OAuth } from './oauth.ts'
import type { OAuthRecords } from './records.ts'
import { readScopes } from './scopes.ts'

interface ApplicationParts {
  readonly members: Pick<MemberService, 'workspacesOf'>
  readonly oauthRecords: OAuthRecords
  readonly oauth: Pick<OAuth, 'clientName'>
}

type ApplicationService = ReturnType<typeof createApplicationService>
export type Application = Awaited<ReturnType<ApplicationService['list']>>[number]

export function createApplicationService({ members, oauthRecords: records, oauth }: ApplicationParts) {
  async function grantsOf(userId: string) {
    const workspaces = await members.workspacesOf(userId)
    const grants = workspaces.map(async ({ memberId, name: workspaceName }) =>
      (await records.grantsOf(memberId)).map(({ payload }) => ({ workspaceName, payload })),
    )
    return (await Promise.all(grants)).flat()
  }

  return {
    /** Lists the applications that a person allowed, newest first. */
    async list(userId: string) {
      const grants = await grantsOf(userId)
      const listed = grants.map(
        async ({ workspaceName, payload: { jti, clientId = '', iat = 0, resources = {} } }) => ({
          grantId: jti!,
          /** The name of the client; undefined when the service does not know it any more. */
          clientName: await oauth.clientName(clientId),
          clientId,
          workspaceName,
          scopes: readScopes(Object.values(resources).join(' ')),
          audiences: Object.keys(resources),
          since: iat * 1000,
        }),
      )
      return (await Promise.all(listed)).sort((one, other) => other.since - one.since)
    },
    /** Ends all tokens of the grant. @throws ServiceError `not_found`, also for a grant of another person */
    async revoke(userId: string, grantId: string, by = byCommand()): Promise<void> {
      if (!(await grantsOf(userId)).some(({ payload }) => payload.jti === grantId))
        throw new ServiceError('not_found', 'you have not allowed such an application')
      await records.endGrant(grantId, 'application.stopped', by)
    },
  }
}
