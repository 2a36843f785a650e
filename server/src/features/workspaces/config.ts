/** The configuration of workspaces: `sources`, the addresses that receipts name as the public destination of a provider. */
import { type Static, Type } from '@claimcheck/core/plugin'
import { EXPECTED_VERIFIER, readExpectedVerifier } from '@claimcheck/core/receipts'
import { closed, configSection, type MembersOf } from '../../config/section.ts'
import type { NamedReader } from '../../plugins/identity.ts'

/** Public code hosts and package registries, which are listed without being configured. */
const DEFAULT_SOURCES: Readonly<Record<string, readonly string[]>> = {
  github: ['https://api.github.com'],
  gitlab: ['https://gitlab.com'],
  bitbucket: ['https://api.bitbucket.org/2.0'],
  npm: ['https://registry.npmjs.org'],
  pypi: ['https://pypi.org'],
  cargo: ['https://index.crates.io'],
}

// Socket addresses have a host and a port, and no path.
const sourceUrl = Type.String({
  pattern: '^(?:https?://[^\\s/?#@]+(?:/[^\\s?#]*)?|tls://[^\\s/?#@]+:[0-9]{1,5})$',
  'x-pattern-help': 'write an address that begins with https://, http:// or tls://, the last with a port and no path',
  examples: ['https://git.example.com'],
  maxLength: 2048,
})

const reader = Type.String({
  pattern: EXPECTED_VERIFIER,
  'x-pattern-help': 'write the package of a plugin, and its version and digest where they are to be fixed',
  examples: ['@acme/claimcheck-plugin', '@acme/claimcheck-plugin@1.2.0#sha256:...'],
  maxLength: 400,
})

/** The schema of a source: an address that plugins which come with the server read, or one with the other plugins that may read it. */
const source = Type.Union([sourceUrl, closed({ url: sourceUrl, plugins: Type.Array(reader, { minItems: 1 }) })])

export const workspacesConfig = configSection(
  { sources: Type.Optional(Type.Record(Type.String({ pattern: '^[a-z0-9][a-z0-9_-]{0,63}$' }), Type.Array(source))) },
  ({ sources: listed = {} }) => {
    const urls = Object.entries(listed).map(([provider, sources]) => [provider, sources.map(urlOf)] as const)
    return {
      /** Base addresses, by provider, that receipts name as the public destination of that provider. */
      sources: { ...DEFAULT_SOURCES, ...Object.fromEntries(urls) },
      /** Plugins, beside those that come with the server, whose reads at listed addresses may be called listed. */
      sourceReaders: Object.entries(listed).flatMap(([provider, sources]) =>
        sources.flatMap((one) => readersOf(provider, one)),
      ),
      /** The base addresses that the configuration file names. */
      configuredSources: urls.flatMap(([, addresses]) => addresses),
    }
  },
)

export type WorkspacesConfig = MembersOf<typeof workspacesConfig>

type ListedSource = Static<typeof source>

function urlOf(listed: ListedSource): string {
  return typeof listed === 'string' ? listed : listed.url
}

function readersOf(provider: string, listed: ListedSource): NamedReader[] {
  if (typeof listed === 'string') return []
  const { url, plugins } = listed
  return plugins.map((text) => ({ provider, url, plugin: readExpectedVerifier(text)! }))
}
