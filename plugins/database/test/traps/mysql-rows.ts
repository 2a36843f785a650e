/** Claims of rows in MySQL, played on MariaDB: its comparisons take more for equal than people do, and it keeps no time of a commit. */
import { CLOSED, greetedBy } from './door.ts'
import { INSERT, inserted, made, other, row, story, TYPED_ID, typed } from './mysql-stories.ts'
import {
  by,
  DAY,
  fingerprintOf,
  HOUR,
  ID,
  LATE_UNTOLD,
  MINUTE,
  NEVER_UNTOLD,
  NOT_DONE,
  OTHER_OR_UNTOLD,
  REFUSED,
  type Row,
  SECOND,
  TRUE,
  TRUE_OR_UNTOLD,
  TRUE_UNTOLD,
  UNKNOWABLE,
} from './row.ts'

const HONEST: readonly Row[] = [
  row(TRUE, 'a row that was inserted', 'it is there by its key', () => ({ story: inserted() })),
  row(TRUE, 'a row with three columns', 'their texts are as the database writes them', () => ({
    story: inserted(),
    columns: { status: 'paid', total: '49.00', paid_at: '2026-03-11 09:29:58' },
  })),
  row(TRUE, 'inserted two minutes after the claim by a queue', 'it came within the tolerance', () => ({
    story: inserted(2 * MINUTE),
  })),
  row(TRUE, 'in a transaction that commits after 90 s', 'nobody sees a row before its commit', () => ({
    story: story()
      .begin(0, INSERT)
      .end(90 * SECOND, 'COMMIT'),
  })),
  row(TRUE, 'a row of last year', 'a row that was there before is there', () => ({ story: inserted(-365 * DAY) })),
  row(TRUE, 'a key of text', 'texts are compared to the letter', () => ({
    story: inserted(),
    key: by(['number', 'ORD-7']),
    columns: { status: 'paid' },
  })),
  row(TRUE, 'a key of two columns', 'both are the row', () => ({
    story: inserted(),
    key: by(['id', '7'], ['number', 'ORD-7']),
  })),
  row(TRUE, 'a key with quotation marks and a backslash', 'a value is bound, and not written', () => ({
    story: inserted(-SECOND).sql(0, other("number = 'O''Brien\\\\\" -- '")),
    key: by(['number', 'O\'Brien\\" -- ']),
  })),
  row(TRUE, 'a key in other letters', 'texts are compared to the letter', () => ({
    story: inserted(-SECOND).sql(0, other("number = 'Größe 日本 🚚'")),
    key: by(['number', 'Größe 日本 🚚']),
  })),
  row(TRUE, 'names with capitals and spaces', 'names are as the catalogue writes them', () => ({
    story: made(
      'CREATE TABLE `Order Lines` (`Line ID` int PRIMARY KEY, `Größe` varchar(9))',
      "INSERT INTO `Order Lines` VALUES (7, 'XL')",
    ),
    table: 'shop.Order Lines',
    key: by(['Line ID', '7']),
    columns: { Größe: 'XL' },
  })),
  row(TRUE, 'NULL, told as NULL', 'a fingerprint says null without a value', () => ({
    story: inserted(-SECOND).sql(0, other('paid_at = NULL')),
    columns: { paid_at: null },
  })),
  row(TRUE, 'a bigint beyond what doubles count', 'it is one number, and no neighbour', typed(TYPED_ID)),
  row(TRUE, 'the largest number', 'it is no number of JavaScript', typed(['big', '18446744073709551615'])),
  row(TRUE, 'a number as 49', '49 is 49.0000', typed(['n', '49'])),
  row(TRUE, 'a date', 'a date is a key', typed(['d', '2026-03-11'])),
  row(TRUE, 'char(8) without its blanks', 'its padding is no difference', typed(['c', 'ab'])),
  row(TRUE, 'bytes', 'bytes are written in hexadecimal digits', typed(['vb', '\\x00ff'])),
  row(
    TRUE,
    'columns of many types',
    'each has the text that the database writes',
    typed(TYPED_ID, {
      n: '49.0000',
      d: '2026-03-11',
      dt: '2026-03-11 09:30:00.250000',
      ts: '2026-03-11 09:30:00',
      b: '1',
      e: 'paid',
      c: 'ab',
      big: '18446744073709551615',
    }),
  ),
  row(
    TRUE_OR_UNTOLD,
    'bytes, json and a double',
    'they have several forms',
    typed(TYPED_ID, { vb: '\\x00ff', j: '{"b": 1}', f: '0.5' }),
  ),
  row(TRUE, 'numbers in another form', 'the value is the same', typed(TYPED_ID, { n: '49' })),
  row(TRUE_OR_UNTOLD, 'an engine without transactions', 'its rows are rows', () => ({
    story: made('CREATE TABLE hits (id int PRIMARY KEY) ENGINE=MyISAM', 'INSERT INTO hits VALUES (7)'),
    table: 'shop.hits',
  })),
  row(TRUE_OR_UNTOLD, 'a right on two columns alone', 'a connection of the least permission', () => ({
    story: story()
      .sql(
        -DAY,
        "REVOKE ALL PRIVILEGES, GRANT OPTION FROM reader@'%'; GRANT SELECT (id, status) ON shop.orders TO reader@'%'",
      )
      .sql(0, INSERT),
    columns: { status: 'paid' },
  })),
  row(TRUE, 'changed and deleted after the first look', 'the first look saw it', () => ({
    story: inserted()
      .sql(MINUTE, other("status = 'void'"))
      .sql(2 * MINUTE, 'DELETE FROM shop.orders'),
    columns: { status: 'paid' },
  })),
  row(TRUE, 'too many connections for a minute', 'a refusal says nothing', () => ({
    story: inserted().lead(MINUTE, 'mariadb'),
    at: greetedBy(1040, 'Too many connections'),
  })),
]

const FALSE: readonly Row[] = [
  row(NOT_DONE, 'never inserted', 'no identity tells which database it was', () => ({ story: story() })),
  row(NOT_DONE, 'rolled back', 'what is rolled back was never there', () => ({
    story: story()
      .begin(0, INSERT)
      .end(3 * SECOND, 'ROLLBACK'),
  })),
  row(NOT_DONE, 'never inserted, claimed an hour ago', 'it may have been there, and deleted', () => ({
    story: story(),
    submittedMs: HOUR,
  })),
  row(['in time', 'unverifiable'], 'deleted an hour before the submission', 'a deleted row leaves no trace', () => ({
    story: inserted().sql(10 * MINUTE, 'DELETE FROM shop.orders'),
    submittedMs: HOUR,
  })),
  row(OTHER_OR_UNTOLD, 'another state', 'it was never so', () => ({
    story: inserted(-DAY).sql(-HOUR, other("status = 'open'")),
    columns: { status: 'paid' },
  })),
  row(OTHER_OR_UNTOLD, 'a state in capitals', 'a fingerprint is of the text', () => ({
    story: inserted(-DAY),
    columns: { status: 'PAID' },
  })),
  row(OTHER_OR_UNTOLD, 'a fingerprint of another row', 'equal values of others have other fingerprints', () => ({
    story: inserted(-DAY),
    params: {
      key: ID,
      columns: [
        {
          column: 'status',
          fingerprint: fingerprintOf({ table: 'shop.orders', key: by(['id', '8']) }, 'status', 'paid'),
        },
      ],
    },
  })),
  row(['in time', 'unverifiable'], 'changed since, claimed an hour ago', 'it was so before', () => ({
    story: inserted().sql(30 * MINUTE, other("status = 'sent'")),
    columns: { status: 'paid' },
    submittedMs: HOUR,
  })),
  row(
    ['in time', 'unverifiable', 'mismatch'],
    'changed within the second before the first look',
    'the receipt says how long it may have been so',
    () => ({ story: inserted().sql(SECOND / 2, other("status = 'sent'")), columns: { status: 'paid' } }),
    true,
  ),
  row(LATE_UNTOLD, 'inserted after 25 minutes', 'looks saw that it was not there', () => ({
    story: inserted(25 * MINUTE),
  })),
  row(LATE_UNTOLD, 'inserted after two hours, submitted after three', 'nothing tells when it came', () => ({
    story: inserted(2 * HOUR),
    submittedMs: 3 * HOUR,
  })),
  row(['in time', 'unverifiable'], 'submitted three hours after', 'nothing tells when it came', () => ({
    story: inserted(),
    submittedMs: 3 * HOUR,
  })),

  // What MySQL takes for equal.
  row(UNKNOWABLE, 'a key in other case', 'a collation calls them equal', () => ({
    story: inserted(),
    key: by(['number', 'ord-7']),
  })),
  row(UNKNOWABLE, 'a key without its accent', 'a collation calls them equal', () => ({
    story: inserted(-SECOND).sql(0, other("number = 'résumé'")),
    key: by(['number', 'resume']),
  })),
  row(UNKNOWABLE, 'a key with a blank at its end', 'a collation calls them equal', () => ({
    story: inserted(),
    key: by(['number', 'ORD-7 ']),
  })),
  row(TRUE, 'two keys that differ by case in a table without a constraint', 'one row has the very text', () => ({
    story: made(
      'CREATE TABLE users (name varchar(20), state varchar(20))',
      "INSERT INTO users VALUES ('ada', 'a'), ('Ada', 'b')",
    ),
    table: 'shop.users',
    key: by(['name', 'Ada']),
    columns: { state: 'b' },
  })),
  row(REFUSED, 'a number with letters after it', 'MySQL reads the number before them', () => ({
    story: inserted(),
    key: by(['id', '7abc']),
  })),
  row(REFUSED, 'a word for the number 0', 'MySQL reads a word as 0', () => ({
    story: inserted(-SECOND).sql(0, 'UPDATE shop.orders SET id = 0'),
    key: by(['id', 'seven']),
  })),
  row(REFUSED, 'a number as text, with a zero before it', 'a column of text has it to the letter', () => ({
    story: inserted(-SECOND).sql(0, other("number = '7'")),
    key: by(['number', '07']),
  })),
  row(
    NOT_DONE,
    'a neighbour of a large key',
    'MySQL compares texts with numbers by doubles',
    typed(['id', '9007199254740992']),
  ),
  row(REFUSED, 'a date that is none', 'MySQL reads some of it', typed(['d', '2026-03-11x'])),
  row(REFUSED, 'a moment for a date', 'a date has no time', typed(['d', '2026-03-11 12:00:00'])),
  row(REFUSED, 'the number of a word', 'an enum is its word', typed(['e', '2'])),
  row(UNKNOWABLE, 'two rows with the key', 'one of them may be meant, or none', () => ({
    story: made('CREATE TABLE twice (id int, state text)', "INSERT INTO twice VALUES (7, 'a'), (7, 'b')"),
    table: 'shop.twice',
    columns: { state: 'a' },
  })),

  // Hidden, or elsewhere.
  row(NOT_DONE, 'in another database', 'the claimed one does not have it', () => ({
    story: made('CREATE TABLE staging.orders LIKE shop.orders', INSERT.replace('shop.orders', 'staging.orders')).sql(
      2 * SECOND,
      'DROP TABLE staging.orders',
    ),
  })),
  row(TRUE_UNTOLD, 'no right to the table', 'MySQL shows no table that one may not read', () => ({
    story: story().sql(-DAY, "REVOKE ALL PRIVILEGES, GRANT OPTION FROM reader@'%'").sql(0, INSERT),
  })),
  row(TRUE_UNTOLD, 'a view', 'a view could do more than read', () => ({
    story: story().sql(-DAY, 'CREATE VIEW paid AS SELECT * FROM orders').sql(0, INSERT),
    table: 'shop.paid',
  })),
  row(NEVER_UNTOLD, 'a table that is not there', 'a name may be wrong', () => ({
    story: inserted(),
    table: 'shop.oders',
  })),
  row(NEVER_UNTOLD, 'the name of the table in capitals', 'names are as the catalogue writes them', () => ({
    story: inserted(),
    table: 'shop.Orders',
  })),
  row(TRUE_UNTOLD, 'a wrong password', 'a refusal is no absence', () => ({
    story: inserted(),
    connection: { password: 'an-old-password-0123' },
  })),
  row(
    ['in time', 'unverifiable'],
    'nobody at the port for the whole life',
    'it tells neither presence nor absence',
    () => ({
      story: inserted(),
      at: CLOSED,
    }),
  ),
  row(OTHER_OR_UNTOLD, 'an amount that is another', 'numbers are compared by value', () => ({
    story: inserted(-DAY),
    columns: { total: '49.01' },
  })),
]

export const MYSQL_ROWS: readonly Row[] = [...HONEST, ...FALSE]
