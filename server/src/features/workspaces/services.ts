/** Functions that make the services of workspaces, which the host calls on first use. */

import { construct } from '../../base/construct.ts'
import { createConcurrencyLimit } from '../../outbound/concurrency-limit.ts'
import { createDestinations } from '../../outbound/destinations.ts'
import { createRateLimitBudgets } from '../../outbound/rate-limit-budget.ts'
import { createActivity } from './activity.ts'
import { createAllowedOrigins } from './allowed-origins.ts'
import { ConnectionService } from './connections.ts'
import { createDomainWorker, createHolders } from './holders.ts'
import { KeyService } from './keys.ts'
import { createSources } from './sources.ts'
import { createWorkspaceService } from './workspaces.ts'

export const services = {
  workspaces: createWorkspaceService,
  keys: construct(KeyService),
  connections: construct(ConnectionService),
  allowedOrigins: createAllowedOrigins,
  holders: createHolders,
  domainWorker: createDomainWorker,
  sources: createSources,
  activity: createActivity,
  destinations: createDestinations,
  budgets: createRateLimitBudgets,
  /** The slots for all that asks destinations: checks of claims, and trials of connections. */
  slots: ({ config }: { readonly config: { readonly checks: { readonly concurrency: number } } }) =>
    createConcurrencyLimit(config.checks.concurrency),
}
