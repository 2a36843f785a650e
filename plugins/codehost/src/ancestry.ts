/**
 * Whether one commit can be reached from another. Ids are hashes over a commit and its parents, so the answer never
 * changes. But it is a server's word, and the host's memory parts what one connection has shown from the others': a lying server
 * decides no claims about another.
 */
import type { CheckCache } from '@claimcheck/core/plugin'

export async function isReachable(
  sha: string,
  tip: string,
  cache: CheckCache,
  read: () => Promise<boolean | undefined>,
): Promise<boolean | undefined> {
  if (tip === sha) return true
  const key = `ancestry ${tip} ${sha}`
  const known = cache.get(key)
  if (typeof known === 'boolean') return known
  const reachable = await read()
  if (reachable !== undefined) cache.set(key, reachable)
  return reachable
}
