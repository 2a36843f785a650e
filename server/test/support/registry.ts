/** A registry as the service makes it of a plugin that the operator trusts, for tests that write their plugin's parts in place. */

import type { Manifest, PluginParts } from '@claimcheck/core/hosting'
import type { ConnectionType, Logger, Verifier } from '@claimcheck/core/plugin'
import type { Instant } from '@claimcheck/core/rules'
import { inProcess } from '@claimcheck/server/plugins/in-process'
import { createPluginLogger } from '@claimcheck/server/plugins/plugin-logger'
import { reachOf } from '@claimcheck/server/plugins/reach'
import { createRegistry, type LoadedPlugin, type Registry } from '@claimcheck/server/plugins/registry'

export const SILENT = { info() {}, warn() {} } satisfies Logger

/** What most connection types of tests have. */
export const WORKING = {
  title: 'Test',
  help: 'None.',
  fits: () => true,
  probe: async () => ({ proves: 'works', scopes: [], warnings: [] }),
} satisfies Partial<ConnectionType>

interface Loading {
  readonly name?: string
  readonly manifest?: Manifest
  readonly logger?: Logger
  readonly now?: () => Instant
}

export function loaded(
  parts: PluginParts,
  {
    name = 'test',
    manifest = { hosts: ['target'], programs: ['none'] },
    logger = SILENT,
    now = Date.now,
  }: Loading = {},
): LoadedPlugin {
  const types = (provider: string) => parts.connections?.find((type) => type.provider === provider)
  return {
    name,
    identity: { package: name, version: '1.0.0', codeHash: `sha256:${'0'.repeat(64)}`, isShipped: true },
    folder: '/nowhere',
    isolation: 'trusted',
    parts: inProcess(parts, types, {
      manifest,
      reach: reachOf(manifest, {}, true),
      logger: createPluginLogger({ logger, now }),
      now,
    }),
    anchorer: parts.anchorer,
    signingBackend: parts.signingBackend,
  }
}

export function registryOf(parts: PluginParts, loading?: Loading): Registry {
  return createRegistry([loaded(parts, loading)])
}

type Check = Verifier['check']

/** The check, with an answer of this place before it, as of a program that asks there: what is tested is not how it asks. */
export function heardAt(baseUrl: string, check: Check): Check {
  return async (claim, context) => {
    await context.ask(baseUrl, async () => {})
    return check(claim, context)
  }
}
