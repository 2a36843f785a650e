/** Loads plugins as the service would, for what they say of themselves, and leaves nothing of it behind. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CommandError } from '@claimcheck/command-line/errors'
import { typed } from '@claimcheck/command-line/typed'
import type { PluginEntry } from '../../config/config.ts'
import { locatePlugin } from '../../plugins/package.ts'
import { PluginError } from '../../plugins/plugin-error.ts'
import { type HostLogger, loadPlugins } from '../../plugins/plugins.ts'
import type { Registry } from '../../plugins/registry.ts'

export type LoadingConfig = Parameters<typeof loadPlugins>[0]

const silent = () => {}
const SILENT: HostLogger = {
  ...{ trace: silent, debug: silent, info: silent, warn: silent, error: silent },
  child: () => SILENT,
}

/**
 * Loads these plugins, has `work` look at them, and ends them.
 * @throws PluginError
 */
export async function withLoaded<T>(
  config: LoadingConfig,
  plugins: readonly PluginEntry[],
  work: (registry: Registry) => Promise<T>,
): Promise<T> {
  // An empty data folder, because a service's own remembers what a plugin said at an earlier start: here it has to start.
  const dataDir = mkdtempSync(join(tmpdir(), 'claimcheck-plugins-'))
  try {
    // No plugin may hold the data folder, either.
    for (const { use } of plugins) await locatePlugin(use, config.pluginDir, [config.dataDir]).catch(unless(use))
    const registry = await loadPlugins({ ...config, plugins, dataDir }, { logger: SILENT, now: Date.now })
    try {
      return await work(registry)
    } finally {
      await Promise.all(registry.plugins.map(({ parts }) => parts.close()))
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

function unless(use: string) {
  return (error: Error): never => {
    throw new PluginError([`${use}: ${error.message}`])
  }
}

/** Loads these plugins, or says that they do not load. */
export async function ifLoaded<T>(
  config: LoadingConfig,
  plugins: readonly PluginEntry[],
  work: (registry: Registry) => Promise<T>,
): Promise<T | undefined> {
  try {
    return await withLoaded(config, plugins, work)
  } catch (error) {
    if (error instanceof PluginError) return undefined
    throw error
  }
}

/** Advice by the beginning of a problem's text. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [
    /which the operator has to trust/,
    'Read its code first. If you trust it with all that the service has, install it with npm, and write its line by hand, with "trusted": true.',
  ],
  [/name it under signer/, 'Install it with npm, and name it under "signer" in the configuration file.'],
  [/definePlugin|no module to import|no package.json/, 'It is no plugin of Claimcheck: check the name of the package.'],
  [/options/, 'If it needs options, install it with npm, and write its line by hand, with "with".'],
  [
    /lets? plugins be isolated/,
    'See "The sandbox" in server/docs/plugins.md. No plugin of others is added without a sandbox by this command.',
  ],
  [
    /already offers|looks like|letters that look/,
    'Two plugins cannot offer the same: remove the other one first, or use another package.',
  ],
]

/** Says of a plugin that does not load what was undone, and what to do. */
export function refusalOf(name: string, { problems }: PluginError): CommandError {
  const [, advice] = ADVICE.find(([problem]) => problems.some((text) => problem.test(text))) ?? []
  const lines = [
    `${name} does not load beside the configured plugins, and everything is as it was:`,
    ...problems.map((problem) => `  ${problem}`),
    `  ${advice ?? `Tell its author, or mend the other plugins that are named here: ${typed('plugins')}`}`,
  ]
  return new CommandError('refused', lines.join('\n'))
}
