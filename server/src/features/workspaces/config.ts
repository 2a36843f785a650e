/** The configuration of workspaces: `sources`, the addresses that receipts name as the public destination of a provider. */
import { type Static, Type } from '@claimcheck/core/plugin'
import type { ConfigSection } from '../../config/section.ts'

export interface WorkspacesConfig {
  /** By provider, the base addresses that receipts name as the public destination of that name. */
  readonly sources: Readonly<Record<string, readonly string[]>>
  /** Those of them that the file names. */
  readonly configuredSources: readonly string[]
}

/** Those of the public code hosts and package registries are listed without being configured. */
const DEFAULT_SOURCES: WorkspacesConfig['sources'] = {
  github: ['https://api.github.com'],
  gitlab: ['https://gitlab.com'],
  bitbucket: ['https://api.bitbucket.org/2.0'],
  npm: ['https://registry.npmjs.org'],
  pypi: ['https://pypi.org'],
  cargo: ['https://index.crates.io'],
}

// With a scheme of sockets a host and a port, and no path.
const sourceUrl = Type.String({
  pattern: '^(?:https?://[^\\s/?#@]+(?:/[^\\s?#]*)?|tls://[^\\s/?#@]+:[0-9]{1,5})$',
  'x-pattern-help': 'write an address that begins with https://, http:// or tls://, the last with a port and no path',
  examples: ['https://git.example.com'],
  maxLength: 2048,
})

const file = {
  sources: Type.Optional(Type.Record(Type.String({ pattern: '^[a-z0-9][a-z0-9_-]{0,63}$' }), Type.Array(sourceUrl))),
}
const File = Type.Object(file)

export const workspacesConfig: ConfigSection<WorkspacesConfig> = {
  file,
  read: ({ sources = {} }: Static<typeof File>) => ({
    sources: { ...DEFAULT_SOURCES, ...sources },
    configuredSources: Object.values(sources).flat(),
  }),
}
