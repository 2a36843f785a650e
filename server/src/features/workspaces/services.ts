/** The services of workspaces. */

import { createDestinations } from '../../outbound/destinations.ts'
import { createRateLimitBudgets } from '../../outbound/rate-limit-budget.ts'
import { createActivity } from './activity.ts'
import { createAllowedOrigins } from './allowed-origins.ts'
import { createConnectionService } from './connections.ts'
import { createKeyService } from './keys.ts'
import { createSources } from './sources.ts'
import { createWorkspaceService } from './workspaces.ts'

export const services = {
  workspaces: createWorkspaceService,
  keys: createKeyService,
  connections: createConnectionService,
  allowedOrigins: createAllowedOrigins,
  sources: createSources,
  activity: createActivity,
  destinations: createDestinations,
  budgets: createRateLimitBudgets,
}
