/** By which network requests are counted, and which proxies are believed about it. Threat N3 of `security.md`. */
import { networkOf } from '@claimcheck/server/http/network'
import t from 'tap'

const rows: [address: string, network: string][] = [
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::ffff:c000:207', '192.0.2.7'],
  ['0:0:0:0:0:FFFF:192.0.2.7', '192.0.2.7'],
  ['2001:db8:0:1::1', '2001:db8:0:1::/64'],
  ['2001:DB8:0:1:ffff::2', '2001:db8:0:1::/64'],
  ['2001:0db8:0000:0001:0:0:0:3', '2001:db8:0:1::/64'],
  ['2001:db8:0:2::1', '2001:db8:0:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:db8:1:2:3:4:192.0.2.7', '2001:db8:1:2::/64'],
  ['::', '0:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['1:2:3:4:5:6:7::', '1:2:3:4::/64'],
  ['::2:3:4:5:6:7:8', '0:2:3:4::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['', 'unknown'],
  ['_hidden', 'unknown'],
  ['192.0.2.7:443', 'unknown'],
  ['[2001:db8::1]', 'unknown'],
  ['a'.repeat(10_000), 'unknown'],
]

t.test('requests are counted by IPv4 address and by IPv6 /64, however these are written', async (t) => {
  for (const [address, network] of rows) t.equal(networkOf(address), network, address.slice(0, 40))
})
