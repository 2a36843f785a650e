// Test run: every-node
/** Which addresses are public. Threat W2 of `security.md`. */
import { isPublicAddress } from '@claimcheck/server/outbound/addresses'
import t from 'tap'

const rows: [address: string, isPublic: boolean][] = [
  ['8.8.8.8', true],
  ['1.1.1.1', true],
  ['172.15.255.255', true],
  ['172.32.0.0', true],
  ['100.63.255.255', true],
  ['2606:4700:4700::1111', true],
  ['2a00:1450:4001:830::200e', true],
  ['0.0.0.0', false],
  ['10.1.2.3', false],
  ['100.64.0.1', false],
  ['127.0.0.1', false],
  ['127.255.255.254', false],
  ['169.254.169.254', false],
  ['172.16.0.1', false],
  ['172.31.255.255', false],
  ['192.0.0.8', false],
  ['192.0.2.1', false],
  ['192.168.1.1', false],
  ['198.19.255.255', false],
  ['198.51.100.7', false],
  ['203.0.113.7', false],
  ['224.0.0.1', false],
  ['255.255.255.255', false],
  ['::', false],
  ['::1', false],
  ['::7f00:1', false],
  ['::ffff:127.0.0.1', false],
  ['::ffff:8.8.8.8', false],
  ['64:ff9b::7f00:1', false],
  ['64:ff9b:1::1', false],
  ['100::1', false],
  ['2001::1', false],
  ['2001:db8::1', false],
  ['2002:7f00:1::', false],
  ['3fff::1', false],
  ['fc00::1', false],
  ['fd12:3456::1', false],
  ['fe80::1', false],
  ['fec0::1', false],
  ['ff02::1', false],
  ['fe80::1%eth0', false],
  ['::ffff:0:127.0.0.1', false],
  ['100:0:0:1::1', false],
  ['4000::1', false],
  ['2001:1ff:ffff::1', false],
  ['2001:200::1', true],
  ['3ffe:ffff::1', true],
  ['not an address', false],
  ['', false],
]
for (const [address, isPublic] of rows) {
  t.test(`${address || '(nothing)'} is ${isPublic ? '' : 'not '}public`, async (t) => {
    t.equal(isPublicAddress(address), isPublic)
  })
}
