/** Finds the packages that a package can import, and the links through which Node finds them. */
import { realpath, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { PackageLink } from './command.ts'
import { PackageError } from './package-error.ts'
import { type PackageJson, readPackageJson } from './package-json.ts'

/** The package that each plugin may import, whether it says so or not. */
const ALWAYS = '@claimcheck/core'
const DECLARED = ['dependencies', 'peerDependencies', 'optionalDependencies']
const MOST_PACKAGES = 1000

export interface Dependencies {
  /** The real folders of the packages. */
  readonly packages: readonly string[]
  readonly links: readonly PackageLink[]
}

/**
 * Collects the packages that `folder` declares and that are installed, what those declare, and so on: each found from the real folder of the package that
 * declares it, as Node does. What is not installed is left out; an import of it fails with Node's own message.
 *
 * @throws PackageError
 */
export async function dependenciesOf(folder: string, json: PackageJson | undefined): Promise<Dependencies> {
  const packages = new Set<string>()
  const links = new Map<string, PackageLink>()
  const waiting = [{ folder, names: new Set([...namesIn(json), ALWAYS]) }]
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    for (const name of next.names) {
      const path = await installedAt(name, next.folder)
      if (path === undefined) continue
      const target = await realpath(path)
      for (const link of await linksTo(name, path)) links.set(link.path, link)
      if (packages.has(target)) continue
      packages.add(target)
      if (packages.size > MOST_PACKAGES) {
        throw new PackageError('too_large', `it depends on more than ${MOST_PACKAGES} packages`)
      }
      waiting.push({ folder: target, names: new Set(namesIn(await readPackageJson(target))) })
    }
  }
  return { packages: [...packages], links: [...links.values()] }
}

/** The links on the way to an installed package: its folder `node_modules`, that of its scope, or its own may be one. */
async function linksTo(name: string, path: string): Promise<readonly PackageLink[]> {
  const links: PackageLink[] = []
  let folder = path.slice(0, -'/node_modules/'.length - name.length)
  for (const part of ['node_modules', ...name.split('/')]) {
    const step = join(folder, part)
    folder = await realpath(step)
    if (folder !== step) links.push({ path: step, target: folder })
  }
  return links
}

function namesIn(json: PackageJson | undefined): readonly string[] {
  const lists = DECLARED.map((member) => json?.[member])
  const names = lists.flatMap((list) => (typeof list === 'object' && list !== null ? Object.keys(list) : []))
  return names.filter(isPackageName)
}

/** Finds the package that a module in a folder imports: in the `node_modules` of the folder, or of the nearest one above it. */
export async function installedAt(name: string, folder: string): Promise<string | undefined> {
  if (!isPackageName(name)) return undefined
  if (basename(folder) !== 'node_modules') {
    const path = join(folder, 'node_modules', name)
    if (await isFolder(path)) return path
  }
  const parent = dirname(folder)
  return parent === folder ? undefined : installedAt(name, parent)
}

/** A name such as `../data` would make a folder of the host one of the plugin's packages. */
function isPackageName(name: string): boolean {
  return /^(?:@[^/\\%.][^/\\%]*\/)?[^@/\\%.][^/\\%]*$/.test(name)
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch {
    return false
  }
}
