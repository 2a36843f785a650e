/** Builds the HTTP interface as a Fastify instance: what every request passes, and the scopes of routes. */
import type { Tracing } from '../base/tracing.ts'
import { type Authenticate, type Keys, requireCredential, requireKey } from './auth.ts'
import { acceptJsonBodies } from './body.ts'
import { type AllowedOrigins, allowOtherSites, refuseOtherSites } from './cors.ts'
import { type CostClass, classify, requireCosts } from './costs.ts'
import { answerNotFound, type NotFoundPage } from './errors.ts'
import { type FrameOptions, openFrame } from './frame.ts'
import type { Gate } from './gate.ts'
import { cachePublicly, logRequests } from './hooks.ts'
import type { App } from './instance.ts'
import { refuseOtherMethods } from './methods.ts'
import { describeApi, type SecuritySchemes, type WebhookBodies } from './openapi.ts'
import { measureRequests } from './request-metrics.ts'
import { traceRequests } from './request-traces.ts'
import type { TreeHeads } from './tree-heads.ts'
import { compileValidator, refuseUndeclaredQueries } from './validate.ts'

/** Rules for who may make requests, and from where. */
export interface Access {
  readonly keys: Keys
  /** Accepts access tokens, in installations where applications can get any. */
  readonly tokens?: Authenticate
  /** The value of `WWW-Authenticate`, which says how to get a credential. */
  readonly challenge?: () => string
  readonly securitySchemes?: SecuritySchemes
  /** The bodies of requests that the service sends, for the description of the API. */
  readonly webhooks?: WebhookBodies
  /** Sites whose scripts may submit claims; none by default. */
  readonly allowedOrigins?: AllowedOrigins
  /** Receives the tree heads of the log that clients witness; by default they witness none. */
  readonly treeHeads?: TreeHeads
  /** Makes the page for browsers that follow a wrong link. */
  readonly notFoundPage?: () => Promise<NotFoundPage>
}

/** The checks of requests between the gate and a route. Any site may read routes of all scopes but `own`; caches may keep `public` ones. */
export type Scope = 'key' | 'credential' | 'api' | 'public' | 'own'

export interface RouteGroup {
  readonly scope: Scope
  /** The cost of the group's routes that name no other one. */
  readonly cost: CostClass
  readonly add: (app: App, gate: Gate, access: Access) => void | Promise<void>
}

export interface AppOptions extends FrameOptions {
  readonly access: Access
  readonly routes: readonly RouteGroup[]
  readonly tracing: Tracing
}

const NO_ORIGINS: AllowedOrigins = { isListed: async () => false, isListedBy: async () => false }

export async function buildApp(options: AppOptions): Promise<App> {
  const { access, meters, routes, tracing } = options
  const { keys, allowedOrigins = NO_ORIGINS } = access
  const { app, gate } = openFrame(options, (app) => {
    logRequests(app)
    measureRequests(app, meters)
    if (tracing.isOn) traceRequests(app, tracing)
  })
  app.setValidatorCompiler(compileValidator)
  // Serializers compiled from schemas would drop members that a schema does not name.
  app.setSerializerCompiler(() => JSON.stringify)
  acceptJsonBodies(app)
  answerNotFound(app, access.notFoundPage)
  await describeApi(app, options.publicUrl, access)
  refuseUndeclaredQueries(app)
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
      requireKey(scope, keys, gate, access.treeHeads)
      refuseOtherSites(scope, allowedOrigins)
    },
    credential: (scope) =>
      requireCredential(scope, { ...acceptedCredentials(access), gate, treeHeads: access.treeHeads }),
    api() {},
    public: (scope) => void scope.addHook('onRequest', cachePublicly),
  }

  await app.register(async (api: App) => {
    // Classes the routes of preflights, which the library answers.
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

/** Accepts keys, and the access tokens of applications where there are any. */
function acceptedCredentials({ keys, tokens, challenge }: Access) {
  if (!tokens) return { authenticate: (text: string, address: string) => keys.authenticate(text, address) }
  return {
    authenticate: async (text: string, address: string) =>
      (await keys.authenticate(text, address)) ?? tokens(text, address),
    // RFC 9728 5.1 has this challenge name the metadata of the resource.
    ...(challenge ? { challenge } : {}),
  }
}
