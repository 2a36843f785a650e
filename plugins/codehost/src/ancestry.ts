/**
 * Whether one commit can be reached from another. Ids are hashes over a commit and its parents, so the answer never
 * changes. But it is a server's word: remembered for everybody, a lying server's would decide claims about another.
 */
import type { CheckCache } from '@claimcheck/core'

/** @param scope whose word it is: a connection, or the public host */
export async function isReachable(
  sha: string,
  tip: string,
  scope: string,
  cache: CheckCache,
  read: () => Promise<boolean | undefined>,
): Promise<boolean | undefined> {
  if (tip === sha) return true
  const key = `ancestry ${scope} ${tip} ${sha}`
  const known = cache.get(key)
  if (typeof known === 'boolean') return known
  const reachable = await read()
  if (reachable !== undefined) cache.set(key, reachable)
  return reachable
}
