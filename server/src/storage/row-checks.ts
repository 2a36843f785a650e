/** Parts that examinations of rows share: reads in batches, and problems under a condition. */
import type { Row } from './db.ts'

/** Reads all rows in batches. @param keyOf the key of a row, after which the next batch begins */
export async function* inBatches<K>(
  read: (after: K) => Promise<readonly Row[]>,
  before: K,
  keyOf: (row: Row) => K,
): AsyncGenerator<readonly Row[], void> {
  for (let after = before; ; ) {
    const rows = await read(after)
    if (rows.length === 0) return
    yield rows
    after = keyOf(rows.at(-1)!)
  }
}

export function problemIf(isWrong: boolean, problem: string): string[] {
  return isWrong ? [problem] : []
}
