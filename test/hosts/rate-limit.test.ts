// Test run: end-to-end, slow
/** Limits that count over several hosts. Threat S5 of `security.md`. */
import { setTimeout } from 'node:timers/promises'
import { COSTS } from '@claimcheck/server/http/costs'
import { createCounters } from '@claimcheck/server/http/counters'
import pg from 'pg'
import t, { type Test } from 'tap'
import { createDatabase, type Database } from '../support/database.ts'
import { LONG } from '../support/extent.ts'
import { type Host, Installation } from '../support/installation.ts'
import { minuteWithRoom } from '../support/minute.ts'
import { startPostgres } from '../support/postgres.ts'

const MINUTE_MS = 60_000
const NOON = Date.UTC(2026, 8, 25, 12)

interface Limits {
  readonly network?: number
  readonly key?: number
  readonly refusals?: number
}

async function threeHosts(t: Test, limits: Limits, database?: Database) {
  const installation = await Installation.during(t, {
    database: database ?? (await createDatabase('postgres')),
    file: { rate_limits: { refusals: 0, ...limits } },
    env: { TRUST_PROXY: 'loopback' },
  })
  const hosts = [installation.host, await installation.addHost(), await installation.addHost()] as const
  await minuteWithRoom()
  return { installation, hosts }
}

function statuses(answers: readonly { readonly status: number }[], status: number): number {
  return answers.filter((answer) => answer.status === status).length
}

function from(address: string): RequestInit {
  return { headers: { 'x-forwarded-for': address } }
}

t.test('a key may ask as much over all hosts as over one', async (t) => {
  const { installation, hosts } = await threeHosts(t, { key: 20 * COSTS.read.tokens })
  const [client, other] = [await installation.client('acme'), await installation.client('other')]
  const asked = Array.from({ length: 45 }, (_, index) => client.at(hosts[index % 3]!).get('/v1/connections'))
  const answers = await Promise.all(asked)
  t.equal(statuses(answers, 200), 20)
  t.equal(statuses(answers, 429), 25)
  const left = answers.filter(({ status }) => status === 200).map(({ headers }) => headers.get('ratelimit-remaining'))
  t.equal(new Set(left).size, 20, 'each is told another number of requests that are left')
  for (const host of hosts)
    t.equal((await other.at(host).get('/v1/connections')).status, 200, 'another key has its own')
})

t.test('each host counts the tokens of a network by itself', async (t) => {
  const { hosts } = await threeHosts(t, { network: 5 * COSTS.receipt.tokens })
  const path = '/v1/receipts/rcpt_1'
  const asked = Array.from({ length: 30 }, (_, index) => hosts[index % 3]!.request(path, from('192.0.2.1')))
  t.equal(statuses(await Promise.all(asked), 429), 15)
  t.not((await hosts[0].request(path, from('192.0.2.2'))).status, 429)
})

t.test('refused credentials are counted over all hosts, and stop good ones on each', LONG, async (t) => {
  const { installation, hosts } = await threeHosts(t, { refusals: 3 })
  const client = await installation.client('acme')
  const guess = (host: Host) =>
    host.request('/v1/whoami', { headers: { ...from('192.0.2.1').headers, authorization: 'Bearer guess' } })
  for (const host of hosts) t.equal((await guess(host)).status, 401)
  for (const host of hosts) {
    t.equal((await guess(host)).status, 429)
    t.equal((await client.at(host).request('/v1/whoami', from('192.0.2.1'))).status, 429)
    t.equal((await client.at(host).request('/v1/whoami', from('192.0.2.2'))).status, 200)
  }
})

t.test('counts begin anew with each minute, and those of minutes that are over are removed', async (t) => {
  const { installation, hosts } = await threeHosts(t, {})
  const time = { now: NOON }
  const counters = hosts.map(({ claimcheck: { storage } }) => createCounters({ storage, now: () => time.now }))
  const database = new pg.Client(installation.database.env.DATABASE_URL!)
  await database.connect()
  t.teardown(() => database.end())
  const kept = async () => {
    const { rows } = await database.query('SELECT count(*)::int FROM rate_counters WHERE window_start = $1', [NOON])
    return rows[0].count
  }
  const add = (host: number) => counters[host]!.add('refusals', '192.0.2.1')

  for (const host of [0, 1, 2]) t.strictSame(await add(host), { count: host + 1, leftMs: MINUTE_MS })
  for (const host of [0, 1, 2]) t.match(counters[host]!.last('refusals', '192.0.2.1'), { count: host + 1 })
  const crowd = Array.from({ length: 2500 }, (_, index) => ({ limiter: 'refusals', subject: `${index}`, count: 1 }))
  await hosts[0].claimcheck.storage.shared!.counters.add(NOON, crowd)
  t.equal(await kept(), crowd.length + 1)

  time.now += MINUTE_MS
  t.match(counters[2]!.last('refusals', '192.0.2.1'), { count: 0 })
  for (const host of [0, 1, 2]) t.match(await add(host), { count: host + 1 })
  t.equal(await kept(), crowd.length + 1, 'another host may be a little behind')

  time.now += MINUTE_MS
  t.match(await add(1), { count: 1 })
  for (let waits = 0; waits < 500 && (await kept()) > 0; waits++) await setTimeout(20)
  t.equal(await kept(), 0)
})

t.test('hosts that count the same subjects in any order do not wait for each other for ever', async (t) => {
  const { hosts } = await threeHosts(t, {})
  const subjects = Array.from({ length: 100 }, (_, index) => ({ limiter: 'key', subject: `key_${index}`, count: 1 }))
  const orders = [subjects, subjects.toReversed(), [...subjects.slice(50), ...subjects.slice(0, 50)]]
  const add = (host: number) => hosts[host]!.claimcheck.storage.shared!.counters.add(0, orders[host]!)
  await Promise.all(Array.from({ length: 60 }, (_, index) => add(index % 3)))
  t.strictSame(new Set((await add(0)).map(({ count }) => count)), new Set([61]))
})

t.test(
  'while the database cannot be reached no request with a credential passes uncounted, and networks are counted',
  LONG,
  async (t) => {
    const postgres = await startPostgres()
    t.teardown(() => postgres.remove())
    const database = await createDatabase('postgres', { serverUrl: postgres.url })
    const { hosts, installation } = await threeHosts(t, { key: 100, network: 100 }, database)
    const client = await installation.client('acme')
    t.equal((await client.get('/v1/connections')).status, 200)
    await postgres.stop()
    for (const host of hosts) {
      const { status, headers } = await client.at(host).get('/v1/connections')
      t.equal(status, 503)
      t.match(headers.get('retry-after'), /^[1-9]\d*$/)
      t.equal((await host.request('/no-such-page', from('192.0.2.3'))).headers.get('ratelimit-remaining'), '99')
    }
    await postgres.start()
    for (const host of hosts)
      t.equal((await client.at(host).get('/v1/connections')).status, 200, 'and then it is well again')
  },
)
