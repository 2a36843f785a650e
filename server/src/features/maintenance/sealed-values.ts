/** Walks through everything that is sealed: row by row, and then the sealed files. */
import type { Secrets } from '../../base/secrets.ts'
import { type SealedCell, type SealedColumn, type SealedValue, valuesOf } from '../../storage/sealed-columns.ts'
import type { Reads } from '../../storage/storage.ts'

export interface SealedRow {
  readonly column: SealedColumn
  readonly cell: SealedCell
  /** Undefined where the cell is damaged. */
  readonly values: readonly SealedValue[] | undefined
}

const ROWS_PER_READ = 500

/** The rows in batches, in the order of their keys: one column after the other. */
export async function* sealedRows(
  { sealed }: Pick<Reads, 'sealed'>,
  columns: readonly SealedColumn[],
): AsyncGenerator<readonly SealedRow[]> {
  for (const column of columns) {
    let cells = await sealed.cells(column, [], ROWS_PER_READ)
    while (cells.length > 0) {
      yield cells.map((cell) => ({ column, cell, values: readValues(column, cell) }))
      cells = await sealed.cells(column, cells.at(-1)!.key, ROWS_PER_READ)
    }
  }
}

/** Why a value does not open; undefined when it opens. */
export function sealProblem(secrets: Pick<Secrets, 'open'>, { sealed, context }: SealedValue): string | undefined {
  try {
    secrets.open(sealed, context)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

/** Names a value for people: its table, row, column and, where the column has several, its name. */
export function nameOf({ column, cell }: Pick<SealedRow, 'column' | 'cell'>, name?: string): string {
  const place = name === undefined ? column.column : `${column.column}: ${name}`
  return `${column.table.name} ${cell.key.join(' ')}: ${place}`
}

function readValues(column: SealedColumn, cell: SealedCell): readonly SealedValue[] | undefined {
  try {
    return valuesOf(column, cell)
  } catch {
    return undefined
  }
}
