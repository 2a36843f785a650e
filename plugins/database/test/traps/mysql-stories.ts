/** What happens in MySQL in most rows: an order that is inserted, and a table of values of many types. */
import { by, DAY, rowsOf, type Scene, Story } from './row.ts'

export const mysql = rowsOf('mysql')
export const row = (...[kind, title, why, scene, isExcused]: Parameters<typeof mysql>) =>
  mysql(kind, title, why, (): Scene => ({ table: 'shop.orders', ...scene() }), isExcused)

export const INSERT = `INSERT INTO shop.orders VALUES
  (7, 'ORD-7', 'paid', 49.00, '2026-03-11 09:29:58', 'Ada Lovelace, 4111 1111 1111 1111')`
export const story = () => new Story('mariadb')
export const inserted = (atMs = 0) => story().sql(atMs, INSERT)
export const other = (sets: string) => `UPDATE shop.orders SET ${sets} WHERE id = 7`
export const made = (table: string, written: string, atMs = 0) => story().sql(-DAY, table).sql(atMs, written)

export const TYPES = `CREATE TABLE types (id bigint PRIMARY KEY, n decimal(20,4), f double, d date, dt datetime(6), ts timestamp NULL,
  b boolean, e enum('open', 'paid'), c char(8), vb varbinary(16), j json, big bigint unsigned)`
export const TYPED = `SET time_zone = '+09:00'; INSERT INTO types VALUES (9007199254740993, 49, 0.5, '2026-03-11', '2026-03-11 09:30:00.25',
  '2026-03-11 18:30:00', true, 'paid', 'ab', X'00ff', '{"b": 1}', 18446744073709551615); SET time_zone = DEFAULT`
export const typed = (key: readonly [string, string], columns?: Scene['columns']) => () => ({
  story: made(TYPES, TYPED),
  table: 'shop.types',
  key: by(key),
  ...(columns && { columns }),
})
export const TYPED_ID = ['id', '9007199254740993'] as const
