// Test run: end-to-end, slow
/** A streaming standby: hosts read published rows from it, whether it lags, or is away; and it takes over from the primary. */
import { setTimeout } from 'node:timers/promises'
import { diagnose } from '@claimcheck/server/features/maintenance/doctor'
import pg from 'pg'
import t, { type Test } from 'tap'
import { runClaimcheck } from '../support/command.ts'
import { configOf, startHost, startSource } from '../support/copies.ts'
import { createDatabase } from '../support/database.ts'
import { LONG } from '../support/extent.ts'
import { Installation } from '../support/installation.ts'
import { sharedPostgresUrl, startPostgres } from '../support/postgres.ts'
import { query } from '../support/sql.ts'
import { SCHEMA } from '../support/storage.ts'

const BROWSER = { headers: { accept: 'text/html,*/*;q=0.8' } }
const ERASURE = ['--rule', 'court_order', '--reference', '12 O 345/26', '--yes']
const LONGEST_WAIT_MS = 60_000

async function until(t: Test, name: string, isSo: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + LONGEST_WAIT_MS
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error(`not within a minute: ${name}`)
    await setTimeout(50)
  }
  t.pass(name)
}

t.test('hosts with a standby', LONG, async (t) => {
  const primary = await startPostgres({ fsync: false })
  const standby = await startPostgres({ fsync: false, standbyOf: primary })
  const database = await createDatabase('postgres', { serverUrl: primary.url })
  const direct = database.env.DATABASE_URL!
  const [own, other] = [new URL(primary.url).host, new URL(standby.url).host]
  const databaseUrl = `${direct.replace(own, `${own},${other}`)}?target_session_attrs=read-write`
  const env = {
    ...database.env,
    DATABASE_URL: databaseUrl,
    DATABASE_READ_URL: direct.replace(own, `127.0.0.1:1,${other}`),
  }
  // Both servers are removed with all that is on them.
  const installation = await Installation.start({ database: { dialect: 'postgres', env, remove: async () => {} } })
  t.teardown(async () => {
    await installation.remove()
    await Promise.all([standby.remove(), primary.remove()])
  })
  const hosts = [installation.host, await installation.addHost()]
  const client = await installation.client('acme')

  async function newReceipt(): Promise<string> {
    const { body } = await client.submit()
    return (await client.decided(body.claim_id)).receipt_id
  }
  /** On every host. */
  async function statuses(path: string, init?: RequestInit): Promise<readonly number[]> {
    return Promise.all(hosts.map(async (host) => (await host.request(path, init)).status))
  }
  async function replicated(): Promise<boolean> {
    const [row] = await query(primary.url, 'SELECT pg_current_wal_lsn() AS lsn')
    const [is] = await query(standby.url, `SELECT pg_last_wal_replay_lsn() >= '${row!.lsn}' AS so`)
    return is!.so === true
  }
  const problems = async () => (await installation.request('/readyz')).body.problems
  const first = await newReceipt()
  const second = await newReceipt()

  await t.test('what is published is read from the replica', async (t) => {
    await until(t, 'it is there', replicated)
    await query(standby.url, 'SELECT pg_wal_replay_pause()')
    const holder = new pg.Client(direct)
    await holder.connect()
    await holder.query('BEGIN; LOCK TABLE receipts, evidence, tiles IN ACCESS EXCLUSIVE MODE')
    for (const path of [`/v1/receipts/${first}`, `/v1/receipts/${first}/evidence`, '/v1/log/entries', '/v1/log/head'])
      t.strictSame(await statuses(path), [200, 200], path)
    t.strictSame(await statuses(`/r/${first}`, BROWSER), [200, 200], 'its page')
    await holder.query('ROLLBACK')
    await holder.end()
  })

  await t.test('a replica that lags is behind no answer', async (t) => {
    const newest = await newReceipt()
    t.strictSame(await statuses(`/v1/receipts/${newest}`), [200, 200], 'a receipt that an answer has named')
    t.strictSame(await statuses(`/v1/receipts/${newest}/evidence`), [200, 200], 'and its evidence')
    t.strictSame(await statuses('/v1/log/proof?leaf_index=2&tree_size=3'), [200, 200])
    t.strictSame(await statuses('/v1/log/consistency?first=1&second=3'), [200, 200])
    const { entries } = (await installation.request('/v1/log/entries?start=0')).body
    t.equal(entries.length, 3)

    const { code } = await runClaimcheck(installation.folder, ['receipt', 'erase', first, ...ERASURE], installation.env)
    t.equal(code, 0)
    const [kept] = await query(direct.replace(own, other), `SELECT entry FROM receipts WHERE receipt_id = '${first}'`)
    t.match(kept!.entry, /signature/, 'the replica still has the content')
    t.strictSame(await statuses(`/v1/receipts/${first}`), [410, 410], 'an erased receipt')
    t.strictSame(await statuses(`/v1/receipts/${first}/evidence`), [410, 410], 'and its evidence')
    await query(standby.url, 'SELECT pg_wal_replay_resume()')
  })

  await t.test('a replica that is away is passed over', async (t) => {
    await standby.stop()
    t.strictSame(await statuses(`/v1/receipts/${second}`), [200, 200])
    t.match(
      await problems(),
      ['the replica does not answer, or has another log: reads go to the primary'],
      'readiness says so',
    )
    t.equal((await installation.request('/readyz')).status, 200, 'and requests are served')
    await standby.start()
    await until(t, 'it is read again', async () => {
      await statuses(`/v1/receipts/${second}`)
      return (await problems()).length === 0
    })
  })

  await t.test('the standby takes over, and the hosts follow it without a restart', async (t) => {
    await query(primary.url, `ALTER SYSTEM SET synchronous_standby_names = '*'`)
    await query(primary.url, 'SELECT pg_reload_conf()')
    const isSynchronous = `SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'`
    await until(t, 'it is synchronous', async () => (await query(primary.url, isSynchronous)).length === 1)
    const acknowledged = await newReceipt()
    await primary.stop('immediate')
    const refused = await client.submit()
    t.equal(refused.status, 503)
    t.ok(refused.headers.get('retry-after'))
    await query(standby.url, 'SELECT pg_promote()')
    for (const host of hosts)
      await until(t, 'claims are taken', async () => (await client.at(host).submit()).status === 202)
    t.strictSame(await statuses(`/v1/receipts/${acknowledged}`), [200, 200], 'nothing is lost')
    const found = await diagnose(installation.claimcheck.storage, { schema: SCHEMA })
    t.strictSame(found.problems, [])
  })
})

t.test('a replica that followed another primary is not believed', async (t) => {
  const source = await startSource(t, 'postgres')
  const client = await source.client('acme')
  const { receipt_id: id } = (await client.submit()).body
  await source.stop()
  const databaseUrl = source.config.databaseUrl
  const replicaUrl = `${databaseUrl}_replica`
  const [from, to] = [databaseUrl, replicaUrl].map((url) => new URL(url).pathname.slice(1))
  const server = await sharedPostgresUrl()
  await query(server, `CREATE DATABASE ${to} TEMPLATE ${from}`)
  t.teardown(() => query(server, `DROP DATABASE ${to} WITH (FORCE)`))
  const change = (sql: string) => query(replicaUrl, `SET session_replication_role = replica; ${sql}`)
  await change(`UPDATE evidence SET document = '"of the replica"'`)
  const host = await startHost(t, configOf(source, databaseUrl, { DATABASE_READ_URL: replicaUrl }))
  const evidence = async () => (await host.request(`/v1/receipts/${id}/evidence`)).body
  const problems = async () => (await host.request('/readyz')).body.problems
  t.equal(await evidence(), 'of the replica', 'with a head of the primary it is read')

  const newest = '(SELECT MAX(number) FROM tree_heads)'
  await change(`UPDATE tree_heads SET number = number + 1 WHERE number = ${newest}`)
  await until(t, 'with more heads it is not', async () => (await evidence()) !== 'of the replica')
  t.match(await problems(), [/has another log: reads go to the primary/])
  await change(`UPDATE tree_heads SET number = number - 1 WHERE number = ${newest}`)
  await until(t, 'with the same heads it is read again', async () => (await evidence()) === 'of the replica')
  await change(`UPDATE tree_heads SET root_hash = decode(repeat('00', 32), 'hex') WHERE number = ${newest}`)
  await until(t, 'with another root it is not', async () => (await evidence()) !== 'of the replica')
  t.equal((await host.request('/v1/log/head')).status, 200)
})
