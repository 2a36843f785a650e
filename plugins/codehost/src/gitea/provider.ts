/** Connects to servers of Gitea and Forgejo. */
import {
  DestinationError,
  type ProbeContext,
  type ProbeResult,
  readJson,
  type Static,
  secret,
  statusError,
  Type,
  Value,
} from '@claimcheck/core/plugin'
import type { Provider } from '../code-host.ts'
import {
  baseUrl,
  defineCodeHost,
  excessWarnings,
  Owners,
  proveBy,
  repositoryTrial,
  withoutTrailingSlash,
} from '../connection-options.ts'
import type { Repositories } from '../git/repositories.ts'
import { FailureAnswer, RepositoryAnswer, UserAnswer, VersionAnswer } from './answers.ts'
import { findChecks } from './checks.ts'
import { findCommit } from './find-commit.ts'
import { readIssue } from './issue.ts'
import { readPullRequest } from './pull-request.ts'
import { readRelease } from './release.ts'
import { API_PATH, type GiteaAccess, tokenOf } from './repository.ts'

const GiteaOptions = Type.Object(
  {
    base_url: baseUrl('The address of the server, as browsers have it: `https://git.example.com`, or with a path.'),
    token: Type.Optional(secret({ description: 'An access token that can read the repositories.' })),
    owners: Owners,
  },
  { additionalProperties: false },
)
type GiteaOptions = Static<typeof GiteaOptions>

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
    probe,
    access: accessOf,
    readers: {
      commit: (access, query, context) => findCommit(access, query, context, repositories),
      pullRequest: (access, query, context) => readPullRequest(access, query, context, repositories),
      checks: findChecks,
      release: readRelease,
      issue: readIssue,
    },
  })
}

async function probe(options: GiteaOptions, context: ProbeContext): Promise<ProbeResult> {
  const access = accessOf(options)
  const auth = tokenOf(access)
  const api = access.baseUrl + API_PATH
  const { value: server } = await context.http.json(`${api}/version`, { schema: VersionAnswer, auth })
  const read = (repository: string) =>
    context.http.json(`${api}/repos/${repository}`, { schema: RepositoryAnswer, auth })
  const rights = auth === undefined ? { scopes: [], warnings: [] } : await readRights(access, context)
  const proves = await proveBy(context.target, read)
  const isUnencrypted = auth !== undefined && new URL(api).protocol === 'http:'
  const hasRuns =
    context.target === undefined ? mayListRuns(server.version) : await listsRuns(access, context.target, context)
  return {
    proves,
    scopes: rights.scopes,
    warnings: [
      ...(isUnencrypted ? ['The token is sent unencrypted: use https.'] : []),
      ...rights.warnings,
      ...(hasRuns ? [] : [NO_RUNS]),
    ],
  }
}

const NO_RUNS =
  'No runs of Actions are listed, by this version or for these credentials: checks that runners report end as unverifiable.'

/** Tells whether a version lists what runners have taken: Gitea does since 1.22, Forgejo since 7.0. */
function mayListRuns(version: string): boolean {
  const [, minor] = /^1\.(\d+)/.exec(version) ?? []
  return minor === undefined || Number(minor) >= 22
}

async function listsRuns(access: GiteaAccess, repository: string, { http }: ProbeContext): Promise<boolean> {
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
  access: GiteaAccess,
  { fetch, now }: ProbeContext,
): Promise<Pick<ProbeResult, 'scopes' | 'warnings'>> {
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
      ...excessWarnings(scopes, isReadScope),
      ...(canReadAccount ? ['This token can read the account, which is more than is needed.'] : []),
      ...(scopes.length > 0
        ? []
        : ['The server does not tell what this token may do: make sure that it can only read.']),
    ],
  }
}

function accessOf({ base_url, token }: GiteaOptions): GiteaAccess {
  return { baseUrl: withoutTrailingSlash(base_url), token }
}
