/** Whether what the database commits outlives its machine and its failover. */
import type { Db } from './db.ts'
import type { SharedStatements } from './dialect.ts'

export interface Durability {
  readonly fsync: string
  readonly fullPageWrites: string
  readonly synchronousCommit: string
  /** `synchronous_standby_names`. */
  readonly synchronousNames: string
  /** That are attached. */
  readonly standbys: number
  /** Of these, those that this database user may not see. */
  readonly hidden: number
  readonly synchronous: number
}

export function durability(db: Db, statements: Pick<SharedStatements, 'durability'>) {
  return async (): Promise<Durability> => {
    const [row] = await db.query(statements.durability)
    return {
      fsync: String(row!.fsync),
      fullPageWrites: String(row!.full_page_writes),
      synchronousCommit: String(row!.synchronous_commit),
      synchronousNames: String(row!.synchronous_names),
      standbys: Number(row!.standbys),
      hidden: Number(row!.hidden),
      synchronous: Number(row!.synchronous),
    }
  }
}
