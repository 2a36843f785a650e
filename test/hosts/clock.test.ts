// Test run: end-to-end, slow
import { join } from 'node:path'
import t from 'tap'
import { createDatabase } from '../support/database.ts'
import { Host } from '../support/host.ts'
import { Installation } from '../support/installation.ts'

const HOUR_MS = 3_600_000
// The database is on this machine, so that its clock is this process's, but for what a busy machine takes.
const CLOSE_MS = 10_000
// Each host knows the database's clock to within half of the time that it took to read it.
const AGREED_MS = 50

t.test('hosts whose own clocks are hours apart stamp by one clock', async (t) => {
  const installation = await Installation.start({ database: await createDatabase('postgres') })
  const hosts = [installation.host]
  for (const offMs of [HOUR_MS, -HOUR_MS]) {
    const dataDir = join(installation.folder, `data-${hosts.length + 1}`)
    const host = new Host({ ...installation.config, dataDir }, { now: () => Date.now() + offMs })
    await host.start()
    hosts.push(host)
  }
  t.teardown(async () => {
    await Promise.all(hosts.slice(1).map((host) => host.stop()))
    await installation.remove()
  })

  for (const { claimcheck } of hosts) t.ok(Math.abs(claimcheck.now() - Date.now()) < CLOSE_MS)

  const client = await installation.client('acme')
  const issued: number[] = []
  for (const host of hosts) {
    const before = Date.now()
    const { body } = await client.at(host).submit({ claimed_at: new Date(before).toISOString() })
    t.match(body, { state: 'decided', verdict: 'verified' })
    t.ok(Math.abs(Date.parse(body.submitted_at) - before) < CLOSE_MS)
    const receipt = await host.request(`/v1/receipts/${body.receipt_id}`)
    issued.push(Date.parse(receipt.body.body.issued_at))
    t.ok(Math.abs(issued.at(-1)! - before) < CLOSE_MS)
  }
  for (const [index, at] of issued.entries()) {
    if (index > 0) t.ok(at > issued[index - 1]! - AGREED_MS, `${at} after ${issued[index - 1]}`)
  }

  const later = new Date(Date.now() + HOUR_MS / 2).toISOString()
  for (const host of hosts)
    t.equal((await client.at(host).submit({ claimed_at: later })).status, 422, 'what is to come is seen by none')
})

t.test('what one host stored before another read it has no later stamp', async (t) => {
  const installation = await Installation.during(t, { database: await createDatabase('postgres') })
  const first = installation.host.claimcheck
  const second = (await installation.addHost()).claimcheck
  for (let times = 0; times < 200; times++) {
    const [writer, reader] = times % 2 === 0 ? [first, second] : [second, first]
    const { id } = await writer.workspaces.create(`workspace ${times}`)
    const { createdAt } = (await reader.storage.read.workspaces.byIdOrName(id))!
    if (createdAt > reader.now()) t.fail(`${createdAt} is later than ${reader.now()}`)
  }
})
