/** Connects to Bitbucket Cloud. */
import { bearer, secret, statusError, Type } from '@claimcheck/core/plugin'
import { closedObject } from '../actions/fields.ts'
import {
  baseUrl,
  defineCodeHost,
  excessWarning,
  grantedScopes,
  hostName,
  Owners,
  ownerAndName,
  proveBy,
  repositoryTrial,
  restAccess,
} from '../connection-options.ts'
import { bitbucketHints } from '../hints.ts'
import { findChecks } from './checks.ts'
import { findPullRequest } from './pull-request.ts'
import { findCommit } from './repository.ts'

const PUBLIC_API = 'https://api.bitbucket.org/2.0'

const BitbucketOptions = closedObject({
  token: secret({ description: 'An access token that can read the repositories.' }),
  base_url: Type.Optional(
    baseUrl(`Where the REST API is, if a proxy is in front of it. When left out: \`${PUBLIC_API}\`.`),
  ),
  owners: Owners,
})

const HELP = `In the settings of the repository (or of its project or workspace), under "Access tokens", create a token with the permissions
"Repositories: Read" and "Pull requests: Read", and for claims about checks "Pipelines: Read". With "Pull requests: Read" a token can also
comment on pull requests: leave it away when no claims are about them.`

/** The scopes that only read. Every other one lets the token change something: `repository:write`, `write:repository:bitbucket`, `webhook`. */
const READING: ReadonlySet<string> = new Set([
  'repository',
  'pullrequest',
  'pipeline',
  'project',
  'account',
  'email',
  'issue',
  'runner',
  'test',
])

function isReadScope(scope: string): boolean {
  return scope.startsWith('read:') || READING.has(scope)
}

export const bitbucket = defineCodeHost({
  provider: 'bitbucket',
  title: 'Bitbucket Cloud',
  options: BitbucketOptions,
  help: HELP,
  trial: repositoryTrial('`workspace/name`', 'acme/api'),
  hints: [bitbucketHints],
  async probe({ baseUrl, token }, { fetch, http, now, target }) {
    const response = await fetch(`${baseUrl}/user`, { headers: { accept: 'application/json' }, auth: bearer(token) })
    await response.body?.cancel()
    // Tokens of a repository, a project or a workspace may not see an account: they are accepted and refused.
    if (response.status !== 200 && response.status !== 403) throw statusError(response, now())
    const granted = grantedScopes(response.headers)
    if (response.status === 403 && granted === undefined) throw statusError(response, now())
    const scopes = granted ?? []
    return {
      proves: await proveBy(target, (repository) => {
        const url = `${baseUrl}/repositories/${ownerAndName(repository).join('/')}`
        return http.json(url, { schema: Type.Object({}), auth: bearer(token) })
      }),
      scopes,
      warnings: [
        excessWarning(scopes, isReadScope),
        scopes.length === 0 && 'It is not known what this token can do: make sure that it can only read.',
      ],
    }
  },
  access: (options) => restAccess(options, PUBLIC_API),
  // The names hold also behind a proxy.
  names: (apiUrl) => ['bitbucket.org', hostName(apiUrl, '/2.0')],
  readers: { commit: findCommit, pullRequest: findPullRequest, checks: findChecks },
})
