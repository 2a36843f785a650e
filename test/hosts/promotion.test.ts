// Test run: end-to-end, slow
/** A standby is promoted under hosts that run: they go on where nothing was lost, and all stop where something was. Threat O6 of `security.md`. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { runClaimcheck } from '../support/command.ts'
import { createDatabase } from '../support/database.ts'
import { LONG, PATIENT } from '../support/extent.ts'
import { type Host, Installation } from '../support/installation.ts'
import { type Postgres, startPostgres } from '../support/postgres.ts'
import { query } from '../support/sql.ts'
import { Wire } from '../support/wire.ts'

/** Three hosts before a primary with an asynchronous standby. */
async function start(t: Test) {
  const primary = await startPostgres()
  t.teardown(() => primary.remove())
  const address = await Wire.to(primary.url)
  const database = await createDatabase('postgres', { serverUrl: primary.url })
  const url = address.urlOf(database.env.DATABASE_URL!)
  const standby = await startPostgres({ standbyOf: primary })
  t.teardown(() => standby.remove())
  const env = { ...database.env, DATABASE_URL: url }
  const installation = await Installation.start({ database: { ...database, env, remove: async () => {} } })
  t.teardown(async () => {
    await installation.remove()
    await address.close()
  })
  const hosts = [installation.host, await installation.addHost(), await installation.addHost()]
  return { primary, standby, address, installation, hosts, client: await installation.client('acme') }
}

type Started = Awaited<ReturnType<typeof start>>

async function submitAll({ hosts, client }: Started, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let i = 0; i < count; i++) {
    for (const host of hosts) {
      const { body } = await client.at(host).submit()
      if (body.state !== 'decided') throw new Error(JSON.stringify(body))
      ids.push(body.receipt_id)
    }
  }
  return ids
}

async function fallOver({ primary, standby, address }: Started): Promise<void> {
  await primary.stop('immediate')
  await standby.promote()
  address.leadTo(standby.url)
}

async function hasReplayed(primary: Postgres, standby: Postgres): Promise<void> {
  const [row] = await query(primary.url, 'SELECT pg_current_wal_lsn()::text AS lsn')
  for (;;) {
    const [state] = await query(standby.url, `SELECT pg_last_wal_replay_lsn() >= '${row!.lsn}'::pg_lsn AS done`)
    if (state!.done) return
    // More often, a key would meet its rate limit.
    await setTimeout(250)
  }
}

async function problemsOf(host: Host): Promise<string[]> {
  const { status, body } = await host.request('/readyz')
  return status === 200 ? [] : body.problems
}

/** Submits once to each host: a host that does not is asked again with the same claim. */
async function takesClaims({ hosts, client }: Started): Promise<boolean> {
  const claims = await Promise.all(
    hosts.map((host, index) => client.at(host).submit({ client_claim_id: `after ${index}` })),
  )
  return claims.every(({ status, body }) => status === 202 && body.state === 'decided')
}

async function sizeOf(host: Host): Promise<number> {
  return (await host.request('/v1/log/head')).body.tree_head.body.tree_size
}

async function until(what: string, ms: number, isTrue: () => Promise<boolean>): Promise<number> {
  const from = performance.now()
  while (!(await isTrue())) {
    if (performance.now() - from > ms) throw new Error(`not within ${ms} ms: ${what}`)
    // More often, a key would meet its rate limit.
    await setTimeout(250)
  }
  return Math.round(performance.now() - from)
}

t.test(
  'a promoted standby that lacks nothing: hosts go on by themselves, and all receipts are there',
  LONG,
  async (t) => {
    const started = await start(t)
    const { primary, standby, hosts, client, installation } = started
    t.match((await installation.request('/readyz')).body.warnings, [/^no standby is synchronous/])
    t.match((await installation.request('/metrics')).body, /durability_at_risk\{reason="standby"\} 1/)
    const receipts = await submitAll(started, 3)
    await hasReplayed(primary, standby)
    await fallOver(started)
    t.comment(`all hosts sign again after ${await until('signing', 20_000, () => takesClaims(started))} ms`)
    receipts.push(...(await submitAll(started, 1)))
    for (const id of receipts) t.equal((await client.get(`/v1/receipts/${id}`)).status, 200)
    t.equal(await sizeOf(installation.host), receipts.length + hosts.length)
  },
)

t.test('a promoted standby that lagged: no host signs on it, nor one that is new, and all say why', LONG, async (t) => {
  const started = await start(t)
  const { primary, standby, hosts, client, installation } = started
  const kept = await submitAll(started, 1)
  await hasReplayed(primary, standby)
  await standby.stop()
  const lost = await submitAll(started, 3)
  await primary.stop('immediate')
  await standby.start()
  await fallOver({ ...started, primary: { ...primary, stop: async () => {} } })

  const submitted = new Set<number>()
  const all = async () => {
    for (const host of hosts) submitted.add((await client.at(host).submit()).status)
    return (await Promise.all(hosts.map(problemsOf))).every((problems) =>
      // The host that said so first may not have known the very last heads.
      problems.some((problem) => new RegExp(`has ${kept.length} entries, and [0-9]+ were signed`).test(problem)),
    )
  }
  t.comment(`all hosts say why after ${await until('all hosts say why', 25_000, all)} ms`)
  t.strictSame([...submitted], [503])
  const other = await installation.addHost()
  t.equal((await client.at(other).submit()).status, 503)
  t.match(await problemsOf(other), [/the database is an old one/])
  t.equal(await sizeOf(other), kept.length, 'nothing was signed')

  const begun = await installation.claimcheck.signingKeys.beginLog()
  t.equal(begun.ended.treeSize, kept.length)
  const named = begun.lost.map(({ receiptId }) => receiptId)
  t.strictSame(named.toSorted(), lost.toSorted(), 'every host has named what it signed')
  await until('signing', 10_000, () => takesClaims(started))
  for (const id of lost)
    t.match(await client.get(`/v1/receipts/${id}`), { status: 410, body: { lost: { receipt_id: id } } })
})

/** A host is killed with the primary: its lease stays. */
async function fallOverWithHost(started: Started, isSynchronous: boolean) {
  const { primary, standby, installation, hosts } = started
  if (isSynchronous) {
    await query(primary.url, `ALTER SYSTEM SET synchronous_standby_names = '*'`)
    await query(primary.url, 'SELECT pg_reload_conf()')
  }
  await submitAll(started, 1)
  // Hosts look every three seconds.
  await setTimeout(4000)
  const sql = `INSERT INTO log_hosts SELECT 'killed', until, compared_on, asked, answered, knows FROM log_hosts LIMIT 1`
  await query(installation.config.databaseUrl, sql)
  await hasReplayed(primary, standby)
  await fallOver(started)
  await until('says what it waits for', 10_000, async () =>
    (await problemsOf(hosts[0]!)).some((problem) => problem.includes('until another host has compared')),
  )
}

t.test('a host that is killed with the primary is waited for, until an operator forgets it', PATIENT, async (t) => {
  const started = await start(t)
  const { hosts, installation } = started
  await fallOverWithHost(started, false)
  const names = async () => (await problemsOf(hosts[0]!)).some((problem) => /may lack.*silent: killed\./.test(problem))
  await until('no time limit in place of a witness', 30_000, names)
  await setTimeout(5000)
  t.ok(await names())
  t.notOk(await takesClaims(started))
  const { databaseUrl } = installation.config
  const ago = (ms: number) => query(databaseUrl, `UPDATE log_hosts SET until = until - ${ms} WHERE host_id = 'killed'`)
  await ago(7_200_000)
  await installation.claimcheck.storage.shared!.logHosts.leave('another')
  await ago(-7_200_000)
  t.equal((await query(databaseUrl, `SELECT 1 FROM log_hosts WHERE host_id = 'killed'`)).length, 1, 'and not forgotten')
  const forget = ['log', 'forget-host', 'killed', '--yes']
  for (const other of ['unknown', readFileSync(join(installation.config.dataDir, 'host-id'), 'utf8')])
    t.match(
      await runClaimcheck(installation.folder, ['log', 'forget-host', other, '--yes'], {
        ...installation.env,
        HEAD_MEMORY: 'none',
      }),
      { code: 1, stderr: /is no host that ran and is silent.*there is killed/ },
    )
  t.match(await runClaimcheck(installation.folder, forget, { ...installation.env, HEAD_MEMORY: 'none' }), { code: 0 })
  t.comment(`all hosts sign again after ${await until('signing', 10_000, () => takesClaims(started))} ms`)
})

t.test('where the standby was synchronous, such a host is waited for, and then no more', PATIENT, async (t) => {
  const started = await start(t)
  await fallOverWithHost(started, true)
  t.comment(`all hosts sign again after ${await until('signing', 40_000, () => takesClaims(started))} ms`)
})

t.test(
  'a host that knows nothing asks those that run, and signs when they answered or their leases ended',
  async (t) => {
    const installation = await Installation.during(t, { database: await createDatabase('postgres') })
    const client = await installation.client('acme')
    await client.submit()
    const { databaseUrl } = installation.config
    // It runs, and answers nothing.
    await query(
      databaseUrl,
      `INSERT INTO log_hosts SELECT 'silent', extract(epoch FROM now()) * 1000 + 12000, compared_on, 0, 0, '' FROM log_hosts`,
    )
    const other = await installation.addHost()
    t.match(await problemsOf(other), [
      /does not know the newest state of the log: it waits for the answers of 1 host of 2 hosts/,
    ])
    t.equal((await client.at(other).submit()).status, 503)
    t.equal((await client.submit()).status, 202, 'others go on')
    const waited = await until('signing', 15_000, async () => (await client.at(other).submit()).status === 202)
    t.comment(`signs after ${waited} ms more`)
    const another = await installation.addHost()
    t.equal((await client.at(another).submit()).status, 202, 'nobody silent runs')
  },
)
