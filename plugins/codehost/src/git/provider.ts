/** Connections to any server that speaks git over smart HTTP. */
import {
  type ConnectionType,
  DestinationError,
  defineConnectionType,
  type Static,
  secret,
  Type,
} from '@claimcheck/core/plugin'
import type { Provider } from '../code-host.ts'
import { baseUrl, fitsClaim, Owners, withoutTrailingSlash } from '../connection-options.ts'
import { httpFailure } from '../http-failure.ts'
import { createGitHost } from './find-commit.ts'
import type { Limits } from './remote-repository.ts'

const Options = Type.Object(
  {
    base_url: baseUrl('Where the repositories are: each is read at `<base_url>/<owner>/<repo>.git`.'),
    username: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 256,
        pattern: '^[^:\\u0000-\\u001f\\u007f]+$',
        description: 'The name of the user or of the token. It has no colon in it.',
      }),
    ),
    password: Type.Optional(secret({ description: 'The password, or a token that can read.' })),
    owners: Owners,
  },
  { additionalProperties: false },
)
type Options = Static<typeof Options>

const HELP = `Make a user, deploy token or access token that can read the repositories concerned and nothing else. Its name goes into
username, the secret into password. Repositories that everybody may read need neither.`

export function createGitProvider(limits: Limits): Provider {
  return {
    connectionType,
    open: ({ options }) => {
      const { base_url, ...credentials } = options as Options
      const authorization = basicAuthorization(credentials)
      const baseUrl = withoutTrailingSlash(base_url)
      return createGitHost({ baseUrl, ...(authorization === undefined ? {} : { authorization }) }, limits)
    },
  }
}

const connectionType: ConnectionType = defineConnectionType({
  provider: 'git',
  title: 'git over HTTP',
  options: Options,
  help: HELP,
  fits: ({ base_url, owners }, claim) => fitsClaim(claim, [new URL(base_url).host], owners),
  async probe(options, { fetch }) {
    const authorization = basicAuthorization(options)
    const response = await fetch(options.base_url, authorization === undefined ? {} : { headers: { authorization } })
    await response.body?.cancel()
    // The folder above the repositories need not answer anything sensible; only what concerns the server itself counts.
    const failure = httpFailure(response, Date.now())
    if (failure.code === 'unavailable' || failure.code === 'rate_limited') throw failure
    if (response.status === 401 && authorization !== undefined)
      throw new DestinationError('unauthorized', { status: 401 })
    const isOpen = authorization !== undefined && new URL(options.base_url).protocol === 'http:'
    return {
      scopes: [],
      warnings: [
        ...(isOpen ? ['The credentials travel unencrypted: use https.'] : []),
        ...(authorization === undefined
          ? []
          : ['What these credentials may do cannot be told: make sure that they can only read.']),
      ],
    }
  },
})

function basicAuthorization({
  username = '',
  password = '',
}: Pick<Options, 'username' | 'password'>): string | undefined {
  if (username === '' && password === '') return undefined
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}
