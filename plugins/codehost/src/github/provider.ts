/** Connections to GitHub, the public one or an Enterprise server. */
import { defineConnectionType, type Static, secret, Type } from '@claimcheck/core/plugin'
import type { Provider } from '../code-host.ts'
import { baseUrl, fitsClaim, Owners, withoutTrailingSlash } from '../connection-options.ts'
import { RateLimitAnswer } from './answers.ts'
import { createGitHubApi } from './api.ts'
import { createGitHubHost } from './find-commit.ts'

export const PUBLIC_API = 'https://api.github.com'

const Options = Type.Object(
  {
    token: Type.Optional(secret({ description: 'A token that can read the repositories.' })),
    base_url: Type.Optional(
      baseUrl(`The base of the REST API: \`https://<host>/api/v3\` for Enterprise. \`${PUBLIC_API}\` when left out.`),
    ),
    owners: Owners,
  },
  { additionalProperties: false },
)
type Options = Static<typeof Options>

const HELP = `Make a fine-grained personal access token with access to the repositories concerned and the repository
permissions "Metadata: read" and "Contents: read", nothing else. Public repositories need no token, but without one GitHub allows few requests.`

/** Every scope whose name does not say otherwise lets its token change something, `repo` and `repo:status` too. */
function isReadScope(scope: string): boolean {
  return scope.startsWith('read:') || scope === 'user:email'
}

export const github: Provider = {
  connectionType: defineConnectionType({
    provider: 'github',
    title: 'GitHub',
    options: Options,
    help: HELP,
    fits: ({ base_url, owners }, claim) => fitsClaim(claim, githubNames(base_url ?? PUBLIC_API), owners),
    async probe(options, context) {
      const api = createGitHubApi(access(options), { ...context, now: Date.now })
      // An Enterprise server without rate limits answers 404; that the token was accepted is what counts.
      const answer = await api.get('/rate_limit', RateLimitAnswer, [404])
      const granted = 'value' in answer ? (answer.headers.get('x-oauth-scopes') ?? '') : ''
      const scopes = granted
        .split(',')
        .map((scope) => scope.trim())
        .filter(Boolean)
      const writing = scopes.filter((scope) => !isReadScope(scope))
      const warnings =
        writing.length > 0 ? [`This token can also write (${writing.join(', ')}), which is more than is needed.`] : []
      return { scopes, warnings }
    },
  }),
  open: ({ options }) => createGitHubHost(access(options as Options)),
}

/** The names under which claims may speak of the host behind an API: `github.com` for `https://api.github.com`. */
export function githubNames(apiUrl: string): string[] {
  const { host } = new URL(apiUrl)
  return host === 'api.github.com' ? ['github.com', host] : [host]
}

function access({ token, base_url }: Options) {
  const baseUrl = withoutTrailingSlash(base_url ?? PUBLIC_API)
  return { baseUrl, ...(token === undefined ? {} : { token }) }
}
