/** Reads PyPI, or another index that has its JSON API. */
import { type Auth, basic, defineConnectionType, type Static, secret, statusError, Type } from '@claimcheck/core/plugin'
import { addressOf, baseUrl, common, fitsClaim, registryName } from '../connection.ts'
import type { Ecosystem } from '../ecosystem.ts'
import { packageTrial, tryPackage } from '../trial.ts'
import { findOnPypi, rootsOf } from './find.ts'
import { normalizeProject } from './name.ts'
import { SIMPLE } from './simple.ts'
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
    base_url: Type.Optional(
      baseUrl(
        'The address of the index, below which `/simple/` is; or with it, as `index-url` of pip has it.',
        PUBLIC_PYPI,
      ),
    ),
    ...common,
  },
  { additionalProperties: false },
)
type Options = Static<typeof Options>

const HELP = `PyPI itself needs no credentials: its tokens can only upload, so give none. At an index of your own create a user who may read the
projects concerned, and not upload any. An index with the simple API alone, such as devpi, pypiserver, Nexus and Gitea, shows the versions and
the digests of their files, and seldom when they came;\nname a project to try where the index lists none, as Gitea does.`

function authOf({ username = '', password }: Pick<Options, 'username' | 'password'>): Auth | undefined {
  return password === undefined ? undefined : basic(username, password)
}

/** Creates the ecosystem. @param publicUrl the index that is read for claims that no connection fits */
export function createPypi(publicUrl = PUBLIC_PYPI): Ecosystem {
  // Tools that upload name the address to which they upload.
  const names = (url: string) => [
    registryName(url),
    ...(url === publicUrl ? ['pypi.org/simple', 'upload.pypi.org', 'upload.pypi.org/legacy'] : []),
  ]
  return {
    name: 'pypi',
    publicUrl,
    namesOf: names,
    // Owners can delete a release, or one of its files.
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
      refusesHidden: true,
      trial: packageTrial('acme-widgets'),
      async probe(options, context) {
        const { simple } = rootsOf(addressOf(options, publicUrl))
        // GET is used, because not every index answers HEAD.
        const read = async (url: string, auth: Auth | undefined, also: readonly number[] = []) => {
          const asked = { headers: { accept: SIMPLE }, auth }
          const { status } = await context.http.head(url, { ...asked, also: [...also, 405, 501] })
          if (status !== 405 && status !== 501) return status
          const response = await context.fetch(url, asked)
          await response.body?.cancel()
          if (!response.ok && !also.includes(response.status)) throw statusError(response, context.now())
          return response.status
        }
        // An index may list no projects: then a named one tells whether it is an index.
        const status = await read(`${simple}/`, authOf(options), context.target === undefined ? [] : [404])
        const { proves, warnings } = await tryPackage(context.target, { auth: authOf(options) }, (name, auth) =>
          read(`${simple}/${normalizeProject(name)}/`, auth),
        )
        const hasUser = authOf(options) !== undefined
        return {
          proves,
          scopes: [],
          warnings: [...warnings, ...(status === 404 ? [NO_LIST] : []), ...(hasUser ? [UNKNOWN_RIGHTS] : [])],
        }
      },
    }),
  }
}

const NO_LIST =
  'The index lists no projects at `/simple/`, so that nothing can be said of a project that it does not show.'
const UNKNOWN_RIGHTS = 'The index does not tell whether this user can also upload: make sure that they may read only.'
