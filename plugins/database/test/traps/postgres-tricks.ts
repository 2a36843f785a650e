/** Claims of rows in Postgres where somebody makes the database say otherwise, and of values that are written in other forms. */
import { CLOSED } from './door.ts'
import {
  by,
  DAY,
  HOUR,
  LATE_UNTOLD,
  MINUTE,
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
} from './row.ts'
import { INSERT, inserted, made, other, typedBy, typedWith } from './stories.ts'

const row = rowsOf('postgres')

/** Begins a story in which a schema of the database's owner comes before the one of Postgres in every session. */
const shadowed = (ddl: string) =>
  new Story().sql(
    -DAY,
    `CREATE SCHEMA evil; GRANT USAGE ON SCHEMA evil TO reader; ${ddl};
      ALTER DATABASE shop SET search_path = evil, pg_catalog, public`,
  )
const all = (type: string) => `CREATE FUNCTION evil.same(${type}, ${type}) RETURNS bool LANGUAGE sql AS 'SELECT true';
  CREATE OPERATOR evil.= (LEFTARG = ${type}, RIGHTARG = ${type}, FUNCTION = evil.same)`
const PATH = 'the owner of a database chooses its search path'
const HIDDEN = 'ALTER TABLE orders ENABLE ROW LEVEL SECURITY'
const AGAIN = 'CREATE TABLE again (LIKE orders INCLUDING ALL); DROP TABLE orders; ALTER TABLE again RENAME TO orders'

/** Values that a type of Postgres or of an owner takes for the one that is there: a table with one column `v`, what is in it, and the claim. */
const NEARLY: readonly (readonly [title: string, ddl: string, stored: string, claimed: string])[] = [
  [
    'another number, by an operator of its own domain',
    `CREATE DOMAIN own AS int; CREATE FUNCTION same(own, own) RETURNS bool LANGUAGE sql AS 'SELECT true';
      CREATE OPERATOR public.= (LEFTARG = own, RIGHTARG = own, FUNCTION = same); CREATE TABLE nearly (v own)`,
    '1',
    '999',
  ],
  [
    'another word, by an operator and a cast of its own list of words',
    `CREATE TYPE word AS ENUM ('a', 'b'); CREATE FUNCTION same(word, word) RETURNS bool LANGUAGE sql AS 'SELECT true';
      CREATE OPERATOR public.= (LEFTARG = word, RIGHTARG = word, FUNCTION = same);
      CREATE FUNCTION told(word) RETURNS text LANGUAGE sql AS 'SELECT $$b$$';
      CREATE CAST (word AS text) WITH FUNCTION told(word) AS IMPLICIT; CREATE TABLE nearly (v word)`,
    "'a'",
    'b',
  ],
  ['a name that is cut', 'CREATE TABLE nearly (v name)', "repeat('k', 63)", 'k'.repeat(80)],
  ['a word of which one letter is kept', 'CREATE TABLE nearly (v "char")', "'a'", 'active'],
  ['a number that no double is', 'CREATE TABLE nearly (v float8)', '9007199254740992', '9007199254740993'],
  ['a number that no single is', 'CREATE TABLE nearly (v float4)', '0.1', '0.10000000001'],
  ['a time for a day', 'CREATE TABLE nearly (v date)', "'2026-03-11'", '2026-03-11 19:00:00Z'],
  [
    'a day for a time, below two domains',
    'CREATE DOMAIN one AS time; CREATE DOMAIN two AS one; CREATE TABLE nearly (v two)',
    "'10:00'",
    '2001-01-01 10:00:00Z',
  ],
  [
    'a time with a seventh digit',
    'CREATE TABLE nearly (v timestamp)',
    "'2026-03-11 10:00:00'",
    '2026-03-11 10:00:00.0000004',
  ],
  ['thirty days for a month', 'CREATE TABLE nearly (v interval)', "'1 mon'", '30 days'],
]

const TRICKS: readonly Row[] = [
  ...NEARLY.map(([title, ddl, stored, claimed]) =>
    row(NOT_DONE, `nearly: ${title}`, 'the database calls them equal, and they are not', () => ({
      story: made(ddl, `INSERT INTO nearly VALUES (${stored})`, -HOUR),
      table: 'public.nearly',
      key: by(['v', claimed]),
    })),
  ),
  row(OTHER_OR_UNTOLD, 'nearly: a double whose digits a setting cuts', PATH, () => ({
    story: made(
      'CREATE TABLE nearly (id int, v float8)',
      'INSERT INTO nearly VALUES (7, 1.4); ALTER DATABASE shop SET extra_float_digits = -15',
      -HOUR,
    ),
    table: 'public.nearly',
    columns: { v: '1' },
  })),
  // `pg_replication_origin_xact_setup` sets the time of a commit ("Replication Progress Tracking").
  row(LATE_UNTOLD, 'late, and committed as the replay of an earlier commit', 'a replay brings its own time', () => ({
    story: new Story()
      .sql(-DAY, "SELECT pg_replication_origin_create('elsewhere')")
      .sql(2 * HOUR, "SELECT pg_replication_origin_session_setup('elsewhere')")
      .sql(
        2 * HOUR,
        `BEGIN; ${INSERT}; SELECT pg_replication_origin_xact_setup('0/1', '2026-03-11 09:30:00+00'); COMMIT`,
      )
      .sql(2 * HOUR, 'SELECT pg_replication_origin_session_reset()')
      .sql(2 * HOUR, "SELECT pg_replication_origin_drop('elsewhere')"),
    submittedMs: 3 * HOUR,
  })),
  row(LATE_UNTOLD, 'late, by a function that tells another commit', PATH, () => ({
    story: shadowed(
      `CREATE FUNCTION evil.pg_xact_commit_timestamp(xid) RETURNS timestamptz LANGUAGE sql
        AS $$ SELECT timestamptz '2026-03-11 09:30:00+00' $$`,
    ).sql(2 * HOUR, INSERT),
    submittedMs: 3 * HOUR,
  })),
  row(LATE_UNTOLD, 'late, by a function that tells another clock', PATH, () => ({
    story: shadowed(
      `CREATE FUNCTION evil.clock_timestamp() RETURNS timestamptz LANGUAGE sql
        AS $$ SELECT pg_catalog.clock_timestamp() + interval '2 hours' $$`,
    ).sql(2 * HOUR, INSERT),
    submittedMs: 3 * HOUR,
  })),
  row(['in time', 'unverifiable'], 'row security, by a function that denies it', PATH, () => ({
    story: shadowed(
      `CREATE FUNCTION evil.row_security_active(oid) RETURNS bool LANGUAGE sql AS 'SELECT false';
        CREATE FUNCTION evil.row_security_active(text) RETURNS bool LANGUAGE sql AS 'SELECT false'`,
    )
      .sql(-DAY, HIDDEN)
      .sql(0, INSERT),
  })),
  row(NOT_DONE, 'another number, by an operator that calls all equal', PATH, () => ({
    story: shadowed(all('int')).sql(-HOUR, INSERT),
    key: by(['id', '9']),
  })),
  row(NOT_DONE, 'another text, by an operator that calls all equal', PATH, () => ({
    story: shadowed(all('text')).sql(-HOUR, INSERT),
    key: by(['number', 'ORD-9']),
  })),
  row(NOT_DONE, 'another word, by an operator of its own type', 'an owner of a type makes its operators', () => ({
    story: made(
      `CREATE TYPE mood AS ENUM ('open', 'paid'); CREATE FUNCTION same(mood, mood) RETURNS bool LANGUAGE sql AS 'SELECT true';
        CREATE OPERATOR public.= (LEFTARG = mood, RIGHTARG = mood, FUNCTION = same); CREATE TABLE moods (m mood)`,
      "INSERT INTO moods VALUES ('open')",
      -HOUR,
    ),
    table: 'public.moods',
    key: by(['m', 'paid']),
  })),
  row(['in time', 'unverifiable'], 'a role that refuses to be filtered', 'a refusal is no absence', () => ({
    story: new Story().sql(-DAY, `${HIDDEN}; ALTER ROLE reader SET row_security = off`).sql(0, INSERT),
  })),
  row(
    ['unknowable', 'unverifiable', 'refused'],
    'the word today as a date',
    'it is another day tomorrow',
    typedBy('d', 'today'),
  ),
  row(['unknowable', 'unverifiable', 'refused'], 'the word allballs as a time', 'it is a word', () => ({
    story: made('CREATE TABLE hours (at time)', "INSERT INTO hours VALUES ('00:00')"),
    table: 'public.hours',
    key: by(['at', 'allballs']),
  })),
]

const AROUND: readonly Row[] = [
  row(
    ['in time', 'unverifiable'],
    'changed before the first look, by a clock that is an hour behind',
    'its version came after the claim',
    () => ({
      story: new Story()
        .clock(-DAY, -HOUR)
        .sql(0, INSERT)
        .sql(3 * SECOND, other("status = 'sent'")),
      columns: { status: 'paid' },
      idleUntilMs: 4 * SECOND,
    }),
  ),
  row(
    ['in time', 'unverifiable'],
    'changed before the first look, by a clock that is two seconds behind',
    'its version came after the claim',
    () => ({
      story: new Story()
        .clock(-DAY, -2 * SECOND)
        .sql(0, INSERT)
        .sql(1.5 * SECOND, other("status = 'sent'")),
      columns: { status: 'paid' },
      idleUntilMs: 4 * SECOND,
    }),
  ),
  row(
    OTHER_OR_UNTOLD,
    'another state, by a clock that is an hour ahead',
    'its version is older than the claim',
    () => ({
      story: new Story()
        .clock(-DAY, HOUR)
        .sql(-HOUR / 2, INSERT)
        .sql(-HOUR / 2, other("status = 'open'")),
      columns: { status: 'paid' },
    }),
  ),
  row(
    ['in time', 'unverifiable', 'mismatch'],
    'changed three seconds before the claim, five after it was done',
    'the receipt says from when on it was looked for',
    () => ({
      story: inserted().sql(5 * SECOND, other("status = 'sent'")),
      columns: { status: 'paid' },
      claimedMs: 8 * SECOND,
    }),
    true,
  ),
  row(TRUE, 'inserted ten seconds before the tolerance ends', 'looks come until its end', () => ({
    story: inserted(290 * SECOND),
  })),
  row(['late', 'late', 'unverifiable'], 'inserted ten seconds after the tolerance', 'looks come after its end', () => ({
    story: inserted(310 * SECOND),
  })),
  row(TRUE, 'in a part of its transaction, submitted three hours after', 'a part has the commit of the whole', () => ({
    story: new Story().sql(0, `BEGIN; SAVEPOINT one; ${INSERT}; RELEASE one; COMMIT`),
    submittedMs: 3 * HOUR,
  })),
  row(TRUE_OR_UNTOLD, 'a table that was made again during the life', 'the row is in the table of that name', () => ({
    story: new Story().sql(MINUTE, AGAIN).sql(2 * MINUTE, INSERT),
  })),
  row(
    ['in time', 'unverifiable'],
    'a table that was made again, with the row in the old one',
    'the old one is gone',
    () => ({
      story: new Story()
        .lead(30 * SECOND, CLOSED)
        .sql(MINUTE, INSERT)
        .sql(2 * MINUTE, AGAIN)
        .lead(3 * MINUTE, 'main'),
    }),
  ),
  row(NOT_DONE, 'never inserted, with a right on two columns alone', 'absence needs no other column', () => ({
    story: new Story().sql(-DAY, 'REVOKE SELECT ON orders FROM reader; GRANT SELECT (id, status) ON orders TO reader'),
    columns: { status: 'paid' },
  })),
  row(LATE_UNTOLD, 'inserted after 25 minutes, read at a replica', 'a copy may be behind', () => ({
    story: inserted(25 * MINUTE),
    at: 'replica',
  })),
  row(['in time', 'unverifiable'], 'a replica that stands still at the address since', 'a copy may be behind', () => ({
    story: new Story()
      .replica(20 * SECOND, 'pause')
      .lead(30 * SECOND, 'replica')
      .sql(MINUTE, INSERT),
    replica: 'replica',
  })),
]

const FORMS: readonly Row[] = [
  ...(
    [
      ['a moment by JavaScript', 'paid_at', '2026-03-11T09:29:58.500Z'],
      ['a moment by Python', 'paid_at', '2026-03-11T09:29:58.500000+00:00'],
      ['a moment in Tokyo', 'paid_at', '2026-03-11T18:29:58.5+09:00'],
      ['an amount as a float', 'total', '49.0'],
      ['an amount by its power', 'total', '4.9E+1'],
      ['a number as a float', 'id', '7.0'],
    ] as const
  ).map(([title, column, value]) =>
    row(TRUE_OR_UNTOLD, title, 'the value is the same', () => ({ story: inserted(), columns: { [column]: value } })),
  ),
  ...(
    [
      ['a moment without a zone, by JavaScript', 'ts', '2026-03-11T09:30:00.250Z'],
      ['a date as a moment, by JavaScript', 'd', '2026-03-11T00:00:00.000Z'],
      ['truth by Python', 'b', 'True'],
      ['a time without seconds', 't', '09:30'],
      ['a uuid in capitals as a column', 'u', '3F2504E0-4F89-11D3-9A0C-0305E82C3301'],
      ['char(8) without its blanks as a column', 'c', 'ab'],
    ] as const
  ).map(([title, column, value]) =>
    row(TRUE_OR_UNTOLD, title, 'the value is the same', typedWith({ [column]: value })),
  ),
  ...(
    [
      ['a text of digits told as another number', '1', '1.00'],
      ['a text of a letter told as truth', 't', 'true'],
      ['a text of a date told as a moment', '2026-03-11', '2026-03-11 00:00:00'],
    ] as const
  ).map(([title, stored, told]) =>
    row(OTHER, title, 'texts are compared to the letter', () => ({
      story: inserted(-DAY).sql(-HOUR, other(`note = '${stored}'`)),
      columns: { note: told },
    })),
  ),
  ...(
    [
      ['truth as a key', 'b', 'true'],
      ['a double as a key', 'f', '0.1'],
      ['bytes as a key', 'bytes', '\\x00ff'],
      ['a time as a key', 't', '09:30:00'],
      ['a moment without a zone as a key', 'ts', '2026-03-11 09:30:00.25'],
      ['an interval as a key', 'i', 'P1DT2H'],
      ['a single byte as a key', 'm', 'z'],
      ['a list as a key', 'a', '{x,"y z"}'],
    ] as const
  ).map(([title, column, value]) =>
    row(TRUE_OR_UNTOLD, title, 'types that are compared by value', typedBy(column, value)),
  ),
  row(['in time', 'verified', 'refused', 'unverifiable'], 'an empty text as a key', 'it is a text', () => ({
    story: inserted(-SECOND).sql(0, other("number = ''")),
    key: by(['number', '']),
  })),
  row(REFUSED, 'a key with a letter that nobody sees', 'it looks like another', () => ({
    story: inserted(),
    key: by(['number', 'ORD\u200b-7']),
  })),
  row(REFUSED, 'a key that turns the direction of reading', 'it looks like another', () => ({
    story: inserted(),
    key: by(['number', '\u202e7-DRO']),
  })),
  row(REFUSED, 'a key of 201 letters', 'two hundred are the most', () => ({
    story: inserted(),
    key: by(['number', 'x'.repeat(201)]),
  })),
  row(REFUSED, 'a table without its schema', 'a search path would choose', () => ({
    story: inserted(),
    table: 'orders',
  })),
  row(REFUSED, 'a table with its database', 'the connection names the database', () => ({
    story: inserted(),
    table: 'shop.public.orders',
  })),
]

export const POSTGRES_TRICKS: readonly Row[] = [...TRICKS, ...AROUND, ...FORMS]
