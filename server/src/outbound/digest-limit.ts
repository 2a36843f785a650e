/** Limits the number of digests that are computed at a time: each may read 512 MiB, and is computed by the thread that serves. */
import pLimit, { type LimitFunction } from 'p-limit'
import { allowanceOf, type Payer, partyOf } from '../base/payers.ts'

/** Begins work when its payer and the host have room for it. */
export type DigestLimit = <T>(payer: Payer, work: () => Promise<T>) => Promise<T>

/** The most digests at a time. Eight streams share a gigabit link at 15 MiB/s each: 512 MiB take 35 s of the 60 s that a check may take. */
const AT_A_TIME = 8
/** The most digests of an allowance: four of them fill the host. All parties that were invited have one at a time together, in turn. */
const [OF_ALLOWANCE, OF_INVITED] = [2, 1]

export function createDigestLimit(): DigestLimit {
  const all = pLimit(AT_A_TIME)
  const limits = new Map<string, LimitFunction>()

  async function within<T>(name: string, most: number, work: () => Promise<T>): Promise<T> {
    const own = limits.get(name) ?? pLimit(most)
    limits.set(name, own)
    try {
      return await own(work)
    } finally {
      if (own.activeCount + own.pendingCount === 0) limits.delete(name)
    }
  }

  return (payer, work) => {
    const allowance = allowanceOf(payer)
    const ofAllowance = () => within(allowance, OF_ALLOWANCE, () => all(work))
    if (payer === allowance) return ofAllowance()
    return within(partyOf(payer), OF_INVITED, () => within(`${allowance}/`, OF_INVITED, ofAllowance))
  }
}
