// Test run: end-to-end, slow
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { createDatabase, type Database } from '../support/database.ts'
import { Installation } from '../support/installation.ts'

/** A database behind a network that can fall silent: connections stay open, and nothing passes any more. */
async function behindNetwork(t: Test): Promise<{ readonly database: Database; fallSilent(): void }> {
  const database = await createDatabase('postgres')
  const url = new URL(database.env.DATABASE_URL!)
  const port = Number(url.port)
  const ways = new Set<Socket>()
  const network = createServer((client) => {
    const server = connect(port, url.hostname)
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      ways.add(from)
      from.pipe(to)
      from.on('error', () => to.destroy())
      from.on('close', () => {
        ways.delete(from)
        to.destroy()
      })
    }
  })
  network.listen(0, '127.0.0.1')
  await once(network, 'listening')
  t.teardown(() => {
    network.close()
    for (const way of ways) way.destroy()
  })
  url.port = String((network.address() as AddressInfo).port)
  return {
    database: { ...database, env: { ...database.env, DATABASE_URL: url.href } },
    fallSilent: () => {
      for (const way of ways) {
        way.unpipe()
        way.pause()
      }
    },
  }
}

t.test(
  'connections on which the database does not answer any more are given up, and hosts go on over new ones',
  async (t) => {
    const { database, fallSilent } = await behindNetwork(t)
    const installation = await Installation.during(t, { database, inProcess: true })
    const client = await installation.client('acme')
    t.match(await client.submit(), { status: 202 })
    fallSilent()
    const answer = await client.submit()
    t.equal(answer.status, 503)
    t.ok(answer.headers.get('retry-after'))
    // Others of its connections may be silent still.
    let status = 503
    for (let time = 0; status === 503 && time < 4; time++) status = (await client.submit()).status
    t.equal(status, 202)
  },
)
