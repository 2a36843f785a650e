/** Reads the `package.json` of a folder, whose author may have written anything into it. */
import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { PackageError } from './package-error.ts'

export type PackageJson = Readonly<Record<string, unknown>>

/**
 * Reads the `package.json` of a folder.
 * @returns undefined when the folder has none
 * @throws PackageError `invalid_package` for a file that is no JSON object
 */
export async function readPackageJson(folder: string): Promise<PackageJson | undefined> {
  const path = join(folder, 'package.json')
  const text = await textOf(path)
  if (text === undefined) return undefined
  const value = parsed(text, path)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as PackageJson
  throw new PackageError('invalid_package', `${path} is not a JSON object`)
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}

function parsed(text: string, path: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new PackageError('invalid_package', `${path} is not JSON: ${(cause as Error).message}`, { cause })
  }
}

/** The nearest folder with a `package.json`, from this one upwards; a folder `node_modules` ends the search, as it does for Node. */
export async function nearestPackage(folder: string): Promise<string | undefined> {
  if (basename(folder) === 'node_modules') return undefined
  if ((await readPackageJson(folder)) !== undefined) return folder
  const parent = dirname(folder)
  return parent === folder ? undefined : nearestPackage(parent)
}

/** The text of a member of a `package.json`; undefined for anything else than a text. */
export function textMember(json: PackageJson | undefined, name: string): string | undefined {
  const value = json?.[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}
