/** The network by which requests are counted: one IPv4 address, or an IPv6 /64, all of which a client usually controls. */
import { isIPv4, isIPv6 } from 'node:net'
import { NO_ADDRESS } from './proxies.ts'

const GROUPS = 8
const MAPPED = '::ffff:'

/** All texts that are no address count as one client, so that inventing texts gains nothing. Returns an IPv4 address, also for one that is mapped to IPv6 (RFC 4291 2.5.5.2), or the /64 of an IPv6 address. */
export function networkOf(address: string): string {
  if (isIPv4(address)) return address
  if (!isIPv6(address)) return NO_ADDRESS
  // Of a socket that serves both, the usual form.
  if (address.startsWith(MAPPED) && isIPv4(address.slice(MAPPED.length))) return address.slice(MAPPED.length)
  const groups = groupsOf(address)
  const isMapped = groups.slice(0, 6).join() === '0,0,0,0,0,65535'
  if (isMapped)
    return groups
      .slice(6)
      .flatMap((group) => [group >> 8, group & 255])
      .join('.')
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`
}

function groupsOf(address: string): number[] {
  const [withoutZone] = address.split('%')
  // The URL parser normalizes the address, and writes an embedded IPv4 address in hexadecimal.
  const { hostname } = new URL(`http://[${withoutZone}]`)
  const [head = [], tail = []] = hostname
    .slice(1, -1)
    .split('::')
    .map((part) => part.split(':').filter(Boolean))
  const zeros = Array.from({ length: GROUPS - head.length - tail.length }, () => '0')
  return [...head, ...zeros, ...tail].map((group) => Number.parseInt(group, 16))
}
