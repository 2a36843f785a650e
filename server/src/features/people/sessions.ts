/** Sessions of signed-in users. A cookie holds the token; ending a session takes effect on the next request, on every host. */
import type { Instant } from '@claimcheck/core/rules'
import { byCommand, byUser } from '../../base/actor.ts'
import { createLookup } from '../../base/batch.ts'
import { newId } from '../../base/ids.ts'
import { payerOf } from '../../base/payers.ts'
import { hashToken, isToken, newToken } from '../../base/tokens.ts'
import type { UserRow } from '../../storage/people.ts'
import type { SessionRow, SignedInBy } from '../../storage/sign-in.ts'
import type { Storage } from '../../storage/storage.ts'
import type { PeopleConfig } from './config.ts'
import { requireCurrent } from './current.ts'

export type User = Readonly<ReturnType<typeof toUser>>

export interface Session extends Omit<SessionRow, 'tokenHash' | 'userId' | 'expiresAt'> {
  /** The time at which the session ends unless a request in it comes before. */
  readonly endsAt: Instant
}

export interface SignedIn {
  readonly user: User
  readonly session: Session
}

/** The browser and address of a sign-in, by which users distinguish their sessions. */
export interface Visitor {
  readonly userAgent: string
  readonly address: string
}

const TOUCH_EVERY_MS = 60_000
const MAX_USER_AGENT_LENGTH = 256

interface SessionParts {
  readonly storage: Storage
  readonly now: () => Instant
  readonly config: Pick<PeopleConfig, 'sessionEnds'>
}

export type SessionService = ReturnType<typeof createSessionService>

/** Makes the service of sessions. The parameter `by` of each method is the actor; by default the command line. */
export function createSessionService({ storage, now, config }: SessionParts) {
  const { idleMs, longestMs } = config.sessionEnds

  /** Computes the end of a session by today's configuration, so that a shorter time holds for earlier sessions as well. */
  function endOf({ createdAt, lastSeenAt, expiresAt }: SessionRow): Instant {
    return Math.min(expiresAt, lastSeenAt + idleMs, createdAt + longestMs)
  }

  function toSession(row: SessionRow): Session {
    const { id, createdAt, lastSeenAt, userAgent, address, method } = row
    return { id, createdAt, lastSeenAt, userAgent, address, method, endsAt: endOf(row) }
  }

  // Sessions that are asked about together, as those of open streams, share the statements.
  const rows = createLookup(
    (hashes) => storage.read.sessions.byHashes(hashes),
    ({ tokenHash }) => tokenHash,
  )
  const users = createLookup(
    (ids) => storage.read.users.byIds(ids),
    ({ id }) => id,
  )

  return {
    /**
     * Starts a session. Returns the token for the cookie, which the service does not store.
     * @param user the user as they were when they proved who they are
     * @throws ServiceError `conflict` when they got another password since
     */
    async start(user: Pick<User, 'id' | 'generation'>, method: SignedInBy, visitor: Visitor): Promise<string> {
      const { userAgent, address } = visitor
      const token = newToken()
      const at = now()
      const session: SessionRow = {
        id: newId('ses_', at),
        tokenHash: hashToken(token),
        userId: user.id,
        createdAt: at,
        lastSeenAt: at,
        expiresAt: at + Math.min(idleMs, longestMs),
        userAgent: userAgent.slice(0, MAX_USER_AGENT_LENGTH),
        address,
        method,
      }
      await storage.write(async (tx) => {
        await requireCurrent(tx, user)
        await tx.sessions.removeExpired(at)
        await tx.sessions.insert(session)
        const about = { userId: user.id, subject: session.id, details: { method } }
        tx.audit.record({ event: 'sign_in.succeeded', at, by: byUser(user.id, address), ...about })
      })
      return token
    },
    /**
     * Finds the session of a token. It reads the database each time.
     * @param isUse false where nobody does anything, so that the session does not last longer
     */
    async find(token: string, isUse = true): Promise<SignedIn | undefined> {
      if (!isToken(token)) return undefined
      const [row] = await rows(hashToken(token))
      const at = now()
      if (!row || endOf(row) <= at) return undefined
      const [user] = await users(row.userId)
      if (!user || user.closedAt !== null) return undefined
      if (isUse && at - row.lastSeenAt >= TOUCH_EVERY_MS) {
        const expiresAt = Math.min(at + idleMs, row.createdAt + longestMs)
        await storage.write((tx) => tx.sessions.touch(row.id, at, expiresAt))
      }
      return { user: toUser(user), session: toSession(row) }
    },
    /** Lists the sessions of a user, newest first. */
    async list(userId: string): Promise<readonly Session[]> {
      const at = now()
      const rows = await storage.read.sessions.ofUser(userId, at)
      return rows.map(toSession).filter(({ endsAt }) => endsAt > at)
    },
    /** Ends a session. Returns false when the user has no such session. */
    end: (userId: string, sessionId: string, by = byCommand(), why?: 'signed out') =>
      storage.write(async (tx) => {
        if (!(await tx.sessions.end(userId, sessionId))) return false
        const event = why === 'signed out' ? 'session.signed_out' : 'session.ended'
        tx.audit.record({ event, at: now(), by, userId, subject: sessionId })
        return true
      }),
    endOthers: (userId: string, sessionId: string, by = byCommand()) =>
      storage.write(async (tx) => {
        const ended = await tx.sessions.endAll(userId, sessionId)
        tx.audit.record({ event: 'session.others_ended', at: now(), by, userId, details: { sessions: ended } })
      }),
    /**
     * Confirms that requests of this user still count.
     * @throws ServiceError `conflict`
     */
    async confirm(user: User): Promise<void> {
      await storage.write((tx) => requireCurrent(tx, user))
    },
  }
}

export function toUser(row: UserRow) {
  const { id, email, name, passwordHash, generation, confirmedAt } = row
  return {
    id,
    email,
    name,
    hasPassword: passwordHash !== null,
    /** True when this person showed that they read mails to the address. */
    isConfirmed: confirmedAt !== null,
    /** The payer of this account's use. */
    payer: payerOf(row),
    /** A number that changes after everything that acts for the user has ended. */
    generation,
  }
}
