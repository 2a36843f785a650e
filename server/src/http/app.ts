/** Builds the HTTP interface as a Fastify instance. */

import type { ActionProfile } from '@claimcheck/core'
import type { ProfileList } from '@claimcheck/core/api'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { type FastifyBaseLogger, fastify, LogController } from 'fastify'
import type { ClaimService } from '../claims/claims.ts'
import type { ConnectionSettings } from '../config/connections.ts'
import type { RateLimits } from '../config/rate-limits.ts'
import type { TrustedProxies } from '../config/trust-proxy.ts'
import type { Counters } from '../hosts/counters.ts'
import type { LogService } from '../log/log.ts'
import type { ReceiptService } from '../log/receipts.ts'
import type { KeyExchange } from '../oauth/key-exchange.ts'
import type { Metrics } from '../upkeep/metrics.ts'
import type { ConnectionService } from '../workspaces/connections.ts'
import type { KeyService } from '../workspaces/keys.ts'
import type { SiteService } from '../workspaces/sites.ts'
import { type Authenticate, type Keys, requireCredential, requireKey } from './auth.ts'
import { acceptJsonBodies, BODY_LIMIT_BYTES } from './body.ts'
import { ARRIVAL_TIMES, type ArrivalTimes, boundConnections } from './connections.ts'
import { allowOtherSites, refuseOtherSites } from './cors.ts'
import { answerClientError, answerErrors, answerExpectation, answerUnroutable } from './errors.ts'
import {
  cachePublicly,
  endConnectionsOnClose,
  headersOfAll,
  logRequests,
  refuseSeveralHosts,
  setHeaders,
} from './hooks.ts'
import type { App } from './instance.ts'
import { refuseOtherMethods } from './methods.ts'
import { describeApi } from './openapi.ts'
import { proxiesIn, readPlainAddresses } from './proxies.ts'
import { createLimiters, type Limiter, type Limiters } from './rate-limit.ts'
import { claimRoutes } from './routes/claims.ts'
import { connectionRoutes } from './routes/connections.ts'
import { docsRoutes } from './routes/docs.ts'
import { healthRoutes, type Readiness } from './routes/health.ts'
import { issuedKeyRoutes, ownKeyRoutes } from './routes/issued-keys.ts'
import { keyRoutes } from './routes/keys.ts'
import { logRoutes } from './routes/log.ts'
import { type MetricsReader, metricsRoutes } from './routes/metrics.ts'
import { profileRoutes } from './routes/profiles.ts'
import { receiptRoutes } from './routes/receipts.ts'
import { type SecurityContact, securityTxtRoute } from './routes/security-txt.ts'
import { whoamiRoutes } from './routes/whoami.ts'
import { compileValidator } from './validate.ts'

export interface AppOptions {
  readonly services: {
    readonly claims: ClaimService
    readonly receipts: ReceiptService
    readonly log: LogService
    readonly connections: Pick<ConnectionService, 'list'>
    readonly keys: Keys
    /** Without them scripts of no other site submit claims. */
    readonly sites?: Pick<SiteService, 'isListed' | 'isListedBy'>
  }
  /** The OAuth flow for applications. whoami accepts its tokens besides keys. */
  readonly oauth?: {
    readonly authenticate: Authenticate
    readonly keyExchange: KeyExchange
    readonly revokeKey: KeyService['revoke']
    /** The URL of the metadata that says how to get a token; known when the service listens. */
    readonly metadataUrl: () => string
    readonly documents: (app: App) => void
    readonly endpoints: (app: App, limit: Limiter) => Promise<void>
  }
  /** Adds the pages of the console. */
  readonly console?: (app: App) => Promise<void>
  /** Adds the pages for everybody. */
  readonly site?: (app: App, limiters: Limiters) => Promise<void>
  /** Adds the server of the Model Context Protocol. */
  readonly mcp?: (app: App, limiters: Limiters) => Promise<void>
  /** The path of the page of a receipt, where there are such pages. */
  readonly receiptPage?: (receiptId: string) => string
  /** The profiles of the known actions. */
  readonly profiles: readonly ActionProfile[]
  /** The answer of `GET /v1/profiles`. */
  readonly published: ProfileList
  /** Actions that need no connection. */
  readonly publicActions: readonly string[]
  readonly keyDocument: () => Promise<object | string>
  readonly readiness: () => Promise<Readiness>
  readonly metrics: Metrics
  /** Undefined: they are told elsewhere. */
  readonly metricsReader: MetricsReader | undefined
  readonly rateLimits: RateLimits
  readonly connections: ConnectionSettings
  /** Without it those of every service. */
  readonly arrivalTimes?: ArrivalTimes
  readonly counters: Counters
  /** The proxies whose word about a client's address counts. */
  readonly trustProxy: TrustedProxies
  readonly publicUrl?: string
  /** Whom to tell of a weakness, where the operator says so. */
  readonly securityContact?: SecurityContact
  readonly logger: FastifyBaseLogger
}

/** In an address: 256 characters, as an agent may have, of up to four bytes, each of which is written as three. */
const MOST_OF_A_NAME = 256 * 4 * 3
const NO_SITES = { isListed: async () => false, isListedBy: async () => false }

export async function buildApp(options: AppOptions): Promise<App> {
  const { services, oauth } = options
  const { sites = NO_SITES } = services
  const times = options.arrivalTimes ?? ARRIVAL_TIMES
  const headers = headersOfAll(options.publicUrl)
  const isProxy = proxiesIn(options.trustProxy)
  const app: App = fastify({
    loggerInstance: options.logger,
    logController: new LogController({ disableRequestLogging: true }),
    // To make a logger for each request takes a fiftieth of a receipt's time. Lines name their request's id instead.
    childLoggerFactory: (logger) => logger,
    trustProxy: isProxy,
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: times.request,
    http: { headersTimeout: times.headers, connectionsCheckingInterval: times.checkEvery },
    routerOptions: { maxParamLength: MOST_OF_A_NAME },
    // Answers open requests, and those that still arrive, while the server closes.
    return503OnClosing: false,
    frameworkErrors: answerUnroutable(headers),
    clientErrorHandler: answerClientError(headers),
  }).withTypeProvider<TypeBoxTypeProvider>()

  const { connections, logger } = options
  boundConnections(app.server, { ...connections, isProxy, logger })
  app.setValidatorCompiler(compileValidator)
  // Serializers compiled from schemas would drop members that a schema does not name.
  app.setSerializerCompiler(() => JSON.stringify)
  acceptJsonBodies(app)
  answerErrors(app)
  app.server.on('checkExpectation', answerExpectation(headers))
  logRequests(app)
  readPlainAddresses(app)
  setHeaders(app, headers)
  refuseSeveralHosts(app)
  endConnectionsOnClose(app)
  await describeApi(app, options.publicUrl)
  const limiters = await createLimiters(app, options.rateLimits, options.counters)
  const addMethodRefusals = refuseOtherMethods(app)

  await app.register(async (api: App) => {
    // But not the console.
    await allowOtherSites(api, sites)
    await api.register(async (keyed: App) => {
      requireKey(keyed, services.keys, limiters)
      refuseOtherSites(keyed, sites)
      claimRoutes(keyed, { claims: services.claims, profiles: options.profiles })
      connectionRoutes(keyed, { connections: services.connections, publicActions: options.publicActions })
    })
    await api.register(async (described: App) => {
      requireCredential(described, { ...acceptedCredentials(services.keys, oauth), limiters })
      whoamiRoutes(described)
    })
    const { mcp } = options
    if (mcp) await api.register((scope: App) => mcp(scope, limiters))
    await api.register(async (open: App) => {
      open.addHook('onRequest', limiters.receipts.onRequest)
      open.addHook('onRequest', cachePublicly)
      receiptRoutes(open, services.receipts, options.receiptPage)
    })
    await api.register(async (open: App) => {
      open.addHook('onRequest', limiters.log.onRequest)
      open.addHook('onRequest', cachePublicly)
      logRoutes(open, services.log)
      keyRoutes(open, options.keyDocument)
      profileRoutes(open, options.published)
      if (options.securityContact) securityTxtRoute(open, options.securityContact)
    })
    await api.register(async (open: App) => {
      open.addHook('onRequest', limiters.service.onRequest)
      healthRoutes(open, options.readiness)
      if (options.metricsReader) metricsRoutes(open, options.metrics, options.metricsReader)
      docsRoutes(open)
      oauth?.documents(open)
    })
  })
  if (oauth) {
    await app.register((flow: App) => oauth.endpoints(flow, limiters.oauth))
    // For no script of another site.
    await app.register(async (issuing: App) => {
      requireCredential(issuing, { authenticate: oauth.authenticate, limiters })
      issuedKeyRoutes(issuing, oauth.keyExchange)
    })
    await app.register(async (keyed: App) => {
      requireKey(keyed, services.keys, limiters)
      ownKeyRoutes(keyed, oauth.revokeKey)
    })
  }
  if (options.console) await app.register(options.console)
  const { site } = options
  if (site) await app.register((pages: App) => site(pages, limiters))
  addMethodRefusals()
  return app
}

/** Accepts keys, and the tokens of applications when the OAuth flow is there. */
function acceptedCredentials(keys: Pick<KeyService, 'authenticate'>, oauth: AppOptions['oauth']) {
  if (!oauth) return { authenticate: keys.authenticate }
  return {
    authenticate: async (text: string, address: string) =>
      (await keys.authenticate(text, address)) ?? oauth.authenticate(text, address),
    // RFC 9728 5.1
    challenge: () => `Bearer resource_metadata="${oauth.metadataUrl()}"`,
  }
}
