// Test run: every-node
/** Declared statements at a real Postgres and a real MariaDB: read with bound parameters, and nothing else. Threat P8 of `security.md`. */
import { setTimeout } from 'node:timers/promises'
import { createSecureContext, TLSSocket } from 'node:tls'
import { clockOffset, type StatementGrant } from '@claimcheck/core/hosting'
import { credential, type Query, type Statement } from '@claimcheck/core/plugin'
import type { CheckGuard } from '@claimcheck/server/outbound/outbound'
import pg from 'pg'
import t, { type Test } from 'tap'
import { mariadbProblem, startMariadb } from '../../../test/support/mariadb.ts'
import { startPostgres } from '../../../test/support/postgres.ts'
import { AUTHORITY, code, guardOf, INNER, outboundTo, resolveTo, serve, serveSockets } from '../support/loopback.ts'

const SECRET = 'reader-pass-0123456789'

/** A database that is read, and how tests change it. */
interface Database {
  readonly protocol: StatementGrant['protocol']
  readonly port: number
  run(sql: string): Promise<void>
  /** How many tickets there are. */
  count(): Promise<number>
  stop(): Promise<unknown>
}

type Declared = readonly [
  postgres: string,
  mysql: string,
  parameters?: readonly string[],
  identifiers?: Statement['identifiers'],
]

/** What shows a row, and whether rows are hidden or the database is a copy, in one look. */
const PROOF = `SELECT row_security_active(c.oid), pg_is_in_recovery(), found.*
  FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
  LEFT JOIN (SELECT pg_xact_commit_timestamp(xmin) AS at, {columns} FROM {table} WHERE {first} = $3 AND {second} = $4) AS found ON TRUE
  WHERE n.nspname = $1 AND c.relname = $2`

/** By name: in Postgres, in MariaDB. */
const STATEMENTS: Readonly<Record<string, Declared>> = {
  ticket: [
    'SELECT id, state, closed_at, note FROM tickets WHERE id = $1 AND state = $2',
    'SELECT id, state, closed_at, note FROM tickets WHERE id = ? AND state = ?',
    ['id', 'state'],
  ],
  'by state': ['SELECT id FROM tickets WHERE state = $1', 'SELECT id FROM tickets WHERE state = ?', ['state']],
  encrypted: [
    'SELECT * FROM own_encryption',
    "SELECT VARIABLE_VALUE <> '' FROM information_schema.SESSION_STATUS WHERE VARIABLE_NAME = 'Ssl_cipher'",
  ],
  writes: ['SELECT * FROM writing', 'SELECT * FROM writing'],
  'turns to writing': ['SELECT * FROM turning', 'SELECT * FROM turning'],
  sleeps: ['SELECT * FROM sleeping', 'SELECT * FROM sleeping'],
  wide: ['SELECT text FROM wide', 'SELECT text FROM wide'],
  endless: ['SELECT text FROM wide, numbers AS two', 'SELECT text FROM wide, numbers AS two'],
  '1000 rows': ['SELECT 1 FROM numbers LIMIT 1000', 'SELECT 1 FROM numbers LIMIT 1000'],
  '1001 rows': ['SELECT 1 FROM numbers', 'SELECT 1 FROM numbers'],
  hidden: ['SELECT id FROM hidden', 'SELECT id FROM hidden'],
  'any row': [
    'SELECT {columns} FROM {table} WHERE {key} = $1',
    'SELECT {columns} FROM {table} WHERE {key} = ?',
    ['value'],
    { table: 'table', key: 'column', columns: 'columns' },
  ],
  proof: [
    PROOF,
    'SELECT {columns} FROM {table} WHERE ? <> ? AND {first} = ? AND {second} = ?',
    ['schema', 'name', 'one', 'two'],
    { table: 'table', first: 'column', second: 'column', columns: 'columns' },
  ],
  control: ['SELECT system_identifier, timeline_id FROM pg_control_system(), pg_control_checkpoint()', 'SELECT 1'],
  stacked: ['SELECT 1; DELETE FROM tickets', 'SELECT 1; DELETE FROM tickets'],
  program: ["COPY (SELECT 1) TO PROGRAM 'touch /tmp/written'", "SELECT 1 INTO OUTFILE '/tmp/written'"],
}

/** Tables that a view or a program may be behind, some that are base tables, and rows that are hidden. */
const ONLY_IN_POSTGRES = `CREATE FOREIGN DATA WRAPPER nothing; CREATE SERVER elsewhere FOREIGN DATA WRAPPER nothing;
  CREATE FOREIGN TABLE far (id int) SERVER elsewhere; CREATE TABLE over_far (id int);
  CREATE FOREIGN TABLE far_part () INHERITS (over_far) SERVER elsewhere;
  CREATE MATERIALIZED VIEW copied AS SELECT 1 AS id; CREATE SEQUENCE numbering;
  CREATE TABLE parted (id int, state text) PARTITION BY LIST (id);
  CREATE TABLE parted_7 PARTITION OF parted FOR VALUES IN (7); INSERT INTO parted VALUES (7, 'open');
  CREATE TABLE owned (id int, state text); INSERT INTO owned VALUES (7, 'open');
  ALTER TABLE owned ENABLE ROW LEVEL SECURITY; CREATE POLICY hides ON owned USING (id <> 7);
  GRANT SELECT ON far, over_far, copied, numbering, parted, owned TO reader`

async function postgres(): Promise<Database> {
  const server = await startPostgres({ fsync: false })
  await server.configure(['ssl = on', 'track_commit_timestamp = on'], {
    'server.key': INNER.key,
    'server.crt': INNER.cert,
  })
  const admin = new pg.Client(server.url)
  await admin.connect()
  const run = async (sql: string) => void (await admin.query(sql))
  await run(`CREATE ROLE reader LOGIN PASSWORD '${SECRET}'`)
  await run(ONLY_IN_POSTGRES)
  await run(`CREATE FUNCTION write_ticket() RETURNS int LANGUAGE plpgsql SECURITY DEFINER
    AS 'BEGIN INSERT INTO tickets (id, state) VALUES (99, ''made''); RETURN 1; END'`)
  return {
    protocol: 'postgres',
    port: Number(new URL(server.url).port),
    run,
    count: async () => Number((await admin.query('SELECT count(*) FROM tickets')).rows[0].count),
    stop: async () => {
      await admin.end()
      await server.remove()
    },
  }
}

async function mariadb(): Promise<Database> {
  const server = await startMariadb(INNER)
  const run = async (sql: string) => void (await server.run('USE postgres', sql))
  await server.run('CREATE DATABASE postgres', `CREATE USER reader@'%' IDENTIFIED BY '${SECRET}'`)
  return {
    protocol: 'mysql',
    port: server.port,
    run,
    async count() {
      const [, rows] = await server.run('USE postgres', 'SELECT COUNT(*) AS count FROM tickets')
      return Number((rows as { count: number }[])[0]!.count)
    },
    stop: server.stop,
  }
}

interface Place {
  readonly over?: Partial<CheckGuard>
  readonly name?: string
  readonly tls?: boolean
  readonly port?: number
  /** The port in the manifest. */
  readonly declared?: StatementGrant['port']
  /** Another entry for the same port, before that of the database, with one statement. */
  readonly beside?: { readonly protocol: StatementGrant['protocol']; readonly name: string }
  readonly hosts?: readonly string[]
  readonly allowPrivate?: string[]
}

/** A check that may run the statements above. */
function checkOf(t: Test, database: Pick<Database, 'protocol' | 'port'>, place: Place = {}) {
  const { over = {}, name = 'inner.example', tls = true, port = database.port } = place
  const { declared = port, hosts = ['connection.url'], beside } = place
  const url = `${tls ? 'tls' : 'tcp'}://${name}:${port}`
  const { protocol } = database
  const statements = Object.entries(STATEMENTS).map(
    ([name, [inPostgres, inMysql, parameters, identifiers]]): Statement => ({
      name,
      text: protocol === 'postgres' ? inPostgres : inMysql,
      ...(parameters ? { parameters } : {}),
      ...(identifiers ? { identifiers } : {}),
    }),
  )
  const others = beside
    ? [{ port: declared, tls, protocol: beside.protocol, statements: [{ name: beside.name, text: 'SELECT 1' }] }]
    : []
  const reach = { hosts, sockets: [...others, { port: declared, tls, protocol, statements }], mayReveal: false }
  const secrets = new Map([['secret:password', SECRET]])
  const outbound = outboundTo(t, place.allowPrivate ?? [`${name}:${port}`], {
    resolver: resolveTo('127.0.0.1'),
    ca: AUTHORITY,
  })
  const check = outbound.forCheck(guardOf(url, { reach, secrets, ...over }))
  const query = (statement: string, parameters: Query['parameters'] = {}, more: Partial<Query> = {}) =>
    check.query(url, {
      statement,
      parameters,
      database: 'postgres',
      login: { user: 'reader', secret: 'secret:password' },
      ...more,
    })
  return { check, query }
}

const VIEWS: readonly (readonly [name: string, postgres: string, mysql: string])[] = [
  ['writing', 'write_ticket()', 'write_ticket() AS made'],
  [
    'turning',
    "set_config('transaction_read_only', 'off', false), write_ticket()",
    'write_ticket() AS made FROM tickets',
  ],
  ['sleeping', 'pg_sleep(60) IS NULL AS slept', 'SLEEP(60) AS slept'],
  ['wide', "repeat('x', 100000) AS text FROM numbers", "REPEAT('x', 100000) AS text FROM numbers"],
]

const problem = mariadbProblem()
for (const [name, start, skip] of [
  ['Postgres', postgres, {}],
  ['MariaDB', mariadb, problem === undefined ? {} : { skip: problem }],
] as const) {
  t.test(name, skip, async (t) => {
    const database = await start()
    t.teardown(() => database.stop())
    await database.run('CREATE TABLE tickets (id int, state varchar(20), closed_at timestamp NULL, note varchar(20))')
    await database.run("INSERT INTO tickets VALUES (7, 'closed', '2026-11-26 10:00:00', NULL), (8, 'open', NULL, 'x')")
    await database.run('CREATE TABLE hidden (id int)')
    await database.run('GRANT SELECT ON tickets TO reader')
    const isMysql = database.protocol === 'mysql'
    await database.run(
      `CREATE TABLE numbers AS SELECT ${isMysql ? 'seq FROM seq_1_to_1001' : 'seq FROM generate_series(1, 1001) AS seq'}`,
    )
    if (isMysql) {
      await database.run(
        "CREATE FUNCTION write_ticket() RETURNS int SQL SECURITY DEFINER MODIFIES SQL DATA BEGIN INSERT INTO tickets (id, state) VALUES (99, 'made'); RETURN 1; END",
      )
      await database.run('GRANT EXECUTE ON FUNCTION write_ticket TO reader')
    } else {
      await database.run('CREATE VIEW own_encryption AS SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()')
      await database.run('GRANT SELECT ON own_encryption TO reader')
    }
    // What no statement may call, a view can.
    for (const [view, inPostgres, inMysql] of VIEWS)
      await database.run(`CREATE VIEW ${view} AS SELECT ${isMysql ? inMysql : inPostgres}`)
    for (const one of ['numbers', ...VIEWS.map(([view]) => view)])
      await database.run(`GRANT SELECT ON ${one} TO reader`)
    for (const [table, column] of [ODD, LONG]) {
      const [left, right] = isMysql ? ['`', '`'] : ['"', '"']
      const named = `${left}${table}${right}`
      await database.run(`CREATE TABLE ${named} (id int, ${left}${column}${right} varchar(20))`)
      await database.run(`INSERT INTO ${named} VALUES (7, 'open')`)
      await database.run(`GRANT SELECT ON ${named} TO reader`)
    }
    await reads(t, database)
    await readsNamedTables(t, database)
    await writesNothing(t, database)
    await isBounded(t, database)
    await reachesWhatItMay(t, database)
  })
}

async function reads(t: Test, database: Database): Promise<void> {
  await t.test('a statement reads with bound parameters, over TLS, and tells the clock', async (t) => {
    const { check, query } = checkOf(t, database)
    const { columns, rows, now } = await query('ticket', { id: 7, state: 'closed' })
    t.strictSame(columns, ['id', 'state', 'closed_at', 'note'])
    t.strictSame(rows.length, 1)
    t.match(rows[0], ['7', 'closed', /^2026-11-26 10:00:00/, null])
    t.ok(Math.abs(now - Date.now()) < 5000)
    t.ok(clockOffset(check.readings())! < 5000, String(clockOffset(check.readings())))
    t.strictSame((await query('by state', { state: "' OR 1 = 1 -- " })).rows, [])
    t.match((await query('encrypted')).rows[0]![0], /^(?:t|1)$/)
    t.equal(check.breach(), undefined)
  })

  await t.test('an access token is a password, where the database takes it for one', async (t) => {
    const token = JSON.stringify({ access_token: SECRET })
    const host = await serve(t, (_, response) => void response.end(token))
    const url = `tls://inner.example:${database.port}`
    const account = { scheme: 'oauth2', tokenUrl: `http://${host}/token`, grant: 'clientCredentials' } as const
    const credentials = { account: { ...account, clientId: 'id', clientSecret: 'secret' } }
    const options = { url, id: 'reader', secret: 'of-the-client-012345' }
    const { query } = checkOf(t, database, {
      over: { secrets: new Map(), connected: { id: 'conn_1', options, credentials, tokenHosts: [host] } },
      allowPrivate: [`inner.example:${database.port}`, host],
    })
    const login = { user: 'reader', secret: credential('account') }
    t.equal((await query('ticket', { id: 7, state: 'closed' }, { login })).rows.length, 1)
  })

  await t.test('what the plugin asks otherwise than declared is its breach', async (t) => {
    const asked: [string, Query['parameters'], Partial<Query>?][] = [
      ['other', {}],
      ['ticket', { id: 7 }],
      ['ticket', { id: 7, state: 'a', more: 1 }],
      ['ticket', { id: 7, state: { a: 1 } as never }],
      ['ticket', { id: Number.NaN, state: '' }],
      ['stacked', {}],
      ['program', {}],
      ['hidden', {}, { login: { user: 'reader', secret: SECRET } }],
      ['hidden', {}, { login: { user: 'secret:password', secret: 'secret:password' } }],
      ['hidden', {}, { database: 'secret:password' }],
      ['hidden', {}, { database: 'postgres\0options\0-c role=postgres' }],
    ]
    for (const [statement, parameters, more] of asked) {
      const { check, query } = checkOf(t, database)
      t.equal(await code(query(statement, parameters, more)), 'breach', statement)
      t.ok(check.breach())
    }
  })

  await t.test('refusals have their meaning', async (t) => {
    const { check, query } = checkOf(t, database)
    t.equal(await code(query('hidden')), 'forbidden')
    t.equal(
      await code(query('ticket', { id: 'x', state: 'y' })),
      database.protocol === 'postgres' ? 'unexpected_response' : 'no error',
    )
    const other = { login: { user: 'somebody', secret: 'secret:password' } }
    t.equal(await code(query('hidden', {}, other)), 'unauthorized')
    const wrong = checkOf(t, database, { over: { secrets: new Map([['secret:password', 'wrong-pass-012345']]) } })
    t.equal(await code(wrong.query('hidden')), 'unauthorized')
    t.match(await code(wrong.query('hidden', {}, { database: 'nowhere' })), /unauthorized/)
    t.match(
      await code(checkOf(t, database).query('hidden', {}, { database: 'nowhere' })),
      /^(?:misconfigured|forbidden)$/,
    )
    t.equal(check.breach(), undefined)
  })
}

/** Names that need quotation marks, and the longest that Postgres has. */
const ODD = ['Übersicht Aufträge-2 $', 'Größe 日本'] as const
const LONG = ['n'.repeat(63), 'select'] as const

async function readsNamedTables(t: Test, database: Database): Promise<void> {
  const isMysql = database.protocol === 'mysql'
  const schema = isMysql ? 'postgres' : 'public'
  const anyRow = (identifiers: unknown, place: Place = {}) =>
    checkOf(t, database, place).query('any row', { value: 7 }, { identifiers: identifiers as never })
  const named = (table: string, columns: unknown = ['id'], key: unknown = 'id') => anyRow({ table, columns, key })

  await t.test('a check names a base table and its columns', async (t) => {
    t.strictSame((await named(`${schema}.tickets`, ['state', 'note', 'state'])).rows, [['closed', null, 'closed']])
    for (const [table, column] of [ODD, LONG])
      t.strictSame((await named(`${schema}.${table}`, [column])).rows, [['open']], table)
    if (!isMysql) t.strictSame((await named('public.parted', ['state'])).rows, [['open']], 'a table of partitions')
  })

  await t.test('what is not there, is no base table, or is written otherwise, is no target', async (t) => {
    const tables = [
      ...['nowhere', 'Tickets', 'TICKETS', 'tickets ', ' tickets', 'tickets\0', 'tíckets', 't\u0131ckets', 'ｔickets'],
      ...['tickets"', 'tickets`', "tickets'", 'tickets; DROP TABLE tickets', 'tickets" WHERE true --', 'tickets\\', ''],
      ...['tickets.id', 'tickets\n', 'tickets/**/', 'tickets\u2029', `${LONG[0]}n`, `${LONG[0]}nn`, 'n'.repeat(500)],
      ...['writing', 'turning', 'numbers(1)', 'far', 'over_far', 'copied', 'numbering'],
    ].map((table) => `${schema}.${table}`)
    const others = ['tickets', '"public"."tickets"', `.${schema}.tickets`, '.tickets', `${schema}.`, 'PUBLIC.tickets']
    const systems = ['pg_catalog.pg_class', 'information_schema.tables', 'mysql.user', 'pg_toast.a', 'sys.version']
    for (const table of [...tables, ...others, ...systems])
      t.equal(await code(named(table)), 'unsupported_target', encodeURIComponent(table))
    const columns = [
      'nothing',
      'STATE',
      'xmin',
      'ctid',
      'state"',
      'state`, id',
      'state AS a',
      'count(*)',
      '*',
      '1',
      '',
      'a.b',
    ]
    for (const column of columns) {
      t.equal(await code(named(`${schema}.tickets`, ['id', column])), 'unsupported_target', column)
      t.equal(await code(named(`${schema}.tickets`, ['id'], column)), 'unsupported_target', column)
    }
    // MySQL shows a table to those alone who may read of it.
    t.equal(await code(named(`${schema}.hidden`)), isMysql ? 'unsupported_target' : 'forbidden')
    t.equal(await database.count(), 2)
  })

  await t.test('other identifiers than the declared ones are a breach', async (t) => {
    const table = `${schema}.tickets`
    for (const identifiers of [
      undefined,
      {},
      { table, key: 'id' },
      { table, key: 'id', columns: ['id'], more: 'id' },
      { table, key: 'id', columns: [] },
      { table, key: 'id', columns: 'id' },
      { table, key: ['id'], columns: ['id'] },
      { table: [table], key: 'id', columns: ['id'] },
      { table: 7, key: 'id', columns: ['id'] },
      { table, key: 'id', columns: Array.from({ length: 65 }, () => 'id') },
    ])
      t.equal(await code(anyRow(identifiers)), 'breach', JSON.stringify(identifiers))
    const { query } = checkOf(t, database)
    t.equal(await code(query('hidden', {}, { identifiers: { table } })), 'breach')
  })

  await t.test('one look shows a row by two columns, and what hides it', async (t) => {
    const proof = (name: string, one: number | string, two: string) =>
      checkOf(t, database).query(
        'proof',
        { schema, name, one, two },
        { identifiers: { table: `${schema}.${name}`, first: 'id', second: 'state', columns: ['id', 'state'] } },
      )
    const row = async (...asked: Parameters<typeof proof>) => (await proof(...asked)).rows
    if (isMysql) {
      t.strictSame(await row('tickets', 7, 'closed'), [['7', 'closed']])
      t.strictSame(await row('tickets', 7, "' OR ''='"), [])
      return
    }
    t.match(await row('tickets', 7, 'closed'), [['f', 'f', /^2[0-9]{3}-/, '7', 'closed']])
    t.strictSame(await row('tickets', 7, "' OR ''='"), [['f', 'f', null, null, null]])
    t.strictSame(await row('owned', 7, 'open'), [['t', 'f', null, null, null]])
  })

  if (!isMysql)
    await t.test('the database says which one it is', async (t) => {
      const { rows } = await checkOf(t, database).query('control')
      t.match(rows, [[/^[0-9]{10,}$/, '1']])
    })
}

async function writesNothing(t: Test, database: Database): Promise<void> {
  if (database.protocol === 'postgres')
    await t.test('operators and functions are those of Postgres, whichever path the owner has set', async (t) => {
      await database.run(`CREATE SCHEMA evil; GRANT USAGE ON SCHEMA evil TO reader;
        CREATE FUNCTION evil.same(int, int) RETURNS bool LANGUAGE sql AS 'SELECT true';
        CREATE OPERATOR evil.= (LEFTARG = int, RIGHTARG = int, FUNCTION = evil.same)`)
      for (const path of ['evil, pg_catalog, public', "''", '"$user", public']) {
        await database.run(`ALTER ROLE reader SET search_path = ${path}`)
        const { query } = checkOf(t, database)
        const identifiers = { table: 'public.tickets', key: 'id', columns: ['state'] }
        t.strictSame((await query('any row', { value: 9 }, { identifiers })).rows, [], path)
        t.strictSame((await query('any row', { value: 7 }, { identifiers })).rows, [['closed']], path)
      }
      await database.run('ALTER ROLE reader RESET search_path')
    })

  await t.test('a function that writes, and one that ends the reading, change nothing', async (t) => {
    const before = await database.count()
    for (const statement of ['writes', 'turns to writing']) {
      const { query } = checkOf(t, database)
      t.equal(await code(query(statement)), 'unexpected_response', statement)
    }
    t.equal(await database.count(), before)
  })
}

async function isBounded(t: Test, database: Database): Promise<void> {
  await t.test('a statement that sleeps ends with the check', async (t) => {
    const timer = new AbortController()
    const { query } = checkOf(t, database, { over: { timer } })
    const begun = Date.now()
    const asked = code(query('sleeps'))
    await setTimeout(500)
    timer.abort()
    t.equal(await asked, 'timeout')
    t.ok(Date.now() - begun < 3000)
    t.equal(await code(query('ticket', { id: 7, state: 'closed' })), 'timeout', 'and nothing is asked after it')
  })

  await t.test('rows and bytes are limited', async (t) => {
    const { query } = checkOf(t, database)
    t.equal((await query('1000 rows')).rows.length, 1000)
    t.equal(await code(query('1001 rows')), 'too_large')
    t.equal(await code(query('wide')), 'too_large')
    const before = process.memoryUsage().rss
    t.equal(await code(query('endless')), 'too_large')
    const grown = (process.memoryUsage().rss - before) / 1024 / 1024
    t.ok(grown < 200, `${grown} MiB more`)
  })
}

async function reachesWhatItMay(t: Test, database: Database): Promise<void> {
  const isMysql = database.protocol === 'mysql'
  await t.test('the port that a workspace typed is read, unless it belongs to another protocol', async (t) => {
    const ask = (place: Place = {}) => code(checkOf(t, database, { declared: 'connection', ...place }).query('hidden'))
    t.equal(await ask(), 'forbidden', 'the database answers')
    const other = { protocol: isMysql ? 'postgres' : 'mysql', name: 'of another' } as const
    t.equal(await ask({ beside: other }), 'forbidden', 'the entry that has the statement')
    t.equal(await ask({ hosts: ['inner.example'] }), 'breach', 'a port that only the plugin names')
    t.equal(await ask({ over: { connected: { id: 'conn_1', options: { url: 'inner.example' } } } }), 'breach')
    for (const port of [22, 25, 143, 587, 993, 6000]) t.equal(await ask({ port }), 'misconfigured', String(port))
    t.equal(await ask({ port: 1 + database.port, allowPrivate: [] }), 'unavailable', 'a private address')
  })

  await t.test('private addresses, other names and connections without TLS are not read', async (t) => {
    const ask = (place: Place) => code(checkOf(t, database, place).query('hidden'))
    t.equal(await ask({ allowPrivate: ['elsewhere.example'] }), 'unavailable', 'a private address')
    t.equal(await ask({ name: 'other.example' }), 'unavailable', 'a certificate of another name')
    t.equal(await ask({ tls: false, allowPrivate: [] }), 'unavailable', 'in plain')
    t.equal(await ask({ tls: false }), 'forbidden', 'in plain, where the operator allows it')
  })

  await t.test('a server that does not go over to TLS gets no login', async (t) => {
    let seen = Buffer.alloc(0)
    const host = await serveSockets(t, (socket) => {
      if (database.protocol === 'mysql') socket.write(PLAIN_GREETING)
      socket.on('data', (chunk) => {
        seen = Buffer.concat([seen, chunk])
        if (database.protocol === 'postgres') socket.write('N')
      })
    })
    const { query } = checkOf(t, database, { port: Number(host.split(':')[1]) })
    t.equal(await code(query('hidden')), 'unavailable')
    t.notOk(seen.includes('reader'), seen.toString('latin1'))
  })
}

/** Of a MariaDB that does not offer TLS, and of one that does. */
const PLAIN_GREETING = greeting(0x82)
const TLS_GREETING = greeting(0x8a)

function greeting(capabilities: number): Buffer {
  const body = Buffer.concat([
    Buffer.from([10]),
    Buffer.from('10.11.0-MariaDB\0'),
    Buffer.from([1, 0, 0, 0]),
    Buffer.from('12345678\0'),
    // Protocol 4.1 and secure authentication.
    Buffer.from([0x00, capabilities, 45, 2, 0, 8, 0, 21]),
    Buffer.alloc(10),
    Buffer.from('123456789012\0mysql_native_password\0'),
  ])
  return packet(0, body)
}

/** Of MySQL. */
function packet(sequence: number, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from([body.length & 0xff, body.length >> 8, 0, sequence]), body])
}

/** A message of Postgres. */
function message(type: string, ...parts: (number | string)[]): Buffer {
  const body = Buffer.concat(
    parts.map((part) =>
      typeof part === 'string' ? Buffer.from(`${part}\0`) : Buffer.from(Uint32Array.of(part).buffer).reverse(),
    ),
  )
  return Buffer.concat([Buffer.from(type), Buffer.from(Uint32Array.of(body.length + 4).buffer).reverse(), body])
}

const LOGGED_IN = Buffer.concat([message('R', 0), message('Z', 0x49_00_00_00).subarray(0, 6)])
/** What no Postgres says, at which the driver's parser throws. */
const HOSTILE: readonly (readonly [what: string, said: Buffer])[] = [
  ['asks for a login of no kind', message('R', 99)],
  ['offers no mechanism', message('R', 10, 'NONE', '')],
  ['describes rows beyond the message', Buffer.concat([LOGGED_IN, message('T', 0x7fff_0000)])],
  ['gives rows beyond the message', Buffer.concat([LOGGED_IN, message('D', 0x7fff_ffff)])],
  ['says that a message is empty', Buffer.concat([LOGGED_IN, Buffer.from([0x54, 0, 0, 0, 0])])],
  ['says that a message is endless', Buffer.concat([LOGGED_IN, Buffer.from([0x54, 0xff, 0xff, 0xff, 0xff])])],
  ['speaks HTTP', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
]
for (const [what, said] of HOSTILE) {
  t.test(`a server of Postgres that ${what} costs one check, and not the service`, async (t) => {
    const timer = new AbortController()
    const end = (socket: { write(bytes: Buffer): unknown }) => socket.write(said)
    const overTls = await serveSockets(t, (socket) =>
      socket.once('data', () => {
        socket.write('S')
        const secure = new TLSSocket(socket, { isServer: true, secureContext: createSecureContext(INNER) })
        secure.on('error', () => {}).once('data', () => end(secure))
      }),
    )
    const plain = await serveSockets(t, (socket) => socket.once('data', () => end(socket)))
    const asked = [
      [overTls, true],
      [plain, false],
    ] as const
    const codes = asked.map(([host, tls]) => {
      const place = { port: Number(host.split(':')[1]), tls, over: { timer } }
      return code(checkOf(t, { protocol: 'postgres', port: place.port }, place).query('hidden'))
    })
    const limit = globalThis.setTimeout(() => timer.abort(), 1000)
    for (const one of await Promise.all(codes)) t.match(one, /^(?:unavailable|unexpected_response|timeout)$/)
    clearTimeout(limit)
  })
}

const LOGGED_IN_AS = packet(2, Buffer.from([0, 0, 0, 2, 0, 0, 0]))
const COLUMN = Buffer.from([3, 0x64, 0x65, 0x66, 0, 0, 0, 1, 0x61, 0, 0x0c, 0x3f, 0, 1, 0, 0, 0, 3, 0, 0, 0, 0, 0])
const ROWS_BEGIN = [packet(1, Buffer.from([1])), packet(2, COLUMN), packet(3, Buffer.from([0xfe, 0, 0, 2, 0]))]
const OUT_OF_ORDER = Array.from({ length: 20_000 }, () => packet(77, Buffer.from([1, 0x31])))
/** What a hostile MySQL answers to the login, and to what follows. */
const HOSTILE_MYSQL: readonly (readonly [what: string, login: Buffer, next: Buffer])[] = [
  ['refuses without a word', packet(2, Buffer.from([0xff])), Buffer.alloc(0)],
  ['asks for another login', packet(2, Buffer.from([0xfe, 0x78, 0, 1])), Buffer.from([0xff])],
  ['asks for a file', LOGGED_IN_AS, packet(1, Buffer.from([0xfb, 0x2f, 0x65, 0x74, 0x63]))],
  ['has no number of columns', LOGGED_IN_AS, packet(1, Buffer.from([0xfe, 1]))],
  ['numbers its rows otherwise', LOGGED_IN_AS, Buffer.concat([...ROWS_BEGIN, ...OUT_OF_ORDER])],
  ['speaks first', Buffer.concat([LOGGED_IN_AS, ...OUT_OF_ORDER]), Buffer.alloc(0)],
]
for (const [what, login, next] of HOSTILE_MYSQL) {
  t.test(`a server of MySQL that ${what} costs one check, and no line of the log`, async (t) => {
    const logged = [t.capture(console, 'error'), t.capture(console, 'trace'), t.capture(console, 'log')]
    const host = await serveSockets(t, (socket) => {
      socket.write(PLAIN_GREETING)
      socket.once('data', () => {
        socket.write(login)
        socket.on('data', () => socket.write(next))
      })
    })
    const timer = new AbortController()
    const limit = globalThis.setTimeout(() => timer.abort(), 1000)
    const place = { port: Number(host.split(':')[1]), tls: false, over: { timer } }
    const asked = code(checkOf(t, { protocol: 'mysql', port: place.port }, place).query('hidden'))
    t.match(await asked, /^(?:unavailable|unexpected_response|timeout)$/)
    clearTimeout(limit)
    t.strictSame(
      logged.flatMap((calls) => calls()),
      [],
    )
  })
}

t.test('a check that ends while MySQL goes over to TLS is over time', async (t) => {
  const host = await serveSockets(t, (socket) => socket.write(TLS_GREETING))
  const timer = new AbortController()
  const place = { port: Number(host.split(':')[1]), over: { timer } }
  const asked = code(checkOf(t, { protocol: 'mysql', port: place.port }, place).query('hidden'))
  await setTimeout(300)
  timer.abort()
  t.equal(await asked, 'timeout')
})

t.test('MySQL over TLS is read by a name: the driver verifies no IP address', async (t) => {
  let connections = 0
  const host = await serveSockets(t, () => void connections++)
  const place = { port: Number(host.split(':')[1]), name: '127.0.0.1' }
  t.equal(await code(checkOf(t, { protocol: 'mysql', port: place.port }, place).query('hidden')), 'unavailable')
  t.equal(connections, 0)
})
