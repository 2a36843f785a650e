/** Passkeys: keys that browsers and security devices keep, each for one host name, with which somebody signs in without a password. */
import type { Instant } from '@claimcheck/core'
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import { ServiceError } from '../base/errors.ts'
import { readName } from '../base/names.ts'
import type { Config } from '../config/config.ts'
import type { PasskeyRow } from '../storage/sign-in.ts'
import type { Storage } from '../storage/storage.ts'
import { toUser, type User } from './sessions.ts'
import { requireAnotherSignInMethod } from './sign-in-methods.ts'
import type { TicketService } from './tickets.ts'

export interface Passkey {
  readonly id: string
  readonly name: string
  readonly createdAt: Instant
  readonly lastUsedAt: Instant | null
}

/** Whom a passkey is for: our pages, at this origin. */
export interface RelyingParty {
  /** The origin's host name. */
  readonly id: string
  readonly origin: string
}

/** What a browser is given to begin with. */
export interface Begun {
  /** For the browser, as WebAuthn has it. */
  readonly options: object
  /** Kept by the browser where no script sees it, and given back with the answer. */
  readonly ticket: string
}

export interface PasskeyAnswer {
  readonly party: RelyingParty
  readonly ticket: string | undefined
  /** What the browser's credential says of itself, as JSON. */
  readonly credential: string
}

export interface PasskeyService {
  /** Oldest first. */
  list(userId: string): Promise<readonly Passkey[]>
  beginRegistration(user: User, party: RelyingParty): Promise<Begun>
  /** @throws ServiceError `bad_request`, `conflict` */
  register(user: User, answer: PasskeyAnswer & { readonly name: string }): Promise<void>
  beginSignIn(party: RelyingParty): Promise<Begun>
  /** @throws ServiceError `bad_request` */
  signIn(answer: PasskeyAnswer): Promise<User>
  /** @throws ServiceError `not_found`, and `conflict` when nothing else would be left to sign in with */
  remove(userId: string, passkeyId: string): Promise<void>
}

interface PasskeyParts {
  readonly storage: Storage
  readonly tickets: TicketService
  readonly now: () => Instant
  readonly config: Pick<Config, 'oidcSignIn'>
}

interface Challenge {
  readonly challenge: string
  /** Whose registration it is; null: somebody signs in. */
  readonly userId: string | null
}

// Ed25519, ES256, RS256: what authenticators make. COSE's numbers.
const ALGORITHMS = [-8, -7, -257]
const MOST_PASSKEYS = 20
const MOST_TRANSPORTS = 8
// There is nothing beside it: the device itself asks for a fingerprint, a face or a PIN, so that whoever finds it does not come in.
const USER_VERIFICATION = 'required'

const OVER = 'this took too long, or was begun elsewhere: try again'
const NOT_ACCEPTED = 'this passkey was not accepted'

// Large, and most hosts and all commands do without.
const loadWebAuthn = () => import('@simplewebauthn/server')

export function createPasskeyService({ storage, tickets, now, config }: PasskeyParts): PasskeyService {
  async function begin(options: { readonly challenge: string }, userId: string | null): Promise<Begun> {
    const challenge: Challenge = { challenge: options.challenge, userId }
    return { options, ticket: await tickets.issue('passkey_challenge', challenge) }
  }

  /** @throws ServiceError `bad_request` */
  async function takeChallenge(ticket: string | undefined, userId: string | null): Promise<string> {
    const taken = (await tickets.take('passkey_challenge', ticket)) as Challenge | undefined
    if (taken?.userId !== userId) throw new ServiceError('bad_request', OVER)
    return taken.challenge
  }

  return {
    async list(userId) {
      const rows = await storage.read.passkeys.ofUser(userId)
      return rows.map(({ id, name, createdAt, lastUsedAt }) => ({ id, name, createdAt, lastUsedAt }))
    },
    async beginRegistration(user, party) {
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
    async register(user, { party, ticket, credential, name }) {
      const expectedChallenge = await takeChallenge(ticket, user.id)
      const response = parse<RegistrationResponseJSON>(credential)
      const passkeyName = readName(name)
      const { verifyRegistrationResponse } = await loadWebAuthn()
      const { registrationInfo } = await accepted(() =>
        verifyRegistrationResponse({
          response,
          expectedChallenge,
          expectedOrigin: party.origin,
          expectedRPID: party.id,
          requireUserVerification: true,
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
        createdAt: now(),
        lastUsedAt: null,
      }
      await storage.write(async (tx) => {
        await tx.users.lock(user.id)
        if ((await tx.passkeys.ofUser(user.id)).length >= MOST_PASSKEYS) {
          throw new ServiceError('conflict', `an account has at most ${MOST_PASSKEYS} passkeys: remove one first`)
        }
        if (!(await tx.passkeys.insert(passkey))) throw new ServiceError('conflict', 'this passkey is here already')
      })
    },
    async beginSignIn(party) {
      const { generateAuthenticationOptions } = await loadWebAuthn()
      const options = await generateAuthenticationOptions({ rpID: party.id, userVerification: USER_VERIFICATION })
      return begin(options, null)
    },
    async signIn({ party, ticket, credential }) {
      const expectedChallenge = await takeChallenge(ticket, null)
      const response = parse<AuthenticationResponseJSON>(credential)
      const passkey = isId(response.id) ? await storage.read.passkeys.byId(response.id) : undefined
      const user = passkey && (await storage.read.users.byId(passkey.userId))
      const { userHandle } = response.response ?? {}
      // The authenticator names the account; it has to be the one that the passkey belongs to.
      if (!user || userHandle !== Buffer.from(user.id).toString('base64url')) {
        throw new ServiceError('bad_request', 'this passkey belongs to no account here, or was removed')
      }
      const { id, publicKey, counter } = passkey
      const { verifyAuthenticationResponse } = await loadWebAuthn()
      const { authenticationInfo } = await accepted(() =>
        verifyAuthenticationResponse({
          response,
          expectedChallenge,
          expectedOrigin: party.origin,
          expectedRPID: party.id,
          requireUserVerification: true,
          credential: { id, counter, publicKey: new Uint8Array(Buffer.from(publicKey, 'base64url')) },
        }),
      )
      const counters = { from: counter, to: authenticationInfo.newCounter }
      // Removed, or used at the same time: a counter that stands still is one of two copies.
      const isCurrent = await storage.write((tx) => tx.passkeys.used(id, counters, now()))
      if (!isCurrent) throw new ServiceError('bad_request', NOT_ACCEPTED)
      return toUser(user)
    },
    remove: (userId, passkeyId) =>
      storage.write(async (tx) => {
        await requireAnotherSignInMethod(tx, userId, { passkeyId }, config.oidcSignIn?.issuer)
        if (await tx.passkeys.remove(userId, passkeyId)) return
        throw new ServiceError('not_found', 'there is no such passkey')
      }),
  }
}

/** Its members are whatever was sent: the library looks at each. @throws ServiceError `bad_request` */
function parse<T extends object>(text: string): T {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return value as T
  } catch {
    // Told as what it is, below.
  }
  throw new ServiceError('bad_request', NOT_ACCEPTED)
}

/** Base64url, as every passkey's is. */
function isId(given: unknown): given is string {
  return typeof given === 'string' && /^[A-Za-z0-9_-]+$/.test(given)
}

/** A counter that went back is refused there, too. @throws ServiceError `bad_request` */
async function accepted<T extends { readonly verified: boolean }>(verify: () => Promise<T>): Promise<T> {
  const outcome = await verify().catch((cause: unknown) => {
    throw new ServiceError('bad_request', NOT_ACCEPTED, { cause })
  })
  if (!outcome.verified) throw new ServiceError('bad_request', NOT_ACCEPTED)
  return outcome
}

/** Hints of the browser's, and no more than that. */
function readTransports(given: unknown): string[] {
  if (!Array.isArray(given)) return []
  return given.filter((one) => typeof one === 'string' && /^[a-z-]{1,20}$/.test(one)).slice(0, MOST_TRANSPORTS)
}
