/** What a lockfile must hold for us to trust an installation: read off the lockfile, because a list of known holes needs a network. */

import { satisfies } from 'semver'

export interface LockedPackage {
  readonly version?: string
  readonly resolved?: string
  readonly integrity?: string
  readonly license?: string
  readonly engines?: { readonly node?: string }
  readonly link?: boolean
  readonly dev?: boolean
  readonly inBundle?: boolean
  readonly hasInstallScript?: boolean
}

/** By the folder of each. */
export type LockedPackages = Readonly<Record<string, LockedPackage>>

/** Of packages that an installation runs; those of the tests may have others. */
const LICENCES: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'MIT-0',
  'Unlicense',
  '(BSD-2-Clause OR MIT OR Apache-2.0)',
  '(MIT OR WTFPL)',
  'MIT OR Apache-2.0',
])

/**
 * What is wrong, in words; empty when nothing is.
 * @param scripted packages that may run a script of their own while they are installed, or the beginning of their names up to a `/`
 */
export function lockProblems(packages: LockedPackages, scripted: readonly string[]): string[] {
  return Object.entries(packages).flatMap(([folder, one]) => {
    const name = folder.split('node_modules/').at(-1)!
    // Folders of this repository.
    if (one.link || !folder.includes('node_modules/')) return []
    const runs = (allowed: string) => name === allowed || (allowed.endsWith('/') && name.startsWith(allowed))
    return [
      // What comes within the archive of another package has that one's hash.
      ...(one.inBundle || /^sha512-[A-Za-z0-9+/]{86}==$/.test(one.integrity ?? '')
        ? []
        : [`${name}: it has no SHA-512`]),
      ...(one.resolved === undefined || one.resolved.startsWith('https://')
        ? []
        : [`${name}: it comes from ${one.resolved}`]),
      ...(one.hasInstallScript && !scripted.some(runs) ? [`${name}: it runs a script when it is installed`] : []),
      ...(one.dev || LICENCES.has(one.license ?? '') ? [] : [`${name}: its licence is ${one.license ?? 'not said'}`]),
    ]
  })
}

/** The versions of Node that people run, each by the first that must do. */
const NODES = ['20.19.0', '22.12.0', '24.0.0', '26.0.0']

/** What npm would warn of, in words; empty when nothing is. Those of this repository count, too. */
export function engineProblems(packages: LockedPackages): string[] {
  return Object.entries(packages).flatMap(([folder, { engines, version }]) => {
    const range = engines?.node
    if (range === undefined) return []
    const left = NODES.filter((node) => !satisfies(node, range))
    return left.length === 0
      ? []
      : [`${folder} ${version}: it wants Node ${range}, which leaves out ${left.join(', ')}`]
  })
}
