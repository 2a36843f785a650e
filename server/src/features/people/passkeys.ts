/** Passkeys: WebAuthn credentials of browsers and security keys, bound to one host name, for sign-in without a password. */
import type { Instant } from '@claimcheck/core/rules'
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import { type Acting, byCommand } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import { readName } from '../../names/names.ts'
import type { PasskeyRow } from '../../storage/sign-in.ts'
import type { Storage } from '../../storage/storage.ts'
import type { PeopleConfig } from './config.ts'
import { requireCurrent } from './current.ts'
import { recordFailedSignIn } from './failed-sign-ins.ts'
import { toUser, type User } from './sessions.ts'
import { requireAnotherSignInMethod } from './sign-in-methods.ts'
import type { TicketService } from './tickets.ts'

export type Passkey = Pick<PasskeyRow, 'id' | 'name' | 'createdAt' | 'lastUsedAt'>

/** The WebAuthn relying party: the console at this origin. */
export interface RelyingParty {
  /** The origin's host name. */
  readonly id: string
  readonly origin: string
}

/** A WebAuthn ceremony that has begun. */
export interface Ceremony {
  /** The options of WebAuthn, for the browser. */
  readonly options: object
  /** The ticket, which the browser keeps where scripts cannot read it, and sends back with the answer. */
  readonly ticket: string
}

/** The browser's answer in a ceremony. */
export interface PasskeyAnswer {
  readonly party: RelyingParty
  readonly ticket: string | undefined
  /** The credential from the browser, as JSON. */
  readonly credential: string
}

interface PasskeyParts {
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

// Algorithms of common authenticators by their COSE numbers: Ed25519, ES256 and RS256.
const ALGORITHMS = [-8, -7, -257]
const MAX_PASSKEYS = 20
const MAX_TRANSPORTS = 8
// User verification is required, as a passkey is the only factor: the device asks for a fingerprint, a face or a PIN, so a thief of the device cannot
// sign in.
const USER_VERIFICATION = 'required'

const CHALLENGE_EXPIRED = 'the request took too long or was started in another browser: try again'
const NOT_ACCEPTED = 'this passkey was not accepted: try again, or use another sign-in method'

// The library is loaded on first use: it is large, and commands and most hosts do not need it.
const loadWebAuthn = () => import('@simplewebauthn/server')

/** Makes the service of passkeys. The parameter `by` of each method is the actor; by default the command line. */
export function createPasskeyService({ storage, tickets, now, config }: PasskeyParts) {
  async function begin(options: { readonly challenge: string }, userId: string | null): Promise<Ceremony> {
    const challenge: Challenge = { challenge: options.challenge, userId }
    return { options, ticket: await tickets.issue('passkey_challenge', challenge) }
  }

  /**
   * Takes the challenge of a ticket.
   * @throws ServiceError `bad_request` for a ticket of another user, or one that is over
   */
  async function takeChallenge(ticket: string | undefined, userId: string | null): Promise<string> {
    const taken = (await tickets.take('passkey_challenge', ticket)) as Challenge | undefined
    if (taken?.userId !== userId) throw new ServiceError('bad_request', CHALLENGE_EXPIRED)
    return taken.challenge
  }

  /**
   * Verifies the answer of a sign-in.
   * @param onUser called with the owner of the passkey before the credential is verified
   */
  async function verifySignIn(answer: PasskeyAnswer, onUser: (userId: string) => void): Promise<User> {
    const { party, ticket, credential } = answer
    const expectedChallenge = await takeChallenge(ticket, null)
    const response = parse<AuthenticationResponseJSON>(credential)
    const passkey = isId(response.id) ? await storage.read.passkeys.byId(response.id) : undefined
    const user = passkey && (await storage.read.users.byId(passkey.userId))
    const { userHandle } = response.response ?? {}
    if (user) onUser(user.id)
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
    // The update fails when the passkey was removed, or when another sign-in already used this counter: then one of the two is a copy.
    const isCurrent = await storage.write((tx) => tx.passkeys.used(id, counters, now()))
    if (!isCurrent) throw new ServiceError('bad_request', NOT_ACCEPTED)
    return toUser(user)
  }

  return {
    /** Lists the passkeys of a user, oldest first. */
    async list(userId: string): Promise<readonly Passkey[]> {
      const rows = await storage.read.passkeys.ofUser(userId)
      return rows.map(({ id, name, createdAt, lastUsedAt }) => ({ id, name, createdAt, lastUsedAt }))
    },

    async beginRegistration(user: User, party: RelyingParty): Promise<Ceremony> {
      const known = await storage.read.passkeys.ofUser(user.id)
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
      return begin(options, user.id)
    },

    /**
     * Registers a passkey.
     * @throws ServiceError `bad_request`, `conflict`
     */
    async register(user: User, answer: PasskeyAnswer & { name: string }, by = byCommand()): Promise<void> {
      const expectedChallenge = await takeChallenge(answer.ticket, user.id)
      const response = parse<RegistrationResponseJSON>(answer.credential)
      const name = readName(answer.name)
      const { verifyRegistrationResponse } = await loadWebAuthn()
      const { registrationInfo } = await verifyOrRefuse(() =>
        verifyRegistrationResponse({
          response,
          ...expectationsOf(answer.party, expectedChallenge),
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
        name,
        createdAt: now(),
        lastUsedAt: null,
      }
      await storage.write(async (tx) => {
        await requireCurrent(tx, user)
        if ((await tx.passkeys.ofUser(user.id)).length >= MAX_PASSKEYS) {
          throw new ServiceError('conflict', `an account has at most ${MAX_PASSKEYS} passkeys: remove one first`)
        }
        if (!(await tx.passkeys.insert(passkey)))
          throw new ServiceError('conflict', 'this passkey is already registered')
        const about = { userId: user.id, subject: id, details: { name } }
        tx.audit.record({ event: 'passkey.added', at: now(), by, ...about })
      })
    },

    async beginSignIn(party: RelyingParty): Promise<Ceremony> {
      const { generateAuthenticationOptions } = await loadWebAuthn()
      return begin(await generateAuthenticationOptions({ rpID: party.id, userVerification: USER_VERIFICATION }), null)
    },

    /**
     * Finds the user who signs in with a passkey. Records a refusal.
     * @throws ServiceError `bad_request`
     */
    async signIn(answer: PasskeyAnswer, by: Acting): Promise<User> {
      let userId: string | null = null
      try {
        return await verifySignIn(answer, (id) => {
          userId = id
        })
      } catch (error) {
        if (!(error instanceof ServiceError) || error.code !== 'bad_request') throw error
        const entry = { event: 'sign_in.failed', at: now(), by, userId, details: { method: 'passkey' } } as const
        await storage.write((tx) => recordFailedSignIn(tx, entry))
        throw error
      }
    },

    /**
     * Removes a passkey.
     * @throws ServiceError `not_found`; `conflict` when it is the only sign-in method of the account
     */
    remove: (userId: string, passkeyId: string, by = byCommand()) =>
      storage.write(async (tx) => {
        await requireAnotherSignInMethod(tx, userId, { passkeyId }, config.oidcSignIn?.issuer)
        const passkey = await tx.passkeys.byId(passkeyId)
        if (!passkey || !(await tx.passkeys.remove(userId, passkeyId))) {
          throw new ServiceError('not_found', 'your account has no such passkey')
        }
        const about = { userId, subject: passkeyId, details: { name: passkey.name } }
        tx.audit.record({ event: 'passkey.removed', at: now(), by, ...about })
      }),
  }
}

function expectationsOf(party: RelyingParty, expectedChallenge: string) {
  return { expectedChallenge, expectedOrigin: party.origin, expectedRPID: party.id, requireUserVerification: true }
}

/**
 * Parses a credential, and checks only that the text is a JSON object; the library checks its members.
 * @throws ServiceError `bad_request`
 */
function parse<T extends object>(text: string): T {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return value as T
  } catch {
    // Text that is no JSON gets the error below.
  }
  throw new ServiceError('bad_request', NOT_ACCEPTED)
}

/** Tells whether a value is base64url, the form of a passkey's id. */
function isId(given: unknown): given is string {
  return typeof given === 'string' && /^[A-Za-z0-9_-]+$/.test(given)
}

/**
 * Verifies an answer. The library also refuses a counter that went back.
 * @throws ServiceError `bad_request`
 */
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
