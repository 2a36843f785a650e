/** Packages with a plugin, as operators install them, and plugins in one file, as their authors try them. */
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'

/**
 * From a built file: a service that does not trust it runs it in a process of its own.
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

/** A plugin in one file that reads nothing, with this code in its check. @param core where it finds the contract */
export const pluginChecking = (
  check: string,
  core = '@claimcheck/core/plugin',
) => `import { definePlugin, defineVerifier, Type } from ${JSON.stringify(core)}
  const closed = { additionalProperties: false }
  const profile = {
    action: 'test.outcome.reach', version: '1', rulesVersion: 1, summary: 'It is there.', required: {},
    words: { title: 'An outcome', target: 'Place', claim: 'It is at {target}.', outcomes: {
      verified: 'It was there.', late: 'It was late.', mismatch: 'It was another.', failed: 'It was not there.' } },
    target: Type.String(), params: Type.Object({}, closed), facts: Type.Object({}, closed),
    toleranceMs: 60000, deadlineMs: 120000, maxDeadlineMs: 240000, access: { permission: 'none', anonymous: true },
  }
  const anonymousSource = () => ({ provider: 'test', baseUrl: 'https://test.example' })
  const verifier = defineVerifier({ profile, providers: [], anonymousSource, limits: { timeMs: 2000 },
    async check(claim, context) { ${check} } })
  export default definePlugin({ name: 'test', api: 3, manifest: { hosts: ['test.example'] }, options: Type.Object({}),
    setup: () => ({ verifiers: [verifier] }) })`
