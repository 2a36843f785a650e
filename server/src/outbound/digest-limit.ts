/** Limits how many digests are computed at a time: each may read 512 MiB, and is computed by the thread that serves. */
import pLimit, { type LimitFunction } from 'p-limit'
import { type Payer, takersOf } from '../base/payers.ts'

/** Begins the work when its payer and the host have room for it. */
export type DigestLimit = <T>(payer: Payer, work: () => Promise<T>) => Promise<T>

/** Eight streams share a gigabit link at 15 MiB/s each: 512 MiB take 35 s of the 60 s that a check may take. */
const AT_A_TIME = 8
/** Four who pay fill the host. Each of those who share an allowance has one at a time. */
const [OF_PAYER, OF_GUEST] = [2, 1]

export function createDigestLimit(): DigestLimit {
  const all = pLimit(AT_A_TIME)
  const byTaker = new Map<string, LimitFunction>()

  async function within<T>(name: string, most: number, work: () => Promise<T>): Promise<T> {
    const own = byTaker.get(name) ?? pLimit(most)
    byTaker.set(name, own)
    try {
      return await own(work)
    } finally {
      if (own.activeCount + own.pendingCount === 0) byTaker.delete(name)
    }
  }

  return (payer, work) => {
    // Each waits for room of its own before it waits for the account's, and for that before the host's.
    let queued = () => all(work)
    for (const { level, name } of takersOf(payer)) {
      const next = queued
      queued = () => within(name, level === 'payer' ? OF_PAYER : OF_GUEST, next)
    }
    return queued()
  }
}
