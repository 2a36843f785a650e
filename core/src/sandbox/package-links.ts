/** Lists the entries of a package's folder, and refuses links that lead out of it. */
import type { Dirent } from 'node:fs'
import { readdir, readlink, realpath } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { isWithin } from './command.ts'
import { installedAt } from './package-dependencies.ts'
import { PackageError } from './package-error.ts'
import { readPackageJson, textMember } from './package-json.ts'

/** The most entries of a package with all that is installed in it. */
const MOST_ENTRIES = 500_000

export interface FoundEntry {
  /** The path of the entry relative to the folder, with slashes. */
  readonly path: string
  readonly kind: 'file' | 'link' | 'other'
}

/** The advice for links, because npm links the folders that it installs. */
const COPY_IT = 'install what it leads to from a file of npm pack'

/**
 * Refuses a package that is a link to elsewhere. A link such as npm makes for a folder would open that folder, with all that its owner keeps there.
 * @param path the real folder of a package that another one depends on
 * @param checkout a folder of the project: what a checkout links there is its own
 * @throws PackageError `stray_link`
 */
export async function refuseElsewhere(path: string, checkout: string): Promise<void> {
  if (path.split('/').includes('node_modules')) return
  const name = textMember(await readPackageJson(path), 'name') ?? ''
  const installed = await installedAt(name, checkout)
  if (installed !== undefined && (await realpath(installed)) === path) return
  throw new PackageError('stray_link', `it depends on ${path}, which is a folder outside node_modules: ${COPY_IT}`)
}

/**
 * Refuses links that lead elsewhere. Node's permission model follows links: one that leads out of what a process may read would let it read more.
 * Links in `node_modules` may lead to other installed packages, as those of development dependencies do.
 * @param allowed real folders that the process may read
 * @throws PackageError `stray_link` for the first that leads elsewhere
 */
export async function refuseStrayLinks(root: string, allowed: readonly string[]): Promise<void> {
  for await (const { path, kind } of entriesOf(root, () => true)) {
    if (kind !== 'link') continue
    const target = await targetOf(join(root, path))
    const isInstalled = segments(path).includes('node_modules') && segments(target).includes('node_modules')
    if (isInstalled || isWithin(target, allowed)) continue
    throw new PackageError(
      'stray_link',
      `the link ${join(root, path)} leads out of its package, to ${target}: ${COPY_IT}`,
    )
  }
}

/** Resolves a link. Its target need not exist yet. */
async function targetOf(link: string): Promise<string> {
  try {
    return await realpath(link)
  } catch {
    return resolve(dirname(link), await readlink(link))
  }
}

function segments(path: string): readonly string[] {
  return path.split('/')
}

/** Yields all entries of a folder but folders. `counts` selects the folders that are entered and the files that are given. */
export async function* entriesOf(root: string, counts: (name: string) => boolean): AsyncGenerator<FoundEntry> {
  const folders = ['']
  let found = 0
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const entries = await readdir(join(root, folder), { withFileTypes: true })
    for (const entry of entries.filter(({ name }) => counts(name))) {
      if (++found > MOST_ENTRIES) throw new PackageError('too_large', `more than ${MOST_ENTRIES} files are in ${root}`)
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory()) folders.push(path)
      else yield { path, kind: kindOf(entry) }
    }
  }
}

function kindOf(entry: Dirent): FoundEntry['kind'] {
  if (entry.isSymbolicLink()) return 'link'
  return entry.isFile() ? 'file' : 'other'
}
