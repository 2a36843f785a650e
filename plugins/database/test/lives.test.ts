// Test run: slow
/** Whole lives of claims at a real PostgreSQL: what is put, taken, changed and hidden while they wait. */
import { createVirtualClock, liveClaim } from '@claimcheck/core/testkit'
import database from '@claimcheck/plugin-database'
import pg from 'pg'
import t from 'tap'
import { startPostgres } from '../../../test/support/postgres.ts'
import { NAME, optionsOf, PASSWORD, paramsOf } from './look.ts'

t.setTimeout(300_000)

const START = Date.UTC(2026, 10, 2, 9)
const SECOND = 1000
const MINUTE = 60 * SECOND
const TARGET = `${NAME}/public.orders`

const server = await startPostgres({ fsync: false })
await server.configure(['track_commit_timestamp = on'])
const admin = new pg.Client(server.url)
await admin.connect()
t.teardown(async () => {
  await admin.end()
  await server.remove()
})
const run = async (sql: string) => void (await admin.query(sql))
const port = Number(new URL(server.url).port)
const MAKE = `CREATE TABLE orders (id int PRIMARY KEY, state text); GRANT SELECT ON orders TO reader;
  INSERT INTO orders VALUES (7, 'closed'), (8, 'open')`
await run(`CREATE ROLE reader LOGIN PASSWORD '${PASSWORD}'; ${MAKE}`)
// The server's clock goes on as the machine's does, and what was there before the claims is this much older than they are.
await new Promise((resolve) => setTimeout(resolve, 2 * SECOND))

interface World {
  readonly id?: string
  readonly state?: string
  /** What happens, by the time after the claim. */
  readonly changes?: readonly (readonly [afterMs: number, sql: string])[]
  readonly submittedAfterMs?: number
  readonly idleMs?: number
}

async function live({ id = '7', state, changes = [], submittedAfterMs = 500, idleMs = 0 }: World) {
  const clock = createVirtualClock(START)
  const waiting = [...changes]
  const { decision, decidedAt, requests, records } = await liveClaim({
    plugin: database,
    connection: { provider: 'postgres', options: optionsOf({ provider: 'postgres', port, database: 'postgres' }) },
    destination: `tcp://127.0.0.1:${port}`,
    claim: {
      action: 'database.row.exists',
      target: TARGET,
      params: paramsOf(TARGET, { id }, state === undefined ? undefined : { state }),
      claimedAt: START,
    },
    submittedAt: START + submittedAfterMs,
    clock,
    ...(idleMs > 0 && { idleUntil: START + idleMs }),
    latencyMs: 2,
    async reach(until) {
      while (waiting[0] && START + waiting[0][0] <= until) await run(waiting.shift()![1])
    },
  })
  const last = records.at(-1)!
  const facts = 'observation' in last ? last.observation.facts : {}
  return { verdict: decision?.verdict.value, facts, seconds: (decidedAt - START) / SECOND, requests: requests.length }
}

t.test('what was there', async (t) => {
  const { verdict, facts, seconds, requests } = await live({ state: 'closed' })
  t.equal(verdict, 'verified')
  t.match(facts, { rows: 1, columns_differ: 0, committed_at: String })
  t.ok(seconds < 5, `${seconds} s, ${requests} answers`)
  t.equal((await live({ state: 'open' })).verdict, 'mismatch')
  t.equal((await live({ id: '9' })).verdict, 'failed')
})

t.test('what comes', async (t) => {
  const put = (id: number, afterMs: number) => ({
    id: String(id),
    changes: [[afterMs, `INSERT INTO orders VALUES (${id}, 'new')`]] as const,
  })
  t.equal((await live(put(20, MINUTE))).verdict, 'verified')
  t.equal((await live(put(21, 7 * MINUTE))).verdict, 'late')
  t.equal((await live(put(22, 11 * MINUTE))).verdict, 'failed')
  const slow = { ...put(23, 0), submittedAfterMs: 2 * SECOND, idleMs: 20 * MINUTE }
  t.equal((await live({ id: '8', idleMs: 20 * MINUTE })).verdict, 'unverifiable', 'the look came after the tolerance')
  t.equal((await live(slow)).verdict, 'unverifiable')
})

t.test('what is taken or changed', async (t) => {
  const sql = "INSERT INTO orders VALUES (30, 'new')"
  t.equal(
    (
      await live({
        id: '30',
        changes: [
          [0, sql],
          [100, 'DELETE FROM orders WHERE id = 30'],
        ],
      })
    ).verdict,
    'failed',
    'by looks alone',
  )
  const next = "UPDATE orders SET state = 'paid' WHERE id = 30"
  t.equal(
    (
      await live({
        id: '30',
        state: 'new',
        changes: [
          [0, sql],
          [300, next],
        ],
      })
    ).verdict,
    'unverifiable',
    'changed after the claim',
  )
  const again = `DROP TABLE orders; ${MAKE}`
  t.equal((await live({ id: '40', changes: [[MINUTE, again]] })).verdict, 'unverifiable', 'the table was made again')
  await new Promise((resolve) => setTimeout(resolve, SECOND))
  t.equal(
    (await live({ state: 'open', changes: [[MINUTE, "UPDATE orders SET state = 'open' WHERE id = 7"]] })).verdict,
    'verified',
  )
})

t.test('what is hidden meanwhile', async (t) => {
  const hide = 'ALTER TABLE orders ENABLE ROW LEVEL SECURITY'
  t.equal((await live({ id: '50', changes: [[4 * MINUTE, hide]] })).verdict, 'unverifiable')
  await run('ALTER TABLE orders DISABLE ROW LEVEL SECURITY')
  t.equal(
    (await live({ id: '50', changes: [[4 * MINUTE, 'REVOKE SELECT ON orders FROM reader']] })).verdict,
    'unverifiable',
  )
  await run('GRANT SELECT ON orders TO reader')
})
