/** Connects to GitHub: github.com or an Enterprise server. */
import { type Auth, bearer, credential, type Instant, type Static, secret, Type } from '@claimcheck/core/plugin'
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
  Reporters,
  repositoryTrial,
  withoutTrailingSlash,
} from '../connection-options.ts'
import { githubHints } from '../hints.ts'
import { RateLimitAnswer, RepositoryAnswer } from './answers.ts'
import { createGitHubApi, type GitHubAccess } from './api.ts'
import { findChecks } from './checks.ts'
import { findCommit } from './find-commit.ts'
import { findIssue } from './issue.ts'
import { findPullRequest } from './pull-request.ts'
import { findRelease } from './release.ts'

export const PUBLIC_API = 'https://api.github.com'
const ENTERPRISE_PATH = '/api/v3'

const GitHubOptions = closedObject({
  token: Type.Optional(secret({ description: 'A token that can read the repositories.' })),
  app_id: Type.Optional(
    Type.String({
      title: 'App',
      pattern: '^[0-9A-Za-z.]+$',
      'x-pattern-help': 'enter the number of the app, or its client ID',
      maxLength: 64,
      description: 'In place of a token: the ID of a GitHub App, or its client ID.',
      examples: ['1234567'],
    }),
  ),
  installation_id: Type.Optional(
    Type.String({
      title: 'Installation',
      pattern: '^[0-9]+$',
      'x-pattern-help': 'enter the number of the installation',
      maxLength: 20,
      description: "The ID of the app's installation, which is at the end of the address of its page.",
      examples: ['87654321'],
    }),
  ),
  private_key: Type.Optional(
    secret({ title: 'Private key', description: 'A private key of the app, in PEM.', maxLength: 8192 }),
  ),
  base_url: Type.Optional(
    baseUrl(
      `The base URL of the REST API: \`https://<host>/api/v3\` for an Enterprise server. When left out: \`${PUBLIC_API}\`.`,
    ),
  ),
  owners: Owners,
  reporters: Reporters,
})

const HELP = `Give a token, or a GitHub App. Either needs access to the repositories concerned, and of its permissions only "read", and only
those of what agents claim: "Contents" for pushes, merges and releases; "Pull requests", with "Contents", for pull requests; "Issues" for issues;
"Actions" and "Commit statuses" for checks. "Metadata" is always among them. It must see all branches: a branch that is hidden from it looks deleted.
The token is a fine-grained personal access token: it cannot read what other apps than GitHub Actions report about the commits of private repositories.
Claims of such checks, and claims that name no checks, need an app with "Checks", or a token that can also write. The app needs no webhook: install it,
and make a private key. Its permissions that write are left out of what this connection uses. Public repositories need neither, but without one GitHub
allows only few requests.`

const UNKNOWN_RIGHTS = 'GitHub does not tell what this token can do: make sure that it can only read.'

/** Tells a scope that only reads: every other one lets the token change something, also `repo` and `repo:status`. */
function isReadScope(scope: string): boolean {
  return scope.startsWith('read:') || scope === 'user:email'
}

/** The permissions of an app's tokens, as far as the app has them. */
const READ: Readonly<Record<string, 'read'>> = Object.fromEntries(
  ['actions', 'checks', 'contents', 'issues', 'metadata', 'pull_requests', 'statuses'].map((name) => [name, 'read']),
)

const appAt = (apiUrl: string) => ({
  scheme: 'oauth2' as const,
  grant: 'githubApp' as const,
  apiUrl,
  appId: 'app_id',
  installationId: 'installation_id',
  privateKey: 'private_key',
  permissions: READ,
})

/** Takes the access from a connection's options. Where a part of an app is missing, the host calls the first request `misconfigured`. */
function accessOf({
  base_url,
  token,
  app_id,
  installation_id,
  private_key,
  reporters,
}: Static<typeof GitHubOptions>): GitHubAccess {
  return { baseUrl: withoutTrailingSlash(base_url ?? PUBLIC_API), auth: authOf(), reporters }

  function authOf(): Auth | undefined {
    if ((app_id ?? installation_id ?? private_key) === undefined) return bearer(token)
    return credential(base_url === undefined ? 'app' : 'app_at_base_url')
  }
}

export const github = defineCodeHost({
  provider: 'github',
  title: 'GitHub',
  options: GitHubOptions,
  credentials: { app: appAt(PUBLIC_API), app_at_base_url: appAt('{option.base_url}') },
  help: HELP,
  trial: repositoryTrial('`owner/name`', 'acme/api'),
  hints: [githubHints],
  async probe(access, context) {
    const api = createGitHubApi(access, context)
    // GitHub refuses a token that it does not know, whatever is asked. An Enterprise server without rate limits answers 404, but only then.
    const answer = await api.find('/rate_limit', RateLimitAnswer, [404])
    const headers = 'value' in answer ? answer.headers : undefined
    const granted = headers && grantedScopes(headers)
    const scopes = granted ?? []
    // The tokens of an app end after an hour, and can only read: the host makes them so.
    const isToken = access.auth?.scheme === 'bearer'
    return {
      proves: await proveBy(context.target, (repository) =>
        api.get(`/repos/${ownerAndName(repository).join('/')}`, RepositoryAnswer),
      ),
      expiresAt: isToken && headers ? expiryOf(headers) : undefined,
      scopes,
      warnings: [
        excessWarning(scopes, isReadScope),
        // GitHub tells the scopes of classic tokens alone.
        granted === undefined && isToken && UNKNOWN_RIGHTS,
      ],
    }
  },
  access: accessOf,
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
