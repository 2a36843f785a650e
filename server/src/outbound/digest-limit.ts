/** How many digests are computed at a time: each may read 512 MiB, and is computed by the thread that serves. */
import pLimit, { type LimitFunction } from 'p-limit'

/** Begins the work when its workspace and the host have room for it. */
export type DigestLimit = <T>(workspaceId: string, work: () => Promise<T>) => Promise<T>

/** Eight streams share a gigabit link at 15 MiB/s each: 512 MiB take 35 s of the 60 s that a check may take. */
const AT_A_TIME = 8
/** Four workspaces fill the host. */
const OF_WORKSPACE = 2

export function createDigestLimit(): DigestLimit {
  const all = pLimit(AT_A_TIME)
  const byWorkspace = new Map<string, LimitFunction>()

  return async (workspaceId, work) => {
    const own = byWorkspace.get(workspaceId) ?? pLimit(OF_WORKSPACE)
    byWorkspace.set(workspaceId, own)
    try {
      // Only what its workspace has room for waits for the host: one after the other, over all workspaces.
      return await own(() => all(work))
    } finally {
      if (own.activeCount + own.pendingCount === 0) byWorkspace.delete(workspaceId)
    }
  }
}
