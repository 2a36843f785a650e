/** The version that the name of a file tells: of a wheel (PEP 427), an egg, or a source archive (PEP 625, and as it was before). */
import { normalizeProject } from './name.ts'
import { isSamePep440, normalizePep440 } from './version.ts'

const ARCHIVE = /\.(?:tar\.(?:gz|bz2|xz|Z)|tgz|zip)$/i
const BUILT = /\.(?:whl|egg)$/i

/** The relation of a file to the claimed version. `unknown`: its name may have the version in it, in no known form. */
export type Match = 'same' | 'other' | 'unknown'

/** Compares a file with the claimed version by its name. @param name the project's name, normalized */
export function matchOf(filename: string, name: string, version: string): Match {
  const told = versionsOf(filename, name)
  if (told.some((one) => isSamePep440(one, version))) return 'same'
  return told.length === 0 && filename.includes(beginningOf(version)) ? 'unknown' : 'other'
}

/** The part that all spellings of a version share: `1` of `1.0.0`, and `2.1` of `2.1.0rc1`. */
function beginningOf(version: string): string {
  const [release = ''] = /[0-9]+(?:\.[0-9]+)*(?!.*!)/.exec(version) ?? []
  return release.replace(/(?:\.0)+$/, '')
}

/** Tells whether a file is of a kind whose name tells its version. */
export function isPackageFile(filename: string): boolean {
  return BUILT.test(filename) || ARCHIVE.test(filename)
}

/** Lists the versions that a name may tell: one with a hyphen before a number can be read in two ways. */
export function versionsOf(filename: string, name: string): readonly string[] {
  const isBuilt = BUILT.test(filename)
  if (!isBuilt && !ARCHIVE.test(filename)) return []
  const parts = filename.replace(isBuilt ? BUILT : ARCHIVE, '').split('-')
  return parts.slice(1).flatMap((part, index) => {
    if (normalizeProject(parts.slice(0, index + 1).join('-')) !== name) return []
    const version = normalizePep440(isBuilt ? part : parts.slice(index + 1).join('-'))
    return version === undefined ? [] : [version]
  })
}
