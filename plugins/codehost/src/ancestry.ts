/** Tells whether one commit can be reached from another, with a cache: a commit's id is a hash over its parents, so that the answer never changes. */
import type { CheckCache } from '@claimcheck/core/plugin'

/** Recalls what an earlier check found out; undefined where none did. */
export function knownReachable(sha: string, tip: string, cache: Pick<CheckCache, 'get'>): boolean | undefined {
  const known = cache.get(keyOf(sha, tip))
  return typeof known === 'boolean' ? known : undefined
}

function keyOf(sha: string, tip: string): string {
  return `ancestry ${tip} ${sha}`
}

/**
 * Tells whether `sha` is `tip` or one of its ancestors.
 *
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
  const known = knownReachable(sha, tip, cache)
  if (known !== undefined) return known
  const reachable = await read()
  if (reachable !== undefined) cache.set(keyOf(sha, tip), reachable)
  return reachable
}
