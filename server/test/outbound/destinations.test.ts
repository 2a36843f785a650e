// Test run: every-node
import { createDestinations } from '@claimcheck/server/outbound/destinations'
import t from 'tap'

function destinationsOf(addresses: Record<string, string | string[]>) {
  const clock = { now: 0 }
  const asked: string[] = []
  const outbound = {
    async addressesOf(origin: string) {
      asked.push(origin)
      const address = addresses[new URL(origin).hostname]
      if (address === undefined) throw new Error('no such name')
      return [address].flat()
    },
  }
  return { of: createDestinations({ outbound, now: () => clock.now }).of, clock, asked, addresses }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

t.test('names, ports and schemes of one address are one destination, as soon as the address is known', async (t) => {
  const { of } = destinationsOf({ 'a.evil.example': '198.51.100.7', 'b.evil.example': '198.51.100.7' })
  t.strictSame(of('https://a.evil.example'), ['a.evil.example'], 'nobody waits for the name server')
  of('https://b.evil.example:8443')
  await settled()
  t.strictSame(of('https://a.evil.example'), ['198.51.100.7'])
  t.strictSame(of('https://b.evil.example:8443'), ['198.51.100.7'])
  t.strictSame(of('http://198.51.100.7:81'), ['198.51.100.7'])
})

t.test('IPv6 addresses of one network of 64 bits are one destination', async (t) => {
  const { of } = destinationsOf({ 'six.example': '2001:db8:1:2:ffff::1' })
  of('https://six.example')
  await settled()
  const network = '2001:db8:1:2::/64'
  t.strictSame(of('https://six.example'), [network])
  t.strictSame(of('https://[2001:db8:1:2::5]:444'), [network])
  t.strictSame(of('https://[2001:db8:1:2:3:4:5:6]'), [network])
  t.notSame(of('https://[2001:db8:1:3::5]'), [network])
  t.strictSame(of('https://[::1]'), ['0:0:0:0::/64'])
})

t.test('a name is looked up once a minute, and keeps its address when that fails', async (t) => {
  const { of, asked, clock, addresses } = destinationsOf({ 'a.example': '198.51.100.7' })
  for (let time = 0; time < 5; time++) of('https://a.example')
  await settled()
  t.equal(asked.length, 1)
  delete addresses['a.example']
  clock.now += 61_000
  of('https://a.example')
  await settled()
  t.equal(asked.length, 2)
  t.strictSame(of('https://a.example'), ['198.51.100.7'])
  t.strictSame(of('https://nowhere.example'), ['nowhere.example'])
})

t.test('a name with several addresses is all of them', async (t) => {
  const { of } = destinationsOf({ 'a.example': ['198.51.100.7', '203.0.113.9', '198.51.100.7'] })
  of('https://a.example')
  await settled()
  t.strictSame(of('https://a.example'), ['198.51.100.7', '203.0.113.9'])
})
