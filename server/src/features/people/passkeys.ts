/** Passkeys: WebAuthn credentials of browsers and security keys, bound to one host name, for sign-in without a password. */
import type { Instant } from '@claimcheck/core/rules'
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import { type Acting, byCommand } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import { readName } from '../../base/names.ts'
import type { PasskeyRow } from '../../storage/sign-in.ts'
import type { Storage } from '../../storage/storage.ts'
import type { PeopleConfig } from './config.ts'
import { requireCurrent } from './current.ts'
import { recordFailedSignIn } from './failed-sign-ins.ts'
import { toUser, type User } from './sessions.ts'
import { requireAnotherSignInMethod } from './sign-in-methods.ts'
import type { TicketService } from './tickets.ts'

export interface Passkey {
  readonly id: string
  readonly name: string
  readonly createdAt: Instant
  readonly lastUsedAt: Instant | null
}

/** The WebAuthn relying party: the console at this origin. */
export interface RelyingParty {
  /** The origin's host name. */
  readonly id: string
  readonly origin: string
}

/** A WebAuthn ceremony that has begun: what the server sends to the browser. */
export interface Ceremony {
  /** The options of WebAuthn, for the browser. */
  readonly options: object
  /** The browser keeps it where scripts cannot read it, and sends it back with the answer. */
  readonly ticket: string
}

export interface PasskeyAnswer {
  readonly party: RelyingParty
  readonly ticket: string | undefined
  /** The credential from the browser, as JSON. */
  readonly credential: string
}

export interface PasskeyParts {
  readonly storage: Storage
  readonly tickets: TicketService
  readonly now: () => Instant
  readonly config: Pick<PeopleConfig, 'oidcSignIn'>
}

interface Challenge {
  readonly challenge: string
  /** The user who registers a passkey; null for a sign-in. */
  readonly userId: string | null
}

// Ed25519, ES256 and RS256 by their COSE numbers: the algorithms of common authenticators.
const ALGORITHMS = [-8, -7, -257]
const MAX_PASSKEYS = 20
const MAX_TRANSPORTS = 8
// A passkey is the only factor. With user verification the device asks for a fingerprint, a face or a PIN, so a thief of the device
// cannot sign in.
const USER_VERIFICATION = 'required'

const CHALLENGE_EXPIRED = 'the request took too long or was started in another browser: try again'
const NOT_ACCEPTED = 'this passkey was not accepted: try again, or use another sign-in method'

// Loaded on first use: it is large, and commands and most hosts do not need it.
const loadWebAuthn = () => import('@simplewebauthn/server')

/** @param by who does it; by default the command line */
export class PasskeyService {
  readonly #storage: Storage
  readonly #tickets: TicketService
  readonly #now: () => Instant
  readonly #config: Pick<PeopleConfig, 'oidcSignIn'>

  constructor({ storage, tickets, now, config }: PasskeyParts) {
    this.#storage = storage
    this.#tickets = tickets
    this.#now = now
    this.#config = config
  }

  /** Oldest first. */
  async list(userId: string): Promise<readonly Passkey[]> {
    const rows = await this.#storage.read.passkeys.ofUser(userId)
    return rows.map(({ id, name, createdAt, lastUsedAt }) => ({ id, name, createdAt, lastUsedAt }))
  }

  async beginRegistration(user: User, party: RelyingParty): Promise<Ceremony> {
    const known = await this.#storage.read.passkeys.ofUser(user.id)
    const { generateRegistrationOptions } = await loadWebAuthn()
    const options = await generateRegistrationOptions({
      rpName: 'Claimcheck',
      rpID: party.id,
      userID: new TextEncoder().encode(user.id),
      userName: user.email,
      userDisplayName: user.name,
      attestationType: 'none',
      excludeCredentials: known.map(({ id, transports }) => ({ id, transports: [...transports] })),
      authenticatorSelection: { residentKey: 'required', userVerification: USER_VERIFICATION },
      supportedAlgorithmIDs: ALGORITHMS,
    })
    return this.#begin(options, user.id)
  }

  /** @throws ServiceError `bad_request`, `conflict` */
  async register(
    user: User,
    { party, ticket, credential, name }: PasskeyAnswer & { readonly name: string },
    by: Acting = byCommand(),
  ): Promise<void> {
    const expectedChallenge = await this.#takeChallenge(ticket, user.id)
    const response = parse<RegistrationResponseJSON>(credential)
    const passkeyName = readName(name)
    const { verifyRegistrationResponse } = await loadWebAuthn()
    const { registrationInfo } = await verifyOrRefuse(() =>
      verifyRegistrationResponse({
        response,
        ...expectationsOf(party, expectedChallenge),
        supportedAlgorithmIDs: ALGORITHMS,
      }),
    )
    const { id, publicKey, counter, transports } = registrationInfo!.credential
    const passkey: PasskeyRow = {
      id,
      userId: user.id,
      publicKey: Buffer.from(publicKey).toString('base64url'),
      counter,
      transports: readTransports(transports),
      name: passkeyName,
      createdAt: this.#now(),
      lastUsedAt: null,
    }
    await this.#storage.write(async (tx) => {
      await requireCurrent(tx, user)
      if ((await tx.passkeys.ofUser(user.id)).length >= MAX_PASSKEYS) {
        throw new ServiceError('conflict', `an account has at most ${MAX_PASSKEYS} passkeys: remove one first`)
      }
      if (!(await tx.passkeys.insert(passkey))) throw new ServiceError('conflict', 'this passkey is already registered')
      const about = { userId: user.id, subject: id, details: { name: passkeyName } }
      tx.audit.record({ event: 'passkey.added', at: this.#now(), by, ...about })
    })
  }

  async beginSignIn(party: RelyingParty): Promise<Ceremony> {
    const { generateAuthenticationOptions } = await loadWebAuthn()
    const options = await generateAuthenticationOptions({ rpID: party.id, userVerification: USER_VERIFICATION })
    return this.#begin(options, null)
  }

  /** Records a refusal. @throws ServiceError `bad_request` */
  async signIn(answer: PasskeyAnswer, by: Acting): Promise<User> {
    const asked: { userId: string | null } = { userId: null }
    try {
      return await this.#signIn(answer, asked)
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'bad_request') throw error
      const about = { userId: asked.userId, details: { method: 'passkey' } }
      const entry = { event: 'sign_in.failed', at: this.#now(), by, ...about } as const
      await this.#storage.write((tx) => recordFailedSignIn(tx, entry))
      throw error
    }
  }

  /** @throws ServiceError `not_found`; `conflict` when it is the only sign-in method of the account */
  remove(userId: string, passkeyId: string, by: Acting = byCommand()): Promise<void> {
    return this.#storage.write(async (tx) => {
      await requireAnotherSignInMethod(tx, userId, { passkeyId }, this.#config.oidcSignIn?.issuer)
      const passkey = await tx.passkeys.byId(passkeyId)
      if (!passkey || !(await tx.passkeys.remove(userId, passkeyId))) {
        throw new ServiceError('not_found', 'your account has no such passkey')
      }
      const about = { userId, subject: passkeyId, details: { name: passkey.name } }
      tx.audit.record({ event: 'passkey.removed', at: this.#now(), by, ...about })
    })
  }

  async #begin(options: { readonly challenge: string }, userId: string | null): Promise<Ceremony> {
    const challenge: Challenge = { challenge: options.challenge, userId }
    return { options, ticket: await this.#tickets.issue('passkey_challenge', challenge) }
  }

  /** @throws ServiceError `bad_request` */
  async #takeChallenge(ticket: string | undefined, userId: string | null): Promise<string> {
    const taken = (await this.#tickets.take('passkey_challenge', ticket)) as Challenge | undefined
    if (taken?.userId !== userId) throw new ServiceError('bad_request', CHALLENGE_EXPIRED)
    return taken.challenge
  }

  async #signIn({ party, ticket, credential }: PasskeyAnswer, asked: { userId: string | null }): Promise<User> {
    const expectedChallenge = await this.#takeChallenge(ticket, null)
    const response = parse<AuthenticationResponseJSON>(credential)
    const passkey = isId(response.id) ? await this.#storage.read.passkeys.byId(response.id) : undefined
    const user = passkey && (await this.#storage.read.users.byId(passkey.userId))
    const { userHandle } = response.response ?? {}
    asked.userId = user?.id ?? null
    // The authenticator names the account, which must be the owner of the passkey.
    if (!user || userHandle !== Buffer.from(user.id).toString('base64url')) {
      throw new ServiceError(
        'bad_request',
        'this passkey belongs to no account, or was removed: use another sign-in method',
      )
    }
    const { id, publicKey, counter } = passkey
    const { verifyAuthenticationResponse } = await loadWebAuthn()
    const { authenticationInfo } = await verifyOrRefuse(() =>
      verifyAuthenticationResponse({
        response,
        ...expectationsOf(party, expectedChallenge),
        credential: { id, counter, publicKey: new Uint8Array(Buffer.from(publicKey, 'base64url')) },
      }),
    )
    const counters = { from: counter, to: authenticationInfo.newCounter }
    // Fails when the passkey was removed, or when another sign-in already used this counter: then one of the two is a copy.
    const isCurrent = await this.#storage.write((tx) => tx.passkeys.used(id, counters, this.#now()))
    if (!isCurrent) throw new ServiceError('bad_request', NOT_ACCEPTED)
    return toUser(user)
  }
}

function expectationsOf(party: PasskeyAnswer['party'], expectedChallenge: string) {
  return { expectedChallenge, expectedOrigin: party.origin, expectedRPID: party.id, requireUserVerification: true }
}

/** Checks only that the text is a JSON object; the library checks its members. @throws ServiceError `bad_request` */
function parse<T extends object>(text: string): T {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return value as T
  } catch {
    // Falls through to the error below.
  }
  throw new ServiceError('bad_request', NOT_ACCEPTED)
}

/** True for base64url, the form of a passkey's id. */
function isId(given: unknown): given is string {
  return typeof given === 'string' && /^[A-Za-z0-9_-]+$/.test(given)
}

/** The library also refuses a counter that went back. @throws ServiceError `bad_request` */
async function verifyOrRefuse<T extends { readonly verified: boolean }>(verify: () => Promise<T>): Promise<T> {
  const outcome = await verify().catch((cause: unknown) => {
    throw new ServiceError('bad_request', NOT_ACCEPTED, { cause })
  })
  if (!outcome.verified) throw new ServiceError('bad_request', NOT_ACCEPTED)
  return outcome
}

/** Reads the transports, which are only hints for browsers, and drops invalid ones. */
function readTransports(given: unknown): string[] {
  if (!Array.isArray(given)) return []
  return given.filter((one) => typeof one === 'string' && /^[a-z-]{1,20}$/.test(one)).slice(0, MAX_TRANSPORTS)
}
