/** Names the machine behind an origin, so that many names and ports of one machine count as one destination. */
import { isIP, isIPv4, isIPv6 } from 'node:net'
import type { Instant } from '@claimcheck/core'
import { LRUCache } from 'lru-cache'
import type { Outbound } from './outbound.ts'

export interface Destinations {
  /** The address behind the origin's name, or the name itself until its address is known. Never waits. */
  of(origin: string): string
}

interface DestinationsOptions {
  readonly outbound: Pick<Outbound, 'addressOf'>
  readonly now: () => Instant
}

const MAX_NAMES = 10_000
/** A name is looked up again after this. */
const KEPT_MS = 60_000

interface Known {
  readonly destination: string
  readonly at: Instant
}

export function createDestinations({ outbound, now }: DestinationsOptions): Destinations {
  const known = new LRUCache<string, Known>({ max: MAX_NAMES })

  /** What is known stays while the name is looked up again, and when it cannot be. */
  function lookUp(origin: string, name: string): void {
    const earlier = known.get(name)?.destination ?? name
    known.set(name, { destination: earlier, at: now() })
    outbound.addressOf(origin).then(
      (address) => known.set(name, { destination: networkOf(address), at: now() }),
      () => {},
    )
  }

  return {
    of(origin) {
      const name = new URL(origin).hostname.replace(/^\[|\]$/g, '')
      if (isIP(name) !== 0) return networkOf(name)
      const found = known.get(name)
      if (!found || now() - found.at > KEPT_MS) lookUp(origin, name)
      return known.get(name)!.destination
    },
  }
}

/** A machine usually has 64 bits of IPv6 addresses to itself. */
function networkOf(address: string): string {
  if (isIPv4(address) || !isIPv6(address)) return address
  return `${expanded(address).slice(0, 4).join(':')}::/64`
}

function expanded(address: string): string[] {
  const { hostname } = new URL(`http://[${address.replace(/%.*$/, '')}]`)
  const [head = '', tail] = hostname.slice(1, -1).split('::')
  const groups = (text: string) => (text === '' ? [] : text.split(':'))
  if (tail === undefined) return groups(head)
  const missing = 8 - groups(head).length - groups(tail).length
  return [...groups(head), ...Array(missing).fill('0'), ...groups(tail)]
}
