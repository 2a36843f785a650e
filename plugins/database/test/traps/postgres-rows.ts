/** Claims of rows in Postgres: true ones as agents make them, false ones, and those of which the database shows too little. */
import { CLOSED, FULL, HTTP, NOT_ADMITTED, POOLER_ALONE, STARTING } from './door.ts'
import {
  by,
  DAY,
  FAILED,
  fingerprintOf,
  HOUR,
  ID,
  LATE,
  LATE_UNTOLD,
  MINUTE,
  NEVER_UNTOLD,
  NOT_DONE,
  OTHER,
  OTHER_OR_UNTOLD,
  REFUSED,
  type Row,
  rowsOf,
  SECOND,
  Story,
  TRUE,
  TRUE_OR_UNTOLD,
  TRUE_UNTOLD,
  UNKNOWABLE,
} from './row.ts'

import { INSERT, inserted, made, other, typedBy, typedWith } from './stories.ts'

const row = rowsOf('postgres')

const HONEST: readonly Row[] = [
  row(TRUE, 'a row that was inserted', 'it is there by its key', () => ({ story: inserted() })),
  row(TRUE, 'a row with three columns', 'their texts are as the database writes them, in UTC', () => ({
    story: inserted(),
    columns: { status: 'paid', total: '49.00', paid_at: '2026-03-11 09:29:58.5+00' },
  })),
  row(TRUE, 'a database without commit times, as Postgres comes', 'a look within the tolerance needs none', () => ({
    story: inserted(0, 'plain'),
    at: 'plain',
    columns: { status: 'paid' },
  })),
  row(TRUE, 'inserted two minutes after the claim by a queue', 'it came within the tolerance', () => ({
    story: inserted(2 * MINUTE),
  })),
  row(TRUE, 'in a transaction that commits after 90 s', 'nobody sees a row before its commit', () => ({
    story: new Story().begin(0, INSERT).end(90 * SECOND, 'COMMIT'),
  })),
  row(TRUE, 'set to the claimed value after two minutes', 'it came within the tolerance', () => ({
    story: inserted(-DAY)
      .sql(-HOUR, other("status = 'open'"))
      .sql(2 * MINUTE, other("status = 'paid'")),
    columns: { status: 'paid' },
  })),
  row(TRUE, 'a row of last year', 'a row that was there before is there', () => ({ story: inserted(-365 * DAY) })),
  row(TRUE, 'claimed ten minutes after', 'it was there before', () => ({ story: inserted(), claimedMs: 10 * MINUTE })),
  row(TRUE, 'submitted three hours after', 'the commit of its only version was in time', () => ({
    story: inserted(),
    submittedMs: 3 * HOUR,
  })),
  row(TRUE, 'claimed two minutes before it, by a clock that is behind', 'it came within the tolerance', () => ({
    story: inserted(),
    claimedMs: -2 * MINUTE,
    submittedMs: SECOND,
  })),
  row(TRUE, 'claimed for two minutes ahead', 'it was there before', () => ({
    story: inserted(),
    claimedMs: 2 * MINUTE,
    submittedMs: SECOND,
  })),
  row(TRUE, 'a clock of the database that is an hour ahead', 'the look was in time, whatever its commit says', () => ({
    story: new Story().clock(-DAY, HOUR).sql(0, INSERT),
  })),
  row(TRUE, 'a clock of the database that is an hour behind', 'the look was in time', () => ({
    story: new Story().clock(-DAY, -HOUR).sql(0, INSERT),
    columns: { status: 'paid' },
  })),
  row(TRUE, 'another column changed since', 'what is claimed is there', () => ({
    story: inserted().sql(5 * SECOND, other("note = 'shipped'")),
    columns: { status: 'paid' },
    claimedMs: 20 * SECOND,
  })),
  row(TRUE, 'changed and deleted after the first look', 'the first look saw it', () => ({
    story: inserted()
      .sql(MINUTE, other("status = 'void'"))
      .sql(2 * MINUTE, 'DELETE FROM public.orders'),
    columns: { status: 'paid' },
  })),
  row(TRUE, 'deleted, and inserted again with the same content', 'it is there again', () => ({
    story: inserted(-HOUR).sql(-MINUTE, 'DELETE FROM public.orders').sql(0, INSERT),
    columns: { status: 'paid' },
  })),
  row(TRUE, 'NULL, told as NULL', 'a fingerprint says null without a value', () => ({
    story: inserted(-SECOND).sql(0, other('paid_at = NULL')),
    columns: { paid_at: null },
  })),
  row(TRUE, 'an empty text', 'an empty text is no NULL', () => ({
    story: inserted(-SECOND).sql(0, other("note = ''")),
    columns: { note: '' },
  })),
  row(TRUE, 'a number as a key, and a text beside it', 'both are the row', () => ({
    story: inserted(),
    key: by(['id', '7'], ['number', 'ORD-7']),
  })),
  row(TRUE, 'a key of three columns', 'no two rows have all three', () => ({
    story: made(
      'CREATE TABLE lines (tenant uuid, "order" int, position smallint, sku text, PRIMARY KEY (tenant, "order", position))',
      "INSERT INTO lines VALUES ('3f2504e0-4f89-11d3-9a0c-0305e82c3301', 7, 1, 'A'), ('3f2504e0-4f89-11d3-9a0c-0305e82c3301', 7, 2, 'B')",
    ),
    table: 'public.lines',
    key: by(['tenant', '3f2504e0-4f89-11d3-9a0c-0305e82c3301'], ['order', '7'], ['position', '2']),
    columns: { sku: 'B' },
  })),
  row(TRUE, 'a key without a constraint, of one row', 'one row has it', () => ({
    story: inserted(),
    key: by(['status', 'paid']),
  })),
  row(TRUE, 'a key with quotation marks and a comment in it', 'a value is bound, and not written', () => ({
    story: inserted(-SECOND).sql(0, other("number = 'O''Brien\" -- ; DROP'")),
    key: by(['number', 'O\'Brien" -- ; DROP']),
  })),
  row(TRUE, 'a key with a backslash and a percent sign', 'neither is a pattern or an escape', () => ({
    story: inserted(-SECOND).sql(0, other("number = E'50%\\\\_a'")),
    key: by(['number', '50%\\_a']),
  })),
  row(TRUE, 'a key in other letters', 'texts are compared to the letter', () => ({
    story: inserted(-SECOND).sql(0, other("number = 'Größe 日本 🚚'")),
    key: by(['number', 'Größe 日本 🚚']),
  })),
  row(TRUE, 'names with capitals and spaces', 'names are as the catalogue writes them', () => ({
    story: made(
      'CREATE SCHEMA "Sales"; GRANT USAGE ON SCHEMA "Sales" TO reader; CREATE TABLE "Sales"."Order Lines" ("Line ID" int PRIMARY KEY, "Größe" text); GRANT SELECT ON "Sales"."Order Lines" TO reader',
      `INSERT INTO "Sales"."Order Lines" VALUES (7, 'XL')`,
    ),
    table: 'Sales.Order Lines',
    key: by(['Line ID', '7']),
    columns: { Größe: 'XL' },
  })),
  row(
    TRUE,
    'a bigint beyond what doubles count',
    'it is one number, and no neighbour',
    typedBy('id', '9007199254740993'),
  ),
  row(TRUE, 'a uuid in capitals', 'a uuid has one value', typedBy('u', '3F2504E0-4F89-11D3-9A0C-0305E82C3301')),
  row(TRUE, 'a number as 49', '49 is 49.0', typedBy('n', '49')),
  row(TRUE, 'a date', 'a date is a key', typedBy('d', '2026-03-11')),
  row(TRUE, 'a time with a zone', 'the same moment in another form', typedBy('tz', '2026-03-11T09:30:00Z')),
  row(TRUE, 'char(8) without its blanks', 'its padding is no difference', typedBy('c', 'ab')),
  row(TRUE, 'citext to the letter', 'it is what the database writes', typedBy('ci', 'Ab')),
  row(TRUE, 'an enum', 'an enum is a key', typedBy('e', 'paid')),
  row(TRUE, 'a domain', 'a domain over text is a key', typedBy('k', 'K-1')),
  row(TRUE, 'a generated column as a key', 'it is a column as others', typedBy('twice', '18014398509481986')),
  row(
    TRUE,
    'columns of many types',
    'each has the text that the database writes',
    typedWith({ u: '3f2504e0-4f89-11d3-9a0c-0305e82c3301', n: '49.0', n4: '49.0000', b: 't', d: '2026-03-11' }),
  ),
  row(
    TRUE,
    'columns of more types',
    'each has the text that the database writes',
    typedWith({
      ts: '2026-03-11 09:30:00.25',
      tz: '2026-03-11 09:30:00+00',
      e: 'paid',
      bytes: '\\x00ff',
      j: '{"a": [1, 2], "b": 1}',
      a: '{x,"y z"}',
      f: '0.1',
      twice: '18014398509481986',
    }),
  ),
  row(TRUE_OR_UNTOLD, 'an interval', 'its form is a setting of the session', typedWith({ i: 'P1DT2H' })),
  row(TRUE_OR_UNTOLD, 'char(8) with its blanks', 'the database writes them', typedWith({ c: 'ab      ' })),
  row(TRUE, 'numbers in another form', 'the value is the same', typedWith({ n: '49.00', n4: '49' })),
  row(TRUE_OR_UNTOLD, 'truth in words', 'true is t', typedWith({ b: 'true' })),
  row(TRUE, 'a role whose time zone is Tokyo', 'times are in UTC for all', () => ({
    story: new Story()
      .sql(-DAY, "ALTER ROLE reader SET TimeZone = 'Asia/Tokyo'; ALTER ROLE reader SET DateStyle = 'German, DMY'")
      .sql(0, INSERT),
    columns: { paid_at: '2026-03-11 09:29:58.5+00' },
  })),
  row(TRUE, 'a partitioned table', 'its rows are in its parts', () => ({
    story: made(
      "CREATE TABLE events (id int, at date, kind text, PRIMARY KEY (id, at)) PARTITION BY RANGE (at); CREATE TABLE events_2026 PARTITION OF events FOR VALUES FROM ('2026-01-01') TO ('2027-01-01'); CREATE TABLE events_old PARTITION OF events DEFAULT",
      "INSERT INTO events VALUES (7, '2026-03-11', 'signup')",
    ),
    table: 'public.events',
    columns: { kind: 'signup' },
  })),
  row(TRUE, 'a partition by its own name', 'a partition is a table', () => ({
    story: made(
      "CREATE TABLE events (id int, at date) PARTITION BY RANGE (at); CREATE TABLE events_2026 PARTITION OF events FOR VALUES FROM ('2026-01-01') TO ('2027-01-01')",
      "INSERT INTO events VALUES (7, '2026-03-11')",
    ),
    table: 'public.events_2026',
  })),
  row(TRUE, 'moved to another partition since', 'the row is in the table', () => ({
    story: made(
      "CREATE TABLE jobs (id int, state text) PARTITION BY LIST (state); CREATE TABLE jobs_open PARTITION OF jobs FOR VALUES IN ('open'); CREATE TABLE jobs_done PARTITION OF jobs FOR VALUES IN ('done')",
      "INSERT INTO jobs VALUES (7, 'open')",
    ).sql(10 * SECOND, "UPDATE jobs SET state = 'done'"),
    table: 'public.jobs',
    claimedMs: 20 * SECOND,
  })),
  row(TRUE_OR_UNTOLD, 'a row of a child by inheritance', 'a table shows the rows of its children', () => ({
    story: made(
      'CREATE TABLE base (id int PRIMARY KEY, kind text); CREATE TABLE special (extra text) INHERITS (base)',
      "INSERT INTO special VALUES (7, 'x', 'y')",
    ),
    table: 'public.base',
  })),
  row(TRUE, 'a column of five megabytes beside it', 'only what is claimed is read', () => ({
    story: made(
      'CREATE TABLE files (id int PRIMARY KEY, state text, body text)',
      "INSERT INTO files VALUES (7, 'stored', repeat('x', 5000000))",
    ),
    table: 'public.files',
    columns: { state: 'stored' },
  })),
  row(TRUE_OR_UNTOLD, 'a claimed column of two megabytes', 'an answer may be too large', () => ({
    story: made(
      'CREATE TABLE files (id int PRIMARY KEY, body text)',
      "INSERT INTO files VALUES (7, repeat('x', 2000000))",
    ),
    table: 'public.files',
    columns: { body: 'x'.repeat(2_000_000) },
  })),
  row(TRUE_OR_UNTOLD, 'a right on two columns alone', 'a connection of the least permission', () => ({
    story: new Story()
      .sql(-DAY, 'REVOKE SELECT ON orders FROM reader; GRANT SELECT (id, status) ON orders TO reader')
      .sql(0, INSERT),
    columns: { status: 'paid' },
  })),
  row(TRUE, 'row security that shows the row', 'what is seen is there', () => ({
    story: new Story()
      .sql(-DAY, "ALTER TABLE orders ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON orders USING (status = 'paid')")
      .sql(0, INSERT),
  })),
  row(TRUE, 'row security that does not bind the reader', 'it sees all rows', () => ({
    story: new Story()
      .sql(-DAY, 'ALTER TABLE orders ENABLE ROW LEVEL SECURITY; ALTER ROLE reader BYPASSRLS')
      .sql(0, INSERT),
  })),
  row(TRUE, 'a table that is not logged', 'its rows are rows', () => ({
    story: made('CREATE UNLOGGED TABLE hits (id int PRIMARY KEY)', 'INSERT INTO hits VALUES (7)'),
    table: 'public.hits',
  })),
  row(TRUE, 'frozen since', 'a vacuum changes no row', () => ({
    story: inserted(-DAY).sql(-HOUR, 'VACUUM (FREEZE) public.orders'),
    columns: { status: 'paid' },
  })),
  row(TRUE, 'a row that another transaction holds', 'a lock hides nothing', () => ({
    story: inserted(-DAY).begin(0, 'SELECT * FROM orders FOR UPDATE'),
  })),
  row(TRUE, 'a table that a change of its form locks', 'a look that waits in vain says nothing', () => ({
    story: inserted()
      .begin(SECOND / 2, 'LOCK TABLE orders IN ACCESS EXCLUSIVE MODE')
      .end(2 * SECOND, 'COMMIT'),
  })),
  row(TRUE, 'a replica that follows', 'a replica shows what was committed', () => ({
    story: inserted(),
    at: 'replica',
    columns: { status: 'paid' },
  })),
  row(TRUE, 'a replica that is two minutes behind', 'it shows the row within the tolerance', () => ({
    story: new Story()
      .replica(-SECOND, 'pause')
      .sql(0, INSERT)
      .replica(2 * MINUTE, 'resume'),
    at: 'replica',
  })),
  row(TRUE, 'a database that starts for two minutes', 'a refusal says nothing', () => ({
    story: inserted().lead(2 * MINUTE, 'main'),
    at: STARTING,
  })),
  row(TRUE, 'too many clients for a minute', 'a refusal says nothing', () => ({
    story: inserted().lead(MINUTE, 'main'),
    at: FULL,
  })),
]

const FALSE: readonly Row[] = [
  // It was not written, or not for good.
  row(FAILED, 'never inserted', 'the database was looked at, from the claim on', () => ({ story: new Story() })),
  row(FAILED, 'never inserted, without commit times', 'absence needs no commit time', () => ({
    story: new Story('plain'),
    at: 'plain',
  })),
  row(FAILED, 'never inserted, with columns', 'nothing has the key', () => ({
    story: inserted().sql(SECOND / 2, 'UPDATE orders SET id = 8'),
    key: by(['id', '9']),
    columns: { status: 'paid' },
  })),
  row(FAILED, 'rolled back', 'what is rolled back was never there', () => ({
    story: new Story().begin(0, INSERT).end(3 * SECOND, 'ROLLBACK'),
  })),
  row(FAILED, 'in a transaction that never commits', 'nobody has seen it', () => ({
    story: new Story().begin(0, INSERT),
  })),
  row(FAILED, 'inserted and deleted in one transaction', 'nobody has seen it', () => ({
    story: new Story().begin(0, `${INSERT}; DELETE FROM orders`).end(SECOND / 2, 'COMMIT'),
  })),
  row(NOT_DONE, 'never inserted, claimed an hour ago', 'it may have been there, and deleted', () => ({
    story: new Story(),
    submittedMs: HOUR,
  })),
  row(['in time', 'unverifiable'], 'deleted an hour before the submission', 'a deleted row leaves no trace', () => ({
    story: inserted().sql(10 * MINUTE, 'DELETE FROM public.orders'),
    submittedMs: HOUR,
  })),
  row(
    ['in time', 'unverifiable', 'failed'],
    'deleted within the second before the first look',
    'it leaves no trace, and the receipt says how long it may have been there',
    () => ({ story: inserted().sql(SECOND / 2, 'DELETE FROM public.orders') }),
    true,
  ),
  row(
    ['in time', 'unverifiable', 'mismatch'],
    'changed within the second before the first look, without commit times',
    'the receipt says how long it may have been so',
    () => ({
      story: inserted(0, 'plain').sql(SECOND / 2, other("status = 'sent'")),
      at: 'plain',
      columns: { status: 'paid' },
    }),
    true,
  ),
  row(
    ['in time', 'unverifiable'],
    'changed three seconds after the claim, before the first look',
    'the version came after the claim, so another one may have been before it',
    () => ({
      story: inserted().sql(3 * SECOND, other("status = 'sent'")),
      columns: { status: 'paid' },
      idleUntilMs: 4 * SECOND,
    }),
  ),

  // Elsewhere.
  row(FAILED, 'in another table', 'the claimed table does not have it', () => ({
    story: made('CREATE TABLE orders_archive (LIKE orders)', INSERT.replace('public.orders', 'orders_archive')),
  })),
  row(FAILED, 'in a table of that name in another schema', 'the claimed table does not have it', () => ({
    story: made(
      'CREATE SCHEMA agent; CREATE TABLE agent.orders (LIKE orders); GRANT USAGE ON SCHEMA agent TO reader; GRANT SELECT ON agent.orders TO reader; ALTER ROLE reader SET search_path = agent, public',
      INSERT.replace('public.orders', 'agent.orders'),
    ),
  })),
  row(FAILED, 'on another server', 'the claimed database does not have it', () => ({ story: inserted(0, 'plain') })),
  row(REFUSED, 'a claim of another connection', 'nothing here reads it', () => ({
    story: inserted(),
    named: 'billing-db',
  })),
  row(NEVER_UNTOLD, 'a table that is not there', 'a name may be wrong, and is no absence', () => ({
    story: inserted(),
    table: 'public.oders',
  })),
  row(TRUE_UNTOLD, 'a view', 'a view could do more than read', () => ({
    story: new Story().sql(-DAY, 'CREATE VIEW paid AS SELECT * FROM orders').sql(0, INSERT),
    table: 'public.paid',
  })),
  row(
    ['never', 'unverifiable', 'refused', 'failed'],
    'a view that says what its author likes',
    'a view is no table',
    () => ({
      story: new Story().sql(-DAY, "CREATE VIEW sure AS SELECT 7 AS id, 'paid'::text AS status"),
      table: 'public.sure',
      columns: { status: 'paid' },
    }),
  ),
  row(NEVER_UNTOLD, 'a column that is not there', 'a name may be wrong', () => ({
    story: inserted(),
    columns: { state: 'paid' },
  })),

  // Another content.
  row(OTHER, 'another state', 'it was never so', () => ({
    story: inserted(-DAY).sql(-HOUR, other("status = 'open'")),
    columns: { status: 'paid' },
  })),
  row(OTHER, 'inserted just now with another state', 'the commit came before the claim, and the look at once', () => ({
    story: new Story().sql(-SECOND, INSERT.replace("'paid'", "'open'")),
    columns: { status: 'paid' },
  })),
  row(OTHER, 'another state, without commit times', 'looks that are close show it', () => ({
    story: inserted(-DAY, 'plain').sql(-HOUR, other("status = 'open'")),
    at: 'plain',
    columns: { status: 'paid' },
  })),
  row(
    OTHER_OR_UNTOLD,
    'another state, claimed an hour ago',
    'its version is older than the claim, and still there',
    () => ({
      story: inserted(-DAY).sql(-2 * HOUR, other("status = 'open'")),
      columns: { status: 'paid' },
      submittedMs: HOUR,
    }),
  ),
  row(['in time', 'unverifiable'], 'changed since, claimed an hour ago', 'it was so before its last version', () => ({
    story: inserted().sql(30 * MINUTE, other("status = 'sent'")),
    columns: { status: 'paid' },
    submittedMs: HOUR,
  })),
  row(OTHER, 'another amount', 'forty-nine are not ninety-four', () => ({
    story: inserted(),
    columns: { total: '94.00' },
  })),
  row(OTHER, 'one of two columns is another', 'all claimed columns have to be so', () => ({
    story: inserted(),
    columns: { status: 'paid', total: '4.90' },
  })),
  row(OTHER, 'NULL told as an empty text', 'NULL is no text', () => ({
    story: inserted(-SECOND).sql(-SECOND, other('note = NULL')),
    columns: { note: '' },
  })),
  row(OTHER, 'an empty text told as NULL', 'an empty text is no NULL', () => ({
    story: inserted(-SECOND).sql(-SECOND, other("note = ''")),
    columns: { note: null },
  })),
  row(OTHER, 'the word null told as NULL', 'a word is no NULL', () => ({
    story: inserted(-SECOND).sql(-SECOND, other("note = 'null'")),
    columns: { note: null },
  })),
  row(OTHER, 'a moment an hour off', 'the same digits in another zone are another moment', () => ({
    story: inserted(),
    columns: { paid_at: '2026-03-11 09:29:58.5+01' },
  })),
  row(OTHER, 'a text with a blank at its end', 'a blank is a letter of text', () => ({
    story: inserted(),
    columns: { status: 'paid ' },
  })),
  row(OTHER, 'a text in capitals', 'texts are compared to the letter', () => ({
    story: inserted(),
    columns: { status: 'PAID' },
  })),
  row(OTHER, 'a fingerprint of another column', 'equal values of others have other fingerprints', () => ({
    story: inserted(-SECOND).sql(-SECOND, other("note = 'x', status = 'x'")),
    params: { key: ID, columns: [{ column: 'status', fingerprint: fingerprintOf({}, 'note', 'x') }] },
  })),
  row(OTHER, 'a fingerprint of another row', 'equal values of others have other fingerprints', () => ({
    story: inserted(),
    params: {
      key: ID,
      columns: [{ column: 'status', fingerprint: fingerprintOf({ key: by(['id', '8']) }, 'status', 'paid') }],
    },
  })),
  row(OTHER, 'a fingerprint of another table', 'equal values of others have other fingerprints', () => ({
    story: inserted(),
    params: {
      key: ID,
      columns: [{ column: 'status', fingerprint: fingerprintOf({ table: 'public.orders2' }, 'status', 'paid') }],
    },
  })),
  row(OTHER, 'a fingerprint by another key', 'it is that of no value', () => ({
    story: inserted(),
    params: {
      key: ID,
      columns: [{ column: 'status', fingerprint: fingerprintOf({}, 'status', 'paid', 'another-key-0123456789') }],
    },
  })),
  row(TRUE_UNTOLD, 'a fingerprint without a key', 'it would show few values to whoever tries them', () => ({
    story: inserted(),
    params: { key: ID, columns: [{ column: 'status', fingerprint: `sha256:${'0'.repeat(64)}` }] },
  })),
  row(TRUE_UNTOLD, 'columns, of a connection without a key', 'nothing can be compared', () => ({
    story: inserted(),
    columns: { status: 'paid' },
    connection: { fingerprint_key: null },
  })),
  row(OTHER_OR_UNTOLD, 'another json', 'json has forms that nobody can try', typedWith({ j: '{"a":[1,2],"b":2}' })),
  row(
    TRUE_UNTOLD,
    'the same json, in the form of the agent',
    'json has forms that nobody can try',
    typedWith({ j: '{"b":1,"a":[1,2]}' }),
  ),
  row(OTHER, 'another number of four decimals', 'numbers are compared by value', typedWith({ n4: '49.0001' })),
  row(OTHER, 'false told as true', 'there are two values', typedWith({ b: 'false' })),
  row(OTHER, 'a neighbour of a large number', 'doubles take them for one', typedWith({ twice: '18014398509481984' })),

  // Another key.
  row(FAILED, 'a neighbour of a large key', 'doubles take them for one', typedBy('id', '9007199254740992')),
  row(FAILED, 'a key in capitals', 'texts are compared to the letter', () => ({
    story: inserted(),
    key: by(['number', 'ord-7']),
  })),
  row(FAILED, 'a key with a blank at its end', 'a blank is a letter of text', () => ({
    story: inserted(),
    key: by(['number', 'ORD-7 ']),
  })),
  row(FAILED, 'a letter that looks alike', 'a Cyrillic O is another letter', () => ({
    story: inserted(),
    key: by(['number', '\u041ERD-7']),
  })),
  row(FAILED, 'an accent of its own', 'two forms of a letter are two texts', () => ({
    story: inserted(-SECOND).sql(0, other("number = 'Ré'")),
    key: by(['number', 'Re\u0301']),
  })),
  row(FAILED, 'a pattern of the key', 'a pattern is no key', () => ({
    story: inserted(),
    key: by(['number', 'ORD-%']),
  })),
  row(FAILED, 'one half of the key is another', 'all parts have to be so', () => ({
    story: inserted(),
    key: by(['id', '7'], ['number', 'ORD-8']),
  })),
  row(['unknowable', 'unverifiable'], 'citext in other letters', 'the database calls them equal', typedBy('ci', 'aB')),
  row(UNKNOWABLE, 'a collation without case', 'the database calls them equal', () => ({
    story: made(
      "CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false); CREATE TABLE users (name text COLLATE nocase PRIMARY KEY)",
      "INSERT INTO users VALUES ('Ada')",
    ),
    table: 'public.users',
    key: by(['name', 'ADA']),
  })),
  row(REFUSED, 'a key that is no number', 'no row can have it', () => ({ story: inserted(), key: by(['id', '7abc']) })),
  row(REFUSED, 'a key that no int can be', 'no row can have it', () => ({
    story: inserted(),
    key: by(['id', '99999999999']),
  })),
  row(REFUSED, 'the word null as a key', 'a key is a value', () => ({
    story: inserted(),
    key: by(['number', 'NULL']),
  })),
  row(REFUSED, 'an empty list as the key', 'every row would have it', () => ({ story: inserted(), key: [] })),
  row(REFUSED, 'a key of four columns', 'three are the most', () => ({
    story: inserted(),
    key: by(['id', '7'], ['number', 'ORD-7'], ['status', 'paid'], ['total', '49.00']),
  })),
  row(REFUSED, 'a key with a line break', 'a text of lines could end the fingerprint of another', () => ({
    story: inserted(-SECOND).sql(0, other("number = E'a\\nb'")),
    key: by(['number', 'a\nb']),
  })),
  row(REFUSED, 'one column with two values', 'no row has both', () => ({
    story: inserted(),
    key: by(['id', '7'], ['id', '8']),
  })),
  row(REFUSED, 'a column that runs on', 'a name is no part of a statement', () => ({
    story: inserted(),
    key: by(['id" = 7 OR "id', '9']),
  })),
  row(UNKNOWABLE, 'two rows with the key', 'one of them may be meant, or none', () => ({
    story: made('CREATE TABLE twice (id int, state text)', "INSERT INTO twice VALUES (7, 'a'), (7, 'b')"),
    table: 'public.twice',
    columns: { state: 'a' },
  })),
  row(UNKNOWABLE, 'two thousand rows with the key', 'one of them may be meant, or none', () => ({
    story: made('CREATE TABLE twice (id int)', 'INSERT INTO twice SELECT 7 FROM generate_series(1, 2000)'),
    table: 'public.twice',
  })),
  row(UNKNOWABLE, 'one in the table, and one in its child', 'a constraint does not go on to children', () => ({
    story: made(
      'CREATE TABLE base (id int PRIMARY KEY, kind text); CREATE TABLE special () INHERITS (base)',
      "INSERT INTO base VALUES (7, 'x'); INSERT INTO special VALUES (7, 'y')",
    ),
    table: 'public.base',
  })),
  row(FAILED, 'a row whose id was taken over by no one', 'the deleted row is older than the claim', () => ({
    story: inserted(-DAY).sql(-HOUR, 'DELETE FROM public.orders'),
  })),

  // At another time.
  row(LATE, 'inserted after 25 minutes', 'looks saw that it was not there', () => ({ story: inserted(25 * MINUTE) })),
  row(LATE, 'inserted after 25 minutes, without commit times', 'looks saw that it was not there', () => ({
    story: inserted(25 * MINUTE, 'plain'),
    at: 'plain',
  })),
  row(LATE, 'set to the claimed value after 25 minutes', 'looks saw that it was another', () => ({
    story: inserted(-DAY)
      .sql(-HOUR, other("status = 'open'"))
      .sql(25 * MINUTE, other("status = 'paid'")),
    columns: { status: 'paid' },
  })),
  row(LATE, 'committed after 25 minutes', 'a row is there from its commit on', () => ({
    story: new Story().begin(0, INSERT).end(25 * MINUTE, 'COMMIT'),
  })),
  row(LATE_UNTOLD, 'inserted after two hours, submitted after three', 'a commit is an upper bound alone', () => ({
    story: inserted(2 * HOUR),
    submittedMs: 3 * HOUR,
  })),
  row(
    ['in time', 'unverifiable'],
    'touched after two hours, submitted after three',
    'the commit of the last version is later than the row',
    () => ({ story: inserted().sql(2 * HOUR, other("note = 'x'")), submittedMs: 3 * HOUR }),
  ),
  row(
    ['in time', 'unverifiable'],
    'without commit times, submitted after three hours',
    'nothing tells when it came',
    () => ({
      story: inserted(0, 'plain'),
      at: 'plain',
      submittedMs: 3 * HOUR,
    }),
  ),
  row(
    LATE_UNTOLD,
    'inserted after 25 minutes, by a clock that is an hour behind',
    'looks saw that it was not there',
    () => ({
      story: new Story().clock(-DAY, -HOUR).sql(25 * MINUTE, INSERT),
    }),
  ),
  row(
    LATE_UNTOLD,
    'inserted after two hours by a clock that is four behind, submitted after three',
    'its clock is known to be behind',
    () => ({ story: new Story().clock(-DAY, -4 * HOUR).sql(2 * HOUR, INSERT), submittedMs: 3 * HOUR }),
  ),
  row(LATE_UNTOLD, 'late, and dated back in a column', 'columns say what their author likes', () => ({
    story: inserted(2 * HOUR).sql(2 * HOUR, other("paid_at = '2026-03-11 09:29:00+00'")),
    submittedMs: 3 * HOUR,
  })),
  row(
    ['late', 'unverifiable', 'late'],
    'inserted between two looks at the end of the tolerance, by a clock that jumps',
    'a clock that jumps proves nothing',
    () => ({ story: new Story().clock(5 * MINUTE, -HOUR).sql(25 * MINUTE, INSERT) }),
  ),
  row(NOT_DONE, 'never inserted, and the clock of the database jumps', 'looks are timed by the host', () => ({
    story: new Story().clock(3 * MINUTE, HOUR),
  })),

  // Hidden.
  row(['in time', 'unverifiable'], 'row security that hides the row', 'no row is no absence there', () => ({
    story: new Story()
      .sql(-DAY, "ALTER TABLE orders ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON orders USING (status <> 'paid')")
      .sql(0, INSERT),
  })),
  row(NEVER_UNTOLD, 'row security, and no row', 'it might be hidden', () => ({
    story: new Story().sql(
      -DAY,
      'ALTER TABLE orders ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON orders USING (true)',
    ),
  })),
  row(['in time', 'unverifiable'], 'row security that begins during the life', 'the last look is hidden', () => ({
    story: new Story().sql(MINUTE, 'ALTER TABLE orders ENABLE ROW LEVEL SECURITY').sql(70 * SECOND, INSERT),
  })),
  row(['in time', 'unverifiable'], 'row security of a partition, read by its name', 'a partition has its own', () => ({
    story: made(
      "CREATE TABLE events (id int, at date) PARTITION BY RANGE (at); CREATE TABLE events_2026 PARTITION OF events FOR VALUES FROM ('2026-01-01') TO ('2027-01-01'); ALTER TABLE events_2026 ENABLE ROW LEVEL SECURITY",
      "INSERT INTO events VALUES (7, '2026-03-11')",
    ),
    table: 'public.events_2026',
  })),
  row(TRUE, 'row security of a partition, read through its parent', 'a parent does not ask its parts', () => ({
    story: made(
      "CREATE TABLE events (id int, at date) PARTITION BY RANGE (at); CREATE TABLE events_2026 PARTITION OF events FOR VALUES FROM ('2026-01-01') TO ('2027-01-01'); ALTER TABLE events_2026 ENABLE ROW LEVEL SECURITY",
      "INSERT INTO events VALUES (7, '2026-03-11')",
    ),
    table: 'public.events',
  })),
  row(TRUE_UNTOLD, 'no right to the table', 'a refusal is no absence', () => ({
    story: new Story().sql(-DAY, 'REVOKE SELECT ON orders FROM reader').sql(0, INSERT),
  })),
  row(TRUE_UNTOLD, 'no right to the schema', 'a refusal is no absence', () => ({
    story: new Story().sql(-DAY, 'REVOKE USAGE ON SCHEMA public FROM reader').sql(0, INSERT),
  })),
  row(TRUE_UNTOLD, 'a wrong password', 'a refusal is no absence', () => ({
    story: inserted(),
    connection: { password: 'an-old-password-0123' },
  })),
  row(TRUE_UNTOLD, 'a database that is not there', 'the connection is wrong', () => ({
    story: inserted(),
    connection: { database: 'shops' },
  })),
  row(NEVER_UNTOLD, 'a connection to the staging database, without the table', 'it is another database', () => ({
    story: new Story(),
    connection: { database: 'staging' },
  })),

  // A copy.
  row(['in time', 'unverifiable'], 'a replica that stands still', 'what it lacks may be at the primary', () => ({
    story: new Story().replica(-SECOND, 'pause').sql(0, INSERT),
    at: 'replica',
  })),
  row(
    ['in time', 'unverifiable', 'verified'],
    'a replica that is 25 minutes behind',
    'it is not late because a copy is',
    () => ({
      story: new Story()
        .replica(-SECOND, 'pause')
        .sql(0, INSERT)
        .replica(25 * MINUTE, 'resume'),
      at: 'replica',
      deadlineMs: 3 * HOUR,
    }),
  ),
  row(['in time', 'unverifiable'], 'changed at the primary, and not at the replica', 'a copy shows what was', () => ({
    story: inserted(-HOUR)
      .sql(-HOUR, other("status = 'open'"))
      .replica(-SECOND, 'pause')
      .sql(0, other("status = 'paid'")),
    at: 'replica',
    columns: { status: 'paid' },
  })),
  row(NOT_DONE, 'never inserted, read at a replica', 'a copy may be behind', () => ({
    story: new Story(),
    at: 'replica',
  })),
  row(
    UNKNOWABLE,
    'a stale copy that was promoted during the life',
    'another timeline does not say what was lost',
    () => ({
      story: new Story()
        .happens(30 * SECOND, ({ postgres }) => postgres.promoteStale())
        .lead(30 * SECOND, 'stale')
        .sql(MINUTE, INSERT),
    }),
  ),
  row(UNKNOWABLE, 'another server at the address since', 'it does not say what the claimed one has', () => ({
    story: new Story().lead(30 * SECOND, 'plain').sql(MINUTE, INSERT),
  })),
  row(UNKNOWABLE, 'another server at the address since, which has such a row', 'it is not the claimed one', () => ({
    story: new Story().lead(30 * SECOND, 'plain').happens(MINUTE, ({ postgres }) => postgres.run('plain', INSERT)),
  })),

  // What stands between.
  ...(
    [
      [CLOSED, 'nobody at the port'],
      [HTTP, 'a web server at the port'],
      [STARTING, 'a database that starts'],
      [NOT_ADMITTED, 'an address that is not admitted'],
      [POOLER_ALONE, 'a pooler without its server'],
    ] as const
  ).map(([at, what]) =>
    row(['in time', 'unverifiable'], `${what} for the whole life`, 'it tells neither presence nor absence', () => ({
      story: inserted(),
      at,
    })),
  ),
  row(NOT_DONE, 'never inserted, and away at the end of the tolerance', 'a gap hides what may have been', () => ({
    story: new Story().lead(2 * MINUTE, CLOSED).lead(8 * MINUTE, 'main'),
  })),
  row(['in time', 'unverifiable'], 'inserted while it is away, and deleted', 'a gap hides what was', () => ({
    story: new Story()
      .lead(2 * MINUTE, CLOSED)
      .sql(3 * MINUTE, INSERT)
      .sql(4 * MINUTE, 'DELETE FROM public.orders')
      .lead(5 * MINUTE, 'main'),
  })),
]

export const POSTGRES_ROWS: readonly Row[] = [...HONEST, ...FALSE]
