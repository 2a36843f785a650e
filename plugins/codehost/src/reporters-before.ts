/** Who reported on the commits before one: whoever did may still report on the commit itself. */
import type { CheckCache } from '@claimcheck/core/plugin'

/** Of a merge of more, the first ones. */
const MOST_PARENTS = 2
/** Commits of documentation, and all but the last of those that were pushed together, have no reports. */
const MOST_GENERATIONS = 5

/** What a host shows of one commit. */
export interface Reports {
  /** None of the first one, and of one that the host does not show. */
  parents(sha: string): Promise<readonly string[]>
  /** One identifier of each. What a person or the time started for this one commit need not report on the next. */
  reporters(sha: string): Promise<readonly string[]>
}

/**
 * Of the nearest parents that have any reports, back along the first ones. It reads the parents of at most five commits, once for all checks,
 * and the reports of at most ten.
 *
 * @param cache one that only checks of the same server share, as in `ancestry.ts`
 */
export async function reportersBefore(sha: string, cache: CheckCache, host: Reports): Promise<readonly string[]> {
  let at: string | undefined = sha
  for (let generation = 0; at !== undefined && generation < MOST_GENERATIONS; generation++) {
    const parents: readonly string[] = await parentsOf(at, cache, host)
    const found = await Promise.all(parents.map((parent) => host.reporters(parent)))
    if (found.flat().length > 0) return [...new Set(found.flat())]
    at = parents[0]
  }
  return []
}

async function parentsOf(sha: string, cache: CheckCache, host: Reports): Promise<readonly string[]> {
  const key = `parents ${sha}`
  const known = cache.get(key)
  if (Array.isArray(known)) return known
  const parents = (await host.parents(sha)).slice(0, MOST_PARENTS)
  // What the host does not show yet, it may show later.
  if (parents.length > 0) cache.set(key, parents)
  return parents
}
