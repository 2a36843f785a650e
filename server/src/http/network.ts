/** Whose requests are counted together: a client has one IPv4 address, or an IPv6 network to itself. */
import { isIPv4, isIPv6 } from 'node:net'

/** What a proxy sends that is no address: one client for all of these, however much is made up. */
const NO_ADDRESS = 'unknown'
const GROUPS = 8

/** The address itself, or of IPv6 its /64; IPv4 also when it is written as IPv6 (RFC 4291 2.5.5.2). */
export function networkOf(address: string): string {
  if (isIPv4(address)) return address
  if (!isIPv6(address)) return NO_ADDRESS
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
  // URLs write every address in one way, in which IPv4 is hexadecimal too.
  const { hostname } = new URL(`http://[${withoutZone}]`)
  const [head = [], tail = []] = hostname
    .slice(1, -1)
    .split('::')
    .map((part) => part.split(':').filter(Boolean))
  const zeros = Array.from({ length: GROUPS - head.length - tail.length }, () => '0')
  return [...head, ...zeros, ...tail].map((group) => Number.parseInt(group, 16))
}
