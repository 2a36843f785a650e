/** Connects to GitLab: gitlab.com or a server of one's own. */
import { secret, Type } from '@claimcheck/core/plugin'
import { closedObject } from '../actions/fields.ts'
import {
  baseUrl,
  defineCodeHost,
  excessWarning,
  Owners,
  proveBy,
  Reporters,
  repositoryTrial,
  restAccess,
} from '../connection-options.ts'
import { gitlabHints } from '../hints.ts'
import { AnyAnswer, AnyListAnswer, TokenAnswer } from './answers.ts'
import { createGitLabApi } from './api.ts'
import { findChecks } from './checks.ts'
import { findCommit } from './find-commit.ts'
import { findIssue } from './issue.ts'
import { findMergeRequest } from './pull-request.ts'
import { findRelease } from './release.ts'

const PUBLIC_GITLAB = 'https://gitlab.com'

const GitLabOptions = closedObject({
  token: Type.Optional(secret({ description: 'A token that can read the projects by the API.' })),
  base_url: Type.Optional(
    baseUrl(
      `The address of the server, with its path if it has one, and without \`/api/v4\`. When left out: \`${PUBLIC_GITLAB}\`.`,
    ),
  ),
  owners: Owners,
  reporters: Reporters,
})

const HELP = `Create a project or group access token with the role Reporter and the scope read_api, and no other; read_repository is for git
alone. A Guest does not see code, and hidden from a Guest are confidential issues. Where there are no such tokens, use a personal one
with read_api of an account that is a Reporter. Public projects need no token; without one GitLab allows fewer requests, and shows no posted statuses.`

const NO_TOKEN =
  'Without a token, only public projects can be read: not their confidential issues, nor statuses that others posted.'
const UNKNOWN_ROLE =
  'GitLab does not say which role the token has in which project. It needs Reporter: with less, much stays hidden; with more, it can do more than read if its scopes allow it.'
const UNKNOWN_SCOPES = 'This server does not say what the token can do. Make sure that it has the scope read_api alone.'

/** Tells whether a scope only reads: `api` and those that write or administrate do not. */
function isReadScope(scope: string): boolean {
  return scope.startsWith('read_') || ['openid', 'profile', 'email'].includes(scope)
}

export const gitlab = defineCodeHost({
  provider: 'gitlab',
  title: 'GitLab',
  options: GitLabOptions,
  help: HELP,
  trial: repositoryTrial('`group/project`', 'acme/api'),
  hints: [gitlabHints],
  async probe(access, context) {
    const api = createGitLabApi(access, context)
    const proven = () =>
      proveBy(context.target, (project) => api.get(`/projects/${encodeURIComponent(project)}`, AnyAnswer))
    if (access.token === undefined) {
      await api.get('/projects?simple=true&per_page=1', AnyListAnswer)
      return { proves: await proven(), scopes: [], warnings: [NO_TOKEN] }
    }
    const { value: token } = await api.find('/personal_access_tokens/self', TokenAnswer)
    if (!token) {
      // An older server has accepted the token if it tells its version.
      await api.get('/version', AnyAnswer)
      return { proves: await proven(), scopes: [], warnings: [UNKNOWN_SCOPES, UNKNOWN_ROLE] }
    }
    const { scopes } = token
    // The day after which the token is refused, in UTC.
    const expiresAt = Date.parse(token.expires_at ?? '')
    return {
      proves: await proven(),
      expiresAt: Number.isNaN(expiresAt) ? undefined : expiresAt,
      scopes,
      warnings: [
        excessWarning(scopes, isReadScope),
        !scopes.includes('read_api') &&
          !scopes.includes('api') &&
          'This token cannot read the API: it needs the scope read_api.',
        UNKNOWN_ROLE,
      ],
    }
  },
  access: (options) => restAccess(options, PUBLIC_GITLAB),
  readers: {
    commit: findCommit,
    pullRequest: findMergeRequest,
    checks: findChecks,
    release: findRelease,
    issue: findIssue,
  },
})
