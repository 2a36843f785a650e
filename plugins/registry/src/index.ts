/** The plugin registry: checks publications at package registries. A new kind of registry is one more in the list below. */
import { definePlugin, earlierVersion, Type } from '@claimcheck/core/plugin'
import { createCargo, PUBLIC_CARGO } from './cargo/cargo.ts'
import { baseUrl, withoutTrailingSlash } from './connection.ts'
import { createNpm, PUBLIC_NPM } from './npm/npm.ts'
import { createPublish } from './publish.ts'
import { createPypi, PUBLIC_PYPI } from './pypi/pypi.ts'

const WITHOUT = 'that is read without credentials, for claims that no connection of their workspace fits.'

const Options = Type.Object(
  {
    public_npm_url: Type.Optional(
      baseUrl(`The npm registry ${WITHOUT} It must keep what it published, as npm's own does.`, PUBLIC_NPM),
    ),
    public_pypi_url: Type.Optional(baseUrl(`The Python package index ${WITHOUT}`, PUBLIC_PYPI)),
    public_cargo_url: Type.Optional(
      baseUrl(
        `The sparse index of Cargo ${WITHOUT} It must keep what it published, as that of crates.io does.`,
        PUBLIC_CARGO,
      ),
    ),
  },
  { additionalProperties: false },
)

export default definePlugin({
  name: 'registry',
  api: 3,
  manifest: {
    hosts: [
      'registry.npmjs.org',
      'pypi.org',
      'index.crates.io',
      'connection.base_url',
      'options.public_npm_url',
      'options.public_pypi_url',
      'options.public_cargo_url',
    ],
  },
  options: Options,
  setup(_, { public_npm_url, public_pypi_url, public_cargo_url }) {
    const address = (url: string | undefined) => url && withoutTrailingSlash(url)
    const ecosystems = [
      createNpm(address(public_npm_url)),
      createPypi(address(public_pypi_url)),
      createCargo(address(public_cargo_url)),
    ]
    const publish = createPublish(ecosystems)
    return {
      verifiers: [
        publish,
        earlierVersion(publish, { version: '1', rulesVersion: 1, compared: undefined, past: undefined }),
      ],
      connections: ecosystems.map(({ connectionType }) => connectionType),
    }
  },
})
