/** The OAuth flow for applications: passes requests to oidc-provider, and takes the answers of the people who are asked for consent. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Instant } from '@claimcheck/core/rules'
import type { FastifyBaseLogger } from 'fastify'
import type { InteractionResults, Provider } from 'oidc-provider'
import { type Acting, BY_SERVICE, byUser } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import type { OwnAddress } from '../../base/own-address.ts'
import type { Secrets } from '../../base/secrets.ts'
import { newToken } from '../../base/tokens.ts'
import { type Storage, StorageError } from '../../storage/storage.ts'
import { createAudiences } from './audiences.ts'
import { configuredClients, type OAuthConfig } from './config.ts'
import { loadLibrary } from './library.ts'
import type { OAuthPages } from './pages.ts'
import { OAUTH_PATHS } from './paths.ts'
import { createProvider } from './provider.ts'
import type { OAuthRecords, RecordAudit } from './records.ts'
import { createRegistrationQuota, type RegistrationQuota } from './registration-quota.ts'
import { readScopes, type Scope } from './scopes.ts'

/** A browser's request and the response to it: the flow keeps its state for a browser in cookies. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** The client's. */
  readonly address: string
}

export type Handler = (exchange: Exchange) => Promise<void>

/** The request of an application for a person's consent. */
export interface ConsentRequest {
  readonly clientId: string
  readonly clientName: string
  /** The operator registered it. Any other registered itself, under a name that it chose. */
  readonly isConfigured: boolean
  readonly redirectUri: string
  readonly scopes: readonly Scope[]
  readonly resources: readonly string[]
}

/** What a person allows. */
export interface Allowed {
  readonly memberId: string
  readonly scopes: readonly Scope[]
  /** Called once the grant is stored: if it throws, the grant ends. */
  readonly confirm: () => Promise<void>
}

export interface OAuthOptions {
  readonly config: { readonly oauth: OAuthConfig }
  readonly ownAddress: OwnAddress
  readonly isActive: (feature: string) => boolean
  readonly storage: Storage
  readonly secrets: Secrets
  readonly oauthPages: OAuthPages
  readonly oauthRecords: OAuthRecords
  readonly now: () => Instant
  readonly logger: FastifyBaseLogger
}

export class OAuth {
  readonly #options: OAuthOptions
  readonly #records: OAuthRecords
  /** The addresses of requests that the library handles. */
  readonly #addresses = new WeakMap<IncomingMessage, string>()
  /** What the audit trail records of grants that are being stored. */
  readonly #granting = new Map<string, RecordAudit>()
  #providerPromise: Promise<Provider> | undefined
  #handlerPromise: Promise<Handler> | undefined
  /** The name of this service towards applications. */
  readonly issuer = () => this.#options.ownAddress.origin()
  readonly audiences = () => {
    const { config, ownAddress, isActive } = this.#options
    return createAudiences(ownAddress.url(), config.oauth.resources, { hasMcp: isActive('mcp') })
  }
  /** Undefined when clients may not register themselves. */
  readonly registrations: RegistrationQuota | undefined

  constructor(options: OAuthOptions) {
    this.#options = options
    this.#records = options.oauthRecords
    this.registrations = this.#options.config.oauth.dynamicRegistration
      ? createRegistrationQuota(this.#options)
      : undefined
  }

  metadataUrl(): string {
    return this.issuer() + OAUTH_PATHS.resourceMetadata
  }

  /** The same of the MCP server, by the path at which it was asked. */
  mcpMetadataUrl(path: string): string {
    return this.issuer() + (path.endsWith('/') ? OAUTH_PATHS.mcpSlashMetadata : OAUTH_PATHS.mcpMetadata)
  }

  /** Handles the requests of applications. */
  handler(): Promise<Handler> {
    this.#handlerPromise ??= this.#provider().then((provider) =>
      createHandler(provider, this.issuer(), this.#addresses),
    )
    return this.#handlerPromise
  }

  /** @throws ServiceError `not_found` unless the request was made in this browser and is open */
  async consentRequest(uid: string, exchange: Exchange): Promise<ConsentRequest> {
    const { params } = await this.#interaction(uid, exchange)
    const clientId = String(params.client_id)
    return {
      clientId,
      clientName: (await this.clientName(clientId)) ?? clientId,
      isConfigured: configuredClients(this.#options.config.oauth).some((client) => client.clientId === clientId),
      redirectUri: String(params.redirect_uri),
      scopes: readScopes(params.scope),
      resources: resourcesOf(params.resource),
    }
  }

  /** Returns the URL to redirect the browser to. @throws ServiceError `not_found` */
  async allow(uid: string, exchange: Exchange, { memberId, scopes, confirm }: Allowed): Promise<string> {
    const { params } = await this.#interaction(uid, exchange)
    const clientId = String(params.client_id)
    const { Grant } = await this.#provider()
    const grantId = newToken()
    const grant = Object.assign(new Grant({ accountId: memberId, clientId }), { jti: grantId })
    for (const resource of resourcesOf(params.resource)) grant.addResourceScope(resource, scopes.join(' '))
    await removeExpiry(this.#records, clientId)
    const name = (await this.clientName(clientId)) ?? clientId
    this.#granting.set(grantId, this.#auditOf(clientId, name, memberId, scopes, exchange.address))
    try {
      await grant.save()
    } finally {
      this.#granting.delete(grantId)
    }
    const login = { accountId: memberId, remember: false }
    try {
      await confirm()
    } catch (error) {
      await this.#records.endGrant(grantId, 'application.stopped', BY_SERVICE)
      throw error
    }
    return this.#answer(exchange, { login, consent: { grantId } })
  }

  /** Returns the URL to redirect the browser to. @throws ServiceError `not_found` */
  async deny(uid: string, exchange: Exchange): Promise<string> {
    await this.#interaction(uid, exchange)
    return this.#answer(exchange, { error: 'access_denied', error_description: 'the person denied the request' })
  }

  /** Undefined when the client is unknown, or was registered with metadata that is refused now. */
  async clientName(clientId: string): Promise<string | undefined> {
    const { errors } = await loadLibrary()
    try {
      const client = await (await this.#provider()).Client.find(clientId)
      return client && (client.clientName ?? clientId)
    } catch (error) {
      if (error instanceof errors.InvalidClientMetadata) return undefined
      throw error
    }
  }

  #provider(): Promise<Provider> {
    const { config, oauthPages, storage, secrets, now, logger } = this.#options
    this.#providerPromise ??= createProvider({
      storage,
      secrets,
      now,
      logger,
      issuer: this.issuer(),
      audiences: this.audiences(),
      config: config.oauth,
      records: this.#records,
      isSignedIn: (ctx) => oauthPages.isSignedIn((name) => ctx.cookies.get(name, { signed: false })),
      errorPage: oauthPages.errorPage,
      signInUrl: oauthPages.signInUrl,
      addressOf: (request) => this.#addresses.get(request) ?? null,
      recordAudit: (model, id) => (model === 'Grant' ? this.#granting.get(id) : undefined),
    })
    return this.#providerPromise
  }

  /** The person allows it; the audit trail names the application. */
  #auditOf(clientId: string, name: string, memberId: string, scopes: readonly Scope[], address: string): RecordAudit {
    return async (tx) => {
      const member = await tx.members.byId(memberId)
      if (!member) return
      const { workspaceId, userId } = member
      const about = { workspaceId, userId, subject: clientId, details: { name, scopes: scopes.join(' ') } }
      const by: Acting = byUser(userId, address)
      tx.audit.record({ event: 'application.allowed', at: this.#options.now(), by, ...about })
    }
  }

  async #interaction(uid: string, { request, response }: Exchange) {
    const { errors } = await loadLibrary()
    try {
      const details = await (await this.#provider()).interactionDetails(request, response)
      if (details.uid === uid) return details
    } catch (error) {
      const { cause } = error as Error
      if (cause instanceof StorageError) throw cause
      if (!(error instanceof errors.SessionNotFound)) throw error
    }
    throw new ServiceError(
      'not_found',
      'this browser has no such open request: it was made in another browser, was answered, or has expired. Start again in the application',
    )
  }

  async #answer({ request, response }: Exchange, result: InteractionResults): Promise<string> {
    const options = { mergeWithLastSubmission: false }
    return (await this.#provider()).interactionResult(request, response, result, options)
  }
}

function createHandler(provider: Provider, issuer: string, addresses: WeakMap<IncomingMessage, string>): Handler {
  const handle = provider.callback()
  const { protocol, host } = new URL(issuer)
  return async ({ request, response, address }) => {
    addresses.set(request, address)
    // The library builds URLs from these headers. They are overwritten because a client could forge them.
    request.headers['x-forwarded-proto'] = protocol.slice(0, -1)
    request.headers['x-forwarded-host'] = host
    request.url = request.url!.replace(/^[a-z]+:\/\/[^/]*/i, '')
    // Of a body that is too large the library reads the beginning: the rest would hold up what follows on this connection.
    response.once('finish', () => request.resume())
    await handle(request, response)
  }
}

function resourcesOf(resource: unknown): string[] {
  return [resource].flat().map(String)
}

/** A client that registered itself expires unless a person allows it. */
async function removeExpiry(records: OAuthRecords, clientId: string): Promise<void> {
  const client = await records.find('Client', clientId)
  if (client && client.expiresAt !== null)
    await records.put({ model: 'Client', id: clientId, payload: client.payload, ttlMs: undefined })
}
