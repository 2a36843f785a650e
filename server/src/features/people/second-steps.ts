/** The second step after a password: codes of an authenticator app (RFC 6238), and recovery codes for when the app is lost. */
import { randomBytes } from 'node:crypto'
import type { Instant } from '@claimcheck/core/rules'
import { type Acting, byCommand } from '../../base/actor.ts'
import type { AuditEvent } from '../../base/audit-events.ts'
import { ServiceError } from '../../base/errors.ts'
import { SecretError } from '../../base/secret-keys.ts'
import type { Secrets } from '../../base/secrets.ts'
import { hashToken } from '../../base/tokens.ts'
import { secondStepContext, secondStepSetUpContext } from '../../storage/sealed-contexts.ts'
import type { SecondStepRow } from '../../storage/second-steps.ts'
import type { Storage, Writes } from '../../storage/storage.ts'
import { endGrants, requireCurrent } from './current.ts'
import type { Attempt } from './login-throttle.ts'
import type { User } from './sessions.ts'
import type { TicketService } from './tickets.ts'

export interface SecondStep extends Pick<SecondStepRow, 'createdAt' | 'lastUsedAt'> {
  readonly codesLeft: number
}

/** A secret for a person's authenticator app. */
export interface SetUp {
  /** The secret in base32. */
  readonly secret: string
  readonly uri: string
  /** The secret, sealed for this user and some minutes, for `confirm`: nothing is stored for a page that is only shown. */
  readonly ticket: string
}

/** The outcome of a typed code: the user who is signed in by it, or the problem. */
type CodeOutcome =
  | { readonly user: Pick<User, 'id' | 'generation'> }
  | {
      readonly problem: string
      /** Another ticket, while tries are left; undefined when the sign-in has to begin anew. */
      readonly again: string | undefined
      /** The time to wait, for a code that was not compared because of it. */
      readonly retryAfterMs?: number | undefined
    }

const PERIOD_SECONDS = 30
const ISSUER = 'Claimcheck'
const SECRET_BYTES = 20
const CODES = 10
const SET_UP_MS = 10 * 60_000
/** The number of tries after one right password. */
const TRIES = 5
/** The number of failures in a row, over all sign-ins, after which codes of the app wait: a thief of the password alone tries too few to find one. */
const MOST_FAILURES = 10
const WAIT_MS = 15 * 60_000

interface SecondStepParts {
  readonly storage: Storage
  readonly secrets: Pick<Secrets, 'seal' | 'open'>
  readonly tickets: TicketService
  readonly now: () => Instant
}

interface AskedCode extends Pick<User, 'id' | 'generation'> {
  readonly triesLeft: number
}

// The library is loaded on first use: most processes see no code.
const loadTotp = () => import('otpauth')

export type SecondStepService = ReturnType<typeof createSecondStepService>

/** Makes the service. The parameter `by` of each method is the actor; by default the command line. */
export function createSecondStepService(parts: SecondStepParts) {
  const { storage, tickets, now } = parts

  function record(tx: Writes, event: AuditEvent, userId: string, by: Acting): void {
    tx.audit.record({ event, at: now(), by, userId })
  }

  async function counterOf(secret: string, code: string, at: Instant): Promise<number | undefined> {
    const { Secret, TOTP } = await loadTotp()
    const totp = new TOTP({ secret: Secret.fromBase32(secret), period: PERIOD_SECONDS })
    const delta = totp.validate({ token: code, timestamp: at, window: 1 })
    return delta === null ? undefined : Math.floor(at / 1000 / PERIOD_SECONDS) + delta
  }

  async function setUpOf({ id, email }: User, secret: string): Promise<SetUp> {
    const { Secret, TOTP } = await loadTotp()
    const uri = new TOTP({ issuer: ISSUER, label: email, secret: Secret.fromBase32(secret) }).toString()
    const content = JSON.stringify({ secret, expiresAt: now() + SET_UP_MS })
    return { secret, uri, ticket: parts.secrets.seal(content, secondStepSetUpContext(id)) }
  }

  function openSetUp(userId: string, ticket: string, at: Instant): string | undefined {
    try {
      const { secret, expiresAt } = JSON.parse(parts.secrets.open(ticket, secondStepSetUpContext(userId)))
      return expiresAt > at ? secret : undefined
    } catch (error) {
      if (error instanceof SecretError) return undefined
      throw error
    }
  }

  async function newCodes(tx: Writes, userId: string): Promise<readonly string[]> {
    const codes = Array.from({ length: CODES }, newRecoveryCode)
    const hashes = codes.map((code) => hashOf(userId, code))
    await tx.secondSteps.setCodes(userId, hashes)
    return codes
  }

  async function useRecoveryCode(tx: Writes, userId: string, code: string, by: Acting): Promise<string | undefined> {
    const isUsed = await tx.secondSteps.useCode(userId, hashOf(userId, code))
    record(tx, isUsed ? 'second_step.code_used' : 'second_step.failed', userId, by)
    return isUsed ? undefined : WRONG
  }

  /** Uses up a code. Returns the problem; undefined when the code is right. */
  async function useCode(tx: Writes, userId: string, typed: string, by: Acting): Promise<string | undefined> {
    const at = now()
    const row = await tx.secondSteps.lock(userId)
    if (!row) return 'the second step was switched off meanwhile'
    const code = typed.replace(/[\s-]/g, '').toLowerCase()
    if (!/^\d{6}$/.test(code)) return useRecoveryCode(tx, userId, code, by)
    if (row.failures >= MOST_FAILURES && at < row.failedAt! + WAIT_MS) return TOO_MANY
    const counter = await counterOf(parts.secrets.open(row.secret, secondStepContext(userId)), code, at)
    if (counter === undefined || counter <= row.lastCounter) {
      await tx.secondSteps.failed(userId, row.failures + 1, at)
      record(tx, 'second_step.failed', userId, by)
      return counter === undefined ? WRONG : USED
    }
    await tx.secondSteps.used(userId, counter, at)
    return undefined
  }

  return {
    async find(userId: string): Promise<SecondStep | undefined> {
      const row = await storage.read.secondSteps.ofUser(userId)
      if (!row) return undefined
      const { createdAt, lastUsedAt } = row
      return { createdAt, lastUsedAt, codesLeft: await storage.read.secondSteps.codesLeft(userId) }
    },

    /** Makes a secret for an app, and stores nothing. */
    async begin(user: User): Promise<SetUp> {
      const { Secret } = await loadTotp()
      return setUpOf(user, new Secret({ size: SECRET_BYTES }).base32)
    },

    /**
     * Switches the second step on by a first code of the app, and ends all other sessions of the user.
     * @param answer the ticket of `begin`, and the code as it was typed
     * @returns the recovery codes, which are not stored; or, for a wrong code, the same secret with another ticket
     * @throws ServiceError `bad_request` for an unusable ticket; `conflict` when it is on already, or the account has no password
     */
    async confirm(
      user: User,
      sessionId: string,
      { ticket, code }: { readonly ticket: string; readonly code: string },
      by = byCommand(),
    ): Promise<readonly string[] | SetUp> {
      const at = now()
      const secret = openSetUp(user.id, ticket, at)
      if (secret === undefined) {
        throw new ServiceError('bad_request', 'setting up took too long: begin again with a new code')
      }
      const counter = await counterOf(secret, code.replace(/\s/g, ''), at)
      if (counter === undefined) return setUpOf(user, secret)
      return storage.write(async (tx) => {
        const { passwordHash } = await requireCurrent(tx, user)
        if (passwordHash === null) {
          throw new ServiceError('conflict', 'a second step needs a password: choose a password first')
        }
        const sealed = parts.secrets.seal(secret, secondStepContext(user.id))
        const row = { userId: user.id, secret: sealed, lastCounter: counter, failures: 0, failedAt: null }
        if (!(await tx.secondSteps.insert({ ...row, createdAt: at, lastUsedAt: at }))) {
          throw new ServiceError('conflict', 'your second step is on already')
        }
        await tx.sessions.endAll(user.id, sessionId)
        await tx.sessions.setMethod(sessionId, 'password_and_code')
        record(tx, 'second_step.on', user.id, by)
        return newCodes(tx, user.id)
      })
    },

    /** Replaces the recovery codes. @throws ServiceError `conflict` when there is no second step */
    replaceCodes: (user: User, by = byCommand()) =>
      storage.write(async (tx) => {
        await requireCurrent(tx, user)
        if (!(await tx.secondSteps.lock(user.id))) throw notOn()
        record(tx, 'second_step.codes_replaced', user.id, by)
        return newCodes(tx, user.id)
      }),

    /** Switches the second step off, and ends what applications may do for the user. @throws ServiceError `conflict` when there is none */
    switchOff: (user: User, by = byCommand()) =>
      storage.write(async (tx) => {
        await requireCurrent(tx, user)
        if (!(await tx.secondSteps.remove(user.id))) throw notOn()
        await endGrants(tx, user.id)
        await tx.sessions.weaken(user.id)
        record(tx, 'second_step.off', user.id, by)
      }),

    /** Lets the operator switch off a user's second step. False when there is none. */
    remove: (email: string, by = byCommand()) =>
      storage.write(async (tx) => {
        const user = await tx.users.byEmail(email.trim().toLowerCase())
        if (!user || !(await tx.secondSteps.remove(user.id))) return false
        record(tx, 'second_step.off', user.id, by)
        return true
      }),

    /** Makes a ticket for the code that is asked for after a right password; undefined when none is asked for. */
    async ask({ id, generation }: Pick<User, 'id' | 'generation'>): Promise<string | undefined> {
      if (!(await storage.read.secondSteps.ofUser(id))) return undefined
      const asked: AskedCode = { id, generation, triesLeft: TRIES }
      return tickets.issue('second_step', asked)
    },

    /**
     * Answers a ticket with a code.
     * @param begin counts a guess at the code before it is compared. It throws ServiceError `too_many`
     */
    async answer(
      ticket: string | undefined,
      code: string,
      by = byCommand(),
      begin: (user: Pick<User, 'id' | 'generation'>) => Promise<Attempt> = uncounted,
    ): Promise<CodeOutcome> {
      const asked = (await tickets.take('second_step', ticket)) as AskedCode | undefined
      if (!asked) return { problem: EXPIRED, again: undefined }
      const { id, generation, triesLeft } = asked
      const guess = await begin({ id, generation }).catch(refusedForNow)
      if (guess instanceof ServiceError) {
        const again = await tickets.issue('second_step', asked)
        return { problem: guess.message, again, retryAfterMs: guess.retryAfterMs }
      }
      const problem = await storage.write((tx) => useCode(tx, id, code, by))
      if (problem === undefined) {
        await guess.succeeded()
        return { user: { id, generation } }
      }
      const left: AskedCode = { id, generation, triesLeft: triesLeft - 1 }
      return { problem, again: triesLeft > 1 ? await tickets.issue('second_step', left) : undefined }
    },
  }
}

const WRONG = 'the code is not right: type the one that your authenticator app shows now, or one of your recovery codes'
const USED = 'this code was used already: wait for the next one of your authenticator app'
const TOO_MANY =
  'too many wrong codes: use a recovery code or a passkey, or wait for 15 minutes before you try a code of your app'
const EXPIRED = 'signing in took too long or was begun in another browser: begin again'

const uncounted = async (): Promise<Attempt> => ({ succeeded: async () => {} })

function refusedForNow(error: unknown): ServiceError {
  if (error instanceof ServiceError && error.code === 'too_many') return error
  throw error
}

function notOn(): ServiceError {
  return new ServiceError('conflict', 'your second step is not on')
}

/** Makes a code of 80 random bits in base32, in groups. Its alphabet has no two letters that look alike. */
function newRecoveryCode(): string {
  const alphabet = 'abcdefghjkmnpqrstuvwxyz023456789'
  const letters = [...randomBytes(16)].map((byte) => alphabet[byte % alphabet.length]).join('')
  return letters.match(/.{4}/g)!.join('-')
}

/** Hashes a recovery code without its dashes, bound to the account: the same code of another one has another hash. */
function hashOf(userId: string, code: string): string {
  return hashToken(`${userId}:${code.replaceAll('-', '')}`)
}
