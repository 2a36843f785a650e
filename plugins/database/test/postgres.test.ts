// Test run: slow
/** Reads a real PostgreSQL 15: types, duplicates, rights, policies, partitions, and a replica that is promoted. */
import database from '@claimcheck/plugin-database'
import pg from 'pg'
import t from 'tap'
import { startPostgres } from '../../../test/support/postgres.ts'
import { look, PASSWORD, type Place } from './look.ts'

t.setTimeout(300_000)

const server = await startPostgres({ fsync: false })
await server.configure(['track_commit_timestamp = on'])
const admin = new pg.Client(server.url)
await admin.connect()
t.teardown(() => server.remove())
/** The plugin's own statement, with a name for what it gives. */
const IDENTITY = `${statementText('postgres identity')} AS identity`

function statementText(name: string): string {
  const all = (database.manifest.sockets ?? []).flatMap((grant) => ('statements' in grant ? grant.statements : []))
  return all.find((one) => one.name === name)!.text
}

const run = async (sql: string) => void (await admin.query(sql))
const place: Place = { provider: 'postgres', port: Number(new URL(server.url).port), database: 'postgres' }

await run(`CREATE ROLE reader LOGIN PASSWORD '${PASSWORD}'; CREATE ROLE narrow LOGIN PASSWORD '${PASSWORD}';
  CREATE TABLE orders (id int PRIMARY KEY, state text, total numeric(10,2), paid boolean, at timestamptz, day date,
    code char(5), bytes bytea, doc jsonb, ratio float8, note text, id_text text);
  INSERT INTO orders VALUES (7, 'closed', 10.5, true, '2026-11-26 11:00:00.5+01', '2026-11-26', 'ab', '\\x00ff', '{"a": 1}', 0.1, NULL, '7');
  GRANT SELECT ON orders TO reader; GRANT SELECT (id, state) ON orders TO narrow`)

const row = (key: Record<string, string>, values?: Record<string, string | null>, over?: Partial<Place>) =>
  look({ ...place, ...over }, 'public.orders', key, values)

t.test('a row is found by its key', async (t) => {
  const seen = await row({ id: '7' })
  t.match(seen, { kind: 'present', facts: { rows: 1, table_id: /^[0-9]+$/, row_version: /^[0-9]+$/ } })
  t.equal(seen.stays?.length, 1)
  t.ok(Math.abs(Date.parse(String(seen.facts?.committed_at)) - Date.now()) < 60_000)
  t.match(await row({ id: '8' }), { kind: 'absent', facts: { rows: 0 }, mark: undefined })
  t.match(await row({ id: '7', state: 'closed', day: '2026-11-26' }), { kind: 'present' })
  t.match(await row({ id: '7', state: 'open' }), { kind: 'absent', mark: undefined })
  t.equal((await row({ id: 'x' })).kind, 'unexpected_response')
})

t.test('a key is compared by its type', async (t) => {
  await run(`CREATE EXTENSION citext; CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
    CREATE DOMAIN mail AS citext; CREATE TYPE state AS ENUM ('open', 'closed');
    CREATE TABLE typed (n numeric, f float4, ts timestamptz, plain timestamp, c char(5), ci citext, m mail, bl text COLLATE blind, b bytea,
      u uuid, e state, shape box, cash money, doc json, flag boolean, i interval, net inet, day date);
    INSERT INTO typed VALUES (1.0, 0.1, '2026-11-26 10:00Z', '2026-11-26 10:00', 'ab', 'Ada', 'Ada@x', 'Ada', '\\x00ff',
      '0189aaaa-0000-7000-8000-00000000abcd', 'open', '(1,1),(0,0)', 1, '{}', true, '24:00:00', '10.0.0.1', current_date);
    GRANT SELECT ON typed TO reader`)
  const kind = async (column: string, value: string) => {
    const { kind, mark } = await look(place, 'public.typed', { [column]: value })
    return mark ?? kind
  }
  for (const [column, value] of [
    ...[
      ['n', '1'],
      ['n', '1.00'],
      ['f', '0.1'],
      ['ts', '2026-11-26T10:00:00Z'],
      ['ts', '2026-11-26 11:00:00+01'],
      ['ts', '2026-11-26 10:00'],
    ],
    ...[
      ['plain', '2026-11-26 10:00:00'],
      ['c', 'ab'],
      ['c', 'ab   '],
      ['ci', 'Ada'],
      ['m', 'Ada@x'],
      ['bl', 'Ada'],
      ['b', '\\x00FF'],
    ],
    ...[
      ['u', '0189AAAA-0000-7000-8000-00000000ABCD'],
      ['e', 'open'],
      ['flag', 'true'],
      ['net', '10.0.0.1'],
    ],
  ] as const)
    t.equal(await kind(column!, value!), 'present', `${column} ${value}`)
  for (const [column, value] of [
    ...[
      ['ci', 'ada'],
      ['ci', 'eve'],
      ['i', '1 day'],
      ['net', '10.0.0.1/32'],
      ['m', 'ADA@X'],
      ['bl', 'ADA'],
      ['shape', '(3,1),(2,0)'],
      ['day', 'today'],
      ['cash', '1'],
    ],
    ...[
      ['plain', '2026-11-26T10:00:00+02:00'],
      ['plain', 'now'],
    ],
  ] as const)
    t.equal(await kind(column!, value!), 'may_have_been', `${column} ${value}`)
  for (const [column, value] of [
    ['n', '1.01'],
    ['ts', '2026-11-26 10:00:00+01'],
    ['c', 'abc'],
    ['e', 'closed'],
  ] as const)
    t.equal(await kind(column, value), 'absent', `${column} ${value}`)
  t.equal(await kind('doc', '{}'), 'unexpected_response', 'a type that nothing equals')
})

t.test('values are compared by fingerprints of their text', async (t) => {
  const whole = {
    state: 'closed',
    total: '10.50',
    paid: 't',
    at: '2026-11-26 10:00:00.5+00',
    day: '2026-11-26',
    bytes: '\\x00ff',
  }
  t.match(await row({ id: '7' }, { ...whole, note: null, code: 'ab   ' }), {
    kind: 'present',
    facts: { columns_differ: 0 },
  })
  const other = { total: '10.5', paid: 'true', at: '2026-11-26T10:00:00.500Z', code: 'ab', ratio: '0.1' }
  t.match(
    await row({ id: '7' }, other),
    { kind: 'present', facts: { columns_differ: 0 } },
    'other forms of the same values',
  )
  for (const [column, value] of [
    ['state', 'open'],
    ['state', null],
    ['total', '10.51'],
    ['note', 'null'],
    ['at', '2026-11-26T11:00:00.500Z'],
    ['id', '8'],
  ] as const)
    t.match(
      await row({ id: '7' }, { [column]: value }),
      { kind: 'other', mark: undefined, facts: { columns_differ: 1 } },
      `${column} ${value}`,
    )
  t.match(
    await row({ id: '7' }, { state: 'closed', doc: '{"a":1}' }),
    { kind: 'other', mark: 'may_have_been' },
    'another form of a document',
  )
  t.match(await row({ id: '7' }, { doc: '{"a": 1}' }), { kind: 'present' })
  const without = await look(place, 'public.orders', { id: '7' }, { state: 'closed' }, { fingerprint_key: undefined })
  t.equal(without.kind, 'misconfigured')
})

t.test('a row that was changed after the claim may have been as claimed', async (t) => {
  await run("INSERT INTO orders (id, state) VALUES (9, 'new')")
  t.match(await row({ id: '9' }, { state: 'paid' }), { kind: 'other', mark: undefined }, 'written before the claim')
  const claimedAt = Date.now() - 1000
  await run("UPDATE orders SET state = 'shipped' WHERE id = 9")
  const seen = await look(place, 'public.orders', { id: '9' }, { state: 'new' }, {}, claimedAt)
  t.match(seen, { kind: 'other', mark: 'may_have_been' })
})

t.test('more than one row of a key proves nothing', async (t) => {
  await run(`CREATE TABLE twice (id int, name text); INSERT INTO twice VALUES (1, 'a'), (1, 'b'), (2, 'c');
    CREATE TABLE many AS SELECT 1 AS id FROM generate_series(1, 100000); GRANT SELECT ON twice, many TO reader`)
  t.match(await look(place, 'public.twice', { id: '1' }), { kind: 'absent', mark: 'may_have_been', facts: { rows: 2 } })
  t.match(await look(place, 'public.twice', { id: '1', name: 'a' }), { kind: 'present' })
  t.match(await look(place, 'public.many', { id: '1' }), { kind: 'absent', mark: 'may_have_been', facts: { rows: 2 } })
})

t.test('rights to single columns show a row without its version', async (t) => {
  const seen = await row({ id: '7' }, { state: 'closed' }, { user: 'narrow' })
  t.match(seen, { kind: 'present', facts: { rows: 1, row_version: undefined } })
  t.match(await row({ id: '8' }, { state: 'closed' }, { user: 'narrow' }), { kind: 'absent', mark: undefined })
  t.equal((await row({ id: '7' }, { total: '1' }, { user: 'narrow' })).kind, 'forbidden')
  await run('REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC')
  t.match(await row({ id: '7' }, { state: 'closed' }), { kind: 'present' }, 'without an identity')
  await run('GRANT EXECUTE ON FUNCTION pg_control_system() TO PUBLIC')
})

t.test('policies hide rows: what is not shown is no absence', async (t) => {
  await run(`CREATE TABLE owned (id int, state text); INSERT INTO owned VALUES (7, 'open'), (8, 'open');
    ALTER TABLE owned ENABLE ROW LEVEL SECURITY; CREATE POLICY hides ON owned USING (id <> 7); GRANT SELECT ON owned TO reader`)
  t.equal((await look(place, 'public.owned', { id: '7' })).kind, 'forbidden')
  t.match(await look(place, 'public.owned', { id: '8' }, { state: 'open' }), { kind: 'present' })
  t.equal((await look(place, 'public.owned', { id: '8' }, { state: 'closed' })).kind, 'forbidden')
})

t.test('partitions and children count, views and foreign tables do not', async (t) => {
  await run(`CREATE TABLE parted (id int, state text) PARTITION BY LIST (id);
    CREATE TABLE parted_7 (state text, id int); ALTER TABLE parted ATTACH PARTITION parted_7 FOR VALUES IN (7);
    INSERT INTO parted VALUES (7, 'open'); CREATE TABLE parent (id int); CREATE TABLE child () INHERITS (parent);
    INSERT INTO child VALUES (7); CREATE TABLE made (id int, twice int GENERATED ALWAYS AS (id * 2) STORED);
    INSERT INTO made VALUES (7); CREATE VIEW seen AS SELECT * FROM orders; GRANT SELECT ON parted, parted_7, parent, made, seen TO reader`)
  t.match(await look(place, 'public.parted', { id: '7' }, { state: 'open' }), {
    kind: 'present',
    facts: { committed_at: String },
  })
  t.match(await look(place, 'public.parted_7', { id: '7' }), { kind: 'present' })
  t.match(await look(place, 'public.parent', { id: '7' }), { kind: 'present' })
  t.match(await look(place, 'public.made', { id: '7' }, { twice: '14' }), { kind: 'present' })
  for (const table of ['public.seen', 'public.Orders', 'public.nowhere', 'pg_catalog.pg_class'])
    t.equal((await look(place, table, { id: '7' })).kind, 'unsupported_target', table)
  t.equal((await look(place, 'public.orders', { nothing: '7' })).kind, 'unsupported_target')
})

t.test('digits that floats do not keep blame nobody', async (t) => {
  await run(`CREATE TABLE floats (id int, f4 float4, f8 float8); GRANT SELECT ON floats TO reader;
    INSERT INTO floats VALUES (1, 0.123456789, 0.123456789012345678901), (2, 0.5, 0.5)`)
  const floats = (id: string, values: Record<string, string>) => look(place, 'public.floats', { id }, values)
  t.match(await floats('1', { f4: '0.123456789' }), { kind: 'other', mark: 'may_have_been' })
  t.match(await floats('1', { f8: '0.123456789012345678901' }), { kind: 'other', mark: 'may_have_been' })
  t.match(await floats('2', { f4: '0.50', f8: '0.5' }), { kind: 'present' })
  t.match(await floats('2', { f8: '0.6' }), { kind: 'other', mark: undefined })
})

t.test('an error of a policy has no value of a row', async (t) => {
  await run(`CREATE TABLE noted (id int, note text); INSERT INTO noted VALUES (1, 'private words of Jo'); GRANT SELECT ON noted TO reader;
    ALTER TABLE noted ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON noted USING (note::int > 0)`)
  const told = await look(place, 'public.noted', { id: '1' })
  t.equal(told.kind, 'unexpected_response')
  t.notMatch(JSON.stringify(told), /private words/)
})

t.test('a subscription fills a part of a part, or the table of which this is a part', async (t) => {
  await run(`CREATE TABLE p (id int, k int) PARTITION BY LIST (id); CREATE TABLE p1 PARTITION OF p DEFAULT PARTITION BY LIST (k);
    CREATE TABLE p11 PARTITION OF p1 DEFAULT; GRANT SELECT ON p, p1, p11 TO reader;
    CREATE SUBSCRIPTION s CONNECTION 'host=127.0.0.1 port=1' PUBLICATION x WITH (connect = false)`)
  for (const filled of ['p11', 'p']) {
    await run(`DELETE FROM pg_catalog.pg_subscription_rel;
      INSERT INTO pg_catalog.pg_subscription_rel SELECT oid, '${filled}'::regclass, 'r', NULL FROM pg_catalog.pg_subscription`)
    for (const read of ['p', 'p1', 'p11'])
      t.equal((await look(place, `public.${read}`, { id: '5' })).mark, 'may_have_been', `${read}, by ${filled}`)
  }
  await run(
    'DELETE FROM pg_catalog.pg_subscription_rel; ALTER SUBSCRIPTION s SET (slot_name = NONE); DROP SUBSCRIPTION s',
  )
})

t.test('a replica shows rows, and what it lacks counts by its lag', async (t) => {
  // The server stops for a moment.
  await admin.end()
  const replica = await startPostgres({ fsync: false, standbyOf: server })
  const reconnected = new pg.Client(server.url)
  await reconnected.connect()
  const atReplica = new pg.Client(replica.url)
  await atReplica.connect()
  t.teardown(async () => {
    await reconnected.end()
    await atReplica.end()
    await replica.remove()
  })
  const there: Place = { ...place, port: Number(new URL(replica.url).port) }
  const seen = (id: string, values?: Record<string, string>) => look(there, 'public.orders', { id }, values)
  const catchUp = async () => {
    const { rows } = await reconnected.query('SELECT pg_current_wal_lsn() AS at')
    const isBehind = async () =>
      !(await atReplica.query('SELECT pg_last_wal_replay_lsn() >= $1 AS has', [rows[0].at])).rows[0].has
    while (await isBehind()) await new Promise((resolve) => setTimeout(resolve, 50))
  }

  await reconnected.query("INSERT INTO orders (id, state) VALUES (20, 'new')")
  await catchUp()
  t.match(await seen('20', { state: 'new' }), { kind: 'present', facts: { committed_at: String } })
  const missing = await seen('21')
  t.match(missing, { kind: 'absent', mark: undefined })
  t.ok(missing.ageMs! > 0 && missing.ageMs! < 20_000, String(missing.ageMs))

  await atReplica.query('SELECT pg_wal_replay_pause()')
  await reconnected.query("INSERT INTO orders (id, state) VALUES (21, 'new')")
  const behind = await seen('21')
  t.match(behind, { kind: 'absent', mark: undefined })
  t.ok(behind.ageMs! > missing.ageMs!, 'it knows that it does not go on')

  const identity = async () => (await atReplica.query(IDENTITY)).rows[0].identity
  const before = await identity()
  t.equal(before, (await reconnected.query(IDENTITY)).rows[0].identity)
  await replica.promote()
  const [system, timeline, oid] = before.split('/')
  t.equal(
    await identity(),
    `${system}/${Number(timeline) + 1}/${oid}`,
    'the copy that was promoted is another database',
  )
  t.match(await seen('22'), { kind: 'absent', mark: undefined })
})
