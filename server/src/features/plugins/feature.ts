/** Plugins of an installation: loaded, replaced and removed by commands, and the same on all hosts. */
import type { HostServices } from '../../host/container.ts'
import type { Feature } from '../../host/feature.ts'
import type { Dialect } from '../../storage/dialect.ts'
import { hostPlugins } from '../../storage/host-plugins.ts'
import type { MigrationDb } from '../../storage/schema.ts'
import type { PluginAgreement } from './agreement.ts'
import { addPluginCommands } from './commands/plugin.ts'

export interface Services extends Pick<HostServices, 'storage' | 'config'> {
  readonly pluginAgreement: PluginAgreement
}

export const pluginsFeature = {
  name: 'plugins',
  needs: ['log', 'claims'],
  stored: {
    tables: [{ table: hostPlugins, isCopied: false, isShared: true }] as const,
    migrations: { '020-host-plugins': { up } },
  },
  services: async () => {
    const { createPluginAgreement } = await import('./agreement.ts')
    return { pluginAgreement: createPluginAgreement }
  },
  prepare: ({ pluginAgreement }) => pluginAgreement.begin(),
  workers: ({ pluginAgreement }) => [pluginAgreement.worker],
  warnings: async ({ pluginAgreement }) => pluginAgreement.current().map(({ text }) => text),
  commands: addPluginCommands,
} satisfies Feature<Services>

async function up(db: MigrationDb, { shared }: Dialect): Promise<void> {
  if (!shared) return
  await db.schema.createTable('host_plugins', (table) => {
    table.text('host_id').primary()
    table.bigInteger('until').notNullable()
    // A JSON list of packages, versions and digests.
    table.text('plugins').notNullable()
  })
}
