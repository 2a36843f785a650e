/** Connects to servers of Gitea and Forgejo. */
import {
  DestinationError,
  type ProbeContext,
  type ProbeResult,
  readJson,
  secret,
  statusError,
  Type,
  Value,
} from '@claimcheck/core/plugin'
import { closedObject } from '../actions/fields.ts'
import type { Provider } from '../code-host.ts'
import {
  baseUrl,
  defineCodeHost,
  excessWarning,
  Owners,
  proveBy,
  Reporters,
  repositoryTrial,
  restAccess,
  unencryptedWarning,
} from '../connection-options.ts'
import type { Repositories } from '../git/repositories.ts'
import { giteaHints } from '../hints.ts'
import type { RestAccess } from '../rest.ts'
import { FailureAnswer, RepositoryAnswer, UserAnswer, VersionAnswer } from './answers.ts'
import { findChecks } from './checks.ts'
import { findCommit } from './find-commit.ts'
import { readIssue } from './issue.ts'
import { readPullRequest } from './pull-request.ts'
import { readRelease } from './release.ts'
import { API_PATH, tokenOf } from './repository.ts'

const GiteaOptions = closedObject({
  base_url: baseUrl('The address of the server, as browsers have it: `https://git.example.com`, or with a path.'),
  token: Type.Optional(secret({ description: 'An access token that can read the repositories.' })),
  owners: Owners,
  reporters: Reporters,
})

const HELP = `Create an access token under Settings, Applications, with the permissions "repository: read" and "issue: read" and no others, for
an account that can only read the repositories concerned: their code, pull requests, issues and releases. Public repositories need no token.
The account must see all branches.`

function isReadScope(scope: string): boolean {
  return scope.startsWith('read:') || scope === 'public-only'
}

export function createGiteaProvider(repositories: Repositories): Provider {
  return defineCodeHost({
    provider: 'gitea',
    title: 'Gitea or Forgejo',
    options: GiteaOptions,
    help: HELP,
    trial: repositoryTrial('`owner/name`', 'acme/api'),
    hints: giteaHints,
    async probe(access, context) {
      const auth = tokenOf(access)
      const api = access.baseUrl + API_PATH
      const { value: server } = await context.http.json(`${api}/version`, { schema: VersionAnswer, auth })
      const rights = auth === undefined ? NO_RIGHTS : await readRights(access, context)
      const { target } = context
      const proves = await proveBy(target, (repository) =>
        context.http.json(`${api}/repos/${repository}`, { schema: RepositoryAnswer, auth }),
      )
      const hasRuns = target === undefined ? mayListRuns(server.version) : await listsRuns(access, target, context)
      return {
        proves,
        scopes: rights.scopes,
        warnings: [
          auth !== undefined && unencryptedWarning(api, 'The token is'),
          ...rights.warnings,
          !hasRuns && NO_RUNS,
        ],
      }
    },
    access: restAccess,
    readers: {
      commit: (access, query, context) => findCommit(access, query, context, repositories),
      pullRequest: (access, query, context) => readPullRequest(access, query, context, repositories),
      checks: findChecks,
      release: readRelease,
      issue: readIssue,
    },
  })
}

const NO_RIGHTS = { scopes: [], warnings: [] } as const
const NO_RUNS =
  'No runs of Actions are listed, by this version or for these credentials: checks that runners report end as unverifiable.'

/** Tells whether a version lists what runners have taken: Gitea does since 1.22, Forgejo since 7.0. */
function mayListRuns(version: string): boolean {
  const [, minor] = /^1\.(\d+)/.exec(version) ?? []
  return minor === undefined || Number(minor) >= 22
}

async function listsRuns(access: RestAccess, repository: string, { http }: ProbeContext): Promise<boolean> {
  const root = `${access.baseUrl}${API_PATH}/repos/${repository}/actions`
  for (const list of ['runs', 'tasks']) {
    const init = { schema: Type.Object({}), auth: tokenOf(access), also: [401, 403, 404, 405] }
    const { value } = await http.json(`${root}/${list}?limit=1`, init)
    if (value) return true
  }
  return false
}

/** Reads the rights of a token: the host tells them only as it refuses a request, and only in newer versions. */
async function readRights(
  access: RestAccess,
  { fetch, now }: ProbeContext,
): Promise<Pick<ProbeResult, 'scopes'> & { readonly warnings: readonly (string | false)[] }> {
  const response = await fetch(`${access.baseUrl}${API_PATH}/user`, {
    headers: { accept: 'application/json' },
    auth: tokenOf(access),
  })
  if (response.status !== 200 && response.status !== 403) {
    await response.body?.cancel()
    throw statusError(response, now())
  }
  const body = await readJson(response)
  const message = Value.Check(FailureAnswer, body) ? body.message : ''
  // The host refuses a token that it knows for its scope; whatever stands before the host refuses anything, a wrong token too.
  if (response.status === 403 && !/\bscope/i.test(message)) throw new DestinationError('forbidden')
  const canReadAccount = response.status === 200 && Value.Check(UserAnswer, body)
  const [, told] = /token scope=([a-z:,_-]+)/.exec(message) ?? []
  const scopes = told?.split(',').filter(Boolean) ?? []
  return {
    scopes,
    warnings: [
      excessWarning(scopes, isReadScope),
      canReadAccount && 'This token can read the account, which is more than is needed.',
      scopes.length === 0 && 'The server does not tell what this token may do: make sure that it can only read.',
    ],
  }
}
