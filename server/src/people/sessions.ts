/** Sessions of signed-in users. A cookie holds the token; ending a session takes effect on the next request, on every host. */
import { hash } from 'node:crypto'
import type { Instant } from '@claimcheck/core'
import { newId } from '../base/ids.ts'
import { hashToken, isToken, newToken } from '../base/tokens.ts'
import type { UserRow } from '../storage/people.ts'
import type { SessionRow } from '../storage/sign-in.ts'
import type { Storage } from '../storage/storage.ts'

export interface User {
  readonly id: string
  readonly email: string
  readonly name: string
  readonly hasPassword: boolean
}

export interface Session {
  readonly id: string
  readonly createdAt: Instant
  readonly lastSeenAt: Instant
  readonly userAgent: string
  readonly address: string
}

export interface SignedIn {
  readonly user: User
  /** Another one with each password. It reveals nothing about the password. */
  readonly passwordMark: string
  readonly session: Session
}

/** The browser and address of a sign-in, by which users tell their sessions apart. */
export interface Visitor {
  readonly userAgent: string
  readonly address: string
}

export interface SessionService {
  /** Returns the token for the cookie, which the service does not store. */
  start(userId: string, visitor: Visitor): Promise<string>
  /** Reads the database each time. */
  find(token: string): Promise<SignedIn | undefined>
  /** Newest first. */
  list(userId: string): Promise<readonly Session[]>
  /** Returns false when the user has no such session. */
  end(userId: string, sessionId: string): Promise<boolean>
  endOthers(userId: string, sessionId: string): Promise<void>
}

/** A session ends after this time without a request. */
export const SESSION_IDLE_MS = 14 * 24 * 60 * 60_000
/** A session ends after this time however often it is used. */
export const SESSION_LONGEST_MS = 90 * 24 * 60 * 60_000
const TOUCH_EVERY_MS = 60_000
const MAX_USER_AGENT_LENGTH = 256

export function createSessionService({ storage, now }: { storage: Storage; now: () => Instant }): SessionService {
  return {
    async start(userId, { userAgent, address }) {
      const token = newToken()
      const at = now()
      const session: SessionRow = {
        id: newId('ses_', at),
        tokenHash: hashToken(token),
        userId,
        createdAt: at,
        lastSeenAt: at,
        expiresAt: at + SESSION_IDLE_MS,
        userAgent: userAgent.slice(0, MAX_USER_AGENT_LENGTH),
        address,
      }
      await storage.write(async (tx) => {
        await tx.sessions.removeExpired(at)
        await tx.sessions.insert(session)
      })
      return token
    },
    async find(token) {
      if (!isToken(token)) return undefined
      const row = await storage.read.sessions.byHash(hashToken(token))
      const at = now()
      if (!row || row.expiresAt <= at) return undefined
      const user = await storage.read.users.byId(row.userId)
      if (!user) return undefined
      if (at - row.lastSeenAt >= TOUCH_EVERY_MS) {
        const expiresAt = Math.min(at + SESSION_IDLE_MS, row.createdAt + SESSION_LONGEST_MS)
        await storage.write((tx) => tx.sessions.touch(row.id, at, expiresAt))
      }
      return { user: toUser(user), session: toSession(row), passwordMark: passwordMark(user) }
    },
    async list(userId) {
      return (await storage.read.sessions.ofUser(userId, now())).map(toSession)
    },
    end: (userId, sessionId) => storage.write((tx) => tx.sessions.end(userId, sessionId)),
    endOthers: (userId, sessionId) => storage.write((tx) => tx.sessions.endAll(userId, sessionId)),
  }
}

export function passwordMark({ passwordHash }: Pick<UserRow, 'passwordHash'>): string {
  return hash('sha256', passwordHash ?? '')
}

export function toUser({ id, email, name, passwordHash }: UserRow): User {
  return { id, email, name, hasPassword: passwordHash !== null }
}

function toSession({ id, createdAt, lastSeenAt, userAgent, address }: SessionRow): Session {
  return { id, createdAt, lastSeenAt, userAgent, address }
}
