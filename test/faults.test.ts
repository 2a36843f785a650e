// Test run: end-to-end, slow, alone
import { execFileSync } from 'node:child_process'
import { rmSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { openClaimcheck } from '@claimcheck/server/claimcheck'
import { diagnose } from '@claimcheck/server/features/maintenance/doctor'
import pg from 'pg'
import t, { type Test } from 'tap'
import { runClaimcheck } from './support/command.ts'
import { createDatabase } from './support/database.ts'
import { freePort } from './support/free-port.ts'
import { type Client, Installation } from './support/installation.ts'
import { sharedPostgresUrl, startPostgres } from './support/postgres.ts'
import { startProgram } from './support/program.ts'
import { CANNOT_MOUNT, fill, mountSmallDisk } from './support/small-disk.ts'
import { query } from './support/sql.ts'
import { SCHEMA } from './support/storage.ts'

const HOUR_MS = 60 * 60_000
/** The advisory lock that a migration on Postgres takes. */
const MIGRATION_LOCK = 0x636c6d

/** An installation whose data folder is a disk of its own, and a small one. */
async function startOnDisk(t: Test) {
  const { path: disk, unmount } = mountSmallDisk('16m')
  const env = { DATA_DIR: disk }
  const installation = await Installation.start({ database: await createDatabase('sqlite'), env }).catch((error) => {
    unmount()
    throw error
  })
  t.teardown(async () => {
    await installation.remove()
    unmount()
  })
  return { installation, client: await installation.client('acme'), disk }
}

async function submitUntilRefused(client: Client, most: number) {
  const taken = []
  for (let count = 0; count < most; count++) {
    const { status, headers, body } = await client.submit()
    if (status !== 202) return { taken, refused: { status, retryAfter: headers.get('retry-after') } }
    taken.push(body)
  }
  return { taken, refused: undefined }
}

async function canExamine(t: Test, { folder, env }: Installation, what: string) {
  const { code, stdout, stderr } = await runClaimcheck(folder, ['doctor', '--json'], env)
  t.equal(code, 0, `${what}: ${stderr}`)
  t.match(JSON.parse(stdout), { ok: true, problems: [] }, what)
}

async function isSound(t: Test, { claimcheck }: Installation) {
  t.strictSame((await diagnose(claimcheck.storage, { schema: SCHEMA, signatures: true })).problems, [])
}

t.test(
  'on a full disk nothing is acknowledged that is not kept, and it goes on when there is room',
  { skip: CANNOT_MOUNT },
  async (t) => {
    const { installation, client, disk } = await startOnDisk(t)
    const soon = { see: 'absent', later: { at: Date.now() + 1000, see: 'present' } }
    const { body: waiting } = await client.submit({ params: soon })

    const filler = join(disk, 'filler')
    fill(filler)
    // Room for some claims, so that one of them is cut off in the middle.
    truncateSync(filler, statSync(filler).size - 500_000)
    const { taken, refused } = await submitUntilRefused(client, 2000)
    t.ok(taken.length > 0)
    t.match(refused, { status: 503, retryAfter: /^\d+$/ })
    for (let times = 0; times < 5; times++) t.equal((await client.submit()).status, 503)
    t.match(await installation.request('/readyz'), { status: 503, body: { problems: [/its disk is full/] } })
    t.match(await installation.request('/readyz/read'), { status: 200 })
    t.equal((await installation.request('/v1/log/head')).status, 200)
    t.match((await client.get(`/v1/claims/${waiting.claim_id}`)).body, { state: 'queued' })
    await canExamine(t, installation, 'beside a full disk')
    await installation.host.stop()
    fill(filler)
    await canExamine(t, installation, 'on a full disk')
    rmSync(filler)
    await installation.host.start()
    t.match(await installation.request('/readyz'), { status: 200 })
    t.equal((await client.submit()).body.state, 'decided')
    t.match(await client.decided(waiting.claim_id), { verdict: 'verified' })
    for (const { claim_id, receipt_id } of taken) {
      t.match((await client.get(`/v1/claims/${claim_id}`)).body, { state: 'decided', receipt_id })
      t.equal((await installation.request(`/v1/receipts/${receipt_id}`)).status, 200)
    }
    await isSound(t, installation)
  },
)

t.test('a host does not start on a disk that it cannot write to, and says so', { skip: CANNOT_MOUNT }, async (t) => {
  const { installation, client, disk } = await startOnDisk(t)
  const { body } = await client.submit()
  await installation.stop()
  execFileSync('mount', ['-o', 'remount,ro', disk])
  await t.rejects(openClaimcheck(installation.config, { plugins: false }), {
    name: 'StorageError',
    code: 'unavailable',
  })
  await canExamine(t, installation, 'on a read-only disk')
  execFileSync('mount', ['-o', 'remount,rw', disk])
  await installation.resume()
  t.equal((await installation.request(`/v1/receipts/${body.receipt_id}`)).status, 200)
  await isSound(t, installation)
})

t.test('a database that takes no writes, as a standby does not, is read, and written again when it does', async (t) => {
  const database = await createDatabase('postgres')
  // Requests are counted in the database: without being counted, what only reads goes on.
  const installation = await Installation.during(t, { database, file: { rate_limits: { refusals: 0 } } })
  const client = await installation.client('acme')
  const { body } = await client.submit()
  const url = new URL(installation.config.databaseUrl)
  const name = url.pathname.slice(1)
  url.pathname = 'postgres'
  const setReadOnly = (value: 'on' | 'off') =>
    query(url.href, `ALTER DATABASE ${name} SET default_transaction_read_only = ${value}`)

  await setReadOnly('on')
  await query(url.href, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`)
  for (let times = 0; times < 3; times++) {
    const { status, headers } = await client.submit()
    t.equal(status, 503)
    t.match(headers.get('retry-after'), /^\d+$/)
  }
  t.equal((await installation.request('/v1/log/head')).status, 200)
  t.equal((await installation.request(`/v1/receipts/${body.receipt_id}`)).status, 200)
  t.match(await installation.request('/readyz'), { status: 503, body: { problems: [/it is read-only/] } })
  t.match(await installation.request('/readyz/read'), { status: 200 })
  await canExamine(t, installation, 'on a standby')
  await setReadOnly('off')
  // A session that was opened meanwhile stays read-only. One that has answered so is not used again, nor are those beside it.
  const [first, second] = [await client.submit(), await client.submit()]
  t.ok([202, 503].includes(first.status))
  t.match(second, { status: 202, body: { state: 'decided' } })
  t.match(await installation.request('/readyz'), { status: 200 })
  await isSound(t, installation)
})

t.test('receipts and heads stay in the order of time when the clock is set back by hours', async (t) => {
  const clock = { aheadMs: 0 }
  const database = await createDatabase('sqlite')
  const installation = await Installation.during(t, { database, now: () => Date.now() + clock.aheadMs })
  const client = await installation.client('acme')
  const decided = { status: 202, body: { state: 'decided', verdict: 'verified' } }
  const refused = { status: 503, body: { detail: /behind the newest time in the log/ } }
  for (const [aheadMs, answer] of [
    [0, decided],
    [-3 * HOUR_MS, refused],
    [-1 * HOUR_MS, refused],
    [2 * HOUR_MS, decided],
    [-9 * HOUR_MS, refused],
  ] as const) {
    clock.aheadMs = aheadMs
    // So long after a step a host knows of the log's newest time.
    await installation.claimcheck.logGuard.examine()
    t.match(await client.submit(), answer)
    await installation.claimcheck.signingKeys.rotate()
    t.match(await client.submit(), answer)
    await isSound(t, installation)
  }
  await installation.stop()
  await installation.resume()
  t.match(await client.submit(), refused)
  clock.aheadMs = 3 * HOUR_MS
  t.match(await client.submit(), decided)
  const { body } = await installation.request('/v1/log/entries?limit=100')
  const times = body.entries.map(({ created_at }: { created_at: string }) => created_at)
  t.strictSame(times, times.toSorted())
  t.equal(times.length, 5)
  await isSound(t, installation)
})

t.test('a write that waits makes the host not ready, and the metrics of before are answered', async (t) => {
  const database = await createDatabase('postgres')
  const installation = await Installation.during(t, { database })
  const client = await installation.client('acme')
  const other = new pg.Client(installation.config.databaseUrl)
  await other.connect()
  await other.query('BEGIN')
  await other.query('SELECT log_id FROM logs FOR UPDATE')
  const submitted = client.submit()
  const isWaiting = async () =>
    (await installation.request('/readyz')).body.problems.some((text: string) => /a write waits/.test(text))
  while (!(await isWaiting())) await setTimeout(500)
  t.match(await installation.request('/metrics'), { status: 200, body: /^claimcheck_metrics_readings_failed 0$/m })
  await other.query('ROLLBACK')
  await other.end()
  t.match(await submitted, { status: 202, body: { state: 'decided' } })
  t.match(await installation.request('/readyz'), { status: 200 })
})

t.test('a host that starts while the database is away listens, and begins when it is there', async (t) => {
  const postgres = await startPostgres()
  t.teardown(() => postgres.remove())
  await postgres.stop()
  const port = await freePort()
  const env = { PATH: process.env.PATH!, PORT: String(port), DATABASE_URL: postgres.url, SECRET_KEY: 'ab'.repeat(32) }
  const starting = startProgram(t.testdir(), { ...env, LOG_LEVEL: 'silent' })
  const url = `http://127.0.0.1:${port}`
  const statusOf = async (path: string) => (await fetch(url + path).catch(() => undefined))?.status
  while ((await statusOf('/healthz')) !== 200) await setTimeout(100)
  t.equal(await statusOf('/readyz'), 503)
  t.equal(await statusOf('/v1/log/head'), 503)
  await postgres.start()
  const program = await starting
  t.equal(await statusOf('/readyz'), 200)
  await program.stop()
})

t.test('a host that waits for the migration of another one listens meanwhile', async (t) => {
  const database = await createDatabase('postgres')
  t.teardown(() => database.remove())
  const other = new pg.Client(database.env.DATABASE_URL)
  await other.connect()
  await other.query(`SELECT pg_advisory_lock(${MIGRATION_LOCK})`)
  const port = await freePort()
  const env = { ...database.env, PATH: process.env.PATH!, PORT: String(port), SECRET_KEY: 'ab'.repeat(32) }
  const starting = startProgram(t.testdir(), { ...env, LOG_LEVEL: 'silent' })
  const statusOf = async (path: string) =>
    (await fetch(`http://127.0.0.1:${port}${path}`).catch(() => undefined))?.status
  while ((await statusOf('/healthz')) !== 200) await setTimeout(100)
  t.equal(await statusOf('/readyz'), 503)
  await other.query(`SELECT pg_advisory_unlock(${MIGRATION_LOCK})`)
  await other.end()
  const program = await starting
  t.equal(await statusOf('/readyz'), 200)
  await program.stop()
})

t.test('a database that refuses the password is no reason to wait', async (t) => {
  const url = new URL(await sharedPostgresUrl())
  url.password = 'wrong'
  const env = { DATABASE_URL: url.href, SECRET_KEY: 'ab'.repeat(32), PORT: '0' }
  const { code, stderr } = await runClaimcheck(t.testdir(), ['serve'], env)
  t.equal(code, 1)
  t.match(stderr, /cannot open the database: password authentication failed/)
})

t.test('a host whose role may not write receipts is not ready until it may', async (t) => {
  const database = await createDatabase('postgres', { isEmpty: true })
  const url = new URL(database.env.DATABASE_URL!)
  const role = `app_${url.pathname.slice(1)}`
  await query(url.href, `CREATE ROLE ${role} LOGIN PASSWORD 'secret'`)
  await query(url.href, `ALTER DATABASE ${url.pathname.slice(1)} OWNER TO ${role}`)
  const own = new URL(url)
  own.username = role
  own.password = 'secret'
  const installation = await Installation.start({
    database: { ...database, env: { ...database.env, DATABASE_URL: own.href } },
  })
  t.teardown(async () => {
    await installation.remove()
    await query(await sharedPostgresUrl(), `DROP ROLE ${role}`)
  })
  const client = await installation.client('acme')
  await query(url.href, `REVOKE INSERT ON receipts FROM ${role}`)
  for (let look = 0; look < 3; look++) {
    t.match(await client.submit(), { status: 503 })
    const expected = { status: 503, body: { problems: [/refuses the permission/] } }
    t.match(await installation.request('/readyz'), expected, 'also after writes of other tables went well')
  }
  await query(url.href, `GRANT INSERT ON receipts TO ${role}`)
  t.match(await installation.request('/readyz'), { status: 200 })
  t.match(await client.submit(), { status: 202 })
})
