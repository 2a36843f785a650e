/** Counts the streams of each account: one gets at most as many as it leaves free, so that the next account gets a place. */
import { mayTake } from '@claimcheck/core/hosting'
import { ServiceError } from '../../base/errors.ts'
import { allowanceOf, type Payer } from '../../base/payers.ts'

const REFUSED_MS = 30_000

/** @throws ServiceError `too_many`, each time */
export function refuse(detail: string): never {
  throw new ServiceError('too_many', detail, { retryAfterMs: REFUSED_MS })
}

/** @param most the places of this host; 0 is no limit */
export function createPlaces(most: number) {
  const heldBy = new Map<string, number>()
  let size = 0

  function change(payer: Payer, by: 1 | -1): void {
    const allowance = allowanceOf(payer)
    const held = (heldBy.get(allowance) ?? 0) + by
    if (held > 0) heldBy.set(allowance, held)
    else heldBy.delete(allowance)
    size += by
  }

  return {
    /** @throws ServiceError `too_many` */
    requireFree(payer: Payer): void {
      if (most === 0) return
      if (size >= most) refuse('too many event streams are open on this host')
      if (!mayTake(heldBy.get(allowanceOf(payer)) ?? 0, most - size, 1))
        refuse('the event streams that this host has left are for other accounts')
    },
    take: (payer: Payer) => change(payer, 1),
    leave: (payer: Payer) => change(payer, -1),
    get size() {
      return size
    },
  }
}
