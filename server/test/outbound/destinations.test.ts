import { createDestinations } from '@claimcheck/server/outbound/destinations'
import t from 'tap'

function destinationsOf(addresses: Record<string, string>) {
  const clock = { now: 0 }
  const asked: string[] = []
  const outbound = {
    async addressOf(origin: string) {
      asked.push(origin)
      const address = addresses[new URL(origin).hostname]
      if (address === undefined) throw new Error('no such name')
      return address
    },
  }
  return { of: createDestinations({ outbound, now: () => clock.now }).of, clock, asked, addresses }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

t.test('names, ports and schemes of one address are one destination, as soon as the address is known', async (t) => {
  const { of } = destinationsOf({ 'a.evil.example': '198.51.100.7', 'b.evil.example': '198.51.100.7' })
  t.equal(of('https://a.evil.example'), 'a.evil.example', 'nobody waits for the name server')
  of('https://b.evil.example:8443')
  await settled()
  t.equal(of('https://a.evil.example'), '198.51.100.7')
  t.equal(of('https://b.evil.example:8443'), '198.51.100.7')
  t.equal(of('http://198.51.100.7:81'), '198.51.100.7')
})

t.test('IPv6 addresses of one network of 64 bits are one destination', async (t) => {
  const { of } = destinationsOf({ 'six.example': '2001:db8:1:2:ffff::1' })
  of('https://six.example')
  await settled()
  const network = '2001:db8:1:2::/64'
  t.equal(of('https://six.example'), network)
  t.equal(of('https://[2001:db8:1:2::5]:444'), network)
  t.equal(of('https://[2001:db8:1:2:3:4:5:6]'), network)
  t.not(of('https://[2001:db8:1:3::5]'), network)
  t.equal(of('https://[::1]'), '0:0:0:0::/64')
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
  t.equal(of('https://a.example'), '198.51.100.7')
  t.equal(of('https://nowhere.example'), 'nowhere.example')
})
