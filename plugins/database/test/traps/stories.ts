/** What happens in Postgres in most rows: an order that is inserted, and a table of values of many types. */
import { by, DAY, Story } from './row.ts'

export const INSERT = `INSERT INTO public.orders VALUES
  (7, 'ORD-7', 'paid', 49.00, '2026-03-11 09:29:58.5+00', 'Ada Lovelace, 4111 1111 1111 1111')`
export const other = (sets: string) => `UPDATE public.orders SET ${sets} WHERE id = 7`

/** An order that is inserted; at the start, when left out. */
export const inserted = (atMs = 0, server: 'main' | 'plain' = 'main') => new Story(server).sql(atMs, INSERT)
/** A table that an agent finds, and what it writes there. */
export const made = (table: string, written: string, atMs = 0) => new Story().sql(-DAY, table).sql(atMs, written)

/** A table of values of many types, whose text forms the database decides. */
export const TYPES = `CREATE EXTENSION citext; CREATE TYPE state AS ENUM ('open', 'paid'); CREATE DOMAIN code AS text CHECK (VALUE <> '');
  CREATE TABLE types (id bigint PRIMARY KEY, u uuid, n numeric, n4 numeric(12,4), f float8, b boolean, d date, t time,
    ts timestamp, tz timestamptz, c char(8), ci citext, e state, k code, bytes bytea, j jsonb, a text[], i interval, m "char",
    twice bigint GENERATED ALWAYS AS (id * 2) STORED)`
export const TYPED = `INSERT INTO types VALUES (9007199254740993, '3F2504E0-4F89-11D3-9A0C-0305E82C3301', 49.0, 49, 0.1, true,
  '2026-03-11', '09:30', '2026-03-11 09:30:00.25', '2026-03-11 18:30:00+09', 'ab', 'Ab', 'paid', 'K-1', '\\x00ff', '{"b": 1, "a": [1,2]}',
  '{x,"y z"}', '1 day 02:00', 'z')`
export const typed = () => made(TYPES, TYPED)
export const TYPED_ID = by(['id', '9007199254740993'])
export const typedBy = (column: string, value: string) => () => ({
  story: typed(),
  table: 'public.types',
  key: by([column, value]),
})
export const typedWith = (columns: Readonly<Record<string, string | null>>) => () => ({
  story: typed(),
  table: 'public.types',
  key: TYPED_ID,
  columns,
})
