/** The OAuth flow for applications: passes requests to oidc-provider, and takes the answers of the people who are asked for consent. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Instant } from '@claimcheck/core/rules'
import type { FastifyBaseLogger } from 'fastify'
import type { InteractionResults, Provider } from 'oidc-provider'
import { BY_SERVICE, byUser } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import type { Secrets } from '../../base/secrets.ts'
import { newToken } from '../../base/tokens.ts'
import type { OwnAddress } from '../../config/address.ts'
import { type Storage, StorageError } from '../../storage/storage.ts'
import { createAudiences } from './audiences.ts'
import { configuredClients, type OAuthConfig } from './config.ts'
import { loadLibrary } from './library.ts'
import type { OAuthPages } from './pages.ts'
import { OAUTH_PATHS } from './paths.ts'
import { createProvider } from './provider.ts'
import type { OAuthRecords, RecordAudit } from './records.ts'
import { createRegistrationQuota } from './registration-quota.ts'
import { readScopes, type Scope } from './scopes.ts'

/** A browser's request and the response to it: the flow keeps its state for a browser in cookies. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** The network address of the client. */
  readonly address: string
}

/** The request of an application for a person's consent. */
export interface ConsentRequest {
  readonly clientId: string
  readonly clientName: string
  /** True for a client that the operator registered. Any other registered itself, under a name that it chose. */
  readonly isConfigured: boolean
  readonly redirectUri: string
  readonly scopes: readonly Scope[]
  readonly resources: readonly string[]
}

/** The answer of a person who allows a request. */
interface Consent {
  readonly memberId: string
  readonly scopes: readonly Scope[]
  /** Runs after the grant is stored: if it throws, the grant ends. */
  readonly confirm: () => Promise<void>
}

interface OAuthParts {
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

export type OAuth = ReturnType<typeof createOAuth>

export function createOAuth(parts: OAuthParts) {
  const { config, ownAddress, oauthRecords: records, now } = parts
  /** The network addresses of requests that the library handles. */
  const addresses = new WeakMap<IncomingMessage, string>()
  /** The audit trail's records of grants that are being stored. */
  const granting = new Map<string, RecordAudit>()
  let providing: Promise<Provider> | undefined
  let handling: Promise<(exchange: Exchange) => Promise<void>> | undefined

  /** Returns the name of this service towards applications. */
  const issuer = () => ownAddress.origin()
  const audiences = () => createAudiences(ownAddress.url(), config.oauth.resources, { hasMcp: parts.isActive('mcp') })

  function loadProvider(): Promise<Provider> {
    const { oauthPages: pages, storage, secrets, logger } = parts
    providing ??= createProvider({
      storage,
      secrets,
      now,
      logger,
      pages,
      issuer: issuer(),
      audiences: audiences(),
      config: config.oauth,
      records,
      addressOf: (request) => addresses.get(request) ?? null,
      grantAudit: (grantId) => granting.get(grantId),
    })
    return providing
  }

  /** Finds the name of a client; undefined when it is unknown, or was registered with metadata that is refused now. */
  async function clientName(clientId: string): Promise<string | undefined> {
    const { errors } = await loadLibrary()
    try {
      const client = await (await loadProvider()).Client.find(clientId)
      return client && (client.clientName ?? clientId)
    } catch (error) {
      if (error instanceof errors.InvalidClientMetadata) return undefined
      throw error
    }
  }

  async function interaction(uid: string, { request, response }: Exchange) {
    const { errors } = await loadLibrary()
    try {
      const details = await (await loadProvider()).interactionDetails(request, response)
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
    return (await loadProvider()).interactionResult(request, response, result, options)
  }

  /** Makes the audit trail's record of a consent, which names the application. */
  function consentAudit(clientId: string, name: string, consent: Consent, address: string): RecordAudit {
    return async (tx) => {
      const member = await tx.members.byId(consent.memberId)
      if (!member) return
      const { workspaceId, userId } = member
      const about = { workspaceId, userId, subject: clientId, details: { name, scopes: consent.scopes.join(' ') } }
      tx.audit.record({ event: 'application.allowed', at: now(), by: byUser(userId, address), ...about })
    }
  }

  /** Keeps a client that registered itself, which expires unless a person allows it. */
  async function removeExpiry(clientId: string): Promise<void> {
    const client = await records.find('Client', clientId)
    if (client && client.expiresAt !== null)
      await records.put({ model: 'Client', id: clientId, payload: client.payload, ttlMs: undefined })
  }

  return {
    issuer,
    audiences,
    clientName,
    /** The quota of registrations; undefined when clients may not register themselves. */
    registrations: config.oauth.dynamicRegistration ? createRegistrationQuota(parts) : undefined,
    metadataUrl: () => issuer() + OAUTH_PATHS.resourceMetadata,
    /** Returns the address of the MCP server's metadata, by the host and the path at which the server was asked. */
    mcpMetadataUrl: (host: string, path: string) =>
      new URL(audiences().originAt(host)).origin +
      (path.endsWith('/') ? OAUTH_PATHS.mcpSlashMetadata : OAUTH_PATHS.mcpMetadata),

    /** Makes the function that handles requests of applications. */
    handler() {
      handling ??= loadProvider().then((provider) => {
        const handle = provider.callback()
        const { protocol, host } = new URL(issuer())
        return async ({ request, response, address }) => {
          addresses.set(request, address)
          // The library builds URLs from these headers. They are overwritten because a client could forge them.
          request.headers['x-forwarded-proto'] = protocol.slice(0, -1)
          request.headers['x-forwarded-host'] = host
          request.url = request.url!.replace(/^[a-z]+:\/\/[^/]*/i, '')
          // A body that is too large is read to its beginning by the library: the rest would delay later requests of this connection.
          response.once('finish', () => request.resume())
          await handle(request, response)
        }
      })
      return handling
    },

    /**
     * Reads the request for consent.
     * @throws ServiceError `not_found` unless it was made in this browser and is open
     */
    async consentRequest(uid: string, exchange: Exchange): Promise<ConsentRequest> {
      const { params } = await interaction(uid, exchange)
      const clientId = String(params.client_id)
      return {
        clientId,
        clientName: (await clientName(clientId)) ?? clientId,
        isConfigured: configuredClients(config.oauth).some(({ client_id }) => client_id === clientId),
        redirectUri: String(params.redirect_uri),
        scopes: readScopes(params.scope),
        resources: resourcesOf(params.resource),
      }
    },

    /**
     * Allows a request. Returns the URL to redirect the browser to.
     * @throws ServiceError `not_found`
     */
    async allow(uid: string, exchange: Exchange, consent: Consent): Promise<string> {
      const { memberId: accountId, scopes, confirm } = consent
      const { params } = await interaction(uid, exchange)
      const clientId = String(params.client_id)
      const { Grant } = await loadProvider()
      const grantId = newToken()
      const grant = Object.assign(new Grant({ accountId, clientId }), { jti: grantId })
      for (const resource of resourcesOf(params.resource)) grant.addResourceScope(resource, scopes.join(' '))
      await removeExpiry(clientId)
      const name = (await clientName(clientId)) ?? clientId
      granting.set(grantId, consentAudit(clientId, name, consent, exchange.address))
      try {
        await grant.save()
      } finally {
        granting.delete(grantId)
      }
      try {
        await confirm()
      } catch (error) {
        await records.endGrant(grantId, 'application.stopped', BY_SERVICE)
        throw error
      }
      return answer(exchange, { login: { accountId, remember: false }, consent: { grantId } })
    },

    /**
     * Denies a request. Returns the URL to redirect the browser to.
     * @throws ServiceError `not_found`
     */
    async deny(uid: string, exchange: Exchange): Promise<string> {
      await interaction(uid, exchange)
      return answer(exchange, { error: 'access_denied', error_description: 'the person denied the request' })
    },
  }
}

function resourcesOf(resource: unknown): string[] {
  return [resource].flat().map(String)
}
