/** The configuration of workspaces: `sources`, the addresses that receipts name as the public destination of a provider. */
import { type Static, Type } from '@claimcheck/core/plugin'
import { EXPECTED_VERIFIER, readExpectedVerifier } from '@claimcheck/core/receipts'
import type { ConfigSection } from '../../config/section.ts'
import { closed } from '../../config/settings.ts'
import type { NamedReader } from '../../plugins/identity.ts'

export interface WorkspacesConfig {
  /** Base addresses, by provider, that receipts name as the public destination of that provider. */
  readonly sources: Readonly<Record<string, readonly string[]>>
  /** Plugins, beside those that come with the server, whose reads at listed addresses may be called listed; none by default. */
  readonly sourceReaders?: readonly NamedReader[]
  /** The base addresses that the configuration file names. */
  readonly configuredSources: readonly string[]
}

/** Public code hosts and package registries, which are listed without being configured. */
const DEFAULT_SOURCES: WorkspacesConfig['sources'] = {
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

const file = {
  sources: Type.Optional(Type.Record(Type.String({ pattern: '^[a-z0-9][a-z0-9_-]{0,63}$' }), Type.Array(source))),
}
const File = Type.Object(file)

export const workspacesConfig: ConfigSection<WorkspacesConfig> = {
  file,
  read({ sources = {} }: Static<typeof File>) {
    const urls = Object.entries(sources).map(([provider, listed]) => [provider, listed.map(urlOf)] as const)
    return {
      sources: { ...DEFAULT_SOURCES, ...Object.fromEntries(urls) },
      sourceReaders: Object.entries(sources).flatMap(([provider, listed]) =>
        listed.flatMap((one) => readersOf(provider, one)),
      ),
      configuredSources: urls.flatMap(([, listed]) => listed),
    }
  },
}

type ListedSource = Static<typeof source>

function urlOf(listed: ListedSource): string {
  return typeof listed === 'string' ? listed : listed.url
}

function readersOf(provider: string, listed: ListedSource): NamedReader[] {
  if (typeof listed === 'string') return []
  const { url, plugins } = listed
  return plugins.map((text) => ({ provider, url, plugin: readExpectedVerifier(text)! }))
}
