// Test run: slow
/** The servers of the trap table: they go by the clock that is set, and behave as the rows of the table need it. */
import pg from 'pg'
import t from 'tap'
import { mariadbProblem } from '../../../../test/support/mariadb.ts'
import { clockProblem, createServerClock } from './clock.ts'
import { startMariadbServers } from './mariadb.ts'
import { READER, startPostgresServers } from './postgres.ts'

const MOMENT = Date.UTC(2026, 2, 11, 9, 30)
const skip = clockProblem() ?? false

t.test('Postgres', { skip }, async (t) => {
  const clock = createServerClock()
  const servers = await startPostgresServers(clock)
  t.teardown(async () => {
    await servers.remove()
    clock.remove()
  })
  async function ask(name: 'main' | 'plain' | 'replica' | 'stale', sql: string) {
    const client = new pg.Client({ host: '127.0.0.1', port: servers.portOf(name), database: 'shop', ...READER })
    await client.connect()
    const told = await client.query({ text: sql, rowMode: 'array' }).catch((error) => ({ rows: [[error.code]] }))
    await client.end()
    return told.rows
  }
  const identity = 'SELECT system_identifier, timeline_id FROM pg_control_system(), pg_control_checkpoint()'
  const committed = 'SELECT pg_xact_commit_timestamp(xmin) FROM orders'

  clock.set(MOMENT)
  await servers.reset()
  await servers.run('main', 'INSERT INTO orders (id) VALUES (7)')
  await servers.run('plain', 'INSERT INTO orders (id) VALUES (7)')
  const [[at]] = (await ask('main', committed)) as [[Date]]
  t.ok(Math.abs(at.getTime() - MOMENT) < 5000, `${at}`)
  clock.set(MOMENT + 3_600_000)
  t.strictSame(await ask('main', committed), [[at]], 'a commit keeps its time')
  t.strictSame(await ask('plain', committed), [['55000']], 'without the setting, its time is an error')
  await servers.run('main', 'VACUUM (FREEZE) orders')
  t.strictSame(await ask('main', committed), [[at]], 'freezing keeps it')
  await servers.catchUp()
  t.strictSame(await ask('replica', committed), [[at]], 'the replica has it, too')
  t.strictSame(await ask('replica', 'SELECT pg_is_in_recovery()'), [[true]])
  await servers.run('replica', 'SELECT pg_wal_replay_pause()')
  await servers.run('main', 'UPDATE orders SET id = 8')
  t.strictSame(await ask('replica', 'SELECT id FROM orders'), [[7]], 'what stands still shows what was')
  await servers.run('replica', 'SELECT pg_wal_replay_resume()')
  await servers.catchUp()
  t.strictSame(await ask('replica', 'SELECT id FROM orders'), [[8]])
  await servers.promoteStale()
  t.strictSame(await ask('stale', 'SELECT count(*) FROM orders'), [['0']])
  const [[system, timeline]] = (await ask('main', identity)) as [[string, number]]
  t.strictSame(await ask('replica', identity), [[system, timeline]])
  t.strictSame(await ask('stale', identity), [[system, timeline + 1]], 'what is promoted is another timeline')
  t.not((await ask('plain', identity))[0]![0], system)
})

t.test('MariaDB', { skip: skip || (mariadbProblem() ?? false) }, async (t) => {
  const clock = createServerClock()
  const server = await startMariadbServers(clock)
  t.teardown(async () => {
    await server.remove()
    clock.remove()
  })
  clock.set(MOMENT)
  await server.reset()
  await server.run("INSERT INTO orders (id, number, paid_at) VALUES (7, 'résumé', SYSDATE())")
  const session = await server.session()
  async function ask(sql: string, ...values: readonly string[]): Promise<unknown> {
    const [rows] = await session.execute({ sql, rowsAsArray: true }, [...values])
    return rows
  }
  t.match(await ask('SELECT CAST(paid_at AS char) FROM orders'), [[/^2026-03-11 09:30:/]])
  t.strictSame(await ask('SELECT id FROM orders WHERE number = ?', 'RESUME '), [[7]])
  t.strictSame(await ask('SELECT id FROM orders WHERE id = ?', '7abc'), [[7]])
  await server.run('CREATE TABLE large (id bigint); INSERT INTO large VALUES (9007199254740993)')
  t.strictSame(await ask('SELECT 1 FROM large WHERE id = ?', '9007199254740992'), [], 'MariaDB compares it exactly')
  await server.catchUp()
  await server.run('STOP SLAVE SQL_THREAD', 'follower')
  await server.follow()
  await server.run('DELETE FROM large')
  await server.catchUp()
  await session.end()
})
