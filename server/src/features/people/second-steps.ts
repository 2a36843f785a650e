/** The second step after a password: codes of an authenticator app (RFC 6238), and recovery codes for when the app is lost. */
import { randomBytes } from 'node:crypto'
import type { Instant } from '@claimcheck/core/rules'
import { type Acting, byCommand } from '../../base/actor.ts'
import type { AuditEvent } from '../../base/audit-events.ts'
import { ServiceError } from '../../base/errors.ts'
import { secondStepContext, secondStepSetUpContext } from '../../base/sealed-contexts.ts'
import { SecretError } from '../../base/secret-keys.ts'
import type { Secrets } from '../../base/secrets.ts'
import { hashToken } from '../../base/tokens.ts'
import type { Storage, Writes } from '../../storage/storage.ts'
import { endGrants, requireCurrent } from './current.ts'
import type { Attempt } from './login-throttle.ts'
import type { User } from './sessions.ts'
import type { TicketService } from './tickets.ts'

export interface SecondStep {
  readonly createdAt: Instant
  readonly lastUsedAt: Instant | null
  readonly codesLeft: number
}

/** What a person gives to their authenticator app. */
export interface SetUp {
  /** In base32. */
  readonly secret: string
  readonly uri: string
  /** What `confirm` takes: the secret, sealed for this user and some minutes. Nothing is stored for a page that is only shown. */
  readonly ticket: string
}

export interface Answer {
  readonly ticket: string
  /** As it was typed. */
  readonly code: string
}

/** @throws ServiceError `too_many` */
export type BeginAttempt = (user: Pick<User, 'id' | 'generation'>) => Promise<Attempt>

/**
 * `again`: another ticket, while tries are left; without it the sign-in begins anew. `retryAfterMs`: nothing was looked at, and nothing is
 * before that time.
 */
export type Outcome =
  | { readonly user: Pick<User, 'id' | 'generation'> }
  | { readonly problem: string; readonly again: string | undefined; readonly retryAfterMs?: number | undefined }

const PERIOD_SECONDS = 30
const ISSUER = 'Claimcheck'
const SECRET_BYTES = 20
const CODES = 10
const SET_UP_MS = 10 * 60_000
/** Tries after one right password. */
const TRIES = 5
/** Failures in a row, over all sign-ins, before codes of the app wait: a thief of the password alone tries too few to find one. */
const MOST_FAILURES = 10
const WAIT_MS = 15 * 60_000

export interface SecondStepParts {
  readonly storage: Storage
  readonly secrets: Pick<Secrets, 'seal' | 'open'>
  readonly tickets: TicketService
  readonly now: () => Instant
}

interface AskedCode extends Pick<User, 'id' | 'generation'> {
  readonly triesLeft: number
}

// Loaded on first use: most processes see no code.
const loadTotp = () => import('otpauth')

/** @param by who does it; by default the command line */
export class SecondStepService {
  readonly #parts: SecondStepParts
  readonly #storage: Storage
  readonly #tickets: TicketService
  readonly #now: () => Instant

  constructor(parts: SecondStepParts) {
    this.#parts = parts
    this.#storage = parts.storage
    this.#tickets = parts.tickets
    this.#now = parts.now
  }

  async find(userId: string): Promise<SecondStep | undefined> {
    const row = await this.#storage.read.secondSteps.ofUser(userId)
    if (!row) return undefined
    const { createdAt, lastUsedAt } = row
    return { createdAt, lastUsedAt, codesLeft: await this.#storage.read.secondSteps.codesLeft(userId) }
  }

  /** Stores nothing but the ticket. */
  async begin(user: User): Promise<SetUp> {
    const { Secret } = await loadTotp()
    return this.#setUpOf(user, new Secret({ size: SECRET_BYTES }).base32)
  }

  /**
   * Switches it on by a first code of the app, and ends all other sessions of the user.
   * @returns the recovery codes, which are not stored; or, for a wrong code, the same secret with another ticket
   * @throws ServiceError `bad_request` for an unusable ticket; `conflict` when it is on already, or the account has no password
   */
  async confirm(
    user: User,
    sessionId: string,
    { ticket, code }: Answer,
    by: Acting = byCommand(),
  ): Promise<readonly string[] | SetUp> {
    const at = this.#now()
    const secret = this.#openSetUp(user.id, ticket, at)
    if (secret === undefined) {
      throw new ServiceError('bad_request', 'setting up took too long: begin again with a new code')
    }
    const counter = await this.#counterOf(secret, code.replace(/\s/g, ''), at)
    if (counter === undefined) return this.#setUpOf(user, secret)
    return this.#storage.write(async (tx) => {
      const { passwordHash } = await requireCurrent(tx, user)
      if (passwordHash === null) {
        throw new ServiceError('conflict', 'a second step needs a password: choose a password first')
      }
      const sealed = this.#parts.secrets.seal(secret, secondStepContext(user.id))
      const row = { userId: user.id, secret: sealed, lastCounter: counter, failures: 0, failedAt: null }
      if (!(await tx.secondSteps.insert({ ...row, createdAt: at, lastUsedAt: at }))) {
        throw new ServiceError('conflict', 'your second step is on already')
      }
      await tx.sessions.endAll(user.id, sessionId)
      await tx.sessions.setMethod(sessionId, 'password_and_code')
      this.#record(tx, 'second_step.on', user.id, by)
      return this.#newCodes(tx, user.id)
    })
  }

  /** Replaces the recovery codes. @throws ServiceError `conflict` when there is no second step */
  replaceCodes(user: User, by: Acting = byCommand()): Promise<readonly string[]> {
    return this.#storage.write(async (tx) => {
      await requireCurrent(tx, user)
      if (!(await tx.secondSteps.lock(user.id))) throw notOn()
      this.#record(tx, 'second_step.codes_replaced', user.id, by)
      return this.#newCodes(tx, user.id)
    })
  }

  /** Also ends what applications may do for the user. @throws ServiceError `conflict` when there is none */
  switchOff(user: User, by: Acting = byCommand()): Promise<void> {
    return this.#storage.write(async (tx) => {
      await requireCurrent(tx, user)
      if (!(await tx.secondSteps.remove(user.id))) throw notOn()
      await endGrants(tx, user.id)
      await tx.sessions.weaken(user.id)
      this.#record(tx, 'second_step.off', user.id, by)
    })
  }

  /** Lets the operator switch it off. False when there is none. */
  remove(email: string, by: Acting = byCommand()): Promise<boolean> {
    return this.#storage.write(async (tx) => {
      const user = await tx.users.byEmail(email.trim().toLowerCase())
      if (!user || !(await tx.secondSteps.remove(user.id))) return false
      this.#record(tx, 'second_step.off', user.id, by)
      return true
    })
  }

  /** After a right password: a ticket for the code that is asked for. Undefined when none is. */
  async ask({ id, generation }: Pick<User, 'id' | 'generation'>): Promise<string | undefined> {
    if (!(await this.#storage.read.secondSteps.ofUser(id))) return undefined
    const asked: AskedCode = { id, generation, triesLeft: TRIES }
    return this.#tickets.issue('second_step', asked)
  }

  /** @param begin counts a guess at the code before it is looked at */
  async answer(
    ticket: string | undefined,
    code: string,
    by: Acting = byCommand(),
    begin: BeginAttempt = uncounted,
  ): Promise<Outcome> {
    const asked = (await this.#tickets.take('second_step', ticket)) as AskedCode | undefined
    if (!asked) return { problem: EXPIRED, again: undefined }
    const { id, generation, triesLeft } = asked
    const guess = await begin({ id, generation }).catch(refusedForNow)
    if (guess instanceof ServiceError) {
      const again = await this.#tickets.issue('second_step', asked)
      return { problem: guess.message, again, retryAfterMs: guess.retryAfterMs }
    }
    const problem = await this.#storage.write((tx) => this.#use(tx, id, code, by))
    if (problem === undefined) {
      await guess.succeeded()
      return { user: { id, generation } }
    }
    const left: AskedCode = { id, generation, triesLeft: triesLeft - 1 }
    return { problem, again: triesLeft > 1 ? await this.#tickets.issue('second_step', left) : undefined }
  }

  #record(tx: Writes, event: AuditEvent, userId: string, by: Acting): void {
    tx.audit.record({ event, at: this.#now(), by, userId })
  }

  async #counterOf(secret: string, code: string, at: Instant): Promise<number | undefined> {
    const { Secret, TOTP } = await loadTotp()
    const totp = new TOTP({ secret: Secret.fromBase32(secret), period: PERIOD_SECONDS })
    const delta = totp.validate({ token: code, timestamp: at, window: 1 })
    return delta === null ? undefined : Math.floor(at / 1000 / PERIOD_SECONDS) + delta
  }

  async #setUpOf({ id, email }: User, secret: string): Promise<SetUp> {
    const { Secret, TOTP } = await loadTotp()
    const uri = new TOTP({ issuer: ISSUER, label: email, secret: Secret.fromBase32(secret) }).toString()
    const content = JSON.stringify({ secret, expiresAt: this.#now() + SET_UP_MS })
    return { secret, uri, ticket: this.#parts.secrets.seal(content, secondStepSetUpContext(id)) }
  }

  #openSetUp(userId: string, ticket: string, at: Instant): string | undefined {
    try {
      const { secret, expiresAt } = JSON.parse(this.#parts.secrets.open(ticket, secondStepSetUpContext(userId)))
      return expiresAt > at ? secret : undefined
    } catch (error) {
      if (error instanceof SecretError) return undefined
      throw error
    }
  }

  async #newCodes(tx: Writes, userId: string): Promise<readonly string[]> {
    const codes = Array.from({ length: CODES }, newRecoveryCode)
    await tx.secondSteps.setCodes(
      userId,
      codes.map((code) => hashOf(userId, code)),
    )
    return codes
  }

  /** Uses the code up. Returns the problem; undefined when it is right. */
  async #use(tx: Writes, userId: string, typed: string, by: Acting): Promise<string | undefined> {
    const at = this.#now()
    const row = await tx.secondSteps.lock(userId)
    if (!row) return 'the second step was switched off meanwhile'
    const code = typed.replace(/[\s-]/g, '').toLowerCase()
    if (!/^\d{6}$/.test(code)) {
      const isUsed = await tx.secondSteps.useCode(userId, hashOf(userId, code))
      this.#record(tx, isUsed ? 'second_step.code_used' : 'second_step.failed', userId, by)
      return isUsed ? undefined : WRONG
    }
    if (row.failures >= MOST_FAILURES && at < row.failedAt! + WAIT_MS) return TOO_MANY
    const counter = await this.#counterOf(this.#parts.secrets.open(row.secret, secondStepContext(userId)), code, at)
    if (counter === undefined || counter <= row.lastCounter) {
      await tx.secondSteps.failed(userId, row.failures + 1, at)
      this.#record(tx, 'second_step.failed', userId, by)
      return counter === undefined ? WRONG : USED
    }
    await tx.secondSteps.used(userId, counter, at)
    return undefined
  }
}

const WRONG = 'the code is not right: type the one that your authenticator app shows now, or one of your recovery codes'
const USED = 'this code was used already: wait for the next one of your authenticator app'
const TOO_MANY =
  'too many wrong codes: use a recovery code or a passkey, or wait for 15 minutes before you try a code of your app'
const EXPIRED = 'signing in took too long or was begun in another browser: begin again'

const uncounted: BeginAttempt = async () => ({ succeeded: async () => {} })

function refusedForNow(error: unknown): ServiceError {
  if (error instanceof ServiceError && error.code === 'too_many') return error
  throw error
}

function notOn(): ServiceError {
  return new ServiceError('conflict', 'your second step is not on')
}

/** 80 random bits in base32, in groups. No letter is taken for another one. */
function newRecoveryCode(): string {
  const alphabet = 'abcdefghjkmnpqrstuvwxyz023456789'
  const letters = [...randomBytes(16)].map((byte) => alphabet[byte % alphabet.length]).join('')
  return letters.match(/.{4}/g)!.join('-')
}

/** Hashes the code without its dashes, bound to the account: the same code of another one has another hash. */
function hashOf(userId: string, code: string): string {
  return hashToken(`${userId}:${code.replaceAll('-', '')}`)
}
