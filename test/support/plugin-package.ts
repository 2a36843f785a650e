/** A package with a plugin from a built file, as an operator installs it: a service that does not trust it runs it in a process of its own. */
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'

/**
 * @param folder a new one is made in it
 * @param others the packages that it depends on beside core, and where they are
 * @returns the path of the package
 */
export function makePluginPackage(
  folder: string,
  built: string,
  others: Readonly<Record<string, string>> = {},
): string {
  const root = join(folder, basename(built, '.js'))
  mkdirSync(join(root, 'node_modules/@claimcheck'), { recursive: true })
  const packages = { '@claimcheck/core': 'core', ...others }
  for (const [name, path] of Object.entries(packages)) symlinkSync(resolve(path), join(root, 'node_modules', name))
  const dependencies = Object.fromEntries(Object.keys(packages).map((name) => [name, '*']))
  const json = { name: 'acme-plugin', version: '1.2.3', type: 'module', exports: './index.js', dependencies }
  writeFileSync(join(root, 'package.json'), JSON.stringify(json))
  copyFileSync(resolve(built), join(root, 'index.js'))
  return root
}
