/** How people come in: sessions, links, passkeys and identities at outside providers, as rows. Tokens are known here by their hash alone. */
import type { Instant } from '@claimcheck/core'
import type { Db, Row } from './db.ts'
import type { Role } from './people.ts'
import { type Columns, insertRows, names, nullableNumber, nullableText } from './rows.ts'

export interface SessionRow {
  readonly id: string
  readonly tokenHash: string
  readonly userId: string
  readonly createdAt: Instant
  readonly lastSeenAt: Instant
  readonly expiresAt: Instant
  readonly userAgent: string
  readonly address: string
}

export interface LinkRow {
  readonly id: string
  readonly tokenHash: string
  readonly kind: 'setup' | 'invitation' | 'reset'
  /** With an invitation. */
  readonly workspaceId: string | null
  readonly role: Role | null
  /** With a reset: whose password. With a used set-up link: the account that it made. */
  readonly userId: string | null
  readonly createdBy: string | null
  readonly createdAt: Instant
  readonly expiresAt: Instant
  readonly usedAt: Instant | null
}

export interface Invitation extends LinkRow {
  /** Null: the command line. */
  readonly creatorName: string | null
}

export interface PasskeyRow {
  /** The authenticator's own, in base64url. */
  readonly id: string
  readonly userId: string
  /** COSE, in base64url. */
  readonly publicKey: string
  readonly counter: number
  readonly transports: readonly string[]
  readonly name: string
  readonly createdAt: Instant
  readonly lastUsedAt: Instant | null
}

export interface IdentityRow {
  readonly issuer: string
  readonly subject: string
  readonly userId: string
  readonly createdAt: Instant
}

const SESSIONS: Columns = {
  id: 'text',
  token_hash: 'text',
  user_id: 'text',
  created_at: 'bigint',
  last_seen_at: 'bigint',
  expires_at: 'bigint',
  user_agent: 'text',
  address: 'text',
}
const LINKS: Columns = {
  id: 'text',
  token_hash: 'text',
  kind: 'text',
  workspace_id: 'text',
  role: 'text',
  user_id: 'text',
  created_by: 'text',
  created_at: 'bigint',
  expires_at: 'bigint',
  used_at: 'bigint',
}
const PASSKEYS: Columns = {
  id: 'text',
  user_id: 'text',
  public_key: 'text',
  counter: 'bigint',
  transports: 'text',
  name: 'text',
  created_at: 'bigint',
  last_used_at: 'bigint',
}
const IDENTITIES: Columns = { issuer: 'text', subject: 'text', user_id: 'text', created_at: 'bigint' }

export function sessionReads(db: Db) {
  const select = `SELECT ${names(SESSIONS)} FROM sessions`
  return {
    async byHash(tokenHash: string): Promise<SessionRow | undefined> {
      const [row] = await db.query(`${select} WHERE token_hash = ?`, [tokenHash])
      return row && toSession(row)
    },
    /** Those that have not run out, newest first. */
    async ofUser(userId: string, now: Instant): Promise<SessionRow[]> {
      const sql = `${select} WHERE user_id = ? AND expires_at > ? ORDER BY created_at DESC, id`
      return (await db.query(sql, [userId, now])).map(toSession)
    },
  }
}

export function sessionWrites(db: Db) {
  return {
    ...sessionReads(db),
    async insert(session: SessionRow): Promise<void> {
      const { id, tokenHash, userId, createdAt, lastSeenAt, expiresAt, userAgent, address } = session
      const row = [id, tokenHash, userId, createdAt, lastSeenAt, expiresAt, userAgent, address]
      await insertRows(db, 'sessions', SESSIONS, [row])
    },
    async touch(id: string, at: Instant, expiresAt: Instant): Promise<void> {
      await db.table('sessions').where({ id }).update({ last_seen_at: at, expires_at: expiresAt })
    },
    /** False when this person has no such session. */
    async end(userId: string, id: string): Promise<boolean> {
      return (await db.table('sessions').where({ id, user_id: userId }).delete()) === 1
    },
    async endAll(userId: string, except?: string): Promise<void> {
      const all = db.table('sessions').where({ user_id: userId })
      await (except === undefined ? all : all.whereNot({ id: except })).delete()
    },
    async removeExpired(now: Instant): Promise<void> {
      await db.table('sessions').where('expires_at', '<=', now).delete()
    },
  }
}

export function linkReads(db: Db) {
  const select = `SELECT ${names(LINKS)} FROM links`
  return {
    async byHash(tokenHash: string): Promise<LinkRow | undefined> {
      const [row] = await db.query(`${select} WHERE token_hash = ?`, [tokenHash])
      return row && toLink(row)
    },
    /** The account that the set-up link made. */
    async setUpUserId(): Promise<string | undefined> {
      const [row] = await db.query(`SELECT user_id FROM links WHERE kind = 'setup' AND user_id IS NOT NULL`)
      return row && String(row.user_id)
    },
    /** Invitations that can still be used, newest first. */
    async openInvitations(workspaceId: string, now: Instant): Promise<Invitation[]> {
      const columns = Object.keys(LINKS)
        .map((name) => `links.${name}`)
        .join(', ')
      const sql = `SELECT ${columns}, users.name AS creator_name FROM links LEFT JOIN users ON users.id = links.created_by
        WHERE workspace_id = ? AND kind = 'invitation' AND used_at IS NULL AND expires_at > ?
        ORDER BY links.created_at DESC, links.id`
      const rows = await db.query(sql, [workspaceId, now])
      return rows.map((row) => ({ ...toLink(row), creatorName: nullableText(row.creator_name) }))
    },
  }
}

export function linkWrites(db: Db) {
  return {
    ...linkReads(db),
    async insert(link: LinkRow): Promise<void> {
      const { id, tokenHash, kind, workspaceId, role, userId, createdBy, createdAt, expiresAt, usedAt } = link
      const row = [id, tokenHash, kind, workspaceId, role, userId, createdBy, createdAt, expiresAt, usedAt]
      await insertRows(db, 'links', LINKS, [row])
    },
    /** Takes it for good. False when it was used or has run out: of two who use it at once, one does. */
    async use(id: string, at: Instant): Promise<boolean> {
      const open = db.table('links').where({ id }).whereNull('used_at').where('expires_at', '>', at)
      return (await open.update({ used_at: at })) === 1
    },
    async setUserOfSetup(id: string, userId: string): Promise<void> {
      await db.table('links').where({ id, kind: 'setup' }).update({ user_id: userId })
    },
    /** Ends every link of a kind that nobody has used. */
    async endAll(kind: LinkRow['kind'], at: Instant): Promise<void> {
      await db.table('links').where({ kind }).whereNull('used_at').update({ used_at: at })
    },
    /** Ends every link with which this person's password could be replaced. */
    async endResets(userId: string, at: Instant): Promise<void> {
      await db.table('links').where({ kind: 'reset', user_id: userId }).whereNull('used_at').update({ used_at: at })
    },
    /** False when the workspace has no such open invitation. */
    async withdraw(workspaceId: string, id: string, at: Instant): Promise<boolean> {
      const open = db.table('links').where({ id, workspace_id: workspaceId, kind: 'invitation' }).whereNull('used_at')
      return (await open.update({ used_at: at })) === 1
    },
    /** Every open invitation to the workspace that this person made. */
    async withdrawAllBy(workspaceId: string, userId: string, at: Instant): Promise<void> {
      const made = db.table('links').where({ workspace_id: workspaceId, kind: 'invitation', created_by: userId })
      await made.whereNull('used_at').update({ used_at: at })
    },
  }
}

export function passkeyReads(db: Db) {
  const select = `SELECT ${names(PASSKEYS)} FROM passkeys`
  return {
    async byId(id: string): Promise<PasskeyRow | undefined> {
      const [row] = await db.query(`${select} WHERE id = ?`, [id])
      return row && toPasskey(row)
    },
    /** Oldest first. */
    async ofUser(userId: string): Promise<PasskeyRow[]> {
      return (await db.query(`${select} WHERE user_id = ? ORDER BY created_at, id`, [userId])).map(toPasskey)
    },
  }
}

export function passkeyWrites(db: Db) {
  return {
    ...passkeyReads(db),
    /** False when it is somebody's already. */
    async insert(passkey: PasskeyRow): Promise<boolean> {
      const { id, userId, publicKey, counter, transports, name, createdAt, lastUsedAt } = passkey
      const row = [id, userId, publicKey, counter, JSON.stringify(transports), name, createdAt, lastUsedAt]
      return (
        (await insertRows(db, 'passkeys', PASSKEYS, [row], 'ON CONFLICT (id) DO NOTHING RETURNING id')).length === 1
      )
    },
    /** False when its counter has moved meanwhile. */
    async used(id: string, { from, to }: { from: number; to: number }, at: Instant): Promise<boolean> {
      const unchanged = db.table('passkeys').where({ id, counter: from })
      return (await unchanged.update({ counter: to, last_used_at: at })) === 1
    },
    async remove(userId: string, id: string): Promise<boolean> {
      return (await db.table('passkeys').where({ id, user_id: userId }).delete()) === 1
    },
  }
}

export function identityReads(db: Db) {
  const select = `SELECT ${names(IDENTITIES)} FROM identities`
  return {
    async find(issuer: string, subject: string): Promise<IdentityRow | undefined> {
      const [row] = await db.query(`${select} WHERE issuer = ? AND subject = ?`, [issuer, subject])
      return row && toIdentity(row)
    },
    async ofUser(userId: string): Promise<IdentityRow[]> {
      return (await db.query(`${select} WHERE user_id = ? ORDER BY created_at`, [userId])).map(toIdentity)
    },
  }
}

export function identityWrites(db: Db) {
  return {
    ...identityReads(db),
    /** False when it is somebody's already. */
    async insert({ issuer, subject, userId, createdAt }: IdentityRow): Promise<boolean> {
      const suffix = 'ON CONFLICT (issuer, subject) DO NOTHING RETURNING user_id'
      return (
        (await insertRows(db, 'identities', IDENTITIES, [[issuer, subject, userId, createdAt]], suffix)).length === 1
      )
    },
    async remove(userId: string, issuer: string): Promise<boolean> {
      return (await db.table('identities').where({ user_id: userId, issuer }).delete()) > 0
    },
  }
}

function toSession(row: Row): SessionRow {
  return {
    id: String(row.id),
    tokenHash: String(row.token_hash),
    userId: String(row.user_id),
    createdAt: Number(row.created_at),
    lastSeenAt: Number(row.last_seen_at),
    expiresAt: Number(row.expires_at),
    userAgent: String(row.user_agent),
    address: String(row.address),
  }
}

function toLink(row: Row): LinkRow {
  return {
    id: String(row.id),
    tokenHash: String(row.token_hash),
    kind: row.kind as LinkRow['kind'],
    workspaceId: nullableText(row.workspace_id),
    role: row.role as Role | null,
    userId: nullableText(row.user_id),
    createdBy: nullableText(row.created_by),
    createdAt: Number(row.created_at),
    expiresAt: Number(row.expires_at),
    usedAt: nullableNumber(row.used_at),
  }
}

function toPasskey(row: Row): PasskeyRow {
  return {
    id: String(row.id),
    userId: String(row.user_id),
    publicKey: String(row.public_key),
    counter: Number(row.counter),
    transports: JSON.parse(String(row.transports)),
    name: String(row.name),
    createdAt: Number(row.created_at),
    lastUsedAt: nullableNumber(row.last_used_at),
  }
}

function toIdentity(row: Row): IdentityRow {
  return {
    issuer: String(row.issuer),
    subject: String(row.subject),
    userId: String(row.user_id),
    createdAt: Number(row.created_at),
  }
}
