/** Configures oidc-provider: the authorization code flow with PKCE for people, client credentials for machines, opaque tokens, the console's pages and this service's storage. */
import { randomBytes } from 'node:crypto'
import type { EventEmitter } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { COMMAND_LINE_CLIENT, KEY_SCOPE } from '@claimcheck/cli/service/oauth-client'
import type { Instant } from '@claimcheck/core/rules'
import type { FastifyBaseLogger } from 'fastify'
import type { ClientMetadata, Configuration, ErrorOut, KoaContextWithOIDC, Provider } from 'oidc-provider'
import type { Acting } from '../../base/actor.ts'
import type { Secrets } from '../../base/secrets.ts'
import { newToken } from '../../base/tokens.ts'
import type { Storage } from '../../storage/storage.ts'
import { adapterFactory, type MachineClients, SIGN_IN } from './adapter.ts'
import type { Audiences } from './audiences.ts'
import { configuredClients, type OAuthClient, type OAuthConfig } from './config.ts'
import { type Library, loadLibrary } from './library.ts'
import { hashSecret, isMachineId, machineScopes } from './machines.ts'
import { COOKIE_NAMES, onlyClearRedirects, onlyQueryResponses, onlyUsedCookies, withoutOpenid } from './middleware.ts'
import type { OAuthPages } from './pages.ts'
import { OAUTH_PATHS } from './paths.ts'
import type { OAuthRecords, Payload, RecordAudit } from './records.ts'
import { CLIENT_AUTHENTICATION, FIXED, restrictMetadata } from './registration.ts'
import { createRotation, type Rotation } from './rotation.ts'
import { SCOPES, scopesAskedAgain, scopesAskedFor, scopesFor } from './scopes.ts'
import { oauthSigningKey, SIGNING_ALGORITHM } from './signing-key.ts'
import { translateStorageErrors } from './storage-errors.ts'

export interface ProviderOptions {
  readonly issuer: string
  readonly audiences: Audiences
  readonly config: OAuthConfig
  readonly records: OAuthRecords
  readonly storage: Pick<Storage, 'read' | 'write'>
  readonly secrets: Pick<Secrets, 'derive' | 'deriveAll'>
  readonly now: () => Instant
  /** What the audit trail records of a new record, in addition to what applications do themselves. */
  readonly recordAudit: (model: string, id: string) => RecordAudit | undefined
  /** The client's address of a request. */
  readonly addressOf: (request: IncomingMessage) => string | null
  /** True when the browser has a session of the console. */
  readonly isSignedIn: (ctx: KoaContextWithOIDC) => Promise<boolean>
  readonly errorPage: OAuthPages['errorPage']
  readonly signInUrl: OAuthPages['signInUrl']
  readonly logger: Pick<FastifyBaseLogger, 'error' | 'debug'>
}

const MINUTE = 60
const DAY = 24 * 60 * MINUTE

const TTL = {
  AccessToken: 60 * MINUTE,
  /** A machine can ask for another token at any time. */
  ClientCredentials: 15 * MINUTE,
  AuthorizationCode: MINUTE,
  /** Each use of a refresh token issues a new one with the full time. */
  RefreshToken: 30 * DAY,
  /** The application must ask the person again after this time. */
  Grant: 365 * DAY,
  /** Includes the time in which the person signs in. */
  Interaction: 30 * MINUTE,
  /** Required by the library, although no session is stored. */
  Session: 30 * MINUTE,
} as const

const COOKIE = { httpOnly: true, sameSite: 'lax', signed: true } as const
/** The tokens of the library have 43 characters of base64url, like all tokens of this service. */
const TOKEN_BITS = 256

export async function createProvider(options: ProviderOptions): Promise<Provider> {
  const { issuer, logger } = options
  const library = await loadLibrary()
  const rotation = createRotation(options.records, actingIn(options))
  const provider = new library.Provider(issuer, configuration(library, options, rotation))
  // Trusts the forwarding headers, which the handler of the requests sets itself.
  provider.proxy = true
  compareHashes(provider.Client.prototype)
  provider.use(onlyUsedCookies)
  provider.use(withoutOpenid)
  provider.use(onlyQueryResponses)
  provider.use(onlyClearRedirects)
  provider.use(rotation.middleware)
  provider.on('server_error', (_ctx, err) => logger.error({ err }, 'request failed'))
  // Broken connections. Without a listener the library would print them.
  ;(provider as EventEmitter).on('error', (err) => logger.debug({ err }, 'a connection of the OAuth flow broke'))
  return provider
}

const ROUTES = {
  authorization: OAUTH_PATHS.authorize,
  token: OAUTH_PATHS.token,
  revocation: OAUTH_PATHS.revoke,
  registration: OAUTH_PATHS.register,
  jwks: OAUTH_PATHS.jwks,
}

function configuration(library: Library, options: ProviderOptions, rotation: Rotation): Configuration {
  const { config, records, storage, secrets, now, isSignedIn, errorPage } = options
  const { errors } = library
  const translated = translateStorageErrors(errors)
  const configured = configuredClients(config)

  return {
    adapter: adapterFactory({
      records,
      rotation,
      errors,
      machines: machineClients(options),
      now,
      ...recording(library, options),
    }),
    clients: configured.map((client) => ({
      ...toMetadata(client),
      ...(client.clientId === COMMAND_LINE_CLIENT.clientId ? { grant_types: ['authorization_code'] } : {}),
    })),
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
      // The first signs; the others verify, while hosts change to another SECRET_KEY.
      keys: secrets.deriveAll('oauth cookies').map((key) => key.toString('base64url')),
    },
    jwks: { keys: [oauthSigningKey(secrets)] },
    routes: ROUTES,
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
    extraParams: { scope: (ctx) => keepKnownScopes(errors, ctx) },
    interactions: {
      policy: prompts(library, (ctx) => translated(() => isSignedIn(ctx))),
      url: async (ctx, { uid, prompt }) =>
        prompt.name === SIGN_IN ? signInUrl(library, options, ctx) : OAUTH_PATHS.consent(uid),
    },
    loadExistingGrant: async (ctx) => {
      const grantId = ctx.oidc.result?.consent?.grantId
      return grantId === undefined ? undefined : ctx.oidc.provider.Grant.find(grantId)
    },
    async findAccount(_ctx, memberId) {
      const member = await translated(() => storage.read.members.byId(memberId))
      return member && { accountId: member.id, claims: async () => ({ sub: member.id }) }
    },
    extraClientMetadata: {
      // Lists one property, so that the library calls the validator once for each client.
      properties: ['software_id'],
      validator: (ctx, _name, _value, metadata) => {
        if (isMachineId(String(metadata.client_id))) return
        const isNew = ctx?.path === OAUTH_PATHS.register
        restrictMetadata(metadata, isNew ? configured.map(({ clientName }) => clientName) : undefined, errors)
      },
    },
    renderError: (ctx, { error: code, error_description: description }: ErrorOut) => {
      ctx.type = 'html'
      ctx.body = errorPage({ code, description })
    },
    // The library never needs to send a request.
    fetch: async () => {
      throw new Error('the OAuth flow sends no requests')
    },
    features: features(library, options),
  }
}

/** Registered clients know other scopes, too, and name them to every service: `openid`, `offline_access`. @throws InvalidScope */
function keepKnownScopes({ InvalidScope }: Library['errors'], { oidc }: KoaContextWithOIDC): void {
  const clientId = oidc.client?.clientId
  const scopes = scopesAskedFor(clientId, oidc.params!.scope)
  if (scopes.length === 0) throw new InvalidScope(`a scope is required: ${scopesFor(clientId).join(', ')}`, '')
  oidc.params!.scope = scopes.join(' ')
}

/** The person is asked at each request: an earlier consent does not answer a later request. */
function prompts({ interactionPolicy }: Library, isSignedIn: (ctx: KoaContextWithOIDC) => Promise<boolean>) {
  const { Prompt, Check } = interactionPolicy
  return [
    new Prompt(
      { name: SIGN_IN, requestable: false },
      new Check('signed_out', 'the person must sign in', async (ctx) => {
        return ctx.oidc.result?.login === undefined && !(await isSignedIn(ctx))
      }),
    ),
    new Prompt(
      { name: 'consent', requestable: true },
      new Check('not_asked', 'the person must be asked for consent', (ctx) => ctx.oidc.result?.consent === undefined),
    ),
  ]
}

/** Proxies and servers take lines of 8 KB. */
const LONGEST_URL = 7500

/** The address of the same request, once what it was kept under is gone. */
function requestAnew({ oidc: { params = {} } }: KoaContextWithOIDC): string {
  const pairs = Object.entries(params).flatMap(([name, value]) =>
    [value].flat().flatMap((one): [string, string][] => (one === undefined ? [] : [[name, String(one)]])),
  )
  return `${OAUTH_PATHS.authorize}?${new URLSearchParams(pairs)}`
}

/** The sign-in page leads back to the request, which its address holds. @throws InvalidRequest */
function signInUrl({ errors }: Library, options: ProviderOptions, ctx: KoaContextWithOIDC): string {
  const url = options.signInUrl(ctx.oidc.route === 'resume' ? requestAnew(ctx) : ctx.url)
  if (url.length <= LONGEST_URL) return url
  throw new errors.InvalidRequest('the request is too long to go on after signing in: send a shorter state')
}

function features({ errors }: Library, { audiences, config }: ProviderOptions): Configuration['features'] {
  return {
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
      // The programs of the REST API know nothing else.
      defaultResource: async (_ctx, { clientId }, oneOf) =>
        oneOf ??
        (clientId === COMMAND_LINE_CLIENT.clientId || isMachineId(clientId) ? audiences.own : audiences.unnamed),
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
}

/** What the adapter tells the audit trail: who asks, by the request in which the library calls it. */
function recording({ Provider }: Library, options: ProviderOptions) {
  const { recordAudit, now } = options
  const acting = () => actingIn(options)(Provider.ctx)

  function registered(id: string, { client_name: name, redirect_uris: uris }: Payload): RecordAudit {
    const by: Acting = { actor: { kind: 'application', id }, address: acting().address }
    const details = { name: String(name ?? '').slice(0, 200), redirect_uris: [uris].flat().join(' ').slice(0, 1000) }
    return async (tx) => tx.audit.record({ event: 'application.registered', at: now(), by, subject: id, details })
  }

  return {
    acting,
    refreshing: ({ scope }: Payload) => {
      const { params } = Provider.ctx!.oidc
      if (params) params.scope = scopesAskedAgain(scope, params.scope)
    },
    grantEnd: () => (Provider.ctx?.oidc.route === 'revocation' ? 'application.returned' : 'application.token_reused'),
    recordAudit: (model: string, id: string, payload: Payload) =>
      model === 'Client' ? registered(id, payload) : recordAudit(model, id),
  } as const
}

/** Who sent the request: the client, once the library knows it. */
function actingIn({ addressOf }: Pick<ProviderOptions, 'addressOf'>) {
  return (ctx: KoaContextWithOIDC | undefined): Acting => {
    const clientId = ctx?.oidc?.client?.clientId
    return {
      actor: clientId === undefined ? { kind: 'nobody', id: null } : { kind: 'application', id: clientId },
      address: ctx ? addressOf(ctx.req) : null,
    }
  }
}

function machineClients({ storage, now }: Pick<ProviderOptions, 'storage' | 'now'>): MachineClients {
  return {
    async find(clientId) {
      const machine = await storage.read.machines.byId(clientId)
      if (!machine || machine.revokedAt !== null) return undefined
      return {
        client_id: clientId,
        client_name: machine.name,
        client_secret: machine.secretHash,
        grant_types: ['client_credentials'],
        response_types: [],
        redirect_uris: [],
        scope: machineScopes(machine).join(' '),
      }
    },
    used: (clientId) => storage.write((tx) => tx.machines.used(clientId, now())),
  }
}

/** Hashes what a machine sends before the comparison: only the hash of its secret is stored. */
function compareHashes(prototype: {
  clientId: string
  compareClientSecret(given: string): boolean | Promise<boolean>
}) {
  const { compareClientSecret: compare } = prototype
  prototype.compareClientSecret = function compareHash(given) {
    return compare.call(this, isMachineId(this.clientId) ? hashSecret(given) : given)
  }
}

function toMetadata({ clientId, clientName, redirectUris, clientSecret }: OAuthClient): ClientMetadata {
  return {
    client_id: clientId,
    client_name: clientName,
    redirect_uris: [...redirectUris],
    ...(clientSecret === undefined ? { token_endpoint_auth_method: 'none' } : { client_secret: clientSecret }),
  }
}

function originOf(uri: string): string | undefined {
  const { origin } = new URL(uri)
  return origin === 'null' ? undefined : origin
}
