/** Finds the package of a plugin: its module, its digest, and all that it can import, which is all that an isolated plugin may read. */
import { realpath } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { isWithin, outermost, type PackageLink, type ReadableSet } from '@claimcheck/core/sandbox/command'
import { dependenciesOf } from '@claimcheck/core/sandbox/package-dependencies'
import { PackageError } from '@claimcheck/core/sandbox/package-error'
import { readPackageJson, textMember } from '@claimcheck/core/sandbox/package-json'
import { refuseStrayLinks } from '@claimcheck/core/sandbox/package-links'
import { findEntry, type PluginEntry } from './package-entry.ts'
import { codeHashOf, codeHashOfFile, isOwn } from './package-files.ts'

export interface PluginPackage extends ReadableSet {
  /** The absolute real path of the module to import. */
  readonly entry: string
  /** The real folder of the package. A lone file has none: its folder is the operator's, with the configuration and maybe keys in it. */
  readonly root: string | undefined
  readonly name: string | undefined
  readonly version: string | undefined
  /** The digest by `codeHashOf` of the package, or of the lone file. Imports from other packages are not in it. */
  readonly codeHash: string
  /** The folders of the package, and of those that it depends on. For a lone file, those that the package.json above it names, and core. */
  readonly packages: readonly string[]
  /** The files of a lone file: itself, and the package.json that says how Node reads it. A package has none of these. */
  readonly files: readonly string[]
  readonly links: readonly PackageLink[]
}

/**
 * Resolves `use` as an import in the configuration's folder would, and a folder by its package.json. The plugin's own packages are read on every
 * call.
 * @param folder the folder of the configuration file
 * @param apart folders that no plugin may read, beside that of the configuration: that of the data
 * @throws PackageError with the reason, for the operator
 */
export async function locatePlugin(use: string, folder: string, apart: readonly string[] = []): Promise<PluginPackage> {
  const home = await realpath(folder)
  const found = await findEntry(use, home)
  const forbidden = [home, ...(await Promise.all(apart.map(realOrSame)))]
  const located = found.kind === 'file' ? await loneFile(found) : await packaged(found)
  for (const root of located.packages) refuseToContain(root, forbidden)
  // Some folders of packages may lie in others.
  for (const root of outermost(located.packages)) await refuseStrayLinks(root, located.packages)
  if (!isWithin(located.entry, [...located.packages, ...located.files])) {
    throw new PackageError('stray_link', `its module leads out of its package, to ${located.entry}`)
  }
  return {
    ...located,
    codeHash: await (located.root === undefined ? codeHashOfFile(found.entry) : codeHashOf(located.root)),
  }
}

type Located = Omit<PluginPackage, 'codeHash'>

async function packaged({ entry, root }: PluginEntry): Promise<Located> {
  if (root === undefined) throw new PackageError('not_a_plugin', `no package.json is above ${entry}`)
  // A hidden module could change without its digest.
  if (!relative(root, entry).split('/').every(isOwn)) {
    throw new PackageError(
      'unlisted_file',
      `its module is in no folder that the digest of the package counts: ${entry}`,
    )
  }
  const json = await readPackageJson(root)
  const { packages, links } = await dependenciesOf(root, json)
  const [name, version] = [textMember(json, 'name'), textMember(json, 'version')]
  return { entry, root, name, version, packages: [...new Set([root, ...packages])], files: [], links }
}

async function loneFile({ entry, root }: PluginEntry): Promise<Located> {
  const json = root === undefined ? undefined : await readPackageJson(root)
  const { packages, links } = await dependenciesOf(join(entry, '..'), json)
  const files = root === undefined ? [entry] : [entry, join(root, 'package.json')]
  return { entry, root: undefined, name: undefined, version: undefined, packages, files, links }
}

function refuseToContain(root: string, forbidden: readonly string[]): void {
  const inside = forbidden.find((folder) => isWithin(folder, [root]))
  if (inside === undefined) return
  throw new PackageError(
    'forbidden_folder',
    `the package ${root} contains ${inside}, which no plugin may read: move one of them out of the other`,
  )
}

/** Finds the real path of a folder; one that does not exist yet has none. */
async function realOrSame(folder: string): Promise<string> {
  try {
    return await realpath(folder)
  } catch {
    return folder
  }
}
