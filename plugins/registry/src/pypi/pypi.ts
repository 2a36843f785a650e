/** PyPI, or another index that has its JSON API. */
import { type Auth, basic, defineConnectionType, type Static, secret, Type } from '@claimcheck/core/plugin'
import { addressOf, baseUrl, common, fitsClaim, registryName } from '../connection.ts'
import type { Ecosystem } from '../ecosystem.ts'
import { packageTrial, tryPackage } from '../trial.ts'
import { findOnPypi, SIMPLE_JSON } from './find.ts'
import { normalizeProject } from './name.ts'
import { normalizePep440 } from './version.ts'

export const PUBLIC_PYPI = 'https://pypi.org'

const Options = Type.Object(
  {
    username: Type.Optional(
      Type.String({
        title: 'User name',
        minLength: 1,
        maxLength: 200,
        pattern: '^[^:]+$',
        'x-pattern-help': 'enter the name alone, without a colon',
        examples: ['reader'],
      }),
    ),
    password: Type.Optional(secret({ title: 'Password', description: 'The password, or a token in its place.' })),
    base_url: Type.Optional(baseUrl('The address of the index, below which `/simple/` and `/pypi/` are.', PUBLIC_PYPI)),
    ...common,
  },
  { additionalProperties: false },
)
type Options = Static<typeof Options>

const HELP = `PyPI itself needs no credentials: its tokens can only upload, so give none. At an index of your own create a user who may read the
projects concerned, and not upload any. The index must have PyPI's JSON API (\`/pypi/<project>/<version>/json\`) beside the simple one.`

function authOf({ username = '', password }: Pick<Options, 'username' | 'password'>): Auth | undefined {
  return password === undefined ? undefined : basic(username, password)
}

/** @param publicUrl read for claims that no connection fits */
export function createPypi(publicUrl = PUBLIC_PYPI): Ecosystem {
  const names = (url: string) => [registryName(url)]
  return {
    name: 'pypi',
    publicUrl,
    namesOf: names,
    // Its owners can delete a release, or one of its files.
    publicKeeps: false,
    publicLagMs: 0,
    isPublicName: () => true,
    algorithms: ['sha256'],
    normalizeName: normalizeProject,
    normalizeVersion: normalizePep440,
    authOf,
    find: findOnPypi,
    connectionType: defineConnectionType({
      provider: 'pypi',
      title: 'Python package index',
      options: Options,
      help: HELP,
      baseUrl: (options) => addressOf(options, publicUrl),
      fits: (options, claim) =>
        fitsClaim(options, claim, 'pypi', names(addressOf(options, publicUrl)), normalizeProject),
      trial: packageTrial('acme-widgets'),
      async probe(options, { http, target }) {
        const auth = authOf(options)
        const index = `${addressOf(options, publicUrl)}/simple/`
        const read = (url: string, auth: Auth | undefined) => http.head(url, { headers: { accept: SIMPLE_JSON }, auth })
        await read(index, auth)
        const { proves, warnings } = await tryPackage(target, { auth }, (name, auth) =>
          read(`${index}${normalizeProject(name)}/`, auth),
        )
        return { proves, scopes: [], warnings: [...warnings, ...(auth ? [UNKNOWN_RIGHTS] : [])] }
      },
    }),
  }
}

const UNKNOWN_RIGHTS = 'The index does not tell whether this user can also upload: make sure that they may read only.'
