/** Makes the installation of a measurement: a temporary folder and a separate database, with the shipped settings. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Claimcheck, openClaimcheck } from '@claimcheck/server/claimcheck'
import { type Config, loadConfig } from '@claimcheck/server/features'
import { createDatabase, type Dialect } from '../../test/support/database.ts'
import { NO_LIMITS, NO_QUOTAS, SCRIPTED } from '../../test/support/installation.ts'
import { makePluginPackage } from '../../test/support/plugin-package.ts'

export interface Installation {
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
}

export interface InstallationOptions {
  readonly dialect?: Dialect
  /** Built files of plugins that run in separate processes. */
  readonly isolated?: readonly string[]
  readonly plugins?: readonly { readonly use: string; readonly with?: object; readonly trusted?: boolean }[]
  readonly env?: Readonly<Record<string, string>>
  /** By default there is none, because one client makes all the load. */
  readonly limits?: object
  /** The rest of the configuration file. */
  readonly file?: object
}

/** The plugin of `hanging.ts`. */
export const HANGING = { use: resolve('build/scripts/bench/hanging.js'), trusted: true }

export async function withInstallation<T>(
  options: InstallationOptions,
  work: (installation: Installation) => Promise<T>,
): Promise<T> {
  const { dialect = 'sqlite', plugins = [SCRIPTED], isolated = [], env = {}, limits = NO_LIMITS, file = {} } = options
  const folder = await mkdtemp(join(tmpdir(), 'claimcheck-bench-'))
  const database = await createDatabase(dialect)
  try {
    const packages = isolated.map((built) => ({ use: makePluginPackage(folder, built) }))
    await writeFile(
      join(folder, 'claimcheck.config.json'),
      JSON.stringify({ plugins: [...plugins, ...packages], rate_limits: limits, quotas: NO_QUOTAS, ...file }),
    )
    return await work({ folder, env: { ...database.env, ...env } })
  } finally {
    await database.remove()
    await rm(folder, { recursive: true, force: true })
  }
}

export function configOf({ folder, env }: Installation): Config {
  return loadConfig({ PORT: '0', LOG_LEVEL: 'warn', ...env }, folder)
}

/** The installation's parts, in this process, with its log made. */
export async function withOpened<T>(
  installation: Installation,
  work: (claimcheck: Claimcheck) => Promise<T>,
): Promise<T> {
  const claimcheck = await openClaimcheck(configOf(installation), { plugins: true, patient: true })
  try {
    await claimcheck.signingKeys.ensureLog()
    return await work(claimcheck)
  } finally {
    await claimcheck.close()
  }
}

/** A workspace of the benchmark's own with a key. */
export async function createWorkspace({ workspaces, keys }: Claimcheck, name = 'bench') {
  const { id } = await workspaces.create(name)
  const { key } = await keys.create(id, 'bench')
  return { workspaceId: id, key }
}
