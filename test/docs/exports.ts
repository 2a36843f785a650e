/** The names that core's README says are exports, by the subpath whose section lists them. */
import { readPage } from './markdown.ts'

const SECTION = /^## `(@claimcheck\/core(?:\/[\w-]+)?)`$/m

/** A list item names exports before its colon, and so does every code span with a capital in front. */
export function namedExports(markdown: string): ReadonlyMap<string, readonly string[]> {
  const [, ...parts] = markdown.split(SECTION)
  const sections = parts.flatMap((part, index): [string, string][] =>
    index % 2 === 0 ? [[part, readPage(parts[index + 1]!).prose]] : [],
  )
  return new Map(sections.map(([subpath, prose]) => [subpath, namesIn(prose)]))
}

/** The names in a README of a package that has one entry alone. */
export function namedIn(markdown: string): readonly string[] {
  return namesIn(readPage(markdown).prose)
}

function namesIn(prose: string): string[] {
  const listed = [...prose.matchAll(/^- ((?:`\w+`(?:, )?(?:and )?\s*)+):/gm)].map(([, names]) => names!).join(' ')
  const spoken = [...prose.matchAll(/`([A-Z]\w*[a-z]\w*)`/g)].map(([, name]) => name!)
  return [...new Set([...listed.matchAll(/`(\w+)`/g)].map(([, name]) => name!).concat(spoken))]
}

/** A module that compiles only where each name is exported, as a type or as a value. */
export function moduleOf(named: ReadonlyMap<string, readonly string[]>): string {
  return [...named]
    .flatMap(([subpath, names], section) =>
      names.map((name) => `export type { ${name} as ${name}_${section} } from '${subpath}'`),
    )
    .join('\n')
}
