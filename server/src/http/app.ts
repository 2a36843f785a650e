/** Builds the HTTP interface as a Fastify instance: what every request passes, and the scopes of routes. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import { type FastifyBaseLogger, fastify, LogController } from 'fastify'
import type { Meters } from '../base/meters.ts'
import type { Tracing } from '../base/tracing.ts'
import type { ConnectionSettings } from '../config/connections.ts'
import type { RateLimits } from '../config/rate-limits.ts'
import type { TrustedProxies } from '../config/trust-proxy.ts'
import { type Authenticate, type Keys, requireCredential, requireKey } from './auth.ts'
import { acceptJsonBodies, BODY_LIMIT_BYTES } from './body.ts'
import { ARRIVAL_TIMES, type ArrivalTimes, boundConnections } from './connections.ts'
import { type AllowedOrigins, allowOtherSites, refuseOtherSites } from './cors.ts'
import { type CostClass, classify, requireCosts } from './costs.ts'
import type { Counters } from './counters.ts'
import { answerClientError, answerErrors, answerExpectation, answerNotFound, answerUnroutable } from './errors.ts'
import { boundFields, parseQuery } from './fields.ts'
import { type Gate, openGate } from './gate.ts'
import {
  cachePublicly,
  endConnectionsOnClose,
  headersOfAll,
  logRequests,
  refuseAmbiguousMessages,
  setHeaders,
} from './hooks.ts'
import type { App } from './instance.ts'
import { refuseOtherMethods } from './methods.ts'
import { describeApi, type SecuritySchemes } from './openapi.ts'
import { proxiesIn, readPlainAddresses } from './proxies.ts'
import { measureRequests } from './request-metrics.ts'
import { traceRequests } from './request-traces.ts'
import { compileValidator } from './validate.ts'

/** Who may make requests, and from where. */
export interface Access {
  readonly keys: Keys
  /** Accepts the tokens of applications, where applications can get any. */
  readonly tokens?: Authenticate
  /** The value of `WWW-Authenticate`, which says how to get a credential. */
  readonly challenge?: () => string
  readonly securitySchemes?: SecuritySchemes
  /** Without them scripts of no other site submit claims. */
  readonly allowedOrigins?: AllowedOrigins
}

/**
 * What requests pass before they reach a route, after the gate. Any site may read under all but `own`; what is `public` may be kept by
 * caches.
 */
export type Scope = 'key' | 'credential' | 'api' | 'public' | 'own'

/** Routes of one scope. */
export interface RouteGroup {
  readonly scope: Scope
  /** Of the routes that name no other one. */
  readonly cost: CostClass
  readonly add: (app: App, gate: Gate, access: Access) => void | Promise<void>
}

export interface AppOptions {
  readonly access: Access
  readonly routes: readonly RouteGroup[]
  readonly rateLimits: RateLimits
  readonly connections: ConnectionSettings
  /** Without it those of every service. */
  readonly arrivalTimes?: ArrivalTimes
  readonly counters: Counters
  readonly meters: Meters
  readonly tracing: Tracing
  /** The proxies whose word about a client's address counts. */
  readonly trustProxy: TrustedProxies
  readonly publicUrl?: string
  readonly logger: FastifyBaseLogger
}

/** In an address: 256 characters, as an agent may have, of up to four bytes, each of which is written as three. */
const MOST_OF_A_NAME = 256 * 4 * 3
const NO_ORIGINS: AllowedOrigins = { isListed: async () => false, isListedBy: async () => false }

export async function buildApp(options: AppOptions): Promise<App> {
  const { access, routes } = options
  const { keys, allowedOrigins = NO_ORIGINS, securitySchemes = {} } = access
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
    routerOptions: { maxParamLength: MOST_OF_A_NAME, querystringParser: parseQuery },
    // Answers open requests, and those that still arrive, while the server closes.
    return503OnClosing: false,
    frameworkErrors: answerUnroutable(headers, (request, reply) => gate.enter(request, reply)),
    clientErrorHandler: answerClientError(headers),
  }).withTypeProvider<TypeBoxTypeProvider>()

  const { connections, logger, meters, tracing } = options
  boundConnections(app.server, { ...connections, isProxy, logger, meters })
  app.setValidatorCompiler(compileValidator)
  // Serializers compiled from schemas would drop members that a schema does not name.
  app.setSerializerCompiler(() => JSON.stringify)
  acceptJsonBodies(app)
  answerErrors(app)
  app.server.on('checkExpectation', answerExpectation(headers))
  logRequests(app)
  measureRequests(app, meters)
  if (tracing.isOn) traceRequests(app, tracing)
  readPlainAddresses(app)
  setHeaders(app, headers)
  // Before the gate: what it refuses ends no connection, and a message with two readings has to.
  refuseAmbiguousMessages(app)
  const gate = openGate(app, options)
  boundFields(app)
  answerNotFound(app)
  endConnectionsOnClose(app)
  await describeApi(app, options.publicUrl, securitySchemes)
  requireCosts(app)
  const addMethodRefusals = refuseOtherMethods(app)

  async function addRoutes(to: App, scope: Scope): Promise<void> {
    for (const group of routes.filter((group) => group.scope === scope)) {
      await to.register(async (own: App) => {
        classify(own, group.cost)
        await group.add(own, gate, access)
      })
    }
  }

  const prepare: Readonly<Record<Exclude<Scope, 'own'>, (scope: App) => void>> = {
    key(scope) {
      requireKey(scope, keys, gate)
      refuseOtherSites(scope, allowedOrigins)
    },
    credential: (scope) => requireCredential(scope, { ...acceptedCredentials(access), gate }),
    api() {},
    public: (scope) => void scope.addHook('onRequest', cachePublicly),
  }

  await app.register(async (api: App) => {
    // Of the preflights that the library answers.
    api.addHook('onRoute', (route) => {
      if (route.method === 'OPTIONS') route.config = { cost: 'small', ...route.config }
    })
    await allowOtherSites(api, allowedOrigins)
    for (const [name, prepareScope] of Object.entries(prepare)) {
      await api.register(async (scope: App) => {
        prepareScope(scope)
        await addRoutes(scope, name as Scope)
      })
    }
  })
  await addRoutes(app, 'own')
  addMethodRefusals()
  return app
}

/** Accepts keys, and the tokens of applications where there are any. */
function acceptedCredentials({ keys, tokens, challenge }: Access) {
  if (!tokens) return { authenticate: (text: string, address: string) => keys.authenticate(text, address) }
  return {
    authenticate: async (text: string, address: string) =>
      (await keys.authenticate(text, address)) ?? tokens(text, address),
    // RFC 9728 5.1
    ...(challenge ? { challenge } : {}),
  }
}
