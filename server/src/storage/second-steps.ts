/** Second steps at signing in, and their recovery codes, as rows. */
import type { Instant } from '@claimcheck/core/rules'
import type { Db } from './db.ts'
import { countRows, insertIfNew, insertRows, selectRow } from './rows.ts'
import { bigint, instant, integer, nullable, type RowOf, table, text } from './table.ts'

export const secondSteps = table('second_steps', ['userId'], {
  userId: text('user_id'),
  /** The sealed secret of the codes. */
  secret: text('secret'),
  /** The number of the last 30 seconds in which a code was used: neither that code nor an earlier one works again. */
  lastCounter: bigint('last_counter'),
  /** The number of wrong codes since the last right one. */
  failures: integer('failures'),
  failedAt: nullable(instant('failed_at')),
  createdAt: instant('created_at'),
  lastUsedAt: nullable(instant('last_used_at')),
})

export const recoveryCodes = table('recovery_codes', ['userId', 'codeHash'], {
  userId: text('user_id'),
  codeHash: text('code_hash'),
})

export type SecondStepRow = RowOf<typeof secondSteps>

export function secondStepReads(db: Db) {
  return {
    async ofUser(userId: string): Promise<SecondStepRow | undefined> {
      return selectRow(db, secondSteps, 'WHERE user_id = ?', [userId])
    },
    async codesLeft(userId: string): Promise<number> {
      return countRows(db, 'recovery_codes WHERE user_id = ?', [userId])
    },
  }
}

export function secondStepWrites(db: Db) {
  return {
    ...secondStepReads(db),
    /** Reads a second step, and locks it until this transaction ends: of two uses of one code, one comes first. */
    async lock(userId: string): Promise<SecondStepRow | undefined> {
      return selectRow(db, secondSteps, `WHERE user_id = ? ${db.dialect.forUpdate}`, [userId])
    },
    /** Inserts a second step. False when this person has one. */
    async insert(row: SecondStepRow): Promise<boolean> {
      return insertIfNew(db, secondSteps, row, 'user_id')
    },
    async used(userId: string, lastCounter: number, at: Instant): Promise<void> {
      const changes = { last_counter: lastCounter, failures: 0, failed_at: null, last_used_at: at }
      await db.table('second_steps').where({ user_id: userId }).update(changes)
    },
    async failed(userId: string, failures: number, at: Instant): Promise<void> {
      await db.table('second_steps').where({ user_id: userId }).update({ failures, failed_at: at })
    },
    /** Removes a second step with its recovery codes. False when there is none. */
    async remove(userId: string): Promise<boolean> {
      await db.table('recovery_codes').where({ user_id: userId }).delete()
      return (await db.table('second_steps').where({ user_id: userId }).delete()) === 1
    },
    /** Stores recovery codes in place of all others. */
    async setCodes(userId: string, codeHashes: readonly string[]): Promise<void> {
      await db.table('recovery_codes').where({ user_id: userId }).delete()
      await insertRows(
        db,
        recoveryCodes,
        codeHashes.map((codeHash) => ({ userId, codeHash })),
      )
    },
    /** Uses up a recovery code. False when there is no such code. */
    async useCode(userId: string, codeHash: string): Promise<boolean> {
      const which = { user_id: userId, code_hash: codeHash }
      return (await db.table('recovery_codes').where(which).delete()) === 1
    },
  }
}
