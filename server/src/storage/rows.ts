/** Small tools for rows: multi-row inserts, and values that databases return in differing forms. */
import type { Knex } from 'knex'

// SQLite takes at most 32,766 bound values a statement.
const MAX_BINDINGS = 30_000

export type Row = Readonly<Record<string, unknown>>

/** Inserts rows in as few statements as the database takes, one prepared text for each count. Returns what `suffix` returns. */
export async function insertRows(db: Knex, table: string, rows: readonly Row[], suffix = ''): Promise<Row[]> {
  const [first] = rows
  if (!first) return []
  const columns = Object.keys(first)
  const perStatement = Math.floor(MAX_BINDINGS / columns.length)
  const group = `(${columns.map(() => '?').join(',')})`
  const returned: Row[] = []
  for (let from = 0; from < rows.length; from += perStatement) {
    const chunk = rows.slice(from, from + perStatement)
    const bindings = chunk.flatMap((row) => columns.map((column) => row[column] ?? null)) as Knex.RawBinding[]
    const groups = chunk.map(() => group).join(',')
    returned.push(...(await db.raw(`INSERT INTO ${table} (${columns.join(',')}) VALUES ${groups} ${suffix}`, bindings)))
  }
  return returned
}

export function nullableNumber(value: unknown): number | null {
  return value === null || value === undefined ? null : Number(value)
}

export function nullableText(value: unknown): string | null {
  return value === null || value === undefined ? null : String(value)
}
