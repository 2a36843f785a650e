/** The npm registry, public or another one of its protocol. */
import { bearer, DestinationError, defineConnectionType, secret, Type } from '@claimcheck/core/plugin'
import { addressOf, baseUrl, common, fitsClaim, registryName } from '../connection.ts'
import type { Ecosystem } from '../ecosystem.ts'
import { json } from '../json.ts'
import { RegistryReader } from '../reader.ts'
import { parseSemVer } from '../semver.ts'
import { packageTrial, tryPackage } from '../trial.ts'
import { Ping, WhoAmI } from './answers.ts'
import { findOnNpm } from './find.ts'

export const PUBLIC_NPM = 'https://registry.npmjs.org'

const Options = Type.Object(
  {
    token: Type.Optional(secret({ title: 'Token', description: 'A token that can read the packages.' })),
    base_url: Type.Optional(baseUrl('The address of the registry, as `npm config get registry` shows it.', PUBLIC_NPM)),
    ...common,
  },
  { additionalProperties: false },
)

const HELP = `Public packages need no token. For private ones at npmjs.com create a granular access token with the permission "Read only" for the
packages or scopes concerned, and with no permission for organizations. At a server of your own create a user who may read the packages,
and not publish any, and make a token with \`npm login\`. Connect the registry to which packages are published: one that only passes on
another's packages shows them as its own.`

/** Creates the ecosystem. @param publicUrl the registry that is read for claims that no connection fits */
export function createNpm(publicUrl = PUBLIC_NPM): Ecosystem {
  const names = (url: string) => [registryName(url), ...(url === publicUrl ? ['npmjs.com', 'www.npmjs.com'] : [])]
  return {
    name: 'npm',
    publicUrl,
    namesOf: names,
    // npm never gives a version's number again, and `time` keeps what was unpublished.
    publicKeeps: true,
    // The public registry's edge keeps answers for this long.
    publicLagMs: 5 * 60_000,
    // Private packages have a scope.
    isPublicName: (name) => !name.startsWith('@'),
    algorithms: ['sha512', 'sha256'],
    normalizeName: (name) => name,
    // npm drops what follows a plus when it publishes, so that nothing tells whether it was there.
    normalizeVersion(text) {
      const version = parseSemVer(text)
      return version?.build === '' ? version.withoutBuild : undefined
    },
    authOf: ({ token }) => bearer(token as string | undefined),
    find: findOnNpm,
    connectionType: defineConnectionType({
      provider: 'npm',
      title: 'npm registry',
      options: Options,
      help: HELP,
      baseUrl: (options) => addressOf(options, publicUrl),
      fits: (options, claim) => fitsClaim(options, claim, 'npm', names(addressOf(options, publicUrl))),
      refusesHidden: true,
      trial: packageTrial('@acme/widgets'),
      async probe(options, context) {
        const { token } = options
        const address = addressOf(options, publicUrl)
        const auth = bearer(token)
        const reader = new RegistryReader({ auth }, context)
        // A registry without accounts answers 404 to who asks.
        const who =
          token === undefined
            ? undefined
            : await reader.get(`${address}/-/whoami`, { ...json('npm account', WhoAmI), also: [404] })
        if (who && !who.value.username) throw new DestinationError('unauthorized')
        if (!who) await reader.get(`${address}/-/ping`, json('npm ping', Ping))
        const { proves, warnings } = await tryPackage(
          context.target,
          { auth, isKnown: who !== undefined },
          (name, auth) => context.http.head(`${address}/${name.replace('/', '%2f')}`, { auth }),
        )
        return { proves, scopes: [], warnings: [...warnings, ...(token === undefined ? [] : [UNKNOWN_RIGHTS])] }
      },
    }),
  }
}

const UNKNOWN_RIGHTS =
  'The registry does not tell whether this token can also publish: make sure that it was made to read only.'
