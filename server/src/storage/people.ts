/** People, and the workspaces that they are members of, as rows. */
import type { Instant } from '@claimcheck/core'
import type { Db, Row } from './db.ts'
import { type Columns, insertRows, names, nullableText, textsOf } from './rows.ts'
import type { WorkspaceRow } from './workspaces.ts'

export type Role = 'owner' | 'member'

export interface UserRow {
  readonly id: string
  /** In lower case. */
  readonly email: string
  readonly name: string
  readonly passwordHash: string | null
  readonly createdAt: Instant
}

export interface MemberRow {
  readonly id: string
  readonly workspaceId: string
  readonly userId: string
  readonly role: Role
  readonly createdAt: Instant
}

export interface MemberOfWorkspace extends MemberRow {
  readonly email: string
  readonly name: string
}

export interface WorkspaceOfMember extends WorkspaceRow {
  readonly memberId: string
  readonly role: Role
}

const USERS: Columns = { id: 'text', email: 'text', name: 'text', password_hash: 'text', created_at: 'bigint' }
const MEMBERS: Columns = { id: 'text', workspace_id: 'text', user_id: 'text', role: 'text', created_at: 'bigint' }

const SELECT_USERS = `SELECT ${names(USERS)} FROM users`
const SELECT_MEMBERS = `SELECT ${names(MEMBERS)} FROM members`

export function userReads(db: Db) {
  return {
    async byId(id: string): Promise<UserRow | undefined> {
      const [row] = await db.query(`${SELECT_USERS} WHERE id = ?`, [id])
      return row && toUser(row)
    },
    /** @param email in lower case */
    async byEmail(email: string): Promise<UserRow | undefined> {
      const [row] = await db.query(`${SELECT_USERS} WHERE email = ?`, [email])
      return row && toUser(row)
    },
    async byIds(ids: readonly string[]): Promise<UserRow[]> {
      return (await db.query(`${SELECT_USERS} WHERE id IN ${textsOf(db.dialect)}`, [JSON.stringify(ids)])).map(toUser)
    },
    async any(): Promise<boolean> {
      return (await db.query('SELECT id FROM users LIMIT 1')).length > 0
    },
    async list(): Promise<UserRow[]> {
      return (await db.query(`${SELECT_USERS} ORDER BY created_at, id`)).map(toUser)
    },
  }
}

export function userWrites(db: Db) {
  return {
    ...userReads(db),
    /** Whom nobody else locks until this transaction ends. */
    async lock(id: string): Promise<UserRow | undefined> {
      const [row] = await db.query(`${SELECT_USERS} WHERE id = ? ${lockOf(db)}`, [id])
      return row && toUser(row)
    },
    /** False when the address is taken. */
    async insert({ id, email, name, passwordHash, createdAt }: UserRow): Promise<boolean> {
      const suffix = 'ON CONFLICT (email) DO NOTHING RETURNING id'
      return (await insertRows(db, 'users', USERS, [[id, email, name, passwordHash, createdAt]], suffix)).length === 1
    },
    async setPassword(id: string, passwordHash: string): Promise<void> {
      await db.table('users').where({ id }).update({ password_hash: passwordHash })
    },
    async setName(id: string, name: string): Promise<void> {
      await db.table('users').where({ id }).update({ name })
    },
  }
}

export function memberReads(db: Db) {
  return {
    async byId(id: string): Promise<MemberRow | undefined> {
      const [row] = await db.query(`${SELECT_MEMBERS} WHERE id = ?`, [id])
      return row && toMember(row)
    },
    /** In the order in which they joined. */
    async ofWorkspace(workspaceId: string): Promise<MemberOfWorkspace[]> {
      const sql = `SELECT members.id, workspace_id, user_id, role, members.created_at, users.email, users.name
        FROM members JOIN users ON users.id = members.user_id WHERE workspace_id = ? ORDER BY members.created_at, members.id`
      const rows = await db.query(sql, [workspaceId])
      return rows.map((row) => ({ ...toMember(row), email: String(row.email), name: String(row.name) }))
    },
    /** By name. */
    async workspacesOf(userId: string): Promise<WorkspaceOfMember[]> {
      const sql = `SELECT workspaces.id, workspaces.name, workspaces.created_at, members.id AS member_id, role
        FROM members JOIN workspaces ON workspaces.id = members.workspace_id WHERE user_id = ? ORDER BY workspaces.name`
      const rows = await db.query(sql, [userId])
      return rows.map((row) => ({
        id: String(row.id),
        name: String(row.name),
        createdAt: Number(row.created_at),
        memberId: String(row.member_id),
        role: row.role as Role,
      }))
    },
  }
}

export function memberWrites(db: Db) {
  return {
    ...memberReads(db),
    /** False when that person is a member already. */
    async insert({ id, workspaceId, userId, role, createdAt }: MemberRow): Promise<boolean> {
      const suffix = 'ON CONFLICT (workspace_id, user_id) DO NOTHING RETURNING id'
      return (
        (await insertRows(db, 'members', MEMBERS, [[id, workspaceId, userId, role, createdAt]], suffix)).length === 1
      )
    },
    /** The workspace's owners, whom nobody else changes until this transaction ends. */
    async lockOwners(workspaceId: string): Promise<MemberRow[]> {
      const sql = `${SELECT_MEMBERS} WHERE workspace_id = ? AND role = 'owner' ORDER BY id ${lockOf(db)}`
      return (await db.query(sql, [workspaceId])).map(toMember)
    },
    async setRole(id: string, role: Role): Promise<void> {
      await db.table('members').where({ id }).update({ role })
    },
    async remove(id: string): Promise<void> {
      await db.table('members').where({ id }).delete()
    },
  }
}

/** On Postgres two transactions could each see what the other one takes away: two owners each other, and both go. */
function lockOf({ dialect }: Db): string {
  return dialect === 'postgres' ? 'FOR UPDATE' : ''
}

function toUser(row: Row): UserRow {
  return {
    id: String(row.id),
    email: String(row.email),
    name: String(row.name),
    passwordHash: nullableText(row.password_hash),
    createdAt: Number(row.created_at),
  }
}

function toMember(row: Row): MemberRow {
  return {
    id: String(row.id),
    workspaceId: String(row.workspace_id),
    userId: String(row.user_id),
    role: row.role as Role,
    createdAt: Number(row.created_at),
  }
}
