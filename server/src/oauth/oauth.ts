/** The OAuth flow for applications: passes requests to oidc-provider, and takes the answers of the people who are asked for consent. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Instant } from '@claimcheck/core'
import type { FastifyBaseLogger } from 'fastify'
import type { InteractionResults, Provider } from 'oidc-provider'
import { ServiceError } from '../base/errors.ts'
import type { Secrets } from '../base/secrets.ts'
import type { Config } from '../config/config.ts'
import { type Storage, StorageError } from '../storage/storage.ts'
import { type Audiences, createAudiences } from './audiences.ts'
import { loadLibrary } from './library.ts'
import type { OAuthPages } from './pages.ts'
import { OAUTH_PATHS } from './paths.ts'
import { createProvider } from './provider.ts'
import type { OAuthRecords } from './records.ts'
import { createRegistrationQuota, type RegistrationQuota } from './registration-quota.ts'
import { readScopes, type Scope } from './scopes.ts'

/** A browser's request and the response to it: the flow keeps its state for a browser in cookies. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

export type Handler = (exchange: Exchange) => Promise<void>

/** The request of an application for a person's consent. */
export interface ConsentRequest {
  readonly clientId: string
  readonly clientName: string
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

export interface OAuth {
  /** Sets the origin on which the service listens, which is the issuer when PUBLIC_URL is not set. The port is known late. */
  setListeningOrigin(origin: () => string): void
  /** The name of this service towards applications. */
  issuer(): string
  audiences(): Audiences
  metadataUrl(): string
  /** Undefined when clients may not register themselves. */
  readonly registrations: RegistrationQuota | undefined
  /** Handles the requests of applications. */
  handler(): Promise<Handler>
  /** @throws ServiceError `not_found` unless the request was made in this browser and is open */
  consentRequest(uid: string, exchange: Exchange): Promise<ConsentRequest>
  /** Returns the URL to redirect the browser to. @throws ServiceError `not_found` */
  allow(uid: string, exchange: Exchange, allowed: Allowed): Promise<string>
  /** Returns the URL to redirect the browser to. @throws ServiceError `not_found` */
  deny(uid: string, exchange: Exchange): Promise<string>
  /** Undefined when the client is unknown. */
  clientName(clientId: string): Promise<string | undefined>
}

interface OAuthOptions {
  readonly config: Pick<Config, 'publicUrl' | 'oauth'>
  readonly storage: Storage
  readonly secrets: Secrets
  readonly oauthPages: OAuthPages
  readonly oauthRecords: OAuthRecords
  readonly now: () => Instant
  readonly logger: FastifyBaseLogger
}

export function createOAuth(options: OAuthOptions): OAuth {
  const { config, oauthPages, oauthRecords: records } = options
  const { publicUrl } = config
  let listeningOrigin: (() => string) | undefined
  let providerPromise: Promise<Provider> | undefined
  let handlerPromise: Promise<Handler> | undefined

  function ownUrl(): string {
    if (publicUrl !== undefined) return publicUrl
    if (!listeningOrigin) throw new Error('the service does not listen yet')
    return listeningOrigin()
  }

  const issuer = () => new URL(ownUrl()).origin
  const audiences = () => createAudiences(ownUrl(), config.oauth.resources)

  function provider(): Promise<Provider> {
    providerPromise ??= createProvider({
      ...options,
      issuer: issuer(),
      audiences: audiences(),
      config: config.oauth,
      records,
      isSignedIn: (ctx) => oauthPages.isSignedIn((name) => ctx.cookies.get(name, { signed: false })),
      errorPage: oauthPages.errorPage,
    })
    return providerPromise
  }

  async function interaction(uid: string, { request, response }: Exchange) {
    const { errors } = await loadLibrary()
    try {
      const details = await (await provider()).interactionDetails(request, response)
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

  async function answer({ request, response }: Exchange, result: InteractionResults): Promise<string> {
    const options = { mergeWithLastSubmission: false }
    return (await provider()).interactionResult(request, response, result, options)
  }

  async function clientName(clientId: string): Promise<string | undefined> {
    const client = await (await provider()).Client.find(clientId)
    return client && (client.clientName ?? clientId)
  }

  return {
    setListeningOrigin(origin) {
      listeningOrigin = origin
    },
    issuer,
    audiences,
    metadataUrl: () => issuer() + OAUTH_PATHS.resourceMetadata,
    registrations: config.oauth.dynamicRegistration ? createRegistrationQuota(options) : undefined,
    handler() {
      handlerPromise ??= provider().then((provider) => createHandler(provider, issuer()))
      return handlerPromise
    },
    async consentRequest(uid, exchange) {
      const { params } = await interaction(uid, exchange)
      const clientId = String(params.client_id)
      return {
        clientId,
        clientName: (await clientName(clientId)) ?? clientId,
        redirectUri: String(params.redirect_uri),
        scopes: readScopes(params.scope),
        resources: resourcesOf(params.resource),
      }
    },
    async allow(uid, exchange, { memberId, scopes, confirm }) {
      const { params } = await interaction(uid, exchange)
      const clientId = String(params.client_id)
      const { Grant } = await provider()
      const grant = new Grant({ accountId: memberId, clientId })
      for (const resource of resourcesOf(params.resource)) grant.addResourceScope(resource, scopes.join(' '))
      await removeExpiry(records, clientId)
      const login = { accountId: memberId, remember: false }
      const grantId = await grant.save()
      try {
        await confirm()
      } catch (error) {
        await records.endGrant(grantId)
        throw error
      }
      return answer(exchange, { login, consent: { grantId } })
    },
    async deny(uid, exchange) {
      await interaction(uid, exchange)
      return answer(exchange, { error: 'access_denied', error_description: 'the person denied the request' })
    },
    clientName,
  }
}

function createHandler(provider: Provider, issuer: string): Handler {
  const handle = provider.callback()
  const { protocol, host } = new URL(issuer)
  return async ({ request, response }) => {
    // The library builds URLs from these headers. They are overwritten because a client could forge them.
    request.headers['x-forwarded-proto'] = protocol.slice(0, -1)
    request.headers['x-forwarded-host'] = host
    request.url = request.url!.replace(/^[a-z]+:\/\/[^/]*/i, '')
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
