import { isInNetworks, readNetwork } from '@claimcheck/server/base/networks'
import t from 'tap'

t.test('a network has one form', async (t) => {
  const forms: readonly (readonly [string, string])[] = [
    ['10.1.2.3/8', '10.0.0.0/8'],
    ['10.1.2.3', '10.1.2.3/32'],
    [' 0.0.0.0/0 ', '0.0.0.0/0'],
    ['255.255.255.255/31', '255.255.255.254/31'],
    ['2001:DB8:0:0::1/33', '2001:db8::/33'],
    ['::1', '::1/128'],
    ['::/0', '::/0'],
    ['fe80:1:2:3:4:5:6:7/64', 'fe80:1:2:3::/64'],
  ]
  for (const [text, network] of forms) t.equal(readNetwork(text), network)
})

t.test('what is no network is refused', async (t) => {
  const wrong = ['', '10.0.0.0/33', '::/129', '10.0.0/8', '10.0.0.0/', '10.0.0.0/-1', '010.0.0.0/8', 'fe80::1%eth0/64']
  for (const text of [...wrong, '10.0.0.0/8 10.0.0.0/9', 'localhost', '::ffff:10.0.0.0/104', '::ffff:10.0.0.1']) {
    t.throws(() => readNetwork(text), { code: 'bad_request' }, text)
  }
})

t.test('an address is in the networks of its own family', async (t) => {
  t.ok(isInNetworks('10.0.0.1', ['192.0.2.0/24', '10.0.0.0/31']))
  t.notOk(isInNetworks('10.0.0.2', ['10.0.0.0/31']))
  t.ok(isInNetworks('::ffff:a00:1', ['10.0.0.0/31']), 'also where IPv6 carries it')
  t.notOk(isInNetworks('10.0.0.1', ['::/0']), 'all of IPv6 is not IPv4')
  t.notOk(isInNetworks('::10.0.0.1', ['10.0.0.0/31']), 'nor is an address that only looks like it')
  t.ok(isInNetworks('2001:db8::1%eth0', ['2001:db8::/32']))
  t.notOk(isInNetworks('2001:db9::', ['2001:db8::/32']))
  for (const address of ['', 'unknown', '10.0.0.1.1']) t.notOk(isInNetworks(address, ['0.0.0.0/0', '::/0']))
})
