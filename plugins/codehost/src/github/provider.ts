/** Connects to GitHub: github.com or an Enterprise server. */
import { type Instant, secret, Type } from '@claimcheck/core/plugin'
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
import { RateLimitAnswer, RepositoryAnswer } from './answers.ts'
import { createGitHubApi } from './api.ts'
import { findChecks } from './checks.ts'
import { findCommit } from './find-commit.ts'
import { findIssue } from './issue.ts'
import { findPullRequest } from './pull-request.ts'
import { findRelease } from './release.ts'

export const PUBLIC_API = 'https://api.github.com'
const ENTERPRISE_PATH = '/api/v3'

const GitHubOptions = closedObject({
  token: Type.Optional(secret({ description: 'A token that can read the repositories.' })),
  base_url: Type.Optional(
    baseUrl(
      `The base URL of the REST API: \`https://<host>/api/v3\` for an Enterprise server. When left out: \`${PUBLIC_API}\`.`,
    ),
  ),
  owners: Owners,
})

const HELP = `Create a fine-grained personal access token with access to the repositories concerned. Of its permissions, give only "read", and only
those of what agents claim: "Contents" for pushes, merges and releases; "Pull requests", with "Contents", for pull requests; "Issues" for issues;
"Actions" and "Commit statuses" for checks. "Metadata" is always among them. It must see all branches: a branch that is hidden from it looks deleted.
Fine-grained tokens cannot read what other apps than GitHub Actions report about the commits of private repositories: claims of such checks, and claims that name
no checks, need a token that can also write. Public repositories need no token, but without one GitHub allows only few requests.`

const UNKNOWN_RIGHTS = 'GitHub does not tell what this token can do: make sure that it can only read.'

/** Tells a scope that only reads: every other one lets the token change something, also `repo` and `repo:status`. */
function isReadScope(scope: string): boolean {
  return scope.startsWith('read:') || scope === 'user:email'
}

export const github = defineCodeHost({
  provider: 'github',
  title: 'GitHub',
  options: GitHubOptions,
  help: HELP,
  trial: repositoryTrial('`owner/name`', 'acme/api'),
  async probe(access, context) {
    const api = createGitHubApi(access, context)
    // GitHub refuses a token that it does not know, whatever is asked. An Enterprise server without rate limits answers 404, but only then.
    const answer = await api.find('/rate_limit', RateLimitAnswer, [404])
    const headers = 'value' in answer ? answer.headers : undefined
    const granted = headers && grantedScopes(headers)
    const scopes = granted ?? []
    return {
      proves: await proveBy(context.target, (repository) =>
        api.get(`/repos/${ownerAndName(repository).join('/')}`, RepositoryAnswer),
      ),
      expiresAt: headers && expiryOf(headers),
      scopes,
      warnings: [
        excessWarning(scopes, isReadScope),
        // GitHub tells the scopes of classic tokens alone.
        granted === undefined && access.token !== undefined && UNKNOWN_RIGHTS,
      ],
    }
  },
  access: (options) => restAccess(options, PUBLIC_API),
  names: githubNames,
  readers: {
    commit: findCommit,
    pullRequest: findPullRequest,
    checks: findChecks,
    release: findRelease,
    issue: findIssue,
  },
})

/**
 * The time when a token ends, which GitHub writes as `2026-10-03 13:45:10 UTC`, or with an offset in place of the name; undefined for a token that
 * does not end, and for another text.
 */
function expiryOf(headers: Headers): Instant | undefined {
  const text = headers.get('github-authentication-token-expiration') ?? ''
  const [, day, time, zone] = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) (UTC|[+-]\d{4})$/.exec(text) ?? []
  if (day === undefined || zone === undefined) return undefined
  const at = Date.parse(`${day}T${time}${zone === 'UTC' ? 'Z' : `${zone.slice(0, 3)}:${zone.slice(3)}`}`)
  return Number.isNaN(at) ? undefined : at
}

/** The values of `params.host` for the host with this API: `github.com` for `https://api.github.com`. */
export function githubNames(apiUrl: string): string[] {
  if (apiUrl === PUBLIC_API) return ['github.com', hostName(PUBLIC_API)]
  return [hostName(apiUrl, ENTERPRISE_PATH)]
}
