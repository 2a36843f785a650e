/** Configures oidc-provider: the authorization code flow with PKCE for people, client credentials for machines, opaque tokens, the console's pages and this service's storage. */
import { createPrivateKey, randomBytes } from 'node:crypto'
import type { EventEmitter } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { COMMAND_LINE_CLIENT, KEY_SCOPE } from '@claimcheck/cli/service/oauth-client'
import type { Instant } from '@claimcheck/core/rules'
import type { FastifyBaseLogger } from 'fastify'
import type { Configuration, JWK, KoaContextWithOIDC, Provider } from 'oidc-provider'
import type { Acting } from '../../base/actor.ts'
import type { Secrets } from '../../base/secrets.ts'
import { hashToken, newToken } from '../../base/tokens.ts'
import type { Storage } from '../../storage/storage.ts'
import { adapterFactory, SIGN_IN } from './adapter.ts'
import type { Audiences } from './audiences.ts'
import { configuredClients, type OAuthConfig } from './config.ts'
import { loadLibrary } from './library.ts'
import { isMachineId } from './machines.ts'
import { COOKIE_NAMES, onlyClearRedirects, onlyQueryResponses, onlyUsedCookies, withoutOpenid } from './middleware.ts'
import type { OAuthPages } from './pages.ts'
import { OAUTH_PATHS } from './paths.ts'
import type { OAuthRecords, RecordAudit } from './records.ts'
import { CLIENT_AUTHENTICATION, FIXED, restrictMetadata } from './registration.ts'
import { createRotation } from './rotation.ts'
import { SCOPES, scopesAskedFor, scopesFor } from './scopes.ts'
import { translateStorageErrors } from './storage-errors.ts'

interface ProviderParts {
  readonly issuer: string
  readonly audiences: Audiences
  readonly config: OAuthConfig
  readonly records: OAuthRecords
  readonly storage: Pick<Storage, 'read' | 'write'>
  readonly secrets: Pick<Secrets, 'derive' | 'deriveAll'>
  readonly now: () => Instant
  /** Makes the audit trail's record of a grant that is being stored. */
  readonly grantAudit: (grantId: string) => RecordAudit | undefined
  /** Finds the client's network address of a request. */
  readonly addressOf: (request: IncomingMessage) => string | null
  readonly pages: OAuthPages
  readonly logger: Pick<FastifyBaseLogger, 'error' | 'debug'>
}

const MINUTE = 60
const DAY = 24 * 60 * MINUTE

const TTL = {
  AccessToken: 60 * MINUTE,
  /** The lifetime of a machine's token: it can ask for another one at any time. */
  ClientCredentials: 15 * MINUTE,
  AuthorizationCode: MINUTE,
  /** The lifetime of a refresh token. Each use issues a new one with the full time. */
  RefreshToken: 30 * DAY,
  /** The lifetime of a grant, after which the application must ask the person again. */
  Grant: 365 * DAY,
  /** The lifetime of a request, which includes the time in which the person signs in. */
  Interaction: 30 * MINUTE,
  /** The lifetime that the library requires, although no session is stored. */
  Session: 30 * MINUTE,
} as const

const COOKIE = { httpOnly: true, sameSite: 'lax', signed: true } as const
/** The tokens of the library have 43 characters of base64url, like all tokens of this service. */
const TOKEN_BITS = 256

export async function createProvider(parts: ProviderParts): Promise<Provider> {
  const { issuer, audiences, config, records, storage, secrets, now, grantAudit, addressOf, pages, logger } = parts
  const library = await loadLibrary()
  const { errors } = library
  const { Prompt, Check } = library.interactionPolicy
  const translated = translateStorageErrors(errors)
  const configured = configuredClients(config)
  const rotation = createRotation(records, actingIn)

  /** Finds the actor of a request: the client, once the library knows it. */
  function actingIn(ctx: KoaContextWithOIDC | undefined): Acting {
    const clientId = ctx?.oidc?.client?.clientId
    return {
      actor: clientId === undefined ? { kind: 'nobody', id: null } : { kind: 'application', id: clientId },
      address: ctx ? addressOf(ctx.req) : null,
    }
  }

  /** Drops unknown scopes: registered clients know others, too, and name them to every service: `openid`, `offline_access`. @throws InvalidScope */
  function keepKnownScopes({ oidc }: KoaContextWithOIDC): void {
    const clientId = oidc.client?.clientId
    const scopes = scopesAskedFor(clientId, oidc.params!.scope)
    if (scopes.length === 0) throw new errors.InvalidScope(`a scope is required: ${scopesFor(clientId).join(', ')}`, '')
    oidc.params!.scope = scopes.join(' ')
  }

  async function isSignedOut(ctx: KoaContextWithOIDC): Promise<boolean> {
    if (ctx.oidc.result?.login !== undefined) return false
    const cookieOf = (name: string) => ctx.cookies.get(name, { signed: false })
    return !(await translated(() => pages.isSignedIn(cookieOf)))
  }

  /**
   * Returns the address of the sign-in page, which leads back to the request that its address holds.
   * @throws InvalidRequest
   */
  function signInUrl(ctx: KoaContextWithOIDC): string {
    const url = pages.signInUrl(ctx.oidc.route === 'resume' ? requestAnew(ctx) : ctx.url)
    if (url.length <= LONGEST_URL) return url
    throw new errors.InvalidRequest('the request is too long to go on after signing in: send a shorter state')
  }

  const features: Configuration['features'] = {
    devInteractions: { enabled: false },
    dPoP: { enabled: false },
    pushedAuthorizationRequests: { enabled: false },
    rpInitiatedLogout: { enabled: false },
    userinfo: { enabled: false },
    clientCredentials: { enabled: true },
    revocation: { enabled: true, allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId },
    registration: {
      enabled: config.dynamicRegistration,
      issueRegistrationAccessToken: false,
      idFactory: () => `app_${randomBytes(16).toString('base64url')}`,
      secretFactory: async () => newToken(),
    },
    resourceIndicators: {
      enabled: true,
      // Machines and the command line use the REST API, and know no other resource.
      defaultResource: async (_ctx, { clientId }, oneOf) =>
        oneOf ??
        (clientId === COMMAND_LINE_CLIENT.client_id || isMachineId(clientId) ? audiences.own : audiences.unnamed),
      getResourceServerInfo: async (ctx, resource, client) => {
        const audience = audiences.find(resource)
        if (audience === undefined) throw new errors.InvalidTarget('the resource is unknown')
        const isMachine = isMachineId(client.clientId)
        // A machine that asks for no scope gets all that it has (RFC 6749 3.3).
        if (isMachine && ctx.oidc.params) ctx.oidc.params.scope ??= client.scope
        const accessTokenTTL = isMachine ? TTL.ClientCredentials : TTL.AccessToken
        return { audience, scope: scopesFor(client.clientId).join(' '), accessTokenFormat: 'opaque', accessTokenTTL }
      },
    },
  }

  const configuration: Configuration = {
    adapter: adapterFactory({ library, records, rotation, storage, now, actingIn, grantAudit }),
    clients: configured.map((client) =>
      client.client_secret === undefined ? { ...client, token_endpoint_auth_method: 'none' } : client,
    ),
    clientDefaults: {
      ...FIXED,
      response_types: [...FIXED.response_types],
      grant_types: ['authorization_code', 'refresh_token'],
      id_token_signed_response_alg: SIGNING_ALGORITHM,
    },
    clientAuthMethods: [...CLIENT_AUTHENTICATION],
    clientBasedCORS: (_ctx, origin, client) =>
      client.clientAuthMethod === 'none' && (client.redirectUris ?? []).some((uri) => originOf(uri) === origin),
    cookies: {
      names: COOKIE_NAMES,
      long: COOKIE,
      short: COOKIE,
      // Cookies are signed with the first key and verified with all, while hosts change to another SECRET_KEY.
      keys: secrets.deriveAll('oauth cookies').map((key) => key.toString('base64url')),
    },
    jwks: { keys: [signingKey(secrets)] },
    routes: {
      authorization: OAUTH_PATHS.authorize,
      token: OAUTH_PATHS.token,
      revocation: OAUTH_PATHS.revoke,
      registration: OAUTH_PATHS.register,
      jwks: OAUTH_PATHS.jwks,
    },
    scopes: [...SCOPES, KEY_SCOPE],
    responseTypes: ['code'],
    pkce: { required: () => true },
    allowOmittingSingleRegisteredRedirectUri: false,
    formats: { bitsOfOpaqueRandomness: TOKEN_BITS },
    ttl: TTL,
    rotateRefreshToken: true,
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    expiresWithSession: async () => false,
    revokeGrantPolicy: () => true,
    extraParams: { scope: keepKnownScopes },
    interactions: {
      // People are asked at each request: an earlier consent does not answer a later request.
      policy: [
        new Prompt(
          { name: SIGN_IN, requestable: false },
          new Check('signed_out', 'the person must sign in', isSignedOut),
        ),
        new Prompt(
          { name: 'consent', requestable: true },
          new Check(
            'not_asked',
            'the person must be asked for consent',
            ({ oidc }) => oidc.result?.consent === undefined,
          ),
        ),
      ],
      url: async (ctx, { uid, prompt }) => (prompt.name === SIGN_IN ? signInUrl(ctx) : OAUTH_PATHS.consent(uid)),
    },
    loadExistingGrant: async ({ oidc }) => {
      const grantId = oidc.result?.consent?.grantId
      return grantId === undefined ? undefined : oidc.provider.Grant.find(grantId)
    },
    async findAccount(_ctx, memberId) {
      const member = await translated(() => storage.read.members.byId(memberId))
      return member && { accountId: member.id, claims: async () => ({ sub: member.id }) }
    },
    extraClientMetadata: {
      // One property is listed, so that the library calls the validator once for each client.
      properties: ['software_id'],
      validator: (ctx, _name, _value, metadata) => {
        if (isMachineId(String(metadata.client_id))) return
        const isNew = ctx?.path === OAUTH_PATHS.register
        restrictMetadata(metadata, isNew ? configured.map(({ client_name }) => client_name) : undefined, errors)
      },
    },
    renderError: (ctx, { error: code, error_description: description }) => {
      ctx.type = 'html'
      ctx.body = pages.errorPage({ code, description })
    },
    // Requests of the library itself are never needed.
    fetch: async () => {
      throw new Error('the OAuth flow sends no requests')
    },
    features,
  }

  const provider = new library.Provider(issuer, configuration)
  // The library trusts the forwarding headers, which the handler of the requests sets itself.
  provider.proxy = true
  compareHashes(provider.Client.prototype)
  for (const middleware of [
    onlyUsedCookies,
    withoutOpenid,
    onlyQueryResponses,
    onlyClearRedirects,
    rotation.middleware,
  ])
    provider.use(middleware)
  provider.on('server_error', (_ctx, err) => logger.error({ err }, 'request failed'))
  // Errors of broken connections would be printed by the library without a listener.
  ;(provider as EventEmitter).on('error', (err) => logger.debug({ err }, 'a connection of the OAuth flow broke'))
  return provider
}

// RFC 8410 7 has this prefix before the 32 bytes of an Ed25519 private key.
const PKCS8_ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex')
const SIGNING_ALGORITHM = 'EdDSA'

/** Makes the key that oidc-provider requires, the same on every host. It signs nothing, because the service issues no ID tokens. */
function signingKey(secrets: Pick<Secrets, 'derive'>): JWK {
  const der = Buffer.concat([PKCS8_ED25519, secrets.derive('oauth signing key')])
  const jwk = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }).export({ format: 'jwk' })
  return { ...jwk, alg: SIGNING_ALGORITHM, use: 'sig' } as JWK
}

/** The longest address of the sign-in page: proxies and servers take lines of 8 KB. */
const LONGEST_URL = 7500

/** Makes the address of the same request, for one whose stored state is gone. */
function requestAnew({ oidc: { params = {} } }: KoaContextWithOIDC): string {
  const pairs = Object.entries(params).flatMap(([name, value]) =>
    [value].flat().flatMap((one): [string, string][] => (one === undefined ? [] : [[name, String(one)]])),
  )
  return `${OAUTH_PATHS.authorize}?${new URLSearchParams(pairs)}`
}

/** Makes the library compare hashes of machines' secrets: only the hash of a secret is stored. */
function compareHashes(prototype: {
  clientId: string
  compareClientSecret(given: string): boolean | Promise<boolean>
}) {
  const { compareClientSecret: compare } = prototype
  prototype.compareClientSecret = function compareHash(given) {
    return compare.call(this, isMachineId(this.clientId) ? hashToken(given) : given)
  }
}

function originOf(uri: string): string | undefined {
  const { origin } = new URL(uri)
  return origin === 'null' ? undefined : origin
}
