/** Signing in through an outside OpenID provider: over there and back, with everything checked that says it is the same person, here, now. */
import { DestinationError, type Logger } from '@claimcheck/core'
import * as openid from 'openid-client'
import { ServiceError } from '../base/errors.ts'
import { MAX_NAME_LENGTH } from '../base/names.ts'
import type { Config } from '../config/config.ts'
import type { Outbound } from '../outbound/outbound.ts'
import type { Identity } from './identities.ts'
import type { TicketService } from './tickets.ts'

/** What somebody goes there for. */
export type SignInPurpose =
  | { readonly kind: 'sign_in'; readonly next: string }
  | { readonly kind: 'setup'; readonly token: string; readonly workspace: string }
  | { readonly kind: 'join'; readonly token: string }
  | { readonly kind: 'link'; readonly userId: string }

export interface Returned {
  readonly purpose: SignInPurpose
  readonly identity: Identity
  readonly name: string
  /** Empty where the provider tells none. */
  readonly email: string
}

export interface OidcSignIn {
  /** As people know it. */
  readonly name: string
  readonly issuer: string
  /** Where the browser goes, and what it keeps meanwhile. @throws ServiceError `unavailable` */
  begin(purpose: SignInPurpose, callbackUrl: string): Promise<{ readonly url: string; readonly ticket: string }>
  /** @param arrivedAt the address at which the browser came back. @throws ServiceError `bad_request`, `unavailable` */
  finish(ticket: string | undefined, arrivedAt: URL): Promise<Returned>
}

interface OidcDependencies {
  readonly config: Pick<Config, 'oidcSignIn'>
  readonly outbound: Outbound
  readonly tickets: TicketService
  readonly logger: Pick<Logger, 'warn'>
}

interface Expected {
  readonly purpose: SignInPurpose
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

const DISCOVERED_FOR_MS = 60 * 60_000
/** How far the provider's clock may be off. */
const TOLERANCE_SECONDS = 60
const SCOPE = 'openid profile email'

export function createOidcSignIn({ config, outbound, tickets, logger }: OidcDependencies): OidcSignIn | undefined {
  const provider = config.oidcSignIn
  if (!provider) return undefined
  const { issuer, clientId, clientSecret, name } = provider
  const inBody = openid.ClientSecretPost(clientSecret)
  const inHeader = openid.ClientSecretBasic(clientSecret)
  let discovered: { readonly since: number; readonly configuration: Promise<openid.Configuration> } | undefined

  // A provider that says nothing of it takes the header (OpenID Connect Discovery 1.0, section 3).
  const authenticate: openid.ClientAuth = (server, ...rest) => {
    const takesBody = server.token_endpoint_auth_methods_supported?.includes('client_secret_post')
    return takesBody ? inBody(server, ...rest) : inHeader(server, ...rest)
  }

  /** Asked for when it is needed, so that a provider that is away costs nothing but this way in. */
  function discover(): Promise<openid.Configuration> {
    if (discovered && performance.now() - discovered.since < DISCOVERED_FOR_MS) return discovered.configuration
    const metadata = { [openid.clockTolerance]: TOLERANCE_SECONDS }
    const configuration = openid.discovery(new URL(issuer), clientId, metadata, authenticate, {
      [openid.customFetch]: (url, { method, headers, body, signal }) =>
        outbound.request(url, { method, headers, body: body == null ? undefined : String(body), signal }),
      // Of plain http, what `outbound` lets through is what the operator allows. ID tokens have to be signed all the same.
      execute: [openid.allowInsecureRequests, openid.enableNonRepudiationChecks],
    })
    discovered = { since: performance.now(), configuration }
    configuration.catch(() => {
      discovered = undefined
    })
    return configuration
  }

  async function ask<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw refusal(error)
    }
  }

  function refusal(error: unknown): ServiceError {
    if (error instanceof openid.AuthorizationResponseError) {
      const isRefused = error.error === 'access_denied'
      const message = isRefused ? `${name} did not let you in` : `${name} refused the sign-in`
      if (!isRefused) logger.warn({ issuer, error: error.error }, 'the sign-in provider answered with an error')
      return new ServiceError('bad_request', message, { cause: error })
    }
    // Its code alone: the rest may hold what was answered about a person.
    logger.warn({ issuer, code: codeOf(error) }, 'signing in through the provider failed')
    if (isAway(error)) {
      const message = `${name} cannot be reached just now: sign in another way, or try again later`
      return new ServiceError('unavailable', message, { cause: error })
    }
    return new ServiceError('bad_request', `what ${name} answered does not fit this sign-in: begin again`, {
      cause: error,
    })
  }

  /** What the ID token does not say itself. */
  async function describe(configuration: openid.Configuration, token: string, claims: openid.IDToken) {
    const isWhole = typeof claims.email === 'string' && typeof claims.name === 'string'
    if (isWhole || configuration.serverMetadata().userinfo_endpoint === undefined) return claims
    return { ...(await openid.fetchUserInfo(configuration, token, claims.sub)), ...claims }
  }

  return {
    name,
    issuer,
    async begin(purpose, callbackUrl) {
      const configuration = await ask(discover)
      const state = openid.randomState()
      const nonce = openid.randomNonce()
      const verifier = openid.randomPKCECodeVerifier()
      const url = openid.buildAuthorizationUrl(configuration, {
        redirect_uri: callbackUrl,
        scope: SCOPE,
        state,
        nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      })
      const expected: Expected = { purpose, state, nonce, verifier }
      return { url: url.href, ticket: await tickets.issue('outside_sign_in', expected) }
    },
    async finish(ticket, arrivedAt) {
      const expected = (await tickets.take('outside_sign_in', ticket)) as Expected | undefined
      if (!expected) {
        throw new ServiceError(
          'bad_request',
          'this sign-in was begun elsewhere, was used, or took too long: begin again',
        )
      }
      return ask(async () => {
        const configuration = await discover()
        const tokens = await openid.authorizationCodeGrant(configuration, arrivedAt, {
          expectedState: expected.state,
          expectedNonce: expected.nonce,
          pkceCodeVerifier: expected.verifier,
        })
        const claims = tokens.claims()!
        const described =
          expected.purpose.kind === 'sign_in' ? claims : await describe(configuration, tokens.access_token, claims)
        return { purpose: expected.purpose, identity: { issuer, subject: claims.sub }, ...personOf(described) }
      })
    },
  }
}

/** A name is what people read: of one that is too long its beginning, and in place of none the address. */
function personOf({ name, email }: Readonly<Record<string, unknown>>) {
  const address = typeof email === 'string' ? email : ''
  return { name: (typeof name === 'string' && name.trim().slice(0, MAX_NAME_LENGTH)) || address, email: address }
}

/** Nobody answered, or with a failure of their own; as distinct from an answer that cannot be believed. */
function isAway(error: unknown): boolean {
  return error instanceof DestinationError || codeOf(error) === 'OAUTH_RESPONSE_IS_NOT_CONFORM' || causedByAway(error)
}

function causedByAway(error: unknown): boolean {
  return error instanceof Error && error.cause !== undefined && isAway(error.cause)
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown } | undefined)?.code
}
