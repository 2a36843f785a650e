/** Connects to Bitbucket Data Center, which was Bitbucket Server. */
import { secret, Type } from '@claimcheck/core/plugin'
import { closedObject } from '../actions/fields.ts'
import {
  baseUrl,
  defineCodeHost,
  Owners,
  ownerAndName,
  proveBy,
  repositoryTrial,
  restAccess,
  unencryptedWarning,
} from '../connection-options.ts'
import { bitbucketServerHints } from '../hints.ts'
import { RepositoriesAnswer } from './answers.ts'
import { findChecks } from './checks.ts'
import { findPullRequest } from './pull-request.ts'
import { createServerApi, findCommit } from './repository.ts'

const ServerOptions = closedObject({
  base_url: baseUrl('The address of the server, with its context path if it has one.'),
  token: secret({ description: 'An HTTP access token that can read the repositories.' }),
  owners: Owners,
})

const HELP = `In the settings of the repository or of its project, under "HTTP access tokens", create a token with the permission "Repository
read". It belongs to no person. It can also post builds of commits, as everybody can who may read the repository.`

export const bitbucketServer = defineCodeHost({
  provider: 'bitbucket-server',
  title: 'Bitbucket Data Center',
  options: ServerOptions,
  help: HELP,
  trial: repositoryTrial('`PROJECT/name`', 'ACME/api'),
  hints: [bitbucketServerHints],
  async probe(access, context) {
    const api = createServerApi(access, context)
    const { value } = await api.get('/api/latest/repos?permission=REPO_WRITE&limit=1', RepositoriesAnswer)
    return {
      proves: await proveBy(context.target, (repository) => {
        const [project, name] = ownerAndName(repository)
        return api.get(`/api/latest/projects/${project}/repos/${name}`, Type.Object({}))
      }),
      // The scopes are empty, because nothing tells a token's own permission.
      scopes: [],
      warnings: [
        value.values.length > 0 &&
          'This token, or the account that it belongs to, can also write, which is more than is needed.',
        unencryptedWarning(access.baseUrl, 'The token is'),
      ],
    }
  },
  access: restAccess,
  readers: { commit: findCommit, pullRequest: findPullRequest, checks: findChecks },
})
