/**
 * The cost of each class of routes in tokens: its processor time as a ratio to `GET /healthz`, which `npm run bench -- --only costs`
 * measures and prints against this table.
 */
import type { RouteOptions } from 'fastify'
import type { App } from './instance.ts'

interface Cost {
  readonly tokens: number
  /** The reason for costing more than ten times `GET /healthz`. */
  readonly why?: string
}

export const COSTS = {
  /** The cost of health, redirects, refusals, and small documents that are ready. */
  small: { tokens: 1 },
  /** The cost of files, and of pages that are rendered once. */
  file: { tokens: 2 },
  search_index: { tokens: 12, why: 'it has the words of all pages of the documentation' },
  /** The cost of asking the database whether it answers. */
  readiness: { tokens: 3 },
  metrics: { tokens: 20, why: 'reads what the database and the workers count' },
  receipt: { tokens: 3 },
  receipt_page: { tokens: 28, why: 'reads receipt, evidence, keys and a consistency proof, and renders them' },
  log: { tokens: 13, why: 'reads and writes up to 100 entries' },
  log_page: { tokens: 30, why: 'reads days, entries and anchors, and renders them' },
  /** The cost of one answer of the API, with a credential. */
  read: { tokens: 6 },
  claim_list: { tokens: 40, why: 'reads up to 200 claims' },
  claim: { tokens: 20, why: 'checks the destination, signs, and appends to the log' },
  /** The cost of proving a message, and of looking for the claims that it concerns. */
  hint: { tokens: 10 },
  mcp: { tokens: 18, why: 'the SDK makes a server for each message' },
  /** Verifying a receipt by a tool of MCP, on top of the message. */
  verification: { tokens: 90, why: 'checks signatures, keys and proofs' },
  oauth: { tokens: 30, why: 'tokens are signed and stored' },
  /** The cost of pages and forms of the console. */
  page: { tokens: 50, why: 'reads the session and the workspace, and renders the page' },
  trial: { tokens: 60, why: 'reads a destination' },
  password: { tokens: 300, why: 'Argon2 takes memory and time on purpose' },
  export: { tokens: 1800, why: 'reads and writes as many rows as there are' },
} as const satisfies Readonly<Record<string, Cost>>

export type CostClass = keyof typeof COSTS

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The cost of a route, which every route has, by itself or by its group. */
    cost?: CostClass
    /** True for a route where nothing works for a request without a credential: the credential pays, and the network for refusals. */
    needsCredential?: true
    /**
     * True for a route that answers requests without a session with a page. The network pays for that page, the account of a session for everything.
     */
    needsSession?: true
    /** True for a route that balancers and orchestrators ask for. */
    isProbe?: true
  }
}

/** Gives the routes of this scope a cost class, unless they name one. */
export function classify(scope: App, cost: CostClass): void {
  scope.addHook('onRoute', (route) => {
    route.config = { cost, ...route.config }
  })
}

/** Makes a route without a class fail the start of the app. Call it before routes are declared. */
export function requireCosts(app: App): void {
  const declared: RouteOptions[] = []
  // A later look at the routes is needed, because a scope gives its routes their class after this hook.
  app.addHook('onRoute', (route) => void declared.push(route))
  app.addHook('onReady', async () => {
    const without = declared.filter(({ config }) => config?.cost === undefined)
    if (without.length > 0)
      throw new Error(`routes without a cost: ${without.map(({ method, url }) => `${method} ${url}`).join(', ')}`)
  })
}
