/** Whether one commit can be reached from another, with a cache: a commit's id is a hash over its parents, so that the answer never changes. */
import type { CheckCache } from '@claimcheck/core/plugin'

/**
 * @param cache one that only checks of the same server share, because the answer is the server's: a lying one must not decide claims about
 *   others
 * @param read asks the server; `undefined` when it does not know
 */
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
