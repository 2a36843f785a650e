/** People, and the workspaces that they are members of, as rows. */
import type { Instant } from '@claimcheck/core/rules'
import { type Payer, payerOf } from '../base/payers.ts'
import { reservedAddress } from '../base/reserved-addresses.ts'
import type { Db } from './db.ts'
import { allowanceSql, payerOfWorkspace } from './payers.ts'
import { countRows, insertIfNew, selectRow, selectRows } from './rows.ts'
import { extended, instant, integer, nullable, qualified, type RowOf, table, text } from './table.ts'
import { workspaces } from './workspaces.ts'

export type Role = 'owner' | 'member'

export const users = table('users', ['id'], {
  id: text('id'),
  /** The mail address, in lower case. */
  email: text('email'),
  name: text('name'),
  passwordHash: nullable(text('password_hash')),
  createdAt: instant('created_at'),
  /** A number that rises when everything that acts for this person ends: sessions and tokens from before act no more. */
  generation: integer('generation'),
  /** The `Payer` of the inviting account, whose allowance this account shares; null if it has an allowance itself. */
  sharesWith: nullable(text('shares_with')),
  /** The time when the account was closed. Its name, address and ways to sign in are gone since then; the row stays, because others refer to it. */
  closedAt: nullable(instant('closed_at')),
  /** The time when this person showed that they read mails to the address; null: it may be the address of another person. */
  confirmedAt: nullable(instant('confirmed_at')),
})

export const members = table('members', ['id'], {
  id: text('id'),
  workspaceId: text('workspace_id'),
  userId: text('user_id'),
  role: text<Role>('role'),
  createdAt: instant('created_at'),
})

export type UserRow = RowOf<typeof users>
export type NewUserRow = Omit<UserRow, 'generation' | 'closedAt' | 'sharesWith' | 'confirmedAt'> &
  Partial<Pick<UserRow, 'sharesWith' | 'confirmedAt'>>
export type MemberRow = RowOf<typeof members>

export interface MemberOfWorkspace extends MemberRow {
  readonly email: string
  /** True if this person showed that they read mails to the address. */
  readonly isConfirmed: boolean
  readonly name: string
}

const workspacesOfMember = extended(workspaces, {
  memberId: text('member_id'),
  userId: text('user_id'),
  role: text<Role>('role'),
  payer: text<Payer>('payer'),
})

export type WorkspaceOfMember = RowOf<typeof workspacesOfMember>

export function userReads(db: Db) {
  return {
    async byId(id: string): Promise<UserRow | undefined> {
      return selectRow(db, users, 'WHERE id = ?', [id])
    },
    /**
     * Finds the account with an address.
     * @param email in lower case
     */
    async byEmail(email: string): Promise<UserRow | undefined> {
      return selectRow(db, users, 'WHERE email = ?', [email])
    },
    async byIds(ids: readonly string[]): Promise<UserRow[]> {
      return selectRows(db, users, `WHERE id IN ${db.dialect.texts}`, [JSON.stringify(ids)])
    },
    /** Counts the accounts that share the allowance of this one, without closed accounts. */
    async countOfGuests(id: string): Promise<number> {
      return countRows(db, `users WHERE ${allowanceSql('shares_with')} = ? AND closed_at IS NULL`, [id])
    },
    /** Tells whether there is any account that is not closed. */
    async any(): Promise<boolean> {
      return (await db.query('SELECT id FROM users WHERE closed_at IS NULL LIMIT 1')).length > 0
    },
    /** Lists accounts, without closed ones. */
    async list(): Promise<UserRow[]> {
      return selectRows(db, users, 'WHERE closed_at IS NULL ORDER BY created_at, id')
    },
  }
}

export function userWrites(db: Db) {
  return {
    ...userReads(db),
    /** Reads an account, and locks it until this transaction ends. */
    async lock(id: string): Promise<UserRow | undefined> {
      return selectRow(db, users, `WHERE id = ? ${db.dialect.forChange}`, [id])
    },
    /** Inserts an account. False when the address is taken. */
    async insert(user: NewUserRow): Promise<boolean> {
      const row = { sharesWith: null, confirmedAt: null, ...user, generation: 0, closedAt: null }
      return insertIfNew(db, users, row, 'email')
    },
    async setPassword(id: string, passwordHash: string): Promise<void> {
      await db.table('users').where({ id }).update({ password_hash: passwordHash })
    },
    /** Confirms the address of an account. False when the account has another address. */
    async confirm(id: string, email: string, at: Instant): Promise<boolean> {
      return (await db.table('users').where({ id, email }).update({ confirmed_at: at })) === 1
    },
    /** Takes the address from an account that never confirmed it. Returns the id of that account. */
    async release(email: string): Promise<string | undefined> {
      const unconfirmed = db.table('users').where({ email }).whereNull('confirmed_at').whereNull('closed_at')
      const [row] = await db.query(
        'SELECT id FROM users WHERE email = ? AND confirmed_at IS NULL AND closed_at IS NULL',
        [email],
      )
      if (!row) return undefined
      const id = String(row.id)
      await unconfirmed.update({ email: reservedAddress(id, 'unconfirmed') })
      return id
    },
    async setName(id: string, name: string): Promise<void> {
      await db.table('users').where({ id }).update({ name })
    },
    /**
     * Puts an account below another one, or gives it an allowance. Accounts below it go along.
     * @param to the payer above; null for an allowance of its own
     */
    async share(account: Pick<UserRow, 'id' | 'sharesWith'>, to: Payer | null): Promise<void> {
      const { id } = account
      const [from, above] = [payerOf(account), payerOf({ id, sharesWith: to })]
      const below = `shares_with = ? OR substr(shares_with, 1, ${from.length + 1}) = ?`
      const sql = `UPDATE users SET shares_with = CAST(? AS text) || substr(shares_with, ${from.length + 1}) WHERE ${below}`
      await db.query(sql, [above, from, `${from}/`])
      await db.table('users').where({ id }).update({ shares_with: to })
    },
    async nextGeneration(id: string): Promise<void> {
      await db.query('UPDATE users SET generation = generation + 1 WHERE id = ?', [id])
    },
    async close(id: string, { email, name }: Pick<UserRow, 'email' | 'name'>, at: Instant): Promise<void> {
      await db.table('users').where({ id }).update({ email, name, password_hash: null, closed_at: at })
    },
  }
}

export function memberReads(db: Db) {
  return {
    async byId(id: string): Promise<MemberRow | undefined> {
      return selectRow(db, members, 'WHERE id = ?', [id])
    },
    /** Finds members, with the payer of the workspace of each. */
    async byIdsWithPayer(ids: readonly string[]): Promise<(MemberRow & { readonly payer: Payer })[]> {
      const sql = `SELECT ${members.names}, ${payerOfWorkspace('members.workspace_id')} AS payer FROM members WHERE id IN ${db.dialect.texts}`
      const rows = await db.query(sql, [JSON.stringify(ids)])
      return rows.map((row) => ({ ...members.read(row), payer: String(row.payer) }))
    },
    /** Lists the members of a workspace in the order in which they joined. */
    async ofWorkspace(workspaceId: string): Promise<MemberOfWorkspace[]> {
      const sql = `SELECT ${qualified(members)}, users.email, users.name, users.confirmed_at
        FROM members JOIN users ON users.id = members.user_id WHERE workspace_id = ? ORDER BY members.created_at, members.id`
      const rows = await db.query(sql, [workspaceId])
      return rows.map((row) => ({
        ...members.read(row),
        email: String(row.email),
        isConfirmed: row.confirmed_at !== null,
        name: String(row.name),
      }))
    },
    /** Lists the workspaces of a person, by name. */
    async workspacesOf(...userIds: readonly string[]): Promise<WorkspaceOfMember[]> {
      const sql = `SELECT ${qualified(workspaces)}, members.id AS member_id, user_id, role, ${payerOfWorkspace('members.workspace_id')} AS payer
        FROM members JOIN workspaces ON workspaces.id = members.workspace_id WHERE user_id IN ${db.dialect.texts} ORDER BY workspaces.name`
      return (await db.query(sql, [JSON.stringify(userIds)])).map(workspacesOfMember.read)
    },
  }
}

export function memberWrites(db: Db) {
  return {
    ...memberReads(db),
    /** Adds a member. False when that person is a member already. */
    async insert(member: MemberRow): Promise<boolean> {
      return insertIfNew(db, members, member, 'workspace_id, user_id')
    },
    /**
     * Reads the workspace's owners, and locks them until this transaction ends: otherwise two owners could remove each other at once, and none would
     * stay.
     */
    async lockOwners(workspaceId: string): Promise<MemberRow[]> {
      const rest = `WHERE workspace_id = ? AND role = 'owner' ORDER BY id ${db.dialect.forUpdate}`
      return selectRows(db, members, rest, [workspaceId])
    },
    async setRole(id: string, role: Role): Promise<void> {
      await db.table('members').where({ id }).update({ role })
    },
    async remove(id: string): Promise<void> {
      await db.table('members').where({ id }).delete()
    },
    async removeAll(workspaceId: string): Promise<void> {
      await db.table('members').where({ workspace_id: workspaceId }).delete()
    },
  }
}
