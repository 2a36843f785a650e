/** Connects to git servers over smart HTTP. */

import { type Auth, basic, DestinationError, isRefused, type ProbeContext, secret, Type } from '@claimcheck/core/plugin'
import { closedObject } from '../actions/fields.ts'
import type { Provider } from '../code-host.ts'
import {
  baseUrl,
  defineCodeHost,
  Owners,
  proveBy,
  repositoryTrial,
  unencryptedWarning,
  withoutTrailingSlash,
} from '../connection-options.ts'
import { httpFailure } from '../rest.ts'
import type { Repositories } from './repositories.ts'
import { findCommit, type GitAccess } from './repository.ts'
import { discover } from './repository-url.ts'

const GitOptions = closedObject({
  base_url: baseUrl(
    'Where the repositories are: each is read at `<base_url>/<owner>/<repo>.git`, or without `.git` where the server has it so.',
  ),
  username: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      pattern: '^[^:\\u0000-\\u001f\\u007f]+$',
      'x-pattern-help': 'enter the name alone, without a colon',
      examples: ['reader'],
      description: 'The name of the user or of the token, without a colon.',
    }),
  ),
  password: Type.Optional(secret({ description: 'The password, or a token that can read.' })),
  owners: Owners,
  prunes_at_once: Type.Optional(
    Type.Boolean({
      description:
        'This server removes commits as soon as no branch has them. Then a commit that it does not know may have been there, and its absence blames nobody.',
    }),
  ),
})

const HELP = `Create a user, deploy token or access token that can only read the repositories concerned. Enter its name as username and its
secret as password. Public repositories need neither. The credentials must see all branches: a branch that is hidden from them looks deleted.`

export function createGitProvider(repositories: Repositories): Provider {
  return defineCodeHost({
    provider: 'git',
    title: 'git over HTTP',
    options: GitOptions,
    help: HELP,
    trial: repositoryTrial('`owner/name`', 'acme/api'),
    async probe({ baseUrl, auth }: GitAccess, context, { base_url }) {
      const { target } = context
      if (target === undefined) await reach(base_url, auth, context)
      const read = (repository: string, as: Auth | undefined) => discover(baseUrl, repository, as, context)
      const found = await proveBy(target, (repository) => read(repository, auth))
      // A server may show a public repository whatever the password is.
      const isOpen = found === 'works' && auth !== undefined && !(await isRefused(() => read(target!, undefined)))
      return {
        proves: isOpen ? 'reached' : found,
        scopes: [],
        warnings: [
          isOpen && OPEN,
          auth !== undefined && unencryptedWarning(baseUrl, 'The credentials are'),
          auth !== undefined && 'It is not known what these credentials can do: make sure that they can only read.',
        ],
      }
    },
    access: ({ base_url, username = '', password = '', prunes_at_once = false }): GitAccess => ({
      baseUrl: withoutTrailingSlash(base_url),
      prunesAtOnce: prunes_at_once,
      auth: username === '' && password === '' ? undefined : basic(username, password),
    }),
    readers: { commit: (access, query, context) => findCommit(access, query, context, repositories) },
  })
}

const OPEN =
  'Anybody can read the repository that was tried, so that it shows nothing of these credentials: try a private one.'

/** Reaches a server. The base URL need not be a page of it: only errors of the server itself and refused credentials count. */
async function reach(baseUrl: string, auth: Auth | undefined, { fetch, now }: ProbeContext): Promise<void> {
  const response = await fetch(baseUrl, { auth })
  await response.body?.cancel()
  const failure = httpFailure(response, now())
  if (failure.code === 'unavailable' || failure.code === 'rate_limited') throw failure
  if (response.status === 401 && auth) throw new DestinationError('unauthorized', { status: 401 })
}
