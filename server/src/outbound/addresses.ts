/** Tells public IP addresses from those that are reserved for other uses. */
import { BlockList, isIP } from 'node:net'

// IANA's special-purpose address registries (RFC 6890, RFC 8190) and multicast; for IPv6 only the entries within global unicast.
const SPECIAL: readonly [subnet: string, prefix: number, family: 'ipv4' | 'ipv6'][] = [
  ['0.0.0.0', 8, 'ipv4'], // this network, RFC 791
  ['10.0.0.0', 8, 'ipv4'], // private, RFC 1918
  ['100.64.0.0', 10, 'ipv4'], // carrier-grade NAT, RFC 6598
  ['127.0.0.0', 8, 'ipv4'], // loopback, RFC 1122
  ['169.254.0.0', 16, 'ipv4'], // link-local and cloud metadata, RFC 3927
  ['172.16.0.0', 12, 'ipv4'], // private, RFC 1918
  ['192.0.0.0', 24, 'ipv4'], // protocol assignments, RFC 6890
  ['192.0.2.0', 24, 'ipv4'], // documentation, RFC 5737
  ['192.88.99.0', 24, 'ipv4'], // 6to4 relays, RFC 7526
  ['192.168.0.0', 16, 'ipv4'], // private, RFC 1918
  ['198.18.0.0', 15, 'ipv4'], // benchmarking, RFC 2544
  ['198.51.100.0', 24, 'ipv4'], // documentation, RFC 5737
  ['203.0.113.0', 24, 'ipv4'], // documentation, RFC 5737
  ['224.0.0.0', 4, 'ipv4'], // multicast, RFC 5771
  ['240.0.0.0', 4, 'ipv4'], // reserved and broadcast, RFC 1112, RFC 919
  ['2001::', 23, 'ipv6'], // protocol assignments, Teredo among them, RFC 2928
  ['2001:db8::', 32, 'ipv6'], // documentation, RFC 3849
  ['2002::', 16, 'ipv6'], // 6to4, RFC 3056
  ['3fff::', 20, 'ipv6'], // documentation, RFC 9637
]

const ipv4 = new BlockList()
const ipv6 = new BlockList()
for (const [subnet, prefix, family] of SPECIAL) (family === 'ipv4' ? ipv4 : ipv6).addSubnet(subnet, prefix, family)

// IPv6 global unicast, RFC 4291 2.4. Other IPv6 addresses are loopback, local, multicast, mapped IPv4 addresses, or not yet assigned.
const global = new BlockList()
global.addSubnet('2000::', 3, 'ipv6')

export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !ipv4.check(address, 'ipv4')
    case 6:
      return global.check(address, 'ipv6') && !ipv6.check(address, 'ipv6')
    default:
      return false
  }
}
