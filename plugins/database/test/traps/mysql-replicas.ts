/** Claims of rows in MySQL that are read at a replica, and of values in other forms. */

import { INSERT, inserted, made, other, row, story, TYPED_ID, typed } from './mysql-stories.ts'
import { by, DAY, HOUR, MINUTE, NOT_DONE, type Row, SECOND, TRUE, TRUE_OR_UNTOLD, UNKNOWABLE } from './row.ts'

const REPLICAS: readonly Row[] = [
  row(TRUE, 'a replica that follows', 'a replica shows what was committed', () => ({
    story: inserted(),
    at: 'follower',
    columns: { status: 'paid' },
  })),
  row(['in time', 'unverifiable'], 'a replica for reading that stands still', 'what it lacks may be elsewhere', () => ({
    story: story().sql(-DAY, 'SET GLOBAL read_only = 1', 'follower').replica(-SECOND, 'pause').sql(0, INSERT),
    at: 'follower',
  })),
  row(['in time', 'unverifiable'], 'a replica open to writes, an hour behind', 'a replica may take writes', () => ({
    story: story().follower(-DAY, 'STOP SLAVE; CHANGE MASTER TO MASTER_DELAY = 3600; START SLAVE').sql(0, INSERT),
    at: 'follower',
  })),
  row(
    ['in time', 'unverifiable'],
    'a replica open to writes, whose replication is broken',
    'a replica may take writes',
    () => ({
      story: story().follower(-HOUR, 'STOP SLAVE').sql(0, INSERT),
      at: 'follower',
    }),
  ),
  row(
    ['in time', 'unverifiable', 'verified'],
    'a replica that is 25 minutes behind',
    'it is not late because a copy is',
    () => ({
      story: story()
        .replica(-SECOND, 'pause')
        .sql(0, INSERT)
        .replica(25 * MINUTE, 'resume'),
      at: 'follower',
      deadlineMs: 3 * HOUR,
    }),
  ),
  row(['in time', 'unverifiable'], 'changed at the primary, and not at the replica', 'a copy shows what was', () => ({
    story: inserted(-HOUR)
      .sql(-HOUR, other("status = 'open'"))
      .replica(-SECOND, 'pause')
      .sql(0, other("status = 'paid'")),
    at: 'follower',
    columns: { status: 'paid' },
  })),
  row(NOT_DONE, 'never inserted, read at a replica', 'a copy may be behind', () => ({
    story: story(),
    at: 'follower',
  })),
  row(UNKNOWABLE, 'another server at the address since', 'it does not say what the claimed one has', () => ({
    story: story()
      .follower(20 * SECOND, 'STOP SLAVE; RESET SLAVE ALL')
      .lead(30 * SECOND, 'follower')
      .sql(MINUTE, INSERT),
    replica: 'follower',
  })),
]

const SUMS = ['CREATE TABLE sums (n decimal(24,4))', 'INSERT INTO sums VALUES (12345678901234567890.1234)'] as const

const FORMS: readonly Row[] = [
  row(TRUE_OR_UNTOLD, 'a date without dashes', 'MySQL reads it so', typed(['d', '20260311'])),
  row(TRUE_OR_UNTOLD, 'a date at midnight', 'the value is the same', typed(['d', '2026-03-11 00:00:00'])),
  row(
    TRUE_OR_UNTOLD,
    'a moment by JavaScript',
    'the value is the same',
    typed(TYPED_ID, { dt: '2026-03-11T09:30:00.250Z' }),
  ),
  row(
    TRUE_OR_UNTOLD,
    'a moment without its zeros',
    'the value is the same',
    typed(TYPED_ID, { dt: '2026-03-11 09:30:00.25' }),
  ),
  row(TRUE_OR_UNTOLD, 'truth in words', 'true is 1', typed(TYPED_ID, { b: 'true' })),
  row(NOT_DONE, 'a number with one more decimal', 'it is another number', typed(['n', '49.00001'])),
  row(NOT_DONE, 'a neighbour of a large decimal', 'doubles take them for one', () => ({
    story: made(...SUMS),
    table: 'shop.sums',
    key: by(['n', '12345678901234567890.1235']),
  })),
  row(TRUE, 'a large decimal', 'it is one number, and no neighbour', () => ({
    story: made(...SUMS),
    table: 'shop.sums',
    key: by(['n', '12345678901234567890.1234']),
  })),
  row(TRUE, 'a text in another encoding', 'texts come in one encoding', () => ({
    story: made('CREATE TABLE old (name varchar(20) CHARACTER SET latin1)', "INSERT INTO old VALUES ('Größe')"),
    table: 'shop.old',
    key: by(['name', 'Größe']),
    columns: { name: 'Größe' },
  })),
  row(UNKNOWABLE, 'a rocket for a truck', 'general_ci calls all emoji equal', () => ({
    story: made(
      'CREATE TABLE signs (name varchar(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci)',
      "INSERT INTO signs VALUES ('🚚')",
    ),
    table: 'shop.signs',
    key: by(['name', '🚀']),
  })),
  row(TRUE_OR_UNTOLD, 'a number that is filled with zeros', 'the value is the same', () => ({
    story: made('CREATE TABLE filled (id int(5) zerofill, n int(5) zerofill)', 'INSERT INTO filled VALUES (7, 8)'),
    table: 'shop.filled',
    columns: { n: '8' },
  })),
  row(NOT_DONE, 'a number that a text stands for', 'texts are not compared as numbers', () => ({
    story: made('CREATE TABLE codes (code varchar(20))', "INSERT INTO codes VALUES ('1e1')"),
    table: 'shop.codes',
    key: by(['code', '10']),
  })),
]

export const MYSQL_REPLICAS: readonly Row[] = [...REPLICAS, ...FORMS]
