/**
 * Signs people in through an OpenID provider: sends the browser there, and checks that the answer belongs to this browser and this
 * sign-in.
 */
import { DestinationError, type Logger } from '@claimcheck/core/plugin'
import type * as Openid from 'openid-client'
import { ServiceError } from '../../base/errors.ts'
import { composed, idProblem, MAX_NAME_LENGTH } from '../../names/names.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import type { OidcProvider, PeopleConfig } from './config.ts'
import type { Identity } from './identities.ts'
import type { TicketService } from './tickets.ts'

/** The purpose of the sign-in, which decides what happens after it. */
export type SignInPurpose =
  | { readonly kind: 'sign_in'; readonly next: string }
  | { readonly kind: 'setup'; readonly token: string; readonly workspace: string }
  | { readonly kind: 'join'; readonly token: string; readonly takesAddress: boolean }
  | { readonly kind: 'link'; readonly userId: string }

export interface ReturnedPerson {
  readonly purpose: SignInPurpose
  readonly identity: Identity
  readonly name: string
  /** The person's address; empty when the provider gives none. */
  readonly email: string
  /** True when the provider says that the address is the person's. */
  readonly isVerified: boolean
}

interface OidcParts {
  readonly config: Pick<PeopleConfig, 'oidcSignIn'>
  readonly outbound: Outbound
  readonly tickets: TicketService
  readonly logger: Pick<Logger, 'warn'>
}

/** The payload of a ticket, which the provider's answer must fit. */
interface ExpectedAnswer {
  readonly purpose: SignInPurpose
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

const DISCOVERY_TTL_MS = 60 * 60_000
const CLOCK_TOLERANCE_SECONDS = 60
/** Limits each request to the provider. */
const TIMEOUT_SECONDS = 10
const SCOPE = 'openid profile email'

/** Makes the sign-in through the provider; undefined when none is configured. */
export function createOidcSignIn(parts: OidcParts) {
  const provider = parts.config.oidcSignIn
  if (!provider) return undefined
  const { name, issuer } = provider
  let loaded: Promise<ReturnType<typeof createSteps>> | undefined
  // The library is loaded at the first sign-in: most processes see none.
  const load = () => {
    loaded ??= import('openid-client').then((openid) => createSteps(openid, provider, parts))
    return loaded
  }
  return {
    /** The provider's name on the sign-in page. */
    name,
    issuer,
    /**
     * Begins a sign-in. Returns the URL to send the browser to, and the ticket that the browser keeps until it returns.
     * @throws ServiceError `unavailable`
     */
    begin: async (purpose: SignInPurpose, callbackUrl: string) => (await load()).begin(purpose, callbackUrl),
    /**
     * Finishes a sign-in.
     * @param returnUrl the URL to which the provider sent the browser back
     * @throws ServiceError `bad_request`, `unavailable`
     */
    finish: async (ticket: string | undefined, returnUrl: URL) => (await load()).finish(ticket, returnUrl),
  }
}

function createSteps(openid: typeof Openid, provider: OidcProvider, { outbound, tickets, logger }: OidcParts) {
  let discovered: { readonly since: number; readonly configuration: Promise<Openid.Configuration> } | undefined

  /**
   * Discovers the provider at the first sign-in, and not at the start, so that an unreachable provider only disables this sign-in
   * method.
   */
  function discover(): Promise<Openid.Configuration> {
    if (discovered && performance.now() - discovered.since < DISCOVERY_TTL_MS) return discovered.configuration
    const { issuer, clientId, clientSecret } = provider
    const metadata = { [openid.clockTolerance]: CLOCK_TOLERANCE_SECONDS }
    const authentication = clientAuthentication(openid, clientSecret)
    const configuration = openid.discovery(new URL(issuer), clientId, metadata, authentication, {
      [openid.customFetch]: (url, { method, headers, body, signal }) =>
        outbound.request(url, { method, headers, body: body == null ? undefined : String(body), signal }),
      timeout: TIMEOUT_SECONDS,
      // `outbound` permits plain http only for hosts that the operator allows. ID tokens must be signed in any case.
      execute: [openid.allowInsecureRequests, openid.enableNonRepudiationChecks],
    })
    discovered = { since: performance.now(), configuration }
    configuration.catch(() => {
      discovered = undefined
    })
    return configuration
  }

  function toServiceError(error: unknown): ServiceError {
    const { name, issuer } = provider
    if (error instanceof openid.AuthorizationResponseError) {
      const isRefused = error.error === 'access_denied'
      const message = isRefused ? `${name} did not let you in` : `${name} refused the sign-in`
      if (!isRefused) logger.warn({ issuer, error: error.error }, 'the OpenID provider answered with an error')
      return new ServiceError('bad_request', message, { cause: error })
    }
    // The code alone is logged: the rest of the error may contain personal data.
    logger.warn({ issuer, code: codeOf(error) }, 'the sign-in through the OpenID provider failed')
    if (isUnavailable(error)) {
      const message = `${name} cannot be reached now: use another sign-in method, or try again later`
      return new ServiceError('unavailable', message, { cause: error })
    }
    const message = `the answer of ${name} does not belong to this sign-in: start again`
    return new ServiceError('bad_request', message, { cause: error })
  }

  async function withServiceErrors<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw toServiceError(error)
    }
  }

  return {
    async begin(purpose: SignInPurpose, callbackUrl: string) {
      const configuration = await withServiceErrors(discover)
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
      const expected: ExpectedAnswer = { purpose, state, nonce, verifier }
      return { url: url.href, ticket: await tickets.issue('outside_sign_in', expected) }
    },

    async finish(ticket: string | undefined, returnUrl: URL): Promise<ReturnedPerson> {
      const expected = (await tickets.take('outside_sign_in', ticket)) as ExpectedAnswer | undefined
      if (!expected) {
        throw new ServiceError(
          'bad_request',
          'this sign-in cannot be completed: it was started in another browser, was used before, or took too long. Start again',
        )
      }
      const { purpose, state, nonce, verifier } = expected
      return withServiceErrors(async () => {
        const configuration = await discover()
        const tokens = await openid.authorizationCodeGrant(configuration, returnUrl, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
        })
        const claims = tokens.claims()!
        const isKnown = purpose.kind === 'sign_in'
        const person = isKnown ? claims : await completeClaims(openid, configuration, tokens.access_token, claims)
        return { purpose, identity: { issuer: provider.issuer, subject: claims.sub }, ...nameAndEmail(person) }
      })
    },
  }
}

/** Adds name and address from the userinfo endpoint when the ID token lacks them. */
async function completeClaims(
  openid: typeof Openid,
  configuration: Openid.Configuration,
  token: string,
  claims: Openid.IDToken,
) {
  const isComplete = typeof claims.email === 'string' && typeof claims.name === 'string'
  if (isComplete || configuration.serverMetadata().userinfo_endpoint === undefined) return claims
  return { ...(await openid.fetchUserInfo(configuration, token, claims.sub)), ...claims }
}

/** Chooses the client authentication. A provider that does not list its methods supports the header (OpenID Connect Discovery 1.0, section 3). */
function clientAuthentication(openid: typeof Openid, clientSecret: string): Openid.ClientAuth {
  const inBody = openid.ClientSecretPost(clientSecret)
  const inHeader = openid.ClientSecretBasic(clientSecret)
  return (server, ...rest) => {
    const supportsBody = server.token_endpoint_auth_methods_supported?.includes('client_secret_post')
    return supportsBody ? inBody(server, ...rest) : inHeader(server, ...rest)
  }
}

/** Reads name and address from claims. It cuts a long name, and uses the address when there is no name that the policy allows. */
function nameAndEmail({ name, email, email_verified: isVerified }: Readonly<Record<string, unknown>>) {
  const address = typeof email === 'string' ? email : ''
  const given = typeof name === 'string' ? composed(composed(name).slice(0, MAX_NAME_LENGTH)) : ''
  const usable = given === '' || idProblem(given) !== undefined ? address : given
  return { name: usable, email: address, isVerified: isVerified === true }
}

/** Tells whether the provider did not answer or failed; false when its answer is invalid. */
function isUnavailable(error: unknown): boolean {
  if (error instanceof DestinationError || codeOf(error) === 'OAUTH_RESPONSE_IS_NOT_CONFORM') return true
  return error instanceof Error && error.cause !== undefined && isUnavailable(error.cause)
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown } | undefined)?.code
}
