/** Rows for signing in: sessions, links, passkeys and identities at outside providers. Only hashes of tokens are stored. */
import type { Instant } from '@claimcheck/core/rules'
import type { Db } from './db.ts'
import type { Role } from './people.ts'
import { columnsOf, insertIfNew, insertRows, selectRow, selectRows } from './rows.ts'
import {
  bigint,
  extended,
  instant,
  integer,
  json,
  nullable,
  part,
  qualified,
  type RowOf,
  table,
  text,
} from './table.ts'

/** The ways to begin a session. A code comes after a password only. */
export type SignedInBy = 'password' | 'password_and_code' | 'passkey' | 'outside'

export const sessions = table('sessions', ['id'], {
  id: text('id'),
  tokenHash: text('token_hash'),
  userId: text('user_id'),
  createdAt: instant('created_at'),
  lastSeenAt: instant('last_seen_at'),
  expiresAt: instant('expires_at'),
  userAgent: text('user_agent'),
  address: text('address'),
  method: text<SignedInBy>('method'),
})

export const links = table('links', ['id'], {
  id: text('id'),
  tokenHash: text('token_hash'),
  kind: text<'setup' | 'invitation' | 'reset' | 'address'>('kind'),
  /** The workspace of an invitation. */
  workspaceId: nullable(text('workspace_id')),
  role: nullable(text<Role>('role')),
  /** The account of a reset's password, or of the person who confirms an address, or the one that a used set-up link made. */
  userId: nullable(text('user_id')),
  createdBy: nullable(text('created_by')),
  createdAt: instant('created_at'),
  expiresAt: instant('expires_at'),
  usedAt: nullable(instant('used_at')),
  /** The address that the link was mailed to; null for a link that was shown, or is over. */
  recipient: nullable(text('recipient')),
  /** The reason that the link's mail could not be delivered. */
  undelivered: nullable(text('undelivered')),
})

export const passkeys = table('passkeys', ['id'], {
  /** The authenticator's own id, in base64url. */
  id: text('id'),
  userId: text('user_id'),
  /** The COSE key, in base64url. */
  publicKey: text('public_key'),
  counter: bigint('counter'),
  transports: json<readonly string[]>('transports'),
  name: text('name'),
  createdAt: instant('created_at'),
  lastUsedAt: nullable(instant('last_used_at')),
})

export const identities = table('identities', ['issuer', 'subject'], {
  issuer: text('issuer'),
  subject: text('subject'),
  userId: text('user_id'),
  createdAt: instant('created_at'),
  lastUsedAt: nullable(instant('last_used_at')),
})

export type SessionRow = RowOf<typeof sessions>
export type LinkRow = RowOf<typeof links>
export type PasskeyRow = RowOf<typeof passkeys>
export type IdentityRow = RowOf<typeof identities>

const invitations = extended(links, {
  /** The name of the person who made the invitation; null for the command line. */
  creatorName: nullable(text('creator_name')),
  /** The number of attempts to send the waiting mail; null if none waits. */
  mailAttempts: nullable(integer('mail_attempts')),
})

export type Invitation = RowOf<typeof invitations>

export function sessionReads(db: Db) {
  return {
    async byHashes(tokenHashes: readonly string[]): Promise<SessionRow[]> {
      return selectRows(db, sessions, `WHERE token_hash IN ${db.dialect.texts}`, [JSON.stringify(tokenHashes)])
    },
    /** Lists the sessions of a person that have not expired, newest first. */
    async ofUser(userId: string, now: Instant): Promise<SessionRow[]> {
      const rest = 'WHERE user_id = ? AND expires_at > ? ORDER BY created_at DESC, id'
      return selectRows(db, sessions, rest, [userId, now])
    },
  }
}

export function sessionWrites(db: Db) {
  return {
    ...sessionReads(db),
    async insert(session: SessionRow): Promise<void> {
      await insertRows(db, sessions, [session])
    },
    async touch(id: string, at: Instant, expiresAt: Instant): Promise<void> {
      await db.table('sessions').where({ id }).update({ last_seen_at: at, expires_at: expiresAt })
    },
    /** Ends a session. False when this person has no such session. */
    async end(userId: string, id: string): Promise<boolean> {
      return (await db.table('sessions').where({ id, user_id: userId }).delete()) === 1
    },
    /** Ends all sessions of a person. Returns their number. */
    async endAll(userId: string, except?: string): Promise<number> {
      const all = db.table('sessions').where({ user_id: userId })
      return (except === undefined ? all : all.whereNot({ id: except })).delete()
    },
    /** Weakens sessions that a second step made stronger, when the person has none any more. */
    async weaken(userId: string): Promise<void> {
      const stronger = db.table('sessions').where({ user_id: userId, method: 'password_and_code' })
      await stronger.update({ method: 'password' })
    },
    async setMethod(id: string, method: SignedInBy): Promise<void> {
      await db.table('sessions').where({ id }).update({ method })
    },
    async removeExpired(now: Instant): Promise<void> {
      await db.table('sessions').where('expires_at', '<=', now).delete()
    },
  }
}

export function linkReads(db: Db) {
  return {
    async byHash(tokenHash: string): Promise<LinkRow | undefined> {
      return selectRow(db, links, 'WHERE token_hash = ?', [tokenHash])
    },
    /** Tells whether a link can still be used. */
    async isOpen(id: string, now: Instant): Promise<boolean> {
      const sql = 'SELECT 1 AS one FROM links WHERE id = ? AND used_at IS NULL AND expires_at > ?'
      return (await db.query(sql, [id, now])).length > 0
    },
    /** Finds the account that the set-up link made, unless it is closed. */
    async setUpUserId(): Promise<string | undefined> {
      const sql = `SELECT user_id FROM links JOIN users ON users.id = links.user_id
        WHERE kind = 'setup' AND users.closed_at IS NULL`
      const [row] = await db.query(sql)
      return row && String(row.user_id)
    },
    /** Lists the invitations that can still be used, newest first. */
    async openInvitations(workspaceId: string, now: Instant): Promise<Invitation[]> {
      const sql = `SELECT ${qualified(links)}, users.name AS creator_name, mails.attempts AS mail_attempts
        FROM links LEFT JOIN users ON users.id = links.created_by
        LEFT JOIN mails ON mails.about = links.id AND mails.sent_at IS NULL
        WHERE links.workspace_id = ? AND links.kind = 'invitation' AND links.used_at IS NULL AND links.expires_at > ?
        ORDER BY links.created_at DESC, links.id`
      return (await db.query(sql, [workspaceId, now])).map(invitations.read)
    },
  }
}

type LinkMatch = Pick<LinkRow, 'kind'> &
  Partial<Pick<LinkRow, 'id' | 'workspaceId' | 'userId' | 'createdBy' | 'recipient'>>

/** Makes the changes of a link that is over, which forgets its recipient. */
function ended(at: Instant) {
  return { used_at: at, recipient: null, undelivered: null }
}

export function linkWrites(db: Db) {
  return {
    ...linkReads(db),
    async insert(link: LinkRow): Promise<void> {
      await insertRows(db, links, [link])
    },
    /** Notes that a link's mail could not be delivered. Returns the link, if it is still open. */
    async setUndelivered(id: string, reason: string): Promise<LinkRow | undefined> {
      await db.table('links').where({ id }).whereNull('used_at').update({ undelivered: reason })
      return selectRow(db, links, 'WHERE id = ? AND used_at IS NULL', [id])
    },
    /** Uses up a link. False when it was used or has expired: of two uses at the same time one succeeds. */
    async use(id: string, at: Instant): Promise<boolean> {
      const open = db.table('links').where({ id }).whereNull('used_at').where('expires_at', '>', at)
      return (await open.update(ended(at))) === 1
    },
    async setUserOfSetup(id: string, userId: string): Promise<void> {
      await db.table('links').where({ id, kind: 'setup' }).update({ user_id: userId })
    },
    /** Ends the unused links of a kind that match. Returns their number. */
    async endAll(which: LinkMatch, at: Instant): Promise<number> {
      const columns = Object.keys(which) as (keyof LinkMatch)[]
      const matching = db.table('links').where(columnsOf(part(links, ...columns), which as LinkRow))
      return matching.whereNull('used_at').update(ended(at))
    },
  }
}

export function passkeyReads(db: Db) {
  return {
    async byId(id: string): Promise<PasskeyRow | undefined> {
      return selectRow(db, passkeys, 'WHERE id = ?', [id])
    },
    /** Lists a person's passkeys, oldest first. */
    async ofUser(userId: string): Promise<PasskeyRow[]> {
      return selectRows(db, passkeys, 'WHERE user_id = ? ORDER BY created_at, id', [userId])
    },
  }
}

export function passkeyWrites(db: Db) {
  return {
    ...passkeyReads(db),
    /** Inserts a passkey. False when it belongs to a user already. */
    async insert(passkey: PasskeyRow): Promise<boolean> {
      return insertIfNew(db, passkeys, passkey, 'id')
    },
    /** Notes a use of a passkey. False when its counter has changed since it was read. */
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
  return {
    async find(issuer: string, subject: string): Promise<IdentityRow | undefined> {
      return selectRow(db, identities, 'WHERE issuer = ? AND subject = ?', [issuer, subject])
    },
    async ofUser(userId: string): Promise<IdentityRow[]> {
      return selectRows(db, identities, 'WHERE user_id = ? ORDER BY created_at', [userId])
    },
  }
}

export function identityWrites(db: Db) {
  return {
    ...identityReads(db),
    /** Inserts an identity. False when it belongs to a user already. */
    async insert(identity: Omit<IdentityRow, 'lastUsedAt'>): Promise<boolean> {
      return insertIfNew(db, identities, { ...identity, lastUsedAt: null }, 'issuer, subject')
    },
    /** Notes a use of an identity. False when it was removed. */
    async used(issuer: string, subject: string, at: Instant): Promise<boolean> {
      return (await db.table('identities').where({ issuer, subject }).update({ last_used_at: at })) === 1
    },
    async remove(userId: string, issuer: string): Promise<boolean> {
      return (await db.table('identities').where({ user_id: userId, issuer }).delete()) > 0
    },
  }
}
