// Test run: end-to-end, slow
/** What is revoked on one host is so on all. Threat K1 of `security.md`. */
import { resolve } from 'node:path'
import t, { type Test } from 'tap'
import { runClaimcheck } from '../support/command.ts'
import { connect } from '../support/connect.ts'
import { createDatabase } from '../support/database.ts'
import { Installation } from '../support/installation.ts'

const CONNECTED = { use: resolve('build/test/plugins/connected.js'), trusted: true }
const TOLERANCE_MS = 10 * 60_000

async function threeHosts(t: Test) {
  const database = await createDatabase('postgres')
  const installation = await Installation.during(t, { database, plugins: [CONNECTED] })
  const hosts = [installation.host, await installation.addHost(), await installation.addHost()] as const

  /** As an operator's command, in a process of its own. */
  async function command(...args: string[]) {
    const { stdout } = await runClaimcheck(installation.folder, [...args, '--json'], database.env)
    return JSON.parse(stdout)
  }
  return { installation, hosts, command }
}

t.test('a key is good on every host as soon as it is made, and on none as soon as it is revoked', async (t) => {
  const { installation, hosts, command } = await threeHosts(t)
  await command('workspace', 'create', 'acme')
  const { id, key } = await command('key', 'create', '--workspace', 'acme')
  const ask = () =>
    Promise.all(
      hosts.map(async (host) => {
        const { status } = await host.request('/v1/whoami', { headers: { authorization: `Bearer ${key}` } })
        return status
      }),
    )
  for (let times = 0; times < 3; times++) t.strictSame(await ask(), [200, 200, 200])
  await command('key', 'revoke', id)
  for (let times = 0; times < 3; times++) t.strictSame(await ask(), [401, 401, 401])

  const client = await installation.client('made by a host')
  const [made] = await hosts[1].claimcheck.keys.list(client.workspaceId)
  for (const host of hosts) t.equal((await client.at(host).get('/v1/whoami')).status, 200)
  await hosts[2].claimcheck.keys.revoke(made!.id)
  for (const host of hosts) t.equal((await client.at(host).get('/v1/whoami')).status, 401)
})

t.test(
  'a connection is used by no host once it is removed, by claims that wait no more than by new ones',
  async (t) => {
    const { installation, hosts } = await threeHosts(t)
    const client = await installation.client('acme')
    const { id } = await connect(hosts[0].claimcheck, client.workspaceId, 'mailbox', { token: 'secret' })
    const claimedAt = Date.now() + 2000 - TOLERANCE_MS
    const claim = {
      action: 'test.message.send',
      params: {},
      claimed_at: new Date(claimedAt).toISOString(),
      deadline_at: new Date(claimedAt + TOLERANCE_MS + 60_000).toISOString(),
    }
    const waiting = await Promise.all(hosts.map((host) => client.at(host).submit(claim)))
    for (const { body } of waiting) t.match(body, { state: 'queued', attempts: 1, last_check: { result: 'absent' } })

    await hosts[1].claimcheck.connections.remove(id)
    for (const host of hosts) {
      t.match((await client.at(host).submit(claim)).body, { state: 'decided', reason_code: 'no_connection' })
      t.match((await client.at(host).get('/v1/connections')).body, { connections: [] })
    }
    for (const { body } of waiting) t.match(await client.decided(body.claim_id), { reason_code: 'no_connection' })
  },
)
