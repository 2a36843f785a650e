/** Reads a Cargo registry with a sparse index: crates.io or another one. */
import { type Auth, defineConnectionType, header, type Static, secret, Type } from '@claimcheck/core/plugin'
import { addressOf, baseUrl, common, fitsClaim, registryName } from '../connection.ts'
import type { Ecosystem } from '../ecosystem.ts'
import { json } from '../json.ts'
import { RegistryReader } from '../reader.ts'
import { parseSemVer } from '../semver.ts'
import { packageTrial, tryPackage } from '../trial.ts'
import { findOnCargo } from './find.ts'
import { Config, indexPath } from './index-file.ts'

export const PUBLIC_CARGO = 'https://index.crates.io'

const Options = Type.Object(
  {
    token: Type.Optional(secret({ title: 'Token', description: 'A token with which the index can be read.' })),
    base_url: Type.Optional(
      baseUrl("The address of the sparse index, without Cargo's `sparse+` before it.", PUBLIC_CARGO),
    ),
    ...common,
  },
  { additionalProperties: false },
)
type Options = Static<typeof Options>

const HELP = `The index of crates.io needs no token, and takes none: its tokens are for publishing. For a registry of your own create a token that can
read the index, and not publish. Cargo sends it as it is; if yours is of the kind "Bearer", write the word before it.`

function authOf({ token }: Pick<Options, 'token'>): Auth | undefined {
  return token === undefined ? undefined : header('authorization', token)
}

/** Creates the ecosystem. @param publicUrl the registry that is read for claims that no connection fits */
export function createCargo(publicUrl = PUBLIC_CARGO): Ecosystem {
  const names = (url: string) => (url === publicUrl ? [registryName(url), 'crates.io'] : [registryName(url)])
  return {
    name: 'cargo',
    publicUrl,
    namesOf: names,
    // A version of a crate can be yanked, and stays. Where its whole crate is deleted, the record begins anew.
    publicKeeps: true,
    // The `max-age` of the registry's index files: not each of its caches hears at once of a new version.
    publicLagMs: 10 * 60_000,
    isPublicName: () => true,
    algorithms: ['sha256'],
    // The path of an index file is in lower case, so that two crates cannot differ in case alone.
    normalizeName: (name) => name.toLowerCase(),
    normalizeVersion(text) {
      const version = parseSemVer(text)
      return version && version.withoutBuild + version.build
    },
    authOf,
    find: findOnCargo,
    connectionType: defineConnectionType({
      provider: 'cargo',
      title: 'Cargo registry',
      options: Options,
      help: HELP,
      baseUrl: (options) => addressOf(options, publicUrl),
      fits: (options, claim) =>
        fitsClaim(options, claim, 'cargo', names(addressOf(options, publicUrl)), (name) => name.replaceAll('-', '_')),
      refusesHidden: true,
      trial: packageTrial('acme_widgets'),
      async probe(options, context) {
        const auth = authOf(options)
        const reader = new RegistryReader({ auth }, context)
        const address = addressOf(options, publicUrl)
        await reader.get(`${address}/config.json`, json('cargo config', Config))
        const { proves, warnings } = await tryPackage(context.target, { auth }, (name, auth) =>
          context.http.head(`${address}/${indexPath(name.toLowerCase())}`, { auth }),
        )
        return { proves, scopes: [], warnings: [...warnings, ...(auth ? [UNKNOWN_RIGHTS] : [])] }
      },
    }),
  }
}

const UNKNOWN_RIGHTS =
  'The registry does not tell whether this token can also publish: make sure that it can only read.'
