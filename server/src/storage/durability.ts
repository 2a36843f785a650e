/** Tells whether what the database commits outlives its machine and its failover. */
import type { Db } from './db.ts'
import type { SharedStatements } from './dialect.ts'
import { answer, integer, type RowOf, text } from './table.ts'

const answered = answer({
  fsync: text('fsync'),
  fullPageWrites: text('full_page_writes'),
  synchronousCommit: text('synchronous_commit'),
  /** The setting `synchronous_standby_names`. */
  synchronousNames: text('synchronous_names'),
  /** The number of attached standbys. */
  standbys: integer('standbys'),
  /** The number of attached standbys that this database user may not see. */
  hidden: integer('hidden'),
  synchronous: integer('synchronous'),
})

export type Durability = RowOf<typeof answered>

export function durability(db: Db, statements: Pick<SharedStatements, 'durability'>) {
  return async (): Promise<Durability> => {
    const [row] = await db.query(statements.durability)
    return answered.read(row!)
  }
}
