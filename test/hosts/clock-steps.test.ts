// Test run: end-to-end, slow
/** When the clock of a host is set, the host decides and signs nothing by it. Threat D6 of `security.md`. */
import { mkdtemp } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { runClaimcheck } from '../support/command.ts'
import { createDatabase } from '../support/database.ts'
import { LONG } from '../support/extent.ts'
import { fakeClock, WITH_FAKETIME } from '../support/faketime.ts'
import { Installation, type InstallationOptions } from '../support/installation.ts'
import { serving } from '../support/serving.ts'
import { query } from '../support/sql.ts'

const SECOND_MS = 1000
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** As long as a host needs to look at what is due, several times. */
const A_WHILE_MS = 1500
const NEAR_MS = 30 * SECOND_MS

/** True time and the clock of the system, which may be set. */
class Clocks {
  passedMs = 0
  setMs = 0
  readonly now = () => Date.now() + this.passedMs
  readonly wall = () => this.now() + this.setMs
}

async function start(t: Test, options: InstallationOptions = {}) {
  const clocks = new Clocks()
  const { now, wall } = clocks
  const database = await createDatabase('sqlite')
  const installation = await Installation.during(t, { database, now, wall, ...options })
  return { clocks, installation, client: await installation.client('acme') }
}

async function isReady(installation: Installation) {
  const { status, body } = await installation.request('/readyz')
  return { status, problem: body.problems[0] as string | undefined }
}

async function doubted(installation: Installation) {
  return /^claimcheck_clock_doubted (\d)$/m.exec((await installation.request('/metrics')).body)?.[1]
}

async function receiptOf(installation: Installation, id: string) {
  const { body } = await installation.request(`/v1/receipts/${id}`)
  return body.body
}

async function treeSize(installation: Installation): Promise<number> {
  return (await installation.request('/v1/log/head')).body.tree_head.tree_size
}

/** A host measures the database's clock every ten seconds. */
async function untilReadiness(installation: Installation, wanted: number): Promise<boolean> {
  for (const end = Date.now() + 20 * SECOND_MS; Date.now() < end; await setTimeout(200)) {
    if ((await isReady(installation)).status === wanted) return true
  }
  return false
}

t.test('a clock that steps 20 minutes ahead ends no waiting claim, and signs nothing', async (t) => {
  const { clocks, installation, client } = await start(t)
  const at = clocks.now()
  const [late, never] = await Promise.all([
    client.submit({ params: { see: 'absent', later: { at: at + 5 * MINUTE_MS, see: 'present' } } }),
    client.submit({ params: { see: 'absent' } }),
  ])
  t.equal(await doubted(installation), '0')
  const size = await treeSize(installation)
  clocks.setMs = 20 * MINUTE_MS
  await setTimeout(A_WHILE_MS)

  const { status, problem } = await isReady(installation)
  t.equal(status, 503)
  t.match(
    problem,
    /time is in doubt: the clock of this machine is 1200 s ahead .*restart the service/s,
    'and the way out',
  )
  t.equal(await doubted(installation), '1')
  const refused = await client.submit()
  t.match(refused, { status: 503, body: { detail: /time is in doubt/ } })
  t.ok(refused.headers.get('retry-after'))
  for (const { body } of [late, never]) {
    t.match(await client.get(`/v1/claims/${body.claim_id}`), { body: { state: 'queued', attempts: body.attempts } })
  }
  t.equal(await treeSize(installation), size)

  clocks.setMs = 0
  t.strictSame(await isReady(installation), { status: 200, problem: undefined })
  t.equal(await doubted(installation), '0')
  clocks.passedMs += 6 * MINUTE_MS
  const verified = await client.decided(late.body.claim_id)
  t.match(verified, { verdict: 'verified' })
  const { issued_at } = await receiptOf(installation, verified.receipt_id)
  t.ok(Math.abs(Date.parse(issued_at) - clocks.now()) < NEAR_MS, `issued ${issued_at}`)
  t.match(await client.get(`/v1/claims/${never.body.claim_id}`), { body: { state: 'queued' } })
  for (let minute = 0; minute < 10; minute++) {
    clocks.passedMs += MINUTE_MS
    await setTimeout(A_WHILE_MS / 3)
  }
  t.match(await client.decided(never.body.claim_id), { verdict: 'failed' }, 'when its time is over')
})

t.test('time that passes meanwhile ends no waiting claim, either', async (t) => {
  const { clocks, installation, client } = await start(t)
  const { body } = await client.submit({ params: { see: 'absent' } })
  clocks.setMs = -HOUR_MS
  clocks.passedMs = 16 * MINUTE_MS
  await setTimeout(A_WHILE_MS)
  t.match(await client.get(`/v1/claims/${body.claim_id}`), { body: { state: 'queued' } })
  t.match((await isReady(installation)).problem, /3600 s behind/)
  clocks.setMs = 0
  t.match(await client.decided(body.claim_id), { state: 'decided' })
})

t.test('a check that was under way when the clock was set counts for nothing', async (t) => {
  const { clocks, client } = await start(t, { file: { checks: { timeout_ms: 1500, first_answer_ms: 100 } } })
  const { body } = await client.submit({ params: { see: 'hang' } })
  t.match(body, { state: 'queued', attempts: 0 })
  clocks.setMs = HOUR_MS
  await setTimeout(2500)
  t.match(await client.get(`/v1/claims/${body.claim_id}`), { body: { state: 'queued', attempts: 0 } })
  clocks.setMs = 0
  clocks.passedMs = 10 * SECOND_MS
  for (const end = Date.now() + 20_000; ; await setTimeout(100)) {
    const { attempts } = (await client.get(`/v1/claims/${body.claim_id}`)).body
    if (attempts > 0) break
    if (Date.now() > end) t.fail('it is checked no more')
  }
})

t.test(
  'a check that shares the outcome of another one counts for nothing, either, nor is that outcome shared',
  async (t) => {
    const { clocks, installation, client } = await start(t, {
      file: { checks: { timeout_ms: 1500, first_answer_ms: 100 } },
    })
    const { adjudication, clock, storage } = installation.claimcheck
    const claims = await Promise.all(
      ['absent', 'hang'].map(async (see) => (await client.submit({ params: { see } })).body),
    )
    await setTimeout(A_WHILE_MS + 500)
    const [shared, read] = await Promise.all(
      claims.map(({ claim_id }) => storage.read.claims.byId(client.workspaceId, claim_id)),
    )
    let answer = (_hung: boolean) => {}
    const outcome = new Promise<boolean>((resolve) => {
      answer = resolve
    })
    const ended: unknown[] = []
    const end = (record: unknown) => ended.push(record)
    const checks = [
      adjudication.advance(shared!, [], { kind: 'deciding', shared: outcome, end }),
      adjudication.advance(read!, [], { kind: 'deciding', shared: undefined, end }),
    ]
    clocks.setMs = HOUR_MS
    t.ok(clock.doubt())
    clocks.setMs = 0
    t.equal(clock.doubt(), undefined)
    answer(true)
    t.strictSame(await Promise.all(checks), [undefined, undefined])
    t.strictSame(ended, [undefined, undefined])
  },
)

t.test('a step of an hour for six seconds fixes no time', async (t) => {
  const { clocks, installation, client } = await start(t)
  const issued: number[] = []
  const decide = async () => {
    const { body } = await client.submit()
    issued.push(Date.parse((await receiptOf(installation, body.receipt_id)).issued_at) - clocks.now())
  }
  await decide()
  clocks.setMs = HOUR_MS
  clocks.passedMs += 6 * SECOND_MS
  t.match(await client.submit(), { status: 503 })
  clocks.setMs = 0
  await decide()
  clocks.passedMs += MINUTE_MS
  await decide()
  for (const off of issued) t.ok(Math.abs(off) < NEAR_MS, `issued ${off} ms from the true time`)
})

t.test('a host that starts with a clock behind the newest time in the log waits until that has passed', async (t) => {
  const { clocks, installation, client } = await start(t)
  clocks.passedMs = HOUR_MS
  t.match(await client.submit(), { body: { verdict: 'verified' } })
  await installation.stop()
  clocks.passedMs = 0
  await installation.resume()
  const { status, problem } = await isReady(installation)
  t.equal(status, 503)
  t.match(problem, /behind the newest time in the log/)
  t.match(await client.submit(), { status: 503 })
  const { folder, env } = installation
  const doctor = await runClaimcheck(folder, ['doctor'], env)
  t.match(doctor, { code: 0, stdout: /^Notice: the time is in doubt: .*behind the newest time in the log/m })
  for (const command of [
    ['signing-key', 'rotate'],
    ['log', 'new', '--yes'],
  ]) {
    t.match(await runClaimcheck(folder, command, env), { code: 1, stderr: /the time is in doubt/ }, command[0]!)
  }
  clocks.passedMs = HOUR_MS + MINUTE_MS
  t.match(await isReady(installation), { status: 200 })
  t.match(await client.submit(), { body: { verdict: 'verified' } })
})

/** Destinations that tell the true time, and how to list them. */
async function listed(t: Test, count: number) {
  const requests: (string | undefined)[] = []
  const answer: RequestListener = (request, response) => {
    requests.push(request.method)
    response.end()
  }
  const origins = await Promise.all(Array.from({ length: count }, () => serving(t, answer)))
  const hosts = origins.map((origin) => new URL(origin).host)
  const options = { file: { sources: { test: origins } }, env: { ALLOW_PRIVATE: hosts.join(',') } }
  return { origins, requests, options }
}

t.test('a host that starts with a wrong clock hears that from the destinations in its configuration', async (t) => {
  // One alone proves nothing.
  const { origins, requests, options } = await listed(t, 2)
  const { clocks, installation } = await start(t, options)
  for (const [ms, status] of [
    [20 * MINUTE_MS, 503],
    [-20 * MINUTE_MS, 503],
    [0, 200],
  ] as const) {
    await installation.stop()
    clocks.passedMs = ms
    await installation.resume()
    const ready = await isReady(installation)
    t.equal(ready.status, status, `${ms} ms`)
    if (ms > 0) t.match(ready.problem, `listed destinations (${origins.join(', ')}) differ`)
  }
  t.ok(requests.length >= 8)
  t.ok(requests.every((method) => method === 'HEAD'))
})

t.test('a log does not begin at a time that one destination in the configuration contradicts', async (t) => {
  const { origins, options } = await listed(t, 1)
  const database = await createDatabase('sqlite')
  for (const ms of [20 * MINUTE_MS, -20 * MINUTE_MS]) {
    const now = () => Date.now() + ms
    const refusal = `the time is in doubt: the clock of this machine and the listed destinations (${origins}) differ`
    await t.rejects(Installation.start({ database, ...options, now }), { code: 'unavailable', message: refusal })
  }
  const installation = await Installation.during(t, { database, ...options, now: Date.now })
  t.match(await isReady(installation), { status: 200 })
})

t.test('a database that steps 20 minutes ahead ends no waiting claim', LONG, async (t) => {
  const database = await createDatabase('postgres')
  const url = database.env.DATABASE_URL!
  await query(
    url,
    `CREATE SCHEMA steps;
    CREATE TABLE steps.ahead AS SELECT interval '0' AS of;
    CREATE FUNCTION steps.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS
      'SELECT pg_catalog.clock_timestamp() + of FROM steps.ahead';
    ALTER DATABASE "${new URL(url).pathname.slice(1)}" SET search_path = steps, pg_catalog, public`,
  )
  const installation = await Installation.during(t, { database })
  const client = await installation.client('acme')
  const { body } = await client.submit({ params: { see: 'absent' } })
  const size = await treeSize(installation)
  await query(url, `UPDATE steps.ahead SET of = interval '20 minutes'`)
  t.ok(await untilReadiness(installation, 503))
  t.match((await isReady(installation)).problem, "the database's clock is 1200 s ahead of the monotonic clock")
  await setTimeout(A_WHILE_MS)
  t.match(await client.get(`/v1/claims/${body.claim_id}`), { body: { state: 'queued' } })
  t.equal(await treeSize(installation), size)
  await query(url, `UPDATE steps.ahead SET of = interval '0'`)
  t.ok(await untilReadiness(installation, 200))
  const { receipt_id } = (await client.submit()).body
  const { issued_at } = await receiptOf(installation, receipt_id)
  t.ok(Math.abs(Date.parse(issued_at) - Date.now()) < NEAR_MS, `issued ${issued_at}`)
})

t.test('doctor says that nothing contradicts the clock', async (t) => {
  const { installation } = await start(t)
  const { folder, env } = installation
  t.match((await runClaimcheck(folder, ['doctor'], env)).stdout, /^The clock is not behind the log/m)
  const { stdout } = await runClaimcheck(folder, ['doctor', '--json'], env)
  t.match(JSON.parse(stdout), { ok: true, time_doubt: null })
})

t.test('the program does as its parts do when the clock of the system is set', WITH_FAKETIME, async (t) => {
  const clock = fakeClock(await mkdtemp(join(tmpdir(), 'claimcheck-clock-')))
  const database = await createDatabase('sqlite')
  const installation = await Installation.during(t, { database, isNew: true, env: clock.env })
  const client = await installation.client('acme')
  const later = { at: Date.now() + 6 * SECOND_MS, see: 'present' }
  const { body } = await client.submit({ params: { see: 'absent', later } })
  t.match(body, { state: 'queued' })
  const size = await treeSize(installation)
  for (const seconds of [20 * 60, -20 * 60]) {
    clock.set(seconds)
    await setTimeout(A_WHILE_MS)
    const { status, problem } = await isReady(installation)
    t.equal(status, 503)
    t.match(problem, `the clock of this machine is 1200 s ${seconds > 0 ? 'ahead of' : 'behind'}`)
    t.match(await client.submit(), { status: 503 })
    t.match(await client.get(`/v1/claims/${body.claim_id}`), { body: { state: 'queued' } })
  }
  t.equal(await treeSize(installation), size)
  clock.set(0)
  const { receipt_id, verdict } = await client.decided(body.claim_id, 60_000)
  t.equal(verdict, 'verified')
  const { issued_at } = await receiptOf(installation, receipt_id)
  t.ok(Math.abs(Date.parse(issued_at) - Date.now()) < NEAR_MS, `issued ${issued_at}`)
})

t.test('a monotonic clock that is set together with the other deceives no program', WITH_FAKETIME, async (t) => {
  const clock = fakeClock(await mkdtemp(join(tmpdir(), 'claimcheck-clock-')), { monotonicToo: true })
  const database = await createDatabase('sqlite')
  const installation = await Installation.during(t, { database, isNew: true, env: clock.env })
  const client = await installation.client('acme')
  const { body } = await client.submit({ params: { see: 'absent' } })
  clock.set(20 * 60)
  await setTimeout(A_WHILE_MS)
  t.match(await isReady(installation), {
    status: 503,
    problem: /^the time is in doubt: the clock of this machine is 1200 s/,
  })
  t.match(await client.get(`/v1/claims/${body.claim_id}`), { body: { state: 'queued' } })
})
