/** Which addresses are public: everything that is not set aside for something else. */
import { BlockList, isIP } from 'node:net'

// IANA's special-purpose address registries (RFC 6890, RFC 8190), and multicast.
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
  ['::', 96, 'ipv6'], // unspecified, loopback, IPv4-compatible, RFC 4291
  ['::ffff:0:0', 96, 'ipv6'], // IPv4-mapped, RFC 4291
  ['64:ff9b::', 96, 'ipv6'], // IPv4 through NAT64, RFC 6052
  ['64:ff9b:1::', 48, 'ipv6'], // local NAT64, RFC 8215
  ['100::', 64, 'ipv6'], // discard, RFC 6666
  ['2001::', 23, 'ipv6'], // protocol assignments, Teredo among them, RFC 2928
  ['2001:db8::', 32, 'ipv6'], // documentation, RFC 3849
  ['2002::', 16, 'ipv6'], // 6to4, RFC 3056
  ['3fff::', 20, 'ipv6'], // documentation, RFC 9637
  ['5f00::', 16, 'ipv6'], // segment routing, RFC 9602
  ['fc00::', 7, 'ipv6'], // unique local, RFC 4193
  ['fe80::', 10, 'ipv6'], // link-local, RFC 4291
  ['fec0::', 10, 'ipv6'], // site-local, RFC 3879
  ['ff00::', 8, 'ipv6'], // multicast, RFC 4291
]

// A list for each family: in a common one the rule for IPv4-mapped addresses would hold for every IPv4 address, too.
const special = { ipv4: new BlockList(), ipv6: new BlockList() }
for (const [subnet, prefix, family] of SPECIAL) special[family].addSubnet(subnet, prefix, family)

export function isPublicAddress(address: string): boolean {
  const version = isIP(address)
  if (version === 0) return false
  const family = version === 4 ? 'ipv4' : 'ipv6'
  return !special[family].check(address, family)
}
