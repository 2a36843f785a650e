// Test run: slow
/** Reads a real MariaDB: its comparisons of texts and numbers, bytes, rights, and a server that replicates. */
import t from 'tap'
import { INNER } from '../../../server/test/support/loopback.ts'
import { mariadbProblem, startMariadb } from '../../../test/support/mariadb.ts'
import { look, PASSWORD, type Place } from './look.ts'

t.setTimeout(300_000)

const problem = mariadbProblem()
t.test('MariaDB', problem === undefined ? {} : { skip: problem }, async (t) => {
  const server = await startMariadb(INNER)
  t.teardown(() => server.stop())
  const place: Place = { provider: 'mysql', port: server.port, database: 'shop' }
  await server.run(
    'CREATE DATABASE shop CHARACTER SET utf8mb4',
    `CREATE USER reader@'%' IDENTIFIED BY '${PASSWORD}'`,
    `CREATE USER narrow@'%' IDENTIFIED BY '${PASSWORD}'`,
    `CREATE TABLE shop.orders (id int PRIMARY KEY, state varchar(20), total decimal(10,2), at datetime(3), ts timestamp(6) NULL, day date,
      code char(5), bytes binary(4), some varbinary(9), doc json, ratio float, twice double, note text, u uuid, flag boolean, big bigint,
      kind enum('a','b'), bits bit(4), made int AS (id * 2))`,
    "SET time_zone = '+01:00'",
    `INSERT INTO shop.orders (id, state, total, at, ts, day, code, bytes, some, doc, ratio, twice, u, flag, big, kind, bits) VALUES
      (7, 'Closed', 10.5, '2026-11-26 10:00', '2026-11-26 11:00', '2026-11-26', 'ab', x'00ff0000', x'00ff', '{"a": 1}', 0.1, 0.1,
      '0189aaaa-0000-7000-8000-00000000abcd', true, 9007199254740993, 'a', b'101')`,
    'CREATE TABLE shop.twice (id int, name varchar(20))',
    "INSERT INTO shop.twice VALUES (1, 'a'), (1, 'A'), (2, 'b'), (2, 'b')",
    'CREATE VIEW shop.seen AS SELECT * FROM shop.orders',
    "GRANT SELECT ON shop.* TO reader@'%'",
    "GRANT SELECT (id, state) ON shop.orders TO narrow@'%'",
  )
  const row = (key: Record<string, string>, values?: Record<string, string | null>, over?: Partial<Place>) =>
    look({ ...place, ...over }, 'shop.orders', key, values)

  await t.test('a row is found by its key', async (t) => {
    t.match(await row({ id: '7' }), {
      kind: 'present',
      facts: { rows: 1, table_id: /^20[0-9TZ:-]+$/ },
      stays: undefined,
    })
    t.match(await row({ id: '8' }), { kind: 'absent', mark: undefined })
    t.match(await row({ id: '7', state: 'Closed', kind: 'a' }), { kind: 'present' })
    t.equal((await row({ nothing: '7' })).kind, 'unsupported_target')
    t.equal((await look(place, 'shop.seen', { id: '7' })).kind, 'unsupported_target')
    t.match(await row({ id: '7' }, { state: 'Closed' }, { user: 'narrow' }), { kind: 'present' })
    t.equal((await row({ id: '7' }, { total: '10.50' }, { user: 'narrow' })).kind, 'unsupported_target')
  })

  await t.test('blanks that the database drops and digits that it rounds blame nobody', async (t) => {
    await server.run(
      'CREATE TABLE shop.kept (id int, code char(5), ratio float, twice double)',
      "INSERT INTO shop.kept VALUES (1, 'ab  ', 0.123456789, 0.1234567890123456789), (2, 'cd', 1.5, 1.5)",
    )
    const kept = (id: string, values: Record<string, string>) => look(place, 'shop.kept', { id }, values)
    for (const written of [{ code: 'ab  ' }, { ratio: '0.123456789' }, { twice: '0.1234567890123456789' }])
      t.match(await kept('1', written), { kind: 'other', mark: 'may_have_been' }, JSON.stringify(written))
    t.match(await kept('2', { code: 'cd', ratio: '1.50', twice: '1.5' }), { kind: 'present' })
    t.match(await kept('2', { twice: '1.4' }), { kind: 'other', mark: undefined })
  })

  await t.test('a server that shows its tables as of another time shows nothing', async (t) => {
    await server.run(
      'CREATE TABLE shop.versions (id int) WITH SYSTEM VERSIONING',
      'INSERT INTO shop.versions VALUES (3)',
      "SET GLOBAL system_versioning_asof = '2020-01-01 00:00:00'",
    )
    t.equal((await look(place, 'shop.versions', { id: '3' })).kind, 'misconfigured')
    await server.run('SET GLOBAL system_versioning_asof = DEFAULT')
    t.match(await look(place, 'shop.versions', { id: '3' }), { kind: 'present' })
  })

  await t.test('a key is the very one, whatever the database calls equal', async (t) => {
    const kind = async (column: string, value: string) => {
      const seen = await row({ [column]: value })
      return seen.mark ?? seen.kind
    }
    for (const [column, value] of [
      ['id', '07'],
      ['id', '7.0'],
      ['total', '10.5'],
      ['at', '2026-11-26 10:00:00'],
      ['ts', '2026-11-26 10:00:00'],
      ['day', '2026-11-26'],
      ['code', 'ab'],
      ['bytes', '\\x00FF0000'],
      ['some', '\\x00ff'],
      ['twice', '0.1'],
      ['u', '0189AAAA-0000-7000-8000-00000000ABCD'],
      ['big', '9007199254740993'],
      ['made', '14'],
    ] as const)
      t.equal(await kind(column, value), 'present', `${column} ${value}`)
    for (const [column, value] of [
      ['id', '7abc'],
      ['id', '8abc'],
      ['state', 'closed'],
      ['state', 'CLÖSED'],
      ['state', 'Closed '],
      ['bytes', '\\x00ff'],
      ['some', 'ab'],
      ['ratio', '0.1'],
      ['doc', '{"a": 1}'],
      ['at', '2026-11-26T10:00:00Z'],
      ['day', '26.11.2026'],
      ['flag', 'true'],
      ['bits', '5'],
    ] as const)
      t.match(await kind(column, value), /^(?:may_have_been|absent)$/, `${column} ${value}`)
    for (const [column, value] of [
      ['id', '8abc'],
      ['ratio', '0.1'],
      ['bytes', '\\x00ff'],
      ['flag', 'true'],
      ['state', 'closed'],
      ['doc', '{"b": 1}'],
    ] as const)
      t.equal(await kind(column, value), 'may_have_been', `${column} ${value}`)
    t.equal(await kind('state', 'open'), 'absent')
    t.equal(await kind('big', '9007199254740992'), 'absent')
    t.match(await look(place, 'shop.twice', { name: 'a' }), { kind: 'present' })
    t.match(await look(place, 'shop.twice', { id: '1' }), { kind: 'absent', mark: 'may_have_been', facts: { rows: 2 } })
    t.match(await look(place, 'shop.twice', { name: 'b' }), {
      kind: 'absent',
      mark: 'may_have_been',
      facts: { rows: 2 },
    })
  })

  await t.test('values are compared by fingerprints of their text', async (t) => {
    const whole = { state: 'Closed', total: '10.50', at: '2026-11-26 10:00:00.000', bytes: '\\x00ff0000', note: null }
    t.match(await row({ id: '7' }, { ...whole, code: 'ab', doc: '{"a": 1}', flag: '1', made: '14' }), {
      kind: 'present',
    })
    const other = { total: '10.5', at: '2026-11-26T10:00:00', ts: '2026-11-26T10:00:00.000Z' }
    t.match(await row({ id: '7' }, other), { kind: 'present' })
    t.match(await row({ id: '7' }, { state: 'closed' }), { kind: 'other', mark: undefined })
    t.match(await row({ id: '7' }, { note: '' }), { kind: 'other', mark: undefined })
    t.match(await row({ id: '7' }, { doc: '{"a":1}' }), { kind: 'other', mark: 'may_have_been' })
  })

  await t.test('a server that replicates, or is not to be written, proves no absence', async (t) => {
    await server.run('SET GLOBAL read_only = 1')
    t.match(await row({ id: '8' }), { kind: 'absent', mark: 'may_have_been' })
    t.match(await row({ id: '7' }), { kind: 'present' })
    await server.run('SET GLOBAL read_only = 0', "SET GLOBAL gtid_slave_pos = '0-2-7'")
    t.match(await row({ id: '8' }), { kind: 'absent', mark: 'may_have_been' })
    await server.run("SET GLOBAL gtid_slave_pos = ''")
    t.match(await row({ id: '8' }), { kind: 'absent', mark: undefined })
  })
})
