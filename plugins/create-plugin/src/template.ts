/** The files of the template, wherever this package runs: it brings them along, and in a checkout they are its neighbour's. */
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The template in a published package, as `pack-template` puts it there. */
export const OWN_TEMPLATE = fileURLToPath(new URL('../template', import.meta.url))
export const TEMPLATE_SOURCE = fileURLToPath(new URL('../../example', import.meta.url))

/** The parts of the template that a new package begins with. Its package.json and tsconfig.json are written anew. */
export const TEMPLATE_PARTS = ['README.md', 'claim.json', 'connection.json', 'src'] as const

/** The checkout that this package is part of, unless it was packed. */
export function checkoutFolder(): string | undefined {
  return existsSync(OWN_TEMPLATE) ? undefined : resolve(TEMPLATE_SOURCE, '../..')
}

/** Reads the files of the template, by their paths in the package, with `/`. */
export async function templateFiles(): Promise<ReadonlyMap<string, string>> {
  const folder = existsSync(OWN_TEMPLATE) ? OWN_TEMPLATE : TEMPLATE_SOURCE
  const sources = await readdir(join(folder, 'src'), { recursive: true, withFileTypes: true })
  const paths = [
    ...TEMPLATE_PARTS.filter((part) => part !== 'src'),
    ...sources
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1)),
  ]
  const texts = paths.map(
    async (path) => [path.replaceAll('\\', '/'), await readFile(join(folder, path), 'utf8')] as const,
  )
  return new Map(await Promise.all(texts))
}
