/** The pages of the repository: each file of Markdown that is not made by a build. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

const SKIPPED = new Set(['node_modules', 'build', 'dist', 'data', '.git', '.tap'])

export function pagesOfRepository(folder = '.'): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (SKIPPED.has(entry.name)) return []
    if (entry.isDirectory()) return pagesOfRepository(path)
    return entry.name.endsWith('.md') ? [path] : []
  })
}
