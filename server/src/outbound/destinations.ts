/** Names the machines behind an origin, so that many names and ports of one machine count as one destination. */
import { unbracketed } from '@claimcheck/core/hosting'
import type { Instant } from '@claimcheck/core/rules'
import { LRUCache } from 'lru-cache'
import { clientNetwork } from '../base/networks.ts'
import type { Outbound } from './outbound.ts'

export type Destinations = ReturnType<typeof createDestinations>

const MAX_NAMES = 10_000
const MAX_ADDRESSES = 8
/** The time after which a name is looked up again. */
const KEPT_MS = 60_000

interface Known {
  readonly destinations: readonly string[]
  readonly at: Instant
}

export function createDestinations({
  outbound,
  now,
}: {
  readonly outbound: Pick<Outbound, 'addressesOf'>
  readonly now: () => Instant
}) {
  const known = new LRUCache<string, Known>({ max: MAX_NAMES })

  /** Looks a name up. Known addresses stay meanwhile, and when the look-up fails. */
  function lookUp(origin: string, name: string): void {
    const earlier = known.get(name)?.destinations ?? [name]
    known.set(name, { destinations: earlier, at: now() })
    outbound.addressesOf(origin).then(
      (addresses) => {
        const networks = [
          ...new Set(addresses.slice(0, MAX_ADDRESSES).flatMap((address) => clientNetwork(address) ?? [])),
        ]
        if (networks.length > 0) known.set(name, { destinations: networks, at: now() })
      },
      () => {},
    )
  }

  return {
    /**
     * Lists all addresses behind the origin's name: a name that lists somebody else's address beside its own evades nothing. Returns the name itself
     * until its addresses are known, and never waits.
     */
    of(origin: string): readonly string[] {
      const name = unbracketed(new URL(origin).hostname)
      const network = clientNetwork(name)
      if (network !== undefined) return [network]
      const found = known.get(name)
      if (!found || now() - found.at > KEPT_MS) lookUp(origin, name)
      return known.get(name)!.destinations
    },
  }
}
